// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string_view>

#include "memory/memory_counter.h"

namespace lava {

/// Observes and limits the charges of a budget.
/// Threads:    called on the thread that charges.
class ChargeObserver {
 public:
  virtual ~ChargeObserver() = default;
  /// Called during a charge, when total() already includes its bytes but the counter of their
  /// purpose does not: the observer can free memory before the memory is used. Must neither block
  /// nor charge.
  virtual void Charged() = 0;
  /// Called before a TryCharge() is checked against the limit. False: refuse the charge.
  virtual bool Allows(uint64_t /*bytes*/) { return true; }
};

/// A level of the budget's tree (process, slot, instance), with a counter for each purpose. A
/// charge to a counter also counts at the levels above (docs/decisions/38-memory-budget.md).
/// Threads:    any thread.
/// Ownership:  the parent must outlive the child, and a budget must outlive users of its counters.
/// Units:      bytes.
class MemoryBudget {
 public:
  /// observer (may be null, must outlive the budget) sees the charges of this level and the levels
  /// below.
  explicit MemoryBudget(MemoryBudget* parent = nullptr, ChargeObserver* observer = nullptr);
  MemoryBudget(const MemoryBudget&) = delete;
  MemoryBudget& operator=(const MemoryBudget&) = delete;

  MemoryCounter* counter(MemoryPurpose purpose) { return &counters_[static_cast<size_t>(purpose)]; }
  const MemoryCounter& counter(MemoryPurpose purpose) const {
    return counters_[static_cast<size_t>(purpose)];
  }
  /// The sum over all purposes and charges in progress; never less than charged().
  const MemoryCounter& total() const { return total_; }
  /// The sum of the counters.
  uint64_t charged() const;
  /// Sets the largest total that TryCharge() allows; initially unlimited. Charge() ignores it.
  void SetLimit(uint64_t bytes) { limit_.store(bytes, std::memory_order_relaxed); }
  uint64_t limit() const { return limit_.load(std::memory_order_relaxed); }
  /// Number of charges that this level's limit or observer refused.
  uint64_t refusals() const { return refusals_.load(std::memory_order_relaxed); }

 private:
  friend class MemoryCounter;
  bool TryAdd(uint64_t bytes);
  void Tell();

  MemoryBudget* const parent_;
  ChargeObserver* const observer_;
  std::array<MemoryCounter, kMemoryPurposes> counters_;
  MemoryCounter total_;
  std::atomic<uint64_t> limit_{UINT64_MAX};
  std::atomic<uint64_t> refusals_{0};
};

/// The purpose's name in metrics.
std::string_view NameOf(MemoryPurpose purpose);

}  // namespace lava
