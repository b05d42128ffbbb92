#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "lava/status.h"
#include "memory/memory_budget.h"

namespace lava {

/// What the cache holds: one immutable block in memory (data, index partition with its filter).
struct CachedBlock {
  virtual ~CachedBlock() = default;
  virtual size_t charge() const = 0;  // bytes, own overhead included
  /// Asks whoever keeps the block beside the cache (a reader its index) to let go, so that it can
  /// be evicted; false when it was used since it was asked last, or when there is nobody.
  /// Called under a lock of the cache: takes no other and frees nothing but the reference.
  virtual bool Yield() const { return false; }
  /// References of those who would yield theirs.
  virtual long yieldable() const { return 0; }
};

/// A cache key: the file's id in the cache (from BlockCache::NewFileId, never reused) and offset.
struct CacheKey {
  uint64_t file = 0;
  uint64_t offset = 0;
};

/// What the cache does for one of its users, an instance say.
/// Threads:    any thread.
/// Units:      bytes of blocks in the cache now; lookups.
struct CacheUse {
  std::atomic<uint64_t> used_bytes{0}, hits{0}, misses{0};
};

/// One cache over all instances of the process. Two segments share its bytes: index goes before
/// data as long as it earns more by the byte (policy/cache_border.h).
/// Threads:    any thread. Sharded.
/// Ownership:  a Ref pins its block; a pinned block may outlive its place in the cache. A CacheUse
///             must live until all of its files were erased.
/// Errors:     none: when the cache is full of pinned blocks, Insert still returns a usable Ref
///             whose block simply is not kept.
class BlockCache {
 public:
  enum class Segment : uint8_t { kIndex = 0, kData = 1 };
  using Ref = std::shared_ptr<const CachedBlock>;

  virtual ~BlockCache() = default;
  /// What borrowed (may be null, must outlive the cache) counts is taken off the capacity at all
  /// times; call Trim() when it has grown. observer (the same) is told when a block takes room.
  static std::unique_ptr<BlockCache> Create(uint64_t capacity_bytes,
                                            const MemoryCounter* borrowed = nullptr,
                                            ChargeObserver* observer = nullptr);

  virtual uint64_t NewFileId() = 0;
  /// Null when the block is not here; counts a hit or a miss. A key is of one segment always.
  virtual Ref Lookup(const CacheKey& key, Segment segment, CacheUse* use = nullptr) = 0;
  /// The same for a walk that will not come back: nothing is counted, and no block stays longer
  /// for it.
  virtual Ref Peek(const CacheKey& key, Segment segment) = 0;
  /// Keeps block, unless another one stands under key already: then that one is returned and
  /// block is dropped.
  virtual Ref Insert(const CacheKey& key, Segment segment, Ref block, CacheUse* use = nullptr) = 0;
  /// Drops the block under a key, if there is one; pinned, it lives on until its pins go.
  virtual void Erase(const CacheKey& key, Segment segment) = 0;
  /// Drops the blocks of a file; pinned ones live on until their pins go.
  virtual void EraseFile(uint64_t file) = 0;
  /// Evicts down to bytes before it returns. 0: nothing is kept.
  virtual void SetCapacity(uint64_t bytes) = 0;
  /// Evicts what passes the capacity; cheap when nothing does.
  virtual void Trim() = 0;

  /// What is not borrowed now. Costs nothing, unlike statistics(), which looks at all blocks.
  virtual uint64_t capacity_bytes() const = 0;
  virtual uint64_t used_bytes() const = 0;

  struct SegmentStatistics {
    uint64_t used_bytes = 0, hits = 0, misses = 0, evictions = 0;
  };
  /// used_bytes counts blocks in the cache, pinned_bytes those of them that a Ref holds now,
  /// index_bytes_max is where the border stands.
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
