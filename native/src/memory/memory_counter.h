#pragma once

#include <atomic>
#include <cstdint>

namespace lava {

class MemoryBudget;

/// What memory is taken for: the leaves of the budget's tree.
enum class MemoryPurpose : uint8_t {
  kMemtables,  // active and sealed ones
  kReaders,    // what open files keep outside the cache
  kMetadata,   // versions: what an instance knows of its files
  kScans,      // values on their way into a page, and what is read ahead for it
  kFlushes,    // working sets of jobs
  kCompactions,
  kCollections,
  kFileBuffers,  // of files that are written to volumes
  kBindings,     // what threads of the bindings keep for their calls
};
inline constexpr uint32_t kMemoryPurposes = 9;

/// Bytes of one purpose at one level of the budget (MemoryBudget); made by itself, it only counts.
/// Threads:    any thread.
/// Units:      bytes.
class MemoryCounter {
 public:
  MemoryCounter() = default;
  MemoryCounter(const MemoryCounter&) = delete;
  MemoryCounter& operator=(const MemoryCounter&) = delete;

  /// Counts here and at every level above, whatever the limits: for what cannot be done without,
  /// and is bounded by other means.
  void Charge(uint64_t bytes);
  /// The same if no level's limit is passed by it; else nothing is counted.
  [[nodiscard]] bool TryCharge(uint64_t bytes);
  void Release(uint64_t bytes);
  uint64_t used() const { return used_.load(std::memory_order_relaxed); }

 private:
  friend class MemoryBudget;
  void AddToPurposes(uint64_t bytes);
  MemoryBudget* level_ = nullptr;
  MemoryPurpose purpose_ = MemoryPurpose::kMemtables;
  std::atomic<uint64_t> used_{0};
};

/// Bytes charged for as long as it lives. Threads: one. Ownership: the counter must outlive it.
class ScopedCharge {
 public:
  ScopedCharge() = default;
  ScopedCharge(MemoryCounter* counter, uint64_t bytes) : counter_(counter), bytes_(bytes) {
    counter_->Charge(bytes_);
  }
  ~ScopedCharge() {
    if (counter_ != nullptr) counter_->Release(bytes_);
  }
  ScopedCharge(const ScopedCharge&) = delete;
  ScopedCharge& operator=(const ScopedCharge&) = delete;
  /// It stays charged: its owner releases it.
  void Keep() { counter_ = nullptr; }
  /// False when it was refused; then it holds nothing. Once.
  [[nodiscard]] bool Try(MemoryCounter* counter, uint64_t bytes) {
    if (!counter->TryCharge(bytes)) return false;
    counter_ = counter;
    bytes_ = bytes;
    return true;
  }

 private:
  MemoryCounter* counter_ = nullptr;
  uint64_t bytes_ = 0;
};

}  // namespace lava
