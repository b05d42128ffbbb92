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

/// Times in classes of one part in 32 or less, in memory that does not grow with their number.
/// Threads: one. Units: nanoseconds.
class Histogram {
 public:
  void Add(uint64_t ns);
  void Add(const Histogram& other);
  /// The upper bound of the class in which that share of all times ends; 0 when there are none.
  uint64_t At(double share) const;
  uint64_t count() const { return count_; }

 private:
  static constexpr uint32_t kSplitBits = 5;
  std::array<uint64_t, (64 - kSplitBits + 1) << kSplitBits> classes_{};
  uint64_t count_ = 0;
};

/// What the kernel knows of this process. Units: bytes, counts.
uint64_t ResidentBytes();
uint32_t ThreadCount();
uint32_t OpenFileCount();
/// CPU time of the calling thread. Units: nanoseconds.
uint64_t ThreadCpuNs();
/// What malloc and the page pool have given out, and what they keep free.
struct HeapBytes {
  uint64_t used = 0, free = 0;
};
HeapBytes HeapNow();

/// Looks at resident memory and at what the engine tracks ten times a second.
/// Ownership: the instances must outlive it.
class MemorySampler {
 public:
  /// base: resident bytes before there was an engine.
  MemorySampler(const Instances* instances, uint64_t base);
  ~MemorySampler();
  /// Peaks since the last call, as members of a row.
  void TakePeaks(Json* row);
  /// Peaks of all times beside their bounds.
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
