// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>

#include "db/environment.h"

namespace lava::testing {

/// A clock that stands still until the test moves it.
/// Threads:    any.
class TestClock final : public Clock {
 public:
  int64_t WallMillis() override {
    if (readings_left_ > 0 && --readings_left_ == 0) wall_ms_ += step_ms_;
    return wall_ms_;
  }
  uint64_t MonotonicMicros() override { return micros_; }
  void Advance(int64_t ms) {
    wall_ms_ += ms;
    micros_ += static_cast<uint64_t>(ms) * 1000;
  }
  void AdvanceMicros(uint64_t us) { micros_ += us; }
  /// Sets the wall clock, as an administrator does; the steady clock is unchanged. ms may be
  /// negative.
  void StepWall(int64_t ms) { wall_ms_ += ms; }
  /// As StepWall(), with the step at the n-th reading of the wall clock from now on.
  void StepWallAtReading(int n, int64_t ms) {
    step_ms_ = ms;
    readings_left_ = n;
  }

 private:
  std::atomic<int64_t> wall_ms_{1'000'000};
  std::atomic<uint64_t> micros_{1'000'000'000};
  std::atomic<int> readings_left_{0};
  std::atomic<int64_t> step_ms_{0};
};

}  // namespace lava::testing
