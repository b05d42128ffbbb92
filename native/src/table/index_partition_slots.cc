// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "table/index_partition_slots.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include "base/spin_lock.h"
#include "table/index_partition.h"

namespace lava::ksst {

bool IndexPartitionSlot::Yield(const CachedIndexPartition* index_partition) {
  std::shared_ptr<const CachedIndexPartition> dropped;  // released after the lock
  SpinLockGuard guard(&lock_);
  if (index_partition_.get() != index_partition || std::exchange(asked_, false)) return false;
  dropped = std::move(index_partition_);
  filter_ = {};
  dropped->keeper.store(nullptr, std::memory_order_relaxed);
  return true;
}

bool CachedIndexPartition::Yield() const {
  IndexPartitionSlot* slot = keeper.load(std::memory_order_acquire);
  return slot != nullptr && slot->Yield(this);
}

IndexPartitionSlots::IndexPartitionSlots(uint32_t count)
    : slots_(std::make_unique<IndexPartitionSlot[]>(count)), count_(count) {}

IndexPartitionSlots::~IndexPartitionSlots() {
  // Values that were read may still pin index partitions.
  for (uint32_t i = 0; i < count_; ++i) {
    if (slots_[i].index_partition_ != nullptr)
      slots_[i].index_partition_->keeper.store(nullptr, std::memory_order_relaxed);
  }
}

IndexPartitionSlots::Answer IndexPartitionSlots::Ask(
    uint32_t i, uint64_t hash, uint64_t other_hash,
    std::shared_ptr<const CachedIndexPartition>* out) const {
  IndexPartitionSlot& slot = slots_[i];
  SpinLockGuard guard(&slot.lock_);
  if (slot.index_partition_ == nullptr) return Answer::kUnknown;
  slot.asked_ = true;
  Answer answer = Answer::kMaybe;
  if (!slot.filter_.MayHold(hash)) {
    if (other_hash == hash || !slot.filter_.MayHold(other_hash)) return Answer::kNo;
    answer = Answer::kMaybeOther;
  }
  *out = slot.index_partition_;
  return answer;
}

std::shared_ptr<const CachedIndexPartition> IndexPartitionSlots::Get(uint32_t i) const {
  IndexPartitionSlot& slot = slots_[i];
  SpinLockGuard guard(&slot.lock_);
  slot.asked_ = slot.index_partition_ != nullptr;
  return slot.index_partition_;
}

void IndexPartitionSlots::Prefetch(uint32_t i, uint64_t hash) const {
  IndexPartitionSlot& slot = slots_[i];
  SpinLockGuard guard(&slot.lock_);
  slot.filter_.Prefetch(hash);
  __builtin_prefetch(slot.index_partition_.get());
}

void IndexPartitionSlots::Keep(uint32_t i,
                               std::shared_ptr<const CachedIndexPartition> index_partition) const {
  IndexPartitionSlot& slot = slots_[i];
  SpinLockGuard guard(&slot.lock_);
  if (slot.index_partition_ != nullptr) return;
  slot.filter_ = index_partition->filter;
  slot.asked_ = true;
  index_partition->keeper.store(&slot, std::memory_order_release);
  slot.index_partition_ = std::move(index_partition);
}

}  // namespace lava::ksst
