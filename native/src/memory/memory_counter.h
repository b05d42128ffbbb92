// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <cstdint>

namespace lava {

class MemoryBudget;

/// Purposes of memory: the leaves of the budget's tree.
enum class MemoryPurpose : uint8_t {
  kMemtables,  // active and sealed memtables
  kReaders,    // memory of open files outside the cache
  kMetadata,   // versions: metadata of an instance's files
  kScans,      // values being read into a page, and their read-ahead
  kFlushes,    // working sets of jobs
  kCompactions,
  kCollections,
  kFileBuffers,  // buffers of files being written to volumes
  kBindings,     // buffers that threads of the bindings keep for their calls
};
inline constexpr uint32_t kMemoryPurposes = 9;

/// Bytes of one purpose at one level of a MemoryBudget. A counter without a budget only counts.
/// Threads:    any thread.
/// Units:      bytes.
class MemoryCounter {
 public:
  MemoryCounter() = default;
  MemoryCounter(const MemoryCounter&) = delete;
  MemoryCounter& operator=(const MemoryCounter&) = delete;

  /// Counts here and at every level above, regardless of limits: for indispensable memory that is
  /// bounded by other means.
  void Charge(uint64_t bytes);
  /// Charges unless a level's limit would be exceeded or an observer refuses. False: nothing was
  /// counted.
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

/// Charges bytes during its lifetime. Threads: one. Ownership: the counter must outlive the charge.
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
  /// Leaves the bytes charged; the caller must release them.
  void Keep() { counter_ = nullptr; }
  /// False if the charge was refused; then nothing is held. To be called once.
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
