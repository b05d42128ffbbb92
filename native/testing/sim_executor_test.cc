// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "testing/sim_executor.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace lava::testing {
namespace {

std::string History(uint64_t seed) {
  SimExecutor executor(seed);
  std::string history;
  for (char c = 'a'; c < 'g'; ++c) {
    executor.Submit(os::Priority::kFlush, [&history, &executor, c] {
      history.push_back(c);
      executor.Submit(os::Priority::kCollection,
                      [&history, c] { history.push_back(static_cast<char>(c - 'a' + 'A')); });
    });
  }
  EXPECT_EQ(executor.RunUntilIdle(), 12u);
  EXPECT_EQ(executor.jobs_run(), 12u);
  return history;
}

TEST(SimExecutorTest, TheSeedDecidesTheOrder) {
  std::set<std::string> histories;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    EXPECT_EQ(History(seed), History(seed));
    histories.insert(History(seed));
  }
  EXPECT_GT(histories.size(), 15u);
}

TEST(SimExecutorTest, NothingRunsByItself) {
  SimExecutor executor(1);
  int ran = 0;
  EXPECT_FALSE(executor.RunOne());
  for (int i = 0; i < 5; ++i) executor.Submit(os::Priority::kFlush, [&ran] { ++ran; });
  EXPECT_EQ(ran, 0);
  EXPECT_EQ(executor.pending(), 5u);
  EXPECT_TRUE(executor.RunOne());
  EXPECT_EQ(ran, 1);
  EXPECT_EQ(executor.RunUntilIdle(2), 2u);
  EXPECT_EQ(executor.DropAll(), 2u);
  EXPECT_EQ(ran, 3);
  executor.SetThreadCount(4);
  EXPECT_EQ(executor.thread_count(), 4u);
}

TEST(SimExecutorTest, PriorityOrderIsThatOfOneThread) {
  SimExecutor executor(1, SimExecutor::Order::kPriority);
  std::string history;
  executor.Submit(os::Priority::kCollection, [&] { history.push_back('4'); });
  executor.Submit(os::Priority::kCompaction, [&] { history.push_back('3'); });
  executor.Submit(os::Priority::kFlush, [&] { history.push_back('1'); });
  executor.Submit(os::Priority::kFlush, [&] { history.push_back('2'); });
  executor.RunUntilIdle();
  EXPECT_EQ(history, "1234");
  executor.Submit(os::Priority::kCollection, [&] { history.push_back('a'); });
  executor.Submit(os::Priority::kFlush, [&] { history.push_back('b'); });
  executor.MakeUrgent(os::Priority::kCollection);
  EXPECT_EQ(executor.pending_urgent(), 1u);
  executor.RunUntilIdle();
  EXPECT_EQ(history, "1234ab") << "jobs for which somebody waits must run first";
}

}  // namespace
}  // namespace lava::testing
