// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "base/spin_lock.h"
#include "table/index_partition.h"

namespace lava::ksst {

/// The index partitions of one file that its reader keeps beside the cache. A lookup can thus ask a
/// filter with a single access to cold memory, and without a lock of the cache. The cache still
/// counts the index partitions, and reclaims them with CachedIndexPartition::Yield().
/// Threads:    any thread.
/// Ownership:  shares the index partitions. The cache must have dropped all of the file's blocks
///             (EraseFile()) before this object is destroyed.
class IndexPartitionSlots {
 public:
  explicit IndexPartitionSlots(uint32_t count);
  ~IndexPartitionSlots();
  IndexPartitionSlots(const IndexPartitionSlots&) = delete;
  IndexPartitionSlots& operator=(const IndexPartitionSlots&) = delete;

  enum class Answer : uint8_t { kUnknown, kNo, kMaybe, kMaybeOther };
  /// kUnknown: index partition i is not kept. kNo: its filter holds neither hash. Otherwise *out is
  /// the index partition. kMaybe: its filter may hold hash, and perhaps other_hash. kMaybeOther:
  /// its filter may hold other_hash, but not hash.
  Answer Ask(uint32_t i, uint64_t hash, uint64_t other_hash,
             std::shared_ptr<const CachedIndexPartition>* out) const;
  /// Index index partition i, or null.
  std::shared_ptr<const CachedIndexPartition> Get(uint32_t i) const;
  /// Prefetches the memory that Ask(i, hash) will touch into the processor's caches.
  void Prefetch(uint32_t i, uint64_t hash) const;
  /// Keeps the index partition, which must be in the cache, in slot i. Has no effect if the slot is
  /// taken.
  void Keep(uint32_t i, std::shared_ptr<const CachedIndexPartition> index_partition) const;

 private:
  std::unique_ptr<IndexPartitionSlot[]> slots_;
  const uint32_t count_;
};

/// One slot. Its lock is held for a few instructions, and nothing else is locked under it.
class alignas(64) IndexPartitionSlot {
 public:
  /// Drops the reference unless the slot was used since the last Yield(). Returns whether the
  /// reference was dropped.
  bool Yield(const CachedIndexPartition* index_partition) LAVA_EXCLUDES(lock_);

 private:
  friend class IndexPartitionSlots;

  SpinLock lock_;
  bool asked_ LAVA_GUARDED_BY(lock_) = false;
  BloomView filter_ LAVA_GUARDED_BY(lock_);
  std::shared_ptr<const CachedIndexPartition> index_partition_ LAVA_GUARDED_BY(lock_);
};

}  // namespace lava::ksst
