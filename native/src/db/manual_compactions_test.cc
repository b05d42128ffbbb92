// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "db/manual_compactions.h"

#include <gtest/gtest.h>

#include <thread>

namespace lava {
namespace {

using std::chrono::steady_clock;

steady_clock::time_point Passed() { return steady_clock::now() - std::chrono::seconds(1); }
steady_clock::time_point Never() { return steady_clock::now() + std::chrono::hours(1); }

TEST(ManualCompactions, NothingIsToBeDoneBeforeTheFirstRequest) {
  ManualCompactions manual;
  EXPECT_FALSE(manual.current().has_value());
  EXPECT_TRUE(manual.IsKnown(0));
  EXPECT_FALSE(manual.IsKnown(1));
  manual.FinishAll(Status::IOError("broken"));
  EXPECT_FALSE(manual.IsKnown(1))
      << "FinishAll() must not finish a request that does not exist yet";
}

TEST(ManualCompactions, ARequestIsDoneOnceItIsFinished) {
  ManualCompactions manual;
  const uint64_t ticket = manual.Request(7);
  EXPECT_TRUE(manual.IsKnown(ticket));
  ASSERT_TRUE(manual.current().has_value());
  EXPECT_EQ(manual.current()->sequence, 7u);
  EXPECT_FALSE(manual.current()->compacted);
  EXPECT_TRUE(manual.Await(ticket, Passed()).IsBusy());
  manual.SetCompacted(true);
  EXPECT_TRUE(manual.current()->compacted);
  EXPECT_TRUE(manual.Await(ticket, Passed()).IsBusy()) << "the request has only begun";
  manual.SetCompacted(false);
  EXPECT_FALSE(manual.current()->compacted) << "a postponed compaction must not count as compacted";
  manual.Finish(Status::OK());
  EXPECT_FALSE(manual.current().has_value());
  EXPECT_TRUE(manual.Await(ticket, Passed()).ok());
}

// The current compaction may have been planned without the data of later requests.
TEST(ManualCompactions, RequestsThatComeMeanwhileShareTheNextTicket) {
  ManualCompactions manual;
  const uint64_t first = manual.Request(3);
  manual.SetCompacted(true);
  const uint64_t second = manual.Request(9);
  EXPECT_NE(second, first) << "the first compaction may miss data written after it was planned";
  EXPECT_EQ(manual.Request(5), second);
  EXPECT_EQ(manual.current()->sequence, 3u) << "a running request must keep its sequence";
  manual.Finish(Status::OK());
  EXPECT_TRUE(manual.Await(first, Passed()).ok());
  EXPECT_TRUE(manual.Await(second, Passed()).IsBusy())
      << "the end of the first request must not end the second one";
  ASSERT_TRUE(manual.current().has_value());
  EXPECT_EQ(manual.current()->sequence, 9u);
  EXPECT_FALSE(manual.current()->compacted)
      << "the first request's compaction must not count for the second one";
  manual.Finish(Status::OK());
  EXPECT_TRUE(manual.Await(second, Passed()).ok());
  EXPECT_FALSE(manual.current().has_value());
}

TEST(ManualCompactions, AFailureIsToldToItsOwnRequest) {
  ManualCompactions manual;
  const uint64_t failed = manual.Request(1);
  const uint64_t next = manual.Request(2);
  manual.Finish(Status::IOError("the disk is gone"));
  EXPECT_NE(manual.Await(failed, Passed()).ToString().find("the disk is gone"), std::string::npos);
  EXPECT_TRUE(manual.Await(next, Passed()).IsBusy());
  manual.Finish(Status::OK());
  EXPECT_TRUE(manual.Await(next, Passed()).ok())
      << "the request must not get the previous request's failure";
}

TEST(ManualCompactions, FinishAllEndsThoseThatWaitForTheNextOne) {
  ManualCompactions manual;
  const uint64_t first = manual.Request(1);
  const uint64_t second = manual.Request(2);
  manual.FinishAll(Status::IOError("the manifest is read-only"));
  EXPECT_FALSE(manual.current().has_value());
  EXPECT_TRUE(manual.Await(first, Passed()).IsIOError());
  EXPECT_TRUE(manual.Await(second, Passed()).IsIOError());
  // The compaction of the first request fails only now.
  manual.Finish(Status::IOError("late"));
  const uint64_t third = manual.Request(3);
  EXPECT_GT(third, second);
  EXPECT_TRUE(manual.Await(third, Passed()).IsBusy()) << "a new request must not count as done";
}

TEST(ManualCompactions, WaitsEndWithTheRequestOrWhenItIsClosed) {
  ManualCompactions manual;
  const uint64_t first = manual.Request(1);
  const uint64_t second = manual.Request(2);
  Status of_first = Status::Busy(), of_second = Status::Busy();
  std::thread waits_for_first([&] { of_first = manual.Await(first, Never()); });
  std::thread waits_for_second([&] { of_second = manual.Await(second, Never()); });
  manual.Finish(Status::OK());
  waits_for_first.join();
  EXPECT_TRUE(of_first.ok());
  manual.Close();
  waits_for_second.join();
  EXPECT_TRUE(of_second.IsClosed());
  EXPECT_TRUE(manual.Await(first, Never()).ok()) << "the first request was done before the close";
  EXPECT_TRUE(manual.Await(second, Never()).IsClosed())
      << "the second request was not done before the close";
}

}  // namespace
}  // namespace lava
