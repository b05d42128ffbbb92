#include "table/partition_slots.h"

#include <utility>

namespace lava::ksst {

bool PartitionSlot::Yield(const CachedPartition* partition) {
  std::shared_ptr<const CachedPartition> dropped;  // released after the lock
  SpinLockGuard guard(&lock_);
  if (partition_.get() != partition || std::exchange(asked_, false)) return false;
  dropped = std::move(partition_);
  filter_ = {};
  dropped->keeper.store(nullptr, std::memory_order_relaxed);
  return true;
}

bool CachedPartition::Yield() const {
  PartitionSlot* slot = keeper.load(std::memory_order_acquire);
  return slot != nullptr && slot->Yield(this);
}

PartitionSlots::PartitionSlots(uint32_t count)
    : slots_(std::make_unique<PartitionSlot[]>(count)), count_(count) {}

PartitionSlots::~PartitionSlots() {
  // Values that were read may still pin partitions.
  for (uint32_t i = 0; i < count_; ++i) {
    if (slots_[i].partition_ != nullptr)
      slots_[i].partition_->keeper.store(nullptr, std::memory_order_relaxed);
  }
}

PartitionSlots::Answer PartitionSlots::Ask(uint32_t i, uint64_t hash, uint64_t other_hash,
                                           std::shared_ptr<const CachedPartition>* out) const {
  PartitionSlot& slot = slots_[i];
  SpinLockGuard guard(&slot.lock_);
  if (slot.partition_ == nullptr) return Answer::kUnknown;
  slot.asked_ = true;
  Answer answer = Answer::kMaybe;
  if (!slot.filter_.MayHold(hash)) {
    if (other_hash == hash || !slot.filter_.MayHold(other_hash)) return Answer::kNo;
    answer = Answer::kMaybeOther;
  }
  *out = slot.partition_;
  return answer;
}

std::shared_ptr<const CachedPartition> PartitionSlots::Get(uint32_t i) const {
  PartitionSlot& slot = slots_[i];
  SpinLockGuard guard(&slot.lock_);
  slot.asked_ = slot.partition_ != nullptr;
  return slot.partition_;
}

void PartitionSlots::Prefetch(uint32_t i, uint64_t hash) const {
  PartitionSlot& slot = slots_[i];
  SpinLockGuard guard(&slot.lock_);
  slot.filter_.Prefetch(hash);
  __builtin_prefetch(slot.partition_.get());
}

void PartitionSlots::Keep(uint32_t i, std::shared_ptr<const CachedPartition> partition) const {
  PartitionSlot& slot = slots_[i];
  SpinLockGuard guard(&slot.lock_);
  if (slot.partition_ != nullptr) return;
  slot.filter_ = partition->filter;
  slot.asked_ = true;
  partition->keeper.store(&slot, std::memory_order_release);
  slot.partition_ = std::move(partition);
}

}  // namespace lava::ksst
