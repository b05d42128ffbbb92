// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "db/order_budget.h"

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "base/mutex.h"
#include "lava/slice.h"

namespace lava {

OrderBudget::OrderBudget(const std::atomic<uint64_t>* scanned, uint32_t percent,
                         uint64_t value_file_bytes)
    : scanned_(scanned),
      percent_(percent),
      step_(std::max<uint64_t>(1, value_file_bytes / 4)),
      look_at_(step_) {}

uint64_t OrderBudget::CreditAfter(uint64_t spent) const {
  const uint64_t earned = scanned_->load(std::memory_order_relaxed) / 100 * percent_;
  return earned - std::min(earned, spent);
}

uint64_t OrderBudget::Credit() const {
  MutexLock lock(&mutex_);
  return CreditAfter(spent_);
}

void OrderBudget::Spend(uint64_t bytes) {
  MutexLock lock(&mutex_);
  spent_ += bytes;
}

void OrderBudget::GiveBack(uint64_t bytes) {
  MutexLock lock(&mutex_);
  spent_ -= std::min(spent_, bytes);
}

bool OrderBudget::IsPlanDue() const {
  MutexLock lock(&mutex_);
  return CreditAfter(spent_) >= plan_at_;
}

void OrderBudget::PlanAgainAt(uint64_t credit) {
  MutexLock lock(&mutex_);
  SetPlanAgainAt(credit);
}

void OrderBudget::SetPlanAgainAt(uint64_t credit) {
  const uint64_t now = CreditAfter(spent_);
  plan_at_ = credit > now ? credit : now + step_;
}

bool OrderBudget::MayOrder(Slice lower, uint32_t overlap) {
  MutexLock lock(&mutex_);
  if (lower != Slice(ordered_lower_) || overlap < ordered_overlap_ ||
      CreditAfter(spent_) >= repeat_at_)
    return true;
  SetPlanAgainAt(repeat_at_);
  return false;
}

void OrderBudget::NoteOrder(Slice lower, uint32_t overlap, uint64_t cost) {
  MutexLock lock(&mutex_);
  ordered_lower_.assign(lower);
  ordered_overlap_ = overlap;
  plan_at_ = 0;
  const uint64_t spent = spent_ + cost;
  repeat_at_ = CreditAfter(spent) + std::max(spent, step_);
}

bool OrderBudget::IsLookDue() {
  const uint64_t scanned = scanned_->load(std::memory_order_relaxed);
  uint64_t at = look_at_.load(std::memory_order_relaxed);
  return scanned >= at && look_at_.compare_exchange_strong(at, scanned + step_);
}

}  // namespace lava
