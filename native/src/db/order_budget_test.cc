// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "db/order_budget.h"

#include <gtest/gtest.h>

namespace lava {
namespace {

constexpr uint64_t kStep = 1000;

class OrderBudgetTest : public ::testing::Test {
 protected:
  std::atomic<uint64_t> scanned_{0};
  OrderBudget budget_{&scanned_, 50, 4 * kStep};
};

TEST_F(OrderBudgetTest, ScansEarnAndCompactionsSpend) {
  EXPECT_EQ(budget_.Credit(), 0u) << "without scans there must be no credit";
  scanned_ = 20'000;
  EXPECT_EQ(budget_.Credit(), 10'000u);
  budget_.Spend(4'000);
  EXPECT_EQ(budget_.Credit(), 6'000u);
  budget_.GiveBack(4'000);
  EXPECT_EQ(budget_.Credit(), 10'000u) << "a compaction without effect must cost nothing";
  budget_.Spend(30'000);
  EXPECT_EQ(budget_.Credit(), 0u) << "debt must not count as credit";
  scanned_ = 80'000;
  EXPECT_EQ(budget_.Credit(), 10'000u) << "the debt must reduce the credit of later scans";
}

TEST_F(OrderBudgetTest, APlanWithoutFindingsIsNotRepeatedBeforeThereIsMoreCredit) {
  EXPECT_TRUE(budget_.IsPlanDue());
  budget_.PlanAgainAt(5'000);
  EXPECT_FALSE(budget_.IsPlanDue());
  scanned_ = 9'900;
  EXPECT_FALSE(budget_.IsPlanDue());
  scanned_ = 10'000;
  EXPECT_TRUE(budget_.IsPlanDue());
  // The credit is reached, but the plan found nothing for another reason: the next plan is due one
  // step later.
  budget_.PlanAgainAt(5'000);
  EXPECT_FALSE(budget_.IsPlanDue());
  scanned_ = 10'000 + 2 * kStep;
  EXPECT_TRUE(budget_.IsPlanDue());
}

TEST_F(OrderBudgetTest, TheSameFileIsOrderedAgainOnlyOnceAsMuchAgainWasEarned) {
  scanned_ = 20'000;
  ASSERT_TRUE(budget_.MayOrder("a", 9));
  budget_.PlanAgainAt(50'000);
  budget_.NoteOrder("a", 9, 8'000);
  EXPECT_TRUE(budget_.IsPlanDue()) << "a plan that found work must not delay plans for other files";
  budget_.Spend(8'000);
  EXPECT_EQ(budget_.Credit(), 2'000u);

  EXPECT_TRUE(budget_.MayOrder("b", 9)) << "a different file must not wait";
  EXPECT_TRUE(budget_.MayOrder("a", 8))
      << "the file may be ordered again when there is more to gain than before";
  EXPECT_FALSE(budget_.MayOrder("a", 9));
  EXPECT_FALSE(budget_.IsPlanDue()) << "the next plan would find the same file";
  scanned_ = 20'000 + 2 * 8'000 - 200;
  EXPECT_FALSE(budget_.MayOrder("a", 10));
  scanned_ = 20'000 + 2 * 8'000;
  EXPECT_TRUE(budget_.IsPlanDue());
  EXPECT_TRUE(budget_.MayOrder("a", 10));
}

TEST_F(OrderBudgetTest, CheapWorkIsNotRepeatedForLessThanAStep) {
  budget_.NoteOrder("a", 9, 0);
  scanned_ = 2 * kStep - 200;
  EXPECT_FALSE(budget_.MayOrder("a", 9));
  scanned_ = 2 * kStep;
  EXPECT_TRUE(budget_.MayOrder("a", 9));
}

TEST_F(OrderBudgetTest, ScansAskForALookOncePerStep) {
  EXPECT_FALSE(budget_.IsLookDue());
  scanned_ = kStep - 1;
  EXPECT_FALSE(budget_.IsLookDue());
  scanned_ = kStep;
  EXPECT_TRUE(budget_.IsLookDue());
  EXPECT_FALSE(budget_.IsLookDue()) << "only one scan per step must ask for a plan";
  scanned_ = 5 * kStep;
  EXPECT_TRUE(budget_.IsLookDue());
  EXPECT_FALSE(budget_.IsLookDue()) << "several steps passed at once must ask for one plan only";
  scanned_ = 6 * kStep;
  EXPECT_TRUE(budget_.IsLookDue());
}

TEST(OrderBudget, TinyValueFilesHaveAStep) {
  std::atomic<uint64_t> scanned{0};
  OrderBudget budget(&scanned, 100, 0);
  EXPECT_FALSE(budget.IsLookDue()) << "scans without values must not ask for a plan";
  budget.PlanAgainAt(0);
  EXPECT_FALSE(budget.IsPlanDue());
}

}  // namespace
}  // namespace lava
