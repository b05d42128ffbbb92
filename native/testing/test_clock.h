#pragma once

#include <atomic>

#include "db/environment.h"

namespace lava::testing {

/// A clock that stands still until the test moves it.
/// Threads: any.
class TestClock final : public Clock {
 public:
  int64_t WallMillis() override { return wall_ms_; }
  uint64_t MonotonicMicros() override { return static_cast<uint64_t>(wall_ms_) * 1000 + micros_; }
  void Advance(int64_t ms) { wall_ms_ += ms; }
  void AdvanceMicros(uint64_t us) { micros_ += us; }

 private:
  std::atomic<int64_t> wall_ms_{1'000'000};
  std::atomic<uint64_t> micros_{0};
};

}  // namespace lava::testing
