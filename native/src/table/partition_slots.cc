#include "table/partition_slots.h"

#include <utility>

namespace lava::ksst {

class PartitionSlot::Reading {
 public:
  explicit Reading(PartitionSlot* slot)
      : state_(slot->state_),
        allowed_((state_.fetch_add(1, std::memory_order_acquire) & kWritten) == 0) {}
  ~Reading() { state_.fetch_sub(1, std::memory_order_release); }
  Reading(const Reading&) = delete;
  Reading& operator=(const Reading&) = delete;
  bool allowed() const { return allowed_; }

 private:
  std::atomic<uint32_t>& state_;
  const bool allowed_;
};

class PartitionSlot::Writing {
 public:
  explicit Writing(PartitionSlot* slot) : state_(slot->state_) {
    uint32_t idle = 0;
    allowed_ = state_.compare_exchange_strong(idle, kWritten, std::memory_order_acquire,
                                              std::memory_order_relaxed);
  }
  ~Writing() {
    if (allowed_) state_.fetch_sub(kWritten, std::memory_order_release);
  }
  Writing(const Writing&) = delete;
  Writing& operator=(const Writing&) = delete;
  bool allowed() const { return allowed_; }

 private:
  std::atomic<uint32_t>& state_;
  bool allowed_;
};

void PartitionSlot::Set(std::shared_ptr<const CachedPartition> partition) {
  filter_ = partition == nullptr ? BloomView() : partition->filter;
  lines_.store(filter_.lines(), std::memory_order_relaxed);
  line_count_.store(filter_.line_count(), std::memory_order_relaxed);
  head_.store(partition.get(), std::memory_order_relaxed);
  partition_ = std::move(partition);
}

bool PartitionSlot::Yield(const CachedPartition* partition) {
  std::shared_ptr<const CachedPartition> dropped;  // released when nothing is locked
  Writing writing(this);
  if (!writing.allowed() || partition_.get() != partition) return false;
  if (asked_.exchange(false, std::memory_order_relaxed)) return false;
  dropped = partition_;
  Set(nullptr);
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
  // Blocks may live on in the pins of values that were read.
  for (uint32_t i = 0; i < count_; ++i) {
    if (slots_[i].partition_ != nullptr)
      slots_[i].partition_->keeper.store(nullptr, std::memory_order_relaxed);
  }
}

PartitionSlots::Answer PartitionSlots::Ask(uint32_t i, uint64_t hash, uint64_t other_hash,
                                           std::shared_ptr<const CachedPartition>* out) const {
  PartitionSlot& slot = slots_[i];
  PartitionSlot::Reading reading(&slot);
  if (!reading.allowed() || slot.partition_ == nullptr) return Answer::kUnknown;
  slot.CountAsked();
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
  PartitionSlot::Reading reading(&slot);
  if (!reading.allowed()) return nullptr;
  if (slot.partition_ != nullptr) slot.CountAsked();
  return slot.partition_;
}

void PartitionSlots::Prefetch(uint32_t i, uint64_t hash) const {
  const PartitionSlot& slot = slots_[i];
  BloomView::Prefetch(slot.lines_.load(std::memory_order_relaxed),
                      slot.line_count_.load(std::memory_order_relaxed), hash);
  __builtin_prefetch(slot.head_.load(std::memory_order_relaxed));
}

void PartitionSlots::Keep(uint32_t i, std::shared_ptr<const CachedPartition> partition) const {
  PartitionSlot& slot = slots_[i];
  PartitionSlot::Writing writing(&slot);
  if (!writing.allowed() || slot.partition_ != nullptr) return;
  slot.asked_.store(true, std::memory_order_relaxed);
  partition->keeper.store(&slot, std::memory_order_release);
  slot.Set(std::move(partition));
}

}  // namespace lava::ksst
