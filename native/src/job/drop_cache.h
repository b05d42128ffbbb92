#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>

#include "lava/slice.h"
#include "memory/memory_counter.h"

namespace lava {

/// Remembers keys whose values compactions dropped last: these are written often, and what is
/// written of them next will be garbage soon (Scavenger 3.4.1, DropCache). Flushes and collections
/// write such values to files of their own. It may forget, and take one key for another: it decides
/// temperature, never liveness.
/// Threads:    any.
/// Ownership:  counter (may be null) must outlive it; charged from the first drop on.
/// Units:      entries of 4 bytes.
class DropCache {
 public:
  static constexpr size_t kEntries = 64 << 10;

  explicit DropCache(MemoryCounter* counter, size_t entries = kEntries);
  ~DropCache();
  DropCache(const DropCache&) = delete;
  DropCache& operator=(const DropCache&) = delete;

  /// At most so many bytes from now on, at least a bucket: what the owner can spare. Without effect
  /// from the first drop on.
  void SetBytesMax(uint64_t bytes) { bytes_max_.store(bytes, std::memory_order_relaxed); }

  void Dropped(Slice key);
  bool IsHot(Slice key) const;

 private:
  // A cache line, the key that was dropped last first.
  struct alignas(64) Bucket {
    std::atomic<uint32_t> tags[16] = {};  // 0: none
  };
  struct Place {
    size_t bucket;
    uint32_t tag;
  };
  Place PlaceOf(Slice key) const;

  MemoryCounter* const counter_;
  size_t bucket_count_;  // a power of two; fixed once ready
  std::atomic<uint64_t> bytes_max_{UINT64_MAX};
  std::once_flag once_;
  std::unique_ptr<Bucket[]> buckets_;
  std::atomic<Bucket*> ready_{nullptr};
};

}  // namespace lava
