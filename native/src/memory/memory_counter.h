#pragma once

#include <atomic>
#include <cstdint>

namespace lava {

/// A node of the budget's tree: bytes charged here are charged to every ancestor too. The first
/// version only counts; refusing and leases come with the budget (seam: TryCharge).
/// Threads:    any thread.
/// Ownership:  the parent must outlive the child.
/// Units:      bytes.
class MemoryCounter {
 public:
  explicit MemoryCounter(MemoryCounter* parent = nullptr) : parent_(parent) {}
  MemoryCounter(const MemoryCounter&) = delete;
  MemoryCounter& operator=(const MemoryCounter&) = delete;

  void Charge(uint64_t bytes) {
    for (MemoryCounter* c = this; c != nullptr; c = c->parent_)
      c->used_.fetch_add(bytes, std::memory_order_relaxed);
  }
  void Release(uint64_t bytes) {
    for (MemoryCounter* c = this; c != nullptr; c = c->parent_)
      c->used_.fetch_sub(bytes, std::memory_order_relaxed);
  }
  uint64_t used() const { return used_.load(std::memory_order_relaxed); }

 private:
  MemoryCounter* parent_;
  std::atomic<uint64_t> used_{0};
};

}  // namespace lava
