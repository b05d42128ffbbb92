#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "base/spin_lock.h"
#include "table/partition.h"

namespace lava::ksst {

/// The partitions of one file that its reader keeps beside the cache. A lookup can thus ask a
/// filter with a single access to cold memory, and without a lock of the cache. The cache still
/// counts the partitions, and reclaims them with CachedPartition::Yield().
/// Threads:    any thread.
/// Ownership:  shares the partitions. The cache must have dropped all of the file's blocks
///             (EraseFile()) before this object is destroyed.
class PartitionSlots {
 public:
  explicit PartitionSlots(uint32_t count);
  ~PartitionSlots();
  PartitionSlots(const PartitionSlots&) = delete;
  PartitionSlots& operator=(const PartitionSlots&) = delete;

  enum class Answer : uint8_t { kUnknown, kNo, kMaybe, kMaybeOther };
  /// kUnknown: partition i is not kept. kNo: its filter holds neither hash. Otherwise *out is the
  /// partition. kMaybe: its filter may hold hash, and perhaps other_hash. kMaybeOther: its filter
  /// may hold other_hash, but not hash.
  Answer Ask(uint32_t i, uint64_t hash, uint64_t other_hash,
             std::shared_ptr<const CachedPartition>* out) const;
  /// Partition i, or null.
  std::shared_ptr<const CachedPartition> Get(uint32_t i) const;
  /// Prefetches the memory that Ask(i, hash) will touch into the processor's caches.
  void Prefetch(uint32_t i, uint64_t hash) const;
  /// Keeps the partition, which must be in the cache, in slot i. Has no effect if the slot is
  /// taken.
  void Keep(uint32_t i, std::shared_ptr<const CachedPartition> partition) const;

 private:
  std::unique_ptr<PartitionSlot[]> slots_;
  const uint32_t count_;
};

/// One slot. Its lock is held for a few instructions, and nothing else is locked under it.
class alignas(64) PartitionSlot {
 public:
  /// Drops the reference unless the slot was used since the last Yield(). Returns whether the
  /// reference was dropped.
  bool Yield(const CachedPartition* partition) LAVA_EXCLUDES(lock_);

 private:
  friend class PartitionSlots;

  SpinLock lock_;
  bool asked_ LAVA_GUARDED_BY(lock_) = false;
  BloomView filter_ LAVA_GUARDED_BY(lock_);
  std::shared_ptr<const CachedPartition> partition_ LAVA_GUARDED_BY(lock_);
};

}  // namespace lava::ksst
