// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

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
  /// separator: above all keys before, and not above the index partition's first key; empty for the
  /// first index partition.
  void AddIndexPartition(Slice separator, uint64_t extent_bytes, uint32_t block_bytes);
  void AddKeyBlock(uint32_t block_bytes);
  size_t estimated_bytes() const { return index_partitions_.size() + key_blocks_.size(); }
  void Finish(std::string* out) const;

 private:
  std::string index_partitions_, key_blocks_;
  uint64_t index_partition_count_ = 0, key_block_count_ = 0;
};

/// Locations of records, key blocks and index partitions, which follow each other from offset 0
/// without gaps.
/// Threads:    any thread; const.
class TopIndex {
 public:
  struct IndexPartition {
    Slice separator;
    uint64_t records_begin = 0, records_end = 0;
    BlockHandle block;
  };
  TopIndex() = default;
  TopIndex(const TopIndex&) = delete;  // separators borrow from payload_
  TopIndex& operator=(const TopIndex&) = delete;

  /// Returns null, or an error message. end: where the last index partition's block must end.
  const char* Load(std::string payload, uint64_t end);

  const std::vector<IndexPartition>& index_partitions() const { return index_partitions_; }
  const std::vector<BlockHandle>& key_blocks() const { return key_blocks_; }
  uint64_t records_end() const { return records_end_; }
  uint64_t key_blocks_end() const { return key_blocks_end_; }
  /// The index partition that may hold key. The file must not be empty.
  const IndexPartition& Find(Slice key) const;
  size_t memory_bytes() const {
    return payload_.capacity() + index_partitions_.capacity() * sizeof(IndexPartition) +
           key_blocks_.capacity() * sizeof(BlockHandle);
  }

 private:
  const char* LoadIndexPartitions(Slice* in, uint64_t end);
  const char* LoadKeyBlocks(Slice* in, uint64_t end);

  std::string payload_;
  std::vector<IndexPartition> index_partitions_;
  std::vector<BlockHandle> key_blocks_;
  uint64_t records_end_ = 0, key_blocks_end_ = 0;
};

}  // namespace lava::vsst
