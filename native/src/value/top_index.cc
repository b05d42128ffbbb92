// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "value/top_index.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "base/block.h"
#include "base/coding.h"
#include "lava/slice.h"
#include "value/format.h"

namespace lava::vsst {
namespace {

/// Places the block at *offset, and moves *offset behind it. False if the block passes end.
bool Place(uint64_t end, uint64_t* offset, BlockHandle* block) {
  block->offset = *offset;
  if (end - *offset < block->bytes + uint64_t{kBlockTrailerBytes}) return false;
  *offset = block->end();
  return true;
}

}  // namespace

Slice ShortSeparator(Slice low, Slice high) {
  auto differ = std::mismatch(low.begin(), low.end(), high.begin(), high.end());
  return high.substr(0, static_cast<size_t>(differ.second - high.begin()) + 1);
}

void TopIndexBuilder::AddIndexPartition(Slice separator, uint64_t extent_bytes,
                                        uint32_t block_bytes) {
  PutLengthPrefixed(&index_partitions_, separator);
  PutVarint64(&index_partitions_, extent_bytes);
  PutVarint32(&index_partitions_, block_bytes);
  ++index_partition_count_;
}

void TopIndexBuilder::AddKeyBlock(uint32_t block_bytes) {
  PutVarint32(&key_blocks_, block_bytes);
  ++key_block_count_;
}

void TopIndexBuilder::Finish(std::string* out) const {
  PutVarint64(out, index_partition_count_);
  out->append(index_partitions_);
  PutVarint64(out, key_block_count_);
  out->append(key_blocks_);
}

const char* TopIndex::LoadIndexPartitions(Slice* in, uint64_t end) {
  uint64_t count = 0;
  // An entry has at least 3 bytes, so the size of the block bounds what a forged count reserves.
  if (!GetVarint64(in, &count) || count > in->size() / 3)
    return "the top index's count of partitions is impossible";
  index_partitions_.reserve(count);
  for (uint64_t i = 0; i < count; ++i) {
    IndexPartition index_partition;
    uint64_t extent = 0;
    if (!GetLengthPrefixed(in, &index_partition.separator) || !GetVarint64(in, &extent) ||
        !GetVarint32(in, &index_partition.block.bytes))
      return "the top index's partitions are cut short";
    if (i == 0 ? !index_partition.separator.empty()
               : index_partition.separator <= index_partitions_.back().separator)
      return "the top index's keys do not ascend";
    if (extent < kRecordBytesMin || extent > end - records_end_)
      return "a partition's records do not fit where they stand";
    index_partition.records_begin = records_end_;
    index_partition.records_end = records_end_ += extent;
    index_partitions_.push_back(index_partition);
  }
  return nullptr;
}

const char* TopIndex::LoadKeyBlocks(Slice* in, uint64_t end) {
  uint64_t count = 0;
  if (!GetVarint64(in, &count) || count > in->size())
    return "the top index's count of key blocks is impossible";
  key_blocks_.resize(count);
  key_blocks_end_ = records_end_;
  for (BlockHandle& block : key_blocks_) {
    if (!GetVarint32(in, &block.bytes)) return "the top index's key blocks are cut short";
    if (!Place(end, &key_blocks_end_, &block)) return "a key block does not fit where it stands";
  }
  return nullptr;
}

const char* TopIndex::Load(std::string payload, uint64_t end) {
  payload_ = std::move(payload);
  Slice in = payload_;
  if (const char* error = LoadIndexPartitions(&in, end); error != nullptr) return error;
  if (const char* error = LoadKeyBlocks(&in, end); error != nullptr) return error;
  if (!in.empty()) return "the top index has bytes behind its end";
  if (index_partitions_.empty() != key_blocks_.empty())
    return "one of the file's indexes is missing";
  uint64_t at = key_blocks_end_;
  for (IndexPartition& index_partition : index_partitions_) {
    if (!Place(end, &at, &index_partition.block)) return "a partition does not fit where it stands";
  }
  return at == end ? nullptr : "the top index's blocks do not end where they must";
}

const TopIndex::IndexPartition& TopIndex::Find(Slice key) const {
  auto above = std::upper_bound(index_partitions_.begin(), index_partitions_.end(), key,
                                [](Slice target, const IndexPartition& index_partition) {
                                  return target < index_partition.separator;
                                });
  return *(above - 1);  // the first separator is empty
}

}  // namespace lava::vsst
