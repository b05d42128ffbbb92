// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>

#include "lava/slice.h"
#include "memory/memory_counter.h"

namespace lava {

/// Remembers keys whose values compactions dropped most recently. Such keys are written often, and
/// their next values will soon be garbage (Scavenger 3.4.1, DropCache). Flushes and collections
/// write these values to separate files. The cache may forget keys and confuse keys with equal
/// hashes: it decides temperature, never liveness.
/// Threads:    any.
/// Ownership:  counter (may be null) must outlive the cache; charged from the first drop on.
/// Units:      entries of 4 bytes.
class DropCache {
 public:
  static constexpr size_t kEntries = 64 << 10;

  explicit DropCache(MemoryCounter* counter, size_t entries = kEntries);
  ~DropCache();
  DropCache(const DropCache&) = delete;
  DropCache& operator=(const DropCache&) = delete;

  /// Limits the memory of the cache, which takes at least one bucket. Without effect after the
  /// first drop.
  void SetBytesMax(uint64_t bytes) { bytes_max_.store(bytes, std::memory_order_relaxed); }

  void Dropped(Slice key);
  bool IsHot(Slice key) const;

 private:
  // A cache line; the most recently dropped key comes first.
  struct alignas(64) Bucket {
    std::atomic<uint32_t> tags[16] = {};  // 0: none
  };
  struct BucketTag {
    size_t bucket;
    uint32_t tag;
  };
  BucketTag BucketTagOf(Slice key) const;

  MemoryCounter* const counter_;
  size_t bucket_count_;  // a power of two; fixed once ready
  std::atomic<uint64_t> bytes_max_{UINT64_MAX};
  std::once_flag once_;
  std::unique_ptr<Bucket[]> buckets_;
  std::atomic<Bucket*> ready_{nullptr};
};

}  // namespace lava
