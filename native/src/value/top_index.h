#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/block.h"
#include "lava/slice.h"

namespace lava::vsst {

/// The shortest prefix s of high with low < s <= high, for low < high. Borrows from high.
Slice ShortSeparator(Slice low, Slice high);

/// Builds a top index.
/// Threads:    one thread.
class TopIndexBuilder {
 public:
  /// separator: above all keys before, and not above the partition's first key; empty for the first
  /// partition.
  void AddPartition(Slice separator, uint64_t extent_bytes, uint32_t block_bytes);
  void AddKeyBlock(uint32_t block_bytes);
  size_t estimated_bytes() const { return partitions_.size() + key_blocks_.size(); }
  void Finish(std::string* out) const;

 private:
  std::string partitions_, key_blocks_;
  uint64_t partition_count_ = 0, key_block_count_ = 0;
};

/// Locations of records, key blocks and partitions, which follow each other from offset 0 without
/// gaps.
/// Threads:    any thread; const.
class TopIndex {
 public:
  struct Partition {
    Slice separator;
    uint64_t records_begin = 0, records_end = 0;
    BlockHandle block;
  };
  TopIndex() = default;
  TopIndex(const TopIndex&) = delete;  // separators borrow from payload_
  TopIndex& operator=(const TopIndex&) = delete;

  /// Returns null, or an error message. end: where the last partition's block must end.
  const char* Load(std::string payload, uint64_t end);

  const std::vector<Partition>& partitions() const { return partitions_; }
  const std::vector<BlockHandle>& key_blocks() const { return key_blocks_; }
  uint64_t records_end() const { return records_end_; }
  uint64_t key_blocks_end() const { return key_blocks_end_; }
  /// The partition that may hold key. The file must not be empty.
  const Partition& Find(Slice key) const;
  size_t memory_bytes() const {
    return payload_.capacity() + partitions_.capacity() * sizeof(Partition) +
           key_blocks_.capacity() * sizeof(BlockHandle);
  }

 private:
  const char* LoadPartitions(Slice* in, uint64_t end);
  const char* LoadKeyBlocks(Slice* in, uint64_t end);

  std::string payload_;
  std::vector<Partition> partitions_;
  std::vector<BlockHandle> key_blocks_;
  uint64_t records_end_ = 0, key_blocks_end_ = 0;
};

}  // namespace lava::vsst
