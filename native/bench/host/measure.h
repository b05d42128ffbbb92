// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "bench/host/instances.h"

namespace lava::bench {

using Json = nlohmann::ordered_json;
using SteadyClock = std::chrono::steady_clock;

inline double SecondsSince(SteadyClock::time_point began) {
  return std::chrono::duration<double>(SteadyClock::now() - began).count();
}

/// A histogram of times with classes of at most 1/32 relative width, whose memory does not grow
/// with the number of times. Threads: one. Units: nanoseconds.
class Histogram {
 public:
  void Add(uint64_t ns);
  void Add(const Histogram& other);
  /// The upper bound of the class that contains this quantile; 0 without times.
  uint64_t At(double share) const;
  uint64_t count() const { return count_; }

 private:
  static constexpr uint32_t kSplitBits = 5;
  std::array<uint64_t, (64 - kSplitBits + 1) << kSplitBits> classes_{};
  uint64_t count_ = 0;
};

/// The kernel's figures for this process. Units: bytes, counts.
uint64_t ResidentBytes();
uint32_t ThreadCount();
uint32_t OpenFileCount();
/// CPU time of the calling thread. Units: nanoseconds.
uint64_t ThreadCpuNs();
/// Memory allocated from malloc and the page pool, and memory that they keep free.
struct HeapBytes {
  uint64_t used = 0, free = 0;
};
HeapBytes HeapNow();

/// Samples resident memory and the memory that the engine tracks ten times per second. Ownership:
/// the instances must outlive it.
class MemorySampler {
 public:
  /// base: resident bytes before the engine was created.
  MemorySampler(const Instances* instances, uint64_t base);
  ~MemorySampler();
  /// Peaks since the last call, as members of a row.
  void TakePeaks(Json* row);
  /// The overall peaks, with their limits.
  void Summarize(uint64_t budget, Json* row);

 private:
  struct Peaks {
    uint64_t resident = 0;
    Tracked tracked;
    void Take(uint64_t resident_now, const Tracked& now);
    void AddTo(Json* row) const;
  };
  void Look();

  const Instances& instances_;
  const uint64_t base_;
  std::mutex mutex_;
  Peaks recent_, all_;  // guarded by mutex
  uint64_t samples_ = 0;
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

}  // namespace lava::bench
