// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>

#include "cache/block_cache.h"
#include "table/block_loader.h"
#include "table/table_reader.h"

namespace lava::ksst {

/// Access to a file's blocks through the cache.
/// Threads:    any thread; const.
/// Ownership:  borrows everything.
struct BlockAccess {
  const BlockLoader* loader;
  BlockCache* cache;
  uint64_t file_id;
  TableReader::ReadCounters* counters;  // may be null

  Status Data(const BlockHandle& handle, std::shared_ptr<const CachedDataBlock>* out) const {
    *out = FindData(handle);
    return *out != nullptr ? Status::OK() : LoadData(handle, out);
  }
  /// The block if the cache has it, otherwise null. Counts as a use.
  std::shared_ptr<const CachedDataBlock> FindData(const BlockHandle& handle) const {
    return std::static_pointer_cast<const CachedDataBlock>(
        cache->Lookup({file_id, handle.offset}, BlockCache::Segment::kData, use()));
  }
  /// Reads a block that the cache does not have from the file, and puts it into the cache.
  Status LoadData(const BlockHandle& handle, std::shared_ptr<const CachedDataBlock>* out) const;
  /// Like LoadData(), but takes the block from stored bytes that the caller has read.
  Status LoadDataFrom(const BlockHandle& handle, Slice stored,
                      std::shared_ptr<const CachedDataBlock>* out) const;
  /// The block if the cache has it, otherwise null. Does not count as a use: for walks that leave
  /// the cache as it is.
  std::shared_ptr<const CachedDataBlock> PeekData(const BlockHandle& handle) const {
    return std::static_pointer_cast<const CachedDataBlock>(
        cache->Peek({file_id, handle.offset}, BlockCache::Segment::kData));
  }
  /// The i-th index partition of the top index. *cached: the cache had it.
  Status IndexPartition(const IndexBlock& top, uint32_t i,
                        std::shared_ptr<const CachedIndexPartition>* out, bool* cached) const {
    BlockHandle handle = BlockAt(top, i);
    CacheKey key{file_id, handle.offset};
    if (BlockCache::Ref ref = cache->Lookup(key, BlockCache::Segment::kIndex, use());
        ref != nullptr) {
      *out = std::static_pointer_cast<const CachedIndexPartition>(std::move(ref));
      *cached = true;
      return Status::OK();
    }
    *cached = false;
    return LoadIndexPartition(handle, top.extent_begin(i), out);
  }
  /// Puts index partition i into the cache. raw: its payload, uncompressed.
  void AddIndexPartition(const IndexBlock& top, uint32_t i, Slice raw, uint32_t version) const;
  void CountFilterUseful() const {
    if (counters != nullptr) counters->filter_useful.fetch_add(1, std::memory_order_relaxed);
  }
  void CountBlockRead() const {
    if (counters != nullptr) counters->block_reads.fetch_add(1, std::memory_order_relaxed);
  }

 private:
  CacheUse* use() const { return counters == nullptr ? nullptr : &counters->cache; }
  void AddData(const BlockHandle& handle, std::shared_ptr<const CachedDataBlock>* block) const;
  Status LoadIndexPartition(const BlockHandle& handle, uint64_t base,
                            std::shared_ptr<const CachedIndexPartition>* out) const;
};

}  // namespace lava::ksst
