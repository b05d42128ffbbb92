// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "memory/memory_budget.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "base/guarded.h"
#include "memory/memory_counter.h"

namespace lava {

MemoryBudget::MemoryBudget(MemoryBudget* parent, ChargeObserver* observer)
    : parent_(parent), observer_(observer) {
  for (uint32_t i = 0; i < kMemoryPurposes; ++i) {
    counters_[i].level_ = this;
    counters_[i].purpose_ = static_cast<MemoryPurpose>(i);
  }
}

uint64_t MemoryBudget::charged() const {
  uint64_t sum = 0;
  for (const MemoryCounter& counter : counters_) sum += counter.used();
  return sum;
}

bool MemoryBudget::TryAdd(uint64_t bytes) {
  uint64_t used = total_.used();
  do {
    const uint64_t limit = this->limit();
    if (bytes > limit - std::min(limit, used)) return false;
  } while (!total_.used_.compare_exchange_weak(used, used + bytes, std::memory_order_relaxed));
  return true;
}

// An observer may throw for lack of memory. The charge still counts, and the next charge notifies
// the observer again.
void MemoryBudget::Tell() {
  for (MemoryBudget* level = this; level != nullptr; level = level->parent_)
    if (level->observer_ != nullptr) (void)Tried([level] { level->observer_->Charged(); });
}

void MemoryCounter::Charge(uint64_t bytes) {
  if (level_ == nullptr) {
    used_.fetch_add(bytes, std::memory_order_relaxed);
    return;
  }
  for (MemoryBudget* level = level_; level != nullptr; level = level->parent_)
    level->total_.used_.fetch_add(bytes, std::memory_order_relaxed);
  level_->Tell();
  AddToPurposes(bytes);
}

void MemoryCounter::AddToPurposes(uint64_t bytes) {
  for (MemoryBudget* level = level_; level != nullptr; level = level->parent_)
    level->counter(purpose_)->used_.fetch_add(bytes, std::memory_order_relaxed);
}

bool MemoryCounter::TryCharge(uint64_t bytes) {
  if (level_ == nullptr) {
    used_.fetch_add(bytes, std::memory_order_relaxed);
    return true;
  }
  for (MemoryBudget* level = level_; level != nullptr; level = level->parent_) {
    const bool allowed = level->observer_ == nullptr || level->observer_->Allows(bytes);
    if (allowed && level->TryAdd(bytes)) continue;
    level->refusals_.fetch_add(1, std::memory_order_relaxed);
    for (MemoryBudget* taken = level_; taken != level; taken = taken->parent_)
      taken->total_.used_.fetch_sub(bytes, std::memory_order_relaxed);
    return false;
  }
  level_->Tell();
  AddToPurposes(bytes);
  return true;
}

void MemoryCounter::Release(uint64_t bytes) {
  LAVA_DCHECK(bytes <= used());
  if (level_ == nullptr) {
    used_.fetch_sub(bytes, std::memory_order_relaxed);
    return;
  }
  for (MemoryBudget* level = level_; level != nullptr; level = level->parent_) {
    level->counter(purpose_)->used_.fetch_sub(bytes, std::memory_order_relaxed);
    level->total_.used_.fetch_sub(bytes, std::memory_order_relaxed);
  }
}

std::string_view NameOf(MemoryPurpose purpose) {
  static constexpr std::array<std::string_view, kMemoryPurposes> kNames = {
      "memtables",   "readers",     "metadata",     "scans",   "flushes",
      "compactions", "collections", "file-buffers", "bindings"};
  return kNames[static_cast<size_t>(purpose)];
}

}  // namespace lava
