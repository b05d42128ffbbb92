#pragma once

#include <atomic>
#include <cstdint>

namespace lava {

/// What a counter tells of charges.
class ChargeObserver {
 public:
  virtual ~ChargeObserver() = default;
  /// After bytes were charged, on the thread that charges; must not block nor charge.
  virtual void Charged() = 0;
};

/// A node of the budget's tree: bytes charged here are charged to every ancestor too. The first
/// version only counts; refusing and leases come with the budget (seam: TryCharge).
/// Threads:    any thread.
/// Ownership:  the parent must outlive the child.
/// Units:      bytes.
class MemoryCounter {
 public:
  /// observer (may be null, must outlive the counter) is told of charges here and below.
  explicit MemoryCounter(MemoryCounter* parent = nullptr, ChargeObserver* observer = nullptr)
      : parent_(parent), observer_(observer) {}
  MemoryCounter(const MemoryCounter&) = delete;
  MemoryCounter& operator=(const MemoryCounter&) = delete;

  void Charge(uint64_t bytes) {
    for (MemoryCounter* c = this; c != nullptr; c = c->parent_)
      c->used_.fetch_add(bytes, std::memory_order_relaxed);
    for (MemoryCounter* c = this; c != nullptr; c = c->parent_)
      if (c->observer_ != nullptr) c->observer_->Charged();
  }
  void Release(uint64_t bytes) {
    for (MemoryCounter* c = this; c != nullptr; c = c->parent_)
      c->used_.fetch_sub(bytes, std::memory_order_relaxed);
  }
  uint64_t used() const { return used_.load(std::memory_order_relaxed); }

 private:
  MemoryCounter* parent_;
  ChargeObserver* observer_;
  std::atomic<uint64_t> used_{0};
};

}  // namespace lava
