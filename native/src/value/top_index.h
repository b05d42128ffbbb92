#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/block.h"
#include "lava/slice.h"

namespace lava::vsst {

/// The shortest key s with low < s <= high, for low < high: what high begins with.
Slice ShortSeparator(Slice low, Slice high);

/// Threads:    one thread.
class TopIndexBuilder {
 public:
  /// separator: above all keys before, not above the partition's; of the first: empty.
  void AddPartition(Slice separator, uint64_t extent_bytes, uint32_t block_bytes);
  void AddKeyBlock(uint32_t block_bytes);
  size_t estimated_bytes() const { return partitions_.size() + key_blocks_.size(); }
  void Finish(std::string* out) const;

 private:
  std::string partitions_, key_blocks_;
  uint64_t partition_count_ = 0, key_block_count_ = 0;
};

/// Where everything of a file stands that is not in its footer: records from 0, the blocks of the
/// dense key index, partitions, without gaps.
/// Threads:    any; const.
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

  /// Null, or what is wrong. end: where the last partition's block must end.
  const char* Load(std::string payload, uint64_t end);

  const std::vector<Partition>& partitions() const { return partitions_; }
  const std::vector<BlockHandle>& key_blocks() const { return key_blocks_; }
  uint64_t records_end() const { return records_end_; }
  uint64_t key_blocks_end() const { return key_blocks_end_; }
  /// The partition that may hold key; there must be one.
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
