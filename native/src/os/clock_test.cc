// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "os/clock.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace lava::os {
namespace {

TEST(ClockTest, MonotonicAdvancesWithTime) {
  const uint64_t before = MonotonicMicros();
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  EXPECT_GE(MonotonicMicros(), before + 2'000);
}

TEST(ClockTest, WallIsTheEpochsTime) {
  const auto expected = std::chrono::duration_cast<std::chrono::milliseconds>(
                            std::chrono::system_clock::now().time_since_epoch())
                            .count();
  EXPECT_NEAR(static_cast<double>(WallMillis()), static_cast<double>(expected), 5'000);
}

TEST(ClockTest, CpuTimeDoesNotCountSleep) {
  const uint64_t before = ThreadCpuMicros();
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_LT(ThreadCpuMicros() - before, 40'000u);
  volatile uint64_t work = 0;
  while (ThreadCpuMicros() - before < 1'000) work = work + 1;
  EXPECT_GT(work, 0u);
}

}  // namespace
}  // namespace lava::os
