#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string_view>

#include "memory/memory_counter.h"

namespace lava {

/// What a budget tells of charges.
class ChargeObserver {
 public:
  virtual ~ChargeObserver() = default;
  /// Once the sum includes bytes that are being charged, and before their purpose's counter does:
  /// the time to make room. On the thread that charges; must not block nor charge.
  virtual void Charged() = 0;
  /// Whether a charge that may be refused is let through to the limits; on the thread that asks.
  virtual bool Allows(uint64_t /*bytes*/) { return true; }
};

/// A level of the budget's tree (process, slot, instance), with a counter for each purpose: what is
/// charged to one of them is charged to the levels above (docs/decisions/38-memory-budget.md).
/// Threads:    any thread.
/// Ownership:  the parent must outlive the child, and this its counters' users.
/// Units:      bytes.
class MemoryBudget {
 public:
  /// observer (may be null, must outlive the budget) is told of charges here and below, and asked
  /// before those that may be refused.
  explicit MemoryBudget(MemoryBudget* parent = nullptr, ChargeObserver* observer = nullptr);
  MemoryBudget(const MemoryBudget&) = delete;
  MemoryBudget& operator=(const MemoryBudget&) = delete;

  MemoryCounter* counter(MemoryPurpose purpose) { return &counters_[static_cast<size_t>(purpose)]; }
  const MemoryCounter& counter(MemoryPurpose purpose) const {
    return counters_[static_cast<size_t>(purpose)];
  }
  /// The sum over all purposes, and what is being charged: never less than the sum of counters.
  const MemoryCounter& total() const { return total_; }
  /// The sum of the counters.
  uint64_t charged() const;
  /// What charges that may be refused leave alone; no limit at first.
  void SetLimit(uint64_t bytes) { limit_.store(bytes, std::memory_order_relaxed); }
  uint64_t limit() const { return limit_.load(std::memory_order_relaxed); }
  /// How many charges this level's limit or observer refused.
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

/// As metrics name it.
std::string_view NameOf(MemoryPurpose purpose);

}  // namespace lava
