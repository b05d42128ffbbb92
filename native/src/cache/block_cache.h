// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "lava/status.h"
#include "memory/memory_budget.h"

namespace lava {

/// An immutable block in the cache: data, or an index partition with its filter.
struct CachedBlock {
  virtual ~CachedBlock() = default;
  virtual size_t charge() const = 0;  // bytes, own overhead included
  /// Asks the holder of the block outside the cache (such as a reader that keeps its index) to drop
  /// its reference, so that the block can be evicted. False if the block was used since the last
  /// call, or if there is no such holder. Called under a lock of the cache: must not take another
  /// lock and must free nothing but the reference.
  virtual bool Yield() const { return false; }
  /// Number of references that Yield() would drop.
  virtual long yieldable() const { return 0; }
};

/// A cache key: the file's id in the cache (from BlockCache::NewFileId, never reused) and offset.
struct CacheKey {
  uint64_t file = 0;
  uint64_t offset = 0;
};

/// Counters of one user of the cache, such as an instance.
/// Threads:    any thread.
/// Units:      used_bytes: bytes of the user's blocks in the cache now; hits, misses: lookups.
struct CacheUse {
  std::atomic<uint64_t> used_bytes{0}, hits{0}, misses{0};
};

/// One cache for all instances of the process. Two segments of the cache share its capacity: index
/// blocks take precedence over data blocks as long as they save more reads per byte
/// (policy/cache_border.h). Threads:    any thread. Sharded. Ownership:  a Ref pins its block; a
/// pinned block may outlive its entry in the cache. A CacheUse
///             must live until all of its files were erased.
/// Errors:     none: if pinned blocks fill the cache, Insert() returns a usable Ref to a block that
///             is not cached.
class BlockCache {
 public:
  enum class Segment : uint8_t { kIndex = 0, kData = 1 };
  using Ref = std::shared_ptr<const CachedBlock>;

  virtual ~BlockCache() = default;
  /// borrowed: bytes that are always subtracted from the capacity; call Trim() after it has grown.
  /// observer: called when a block takes memory. Both may be null and must outlive the cache.
  static std::unique_ptr<BlockCache> Create(uint64_t capacity_bytes,
                                            const MemoryCounter* borrowed = nullptr,
                                            ChargeObserver* observer = nullptr);

  virtual uint64_t NewFileId() = 0;
  /// Null if the block is not cached. Counts a hit or a miss. A key always has the same segment of
  /// the cache.
  virtual Ref Lookup(const CacheKey& key, Segment segment, CacheUse* use = nullptr) = 0;
  /// Lookup() for one-time reads: neither counts the lookup nor marks the block as used.
  virtual Ref Peek(const CacheKey& key, Segment segment) = 0;
  /// Caches block and returns it. If key already has a block, drops the new block and returns the
  /// old one.
  virtual Ref Insert(const CacheKey& key, Segment segment, Ref block, CacheUse* use = nullptr) = 0;
  /// Drops the block of a key, if there is one; pins keep it alive.
  virtual void Erase(const CacheKey& key, Segment segment) = 0;
  /// Drops the blocks of a file; pins keep them alive.
  virtual void EraseFile(uint64_t file) = 0;
  /// Evicts down to bytes before it returns. 0: nothing is cached.
  virtual void SetCapacity(uint64_t bytes) = 0;
  /// Evicts blocks that exceed the capacity; cheap if none do.
  virtual void Trim() = 0;

  /// The capacity less the borrowed bytes. Cheap, unlike statistics(), which looks at all blocks.
  virtual uint64_t capacity_bytes() const = 0;
  virtual uint64_t used_bytes() const = 0;

  struct SegmentStatistics {
    uint64_t used_bytes = 0, hits = 0, misses = 0, evictions = 0;
  };
  /// used_bytes counts cached blocks, pinned_bytes cached blocks that a Ref holds now (references
  /// that Yield() would drop do not pin); index_bytes_max is the border.
  struct Statistics {
    uint64_t capacity_bytes = 0, pinned_bytes = 0, index_bytes_max = 0;
    SegmentStatistics index, data;

    uint64_t used_bytes() const { return index.used_bytes + data.used_bytes; }
    uint64_t hits() const { return index.hits + data.hits; }
    uint64_t misses() const { return index.misses + data.misses; }
  };
  virtual Statistics statistics() const = 0;
};

}  // namespace lava
