// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "policy/cpu_budget.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace lava {
namespace {

constexpr uint64_t kSecond = 1'000'000;

TEST(CpuBudget, WithoutOneNothingWaits) {
  CpuBudget budget;
  budget.Charge(100 * kSecond, false, 0);
  EXPECT_EQ(budget.PaidInUs(0), 0u);
  EXPECT_EQ(budget.EarnedInUs(kSecond), 0u);
}

TEST(CpuBudget, DebtIsPaidAtItsRate) {
  CpuBudget budget;
  budget.SetCores(0.5, 10 * kSecond);
  const uint64_t burst = kSecond / 8;  // a quarter of a second's worth
  budget.Charge(burst, false, 10 * kSecond);
  EXPECT_EQ(budget.PaidInUs(10 * kSecond), 0u) << "the time earned so far must be usable at once";
  budget.Charge(1000, false, 10 * kSecond);
  EXPECT_EQ(budget.PaidInUs(10 * kSecond), 2000u);
  EXPECT_EQ(budget.PaidInUs(10 * kSecond + 1500), 500u);
  EXPECT_EQ(budget.PaidInUs(10 * kSecond + 2000), 0u);
  EXPECT_EQ(budget.EarnedInUs(1000), 2000u);
}

TEST(CpuBudget, IdleTimeIsSavedUpToTheBurst) {
  CpuBudget budget;
  budget.SetCores(2, 0);
  EXPECT_EQ(budget.PaidInUs(1000 * kSecond), 0u);
  budget.Charge(kSecond / 2, false, 1000 * kSecond);
  EXPECT_EQ(budget.PaidInUs(1000 * kSecond), 0u);
  budget.Charge(2, false, 1000 * kSecond);
  EXPECT_EQ(budget.PaidInUs(1000 * kSecond), 1u);
}

TEST(CpuBudget, WhatMayOverdrawLeavesASecondOfDebtAtMost) {
  CpuBudget budget;
  budget.SetCores(0.5, 0);
  for (int i = 0; i < 100; ++i) budget.Charge(kSecond, true, 0);
  EXPECT_EQ(budget.PaidInUs(0), kSecond);
  // Work that may not overdraw is charged in full, and its debt is not forgiven.
  budget.Charge(kSecond, false, 0);
  EXPECT_EQ(budget.PaidInUs(0), 3 * kSecond);
  budget.Charge(kSecond, true, 0);
  EXPECT_EQ(budget.PaidInUs(0), 3 * kSecond);
}

TEST(CpuBudget, ANewBudgetForgetsTheOldDebt) {
  CpuBudget budget;
  budget.SetCores(0.5, 0);
  budget.Charge(9 * kSecond, false, 0);
  budget.SetCores(0.5, 0);
  EXPECT_GT(budget.PaidInUs(0), 0u) << "setting the same budget must keep the debt";
  budget.SetCores(1, 0);
  EXPECT_EQ(budget.PaidInUs(0), 0u);
  budget.Charge(9 * kSecond, false, 0);
  budget.SetCores(0, 0);
  EXPECT_EQ(budget.PaidInUs(0), 0u);
}

TEST(CpuBudget, TimeThatGoesBackEarnsNothing) {
  CpuBudget budget;
  budget.SetCores(1, kSecond);
  budget.Charge(kSecond / 4 + 100, false, kSecond);
  EXPECT_EQ(budget.PaidInUs(kSecond - 50), 100u);
  EXPECT_EQ(budget.PaidInUs(kSecond), 100u);
}

// Workers ask before each step of random length. They never use more than the time earned, the
// burst and one step each.
TEST(CpuBudget, HoldsOverAnyInterval) {
  constexpr uint32_t kWorkers = 8;
  constexpr uint64_t kStepMax = 5000;
  for (const double cores : {0.1, 0.5, 1.0, 3.0}) {
    std::mt19937_64 random(7);
    CpuBudget budget;
    budget.SetCores(cores, 0);
    uint64_t used = 0, now = 0;
    while (now < 20 * kSecond) {
      uint64_t longest = 100;
      if (budget.PaidInUs(now) == 0) {
        for (uint32_t w = 0; w < kWorkers; ++w) {
          const uint64_t step = 1 + random() % kStepMax;
          used += step;
          longest = std::max(longest, step);
          budget.Charge(step, false, now);
        }
      }
      now += longest;
      const double allowed =
          cores * (static_cast<double>(now) + CpuBudget::kBurstUs) + kWorkers * kStepMax;
      ASSERT_LE(static_cast<double>(used), allowed) << "at " << now << " of " << cores;
    }
    EXPECT_GE(static_cast<double>(used), 0.9 * cores * static_cast<double>(now));
  }
}

}  // namespace
}  // namespace lava
