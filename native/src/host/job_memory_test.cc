// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "host/job_memory.h"

#include <gtest/gtest.h>

#include "memory/memory_budget.h"

namespace lava {
namespace {

struct Waiter final : MemoryWaiter {
  void MemoryFreed() override { ++told; }
  int told = 0;
};

class JobMemoryTest : public ::testing::Test {
 protected:
  JobMemoryTest() { budget_.SetLimit(100); }
  ~JobMemoryTest() override { EXPECT_EQ(budget_.total().used(), 0u); }
  MemoryBudget budget_;
  MemoryCounter* const flushes_ = budget_.counter(MemoryPurpose::kFlushes);
  MemoryCounter* const compactions_ = budget_.counter(MemoryPurpose::kCompactions);
  JobMemory::Totals totals_;
  JobMemory jobs_{&totals_};
  Waiter waiter_;
};

TEST_F(JobMemoryTest, AJobThatFindsNoneIsToldWhenAnotherEnds) {
  {
    const auto first = jobs_.TryBegin(compactions_, 80);
    ASSERT_TRUE(first);
    EXPECT_FALSE(jobs_.TryBegin(compactions_, 30));
    EXPECT_TRUE(jobs_.Await(&waiter_));
    EXPECT_TRUE(jobs_.Await(&waiter_)) << "a waiter that asks twice must be told only once";
    EXPECT_EQ(totals_.put_off.load(), 1u);
    EXPECT_EQ(waiter_.told, 0);
  }
  EXPECT_EQ(waiter_.told, 1);
  EXPECT_FALSE(jobs_.Await(&waiter_)) << "no job runs whose end would wake the waiter";
  EXPECT_TRUE(jobs_.TryBegin(compactions_, 30));
  EXPECT_EQ(waiter_.told, 1);
  EXPECT_EQ(totals_.overdrafts.load(), 0u);
}

TEST_F(JobMemoryTest, AFlushIsNeverRefused) {
  const auto all = jobs_.TryBegin(compactions_, 100);
  const JobMemory::Grant flush = jobs_.Begin(flushes_, 50);
  EXPECT_EQ(budget_.total().used(), 150u);
  EXPECT_EQ(jobs_.running(), 2u);
}

TEST_F(JobMemoryTest, OneJobGoesOnWhateverTheBudgetSays) {
  budget_.counter(MemoryPurpose::kReaders)->Charge(100);
  {
    const auto first = jobs_.TryBegin(compactions_, 10);
    ASSERT_TRUE(first);
    EXPECT_EQ(totals_.overdrafts.load(), 1u);
    EXPECT_FALSE(jobs_.TryBegin(compactions_, 10)) << "only one job may exceed the budget";
  }
  EXPECT_TRUE(jobs_.TryBegin(compactions_, 10));
  budget_.counter(MemoryPurpose::kReaders)->Release(100);
}

TEST_F(JobMemoryTest, FlushesKeepNobodyFromGoingOnAlone) {
  const JobMemory::Grant flush = jobs_.Begin(flushes_, 90);
  EXPECT_FALSE(jobs_.Await(&waiter_));
  EXPECT_TRUE(jobs_.TryBegin(compactions_, 1000));
  EXPECT_EQ(totals_.overdrafts.load(), 1u);
}

TEST_F(JobMemoryTest, SmallJobsThatFollowEachOtherKeepALargeOneWaitingForSoLongOnly) {
  std::optional<JobMemory::Grant> small[2] = {jobs_.TryBegin(compactions_, 10), std::nullopt};
  uint32_t refused = 0;
  while (true) {
    ASSERT_LE(refused, JobMemory::kRefusalsMax);
    if (jobs_.TryBegin(compactions_, 1000)) break;
    ++refused;
    // The next small job begins before the last one has ended, as long as any may begin.
    auto next = jobs_.TryBegin(compactions_, 10);
    small[0].reset();
    if (next) small[0].emplace(std::move(*next));
  }
  EXPECT_GE(refused, JobMemory::kRefusalsMax / 2);
}

TEST_F(JobMemoryTest, WhoIsForgottenIsNotTold) {
  auto first = jobs_.TryBegin(compactions_, 100);
  ASSERT_TRUE(jobs_.Await(&waiter_));
  jobs_.Forget(&waiter_);
  first.reset();
  EXPECT_EQ(waiter_.told, 0);
}

TEST_F(JobMemoryTest, AMovedGrantEndsOnce) {
  auto first = jobs_.TryBegin(compactions_, 60);
  {
    const JobMemory::Grant moved = std::move(*first);
    first.reset();
    EXPECT_EQ(budget_.total().used(), 60u);
    EXPECT_EQ(jobs_.running(), 1u);
  }
  EXPECT_EQ(jobs_.running(), 0u);
}

}  // namespace
}  // namespace lava
