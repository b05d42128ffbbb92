#pragma once

#include <cstdint>
#include <memory>

#include "lava/status.h"

namespace lava {

/// What the cache holds: one immutable block in memory (data, index partition, filter).
struct CachedBlock {
  virtual ~CachedBlock() = default;
  virtual size_t charge() const = 0;  // bytes, own overhead included
};

/// A cache key: the file's id in the cache (from BlockCache::NewFileId, never reused) and offset.
struct CacheKey {
  uint64_t file = 0;
  uint64_t offset = 0;
};

/// One cache over all instances of the process. The unified cache (two segments) replaces this
/// behind the same interface.
/// Threads:    any thread. Sharded.
/// Ownership:  a Ref pins its block; a pinned block may outlive its place in the cache.
/// Errors:     none: when the cache is full of pinned blocks, Insert still returns a usable Ref
///             whose block simply is not kept.
class BlockCache {
 public:
  enum class Segment : uint8_t { kIndex = 0, kData = 1 };
  using Ref = std::shared_ptr<const CachedBlock>;

  virtual ~BlockCache() = default;
  static std::unique_ptr<BlockCache> Create(uint64_t capacity_bytes);

  virtual uint64_t NewFileId() = 0;
  virtual Ref Lookup(const CacheKey& key) = 0;
  virtual Ref Insert(const CacheKey& key, Segment segment,
                     std::unique_ptr<const CachedBlock> block) = 0;
  virtual void EraseFile(uint64_t file) = 0;  // blocks of a deleted file; may be lazy
  virtual void SetCapacity(uint64_t bytes) = 0;

  struct Statistics {
    uint64_t capacity_bytes = 0, used_bytes = 0, pinned_bytes = 0, hits = 0, misses = 0;
  };
  virtual Statistics statistics() const = 0;
};

}  // namespace lava
