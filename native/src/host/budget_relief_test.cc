// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "host/budget_relief.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace lava {
namespace {

template <typename Condition>
bool Becomes(Condition condition) {
  for (int i = 0; i < 10'000 && !condition(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return condition();
}

TEST(BudgetRelief, StepsUntilNothingIsLeft) {
  std::atomic<int> steps{0}, left{4};
  BudgetRelief relief([&] {
    ++steps;
    return --left <= 0;
  });
  relief.Start();
  EXPECT_TRUE(Becomes([&] { return steps == 4; }));
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_EQ(steps, 4);
  left = 2;
  relief.Start();
  EXPECT_TRUE(Becomes([&] { return steps == 6; }));
}

TEST(BudgetRelief, AStartAmidAStepIsNotMissed) {
  std::atomic<int> steps{0};
  std::atomic<bool> go_on{false};
  BudgetRelief relief([&] {
    ++steps;
    while (!go_on) std::this_thread::yield();
    return true;
  });
  relief.Start();
  ASSERT_TRUE(Becomes([&] { return steps == 1; }));
  relief.Start();
  go_on = true;
  EXPECT_TRUE(Becomes([&] { return steps == 2; }));
}

TEST(BudgetRelief, EndsWhileThereIsSomethingLeft) {
  std::atomic<int> steps{0};
  {
    BudgetRelief relief([&] {
      ++steps;
      return false;
    });
    relief.Start();
    EXPECT_TRUE(Becomes([&] { return steps >= 2; }));
  }
  const int ended_at = steps;
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_EQ(steps, ended_at);
}

}  // namespace
}  // namespace lava
