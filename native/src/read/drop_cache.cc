// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "read/drop_cache.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <mutex>

#include "base/hash.h"
#include "lava/slice.h"
#include "memory/memory_counter.h"

namespace lava {

DropCache::DropCache(MemoryCounter* counter, size_t entries)
    : counter_(counter),
      bucket_count_(std::bit_ceil(std::max<size_t>(1, entries / std::size(Bucket().tags)))) {}

DropCache::~DropCache() {
  if (buckets_ != nullptr && counter_ != nullptr) counter_->Release(bucket_count_ * sizeof(Bucket));
}

DropCache::BucketTag DropCache::BucketTagOf(Slice key) const {
  const uint64_t hash = Hash64(key);
  const auto tag = static_cast<uint32_t>(hash >> 32);
  return {hash & (bucket_count_ - 1), std::max(tag, 1u)};
}

// Concurrent calls may lose or duplicate an entry, which is harmless.
void DropCache::Dropped(Slice key) {
  std::call_once(once_, [this] {
    const uint64_t buckets_max = bytes_max_.load(std::memory_order_relaxed) / sizeof(Bucket);
    bucket_count_ = std::bit_floor(std::clamp<uint64_t>(buckets_max, 1, bucket_count_));
    buckets_ = std::make_unique<Bucket[]>(bucket_count_);
    if (counter_ != nullptr) counter_->Charge(bucket_count_ * sizeof(Bucket));
    ready_.store(buckets_.get(), std::memory_order_release);
  });
  const BucketTag at = BucketTagOf(key);
  uint32_t carried = at.tag;
  for (std::atomic<uint32_t>& slot : buckets_[at.bucket].tags) {
    const uint32_t before = slot.load(std::memory_order_relaxed);
    slot.store(carried, std::memory_order_relaxed);
    if (before == at.tag || before == 0) return;
    carried = before;
  }
}

bool DropCache::IsHot(Slice key) const {
  const Bucket* buckets = ready_.load(std::memory_order_acquire);
  if (buckets == nullptr) return false;
  const BucketTag at = BucketTagOf(key);
  for (const std::atomic<uint32_t>& slot : buckets[at.bucket].tags)
    if (slot.load(std::memory_order_relaxed) == at.tag) return true;
  return false;
}

}  // namespace lava
