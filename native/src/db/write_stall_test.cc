// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "db/write_stall.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "testing/recording_listener.h"

namespace lava {
namespace {

using testing::EventKind;
using testing::RecordingListener;

WriteStall::Judgement Meets(StallCondition condition) {
  WriteStall::Judgement judgement;
  judgement.condition = condition;
  return judgement;
}

/// A judgement: the write is slowed by the instance's limits.
WriteStall::Judgement Slowed() {
  WriteStall::Judgement judgement;
  judgement.space.own.slow = 0.5;
  judgement.space.use = {.file_bytes = 700, .pinned_bytes = 30};
  return judgement;
}

class WriteStallTest : public ::testing::Test {
 protected:
  const std::shared_ptr<RecordingListener> heard = std::make_shared<RecordingListener>();
  EventNotifier notifier{{heard}, "/instance"};
  Counters counters;
  WriteStall stall{&counters, &notifier};

  StallInfo LastBegun() { return heard->All<StallInfo>(EventKind::kStallBegin).back(); }
};

TEST_F(WriteStallTest, AWriteThatComesAgainHasWaitedSinceItCameFirst) {
  EXPECT_EQ(stall.since_us(), 0u);
  stall.Begin(500);
  stall.Begin(900);
  EXPECT_EQ(stall.since_us(), 500u);
  *stall.space_round() = 7;
  stall.End();
  EXPECT_EQ(stall.since_us(), 0u);
  EXPECT_EQ(*stall.space_round(), 0u)
      << "the next write must not inherit the round of the last one";
  stall.Begin(1200);
  EXPECT_EQ(stall.since_us(), 1200u);
}

TEST_F(WriteStallTest, JobsThatAreBehindComeBeforeSpace) {
  WriteStall::Judgement judgement = Slowed();
  judgement.space.own.stop = true;
  judgement.condition = StallCondition::kWaitForFlush;
  EXPECT_EQ(WriteStall::CauseOf(judgement), StallCause::kFlush);
  judgement.condition = StallCondition::kWaitForCompaction;
  EXPECT_EQ(WriteStall::CauseOf(judgement), StallCause::kLevel0);
  for (const StallCondition condition : {StallCondition::kNone, StallCondition::kSeal}) {
    EXPECT_EQ(WriteStall::CauseOf(Meets(condition)), std::nullopt);
    judgement.condition = condition;
    EXPECT_EQ(WriteStall::CauseOf(judgement), StallCause::kSpaceLimit);
  }
}

TEST_F(WriteStallTest, TheLimitThatStopsAWriteIsTheCause) {
  WriteStall::Judgement judgement = Slowed();
  EXPECT_EQ(WriteStall::CauseOf(judgement), StallCause::kSpaceSlowdown)
      << "the write is slowed and waits for its turn";
  judgement.space.own.stop = true;
  judgement.space.process.writes.slow = 1;
  judgement.space.process.writes.stop = true;
  EXPECT_EQ(WriteStall::CauseOf(judgement), StallCause::kSpaceOfProcess);
  judgement.space.own = {};
  EXPECT_EQ(WriteStall::CauseOf(judgement), StallCause::kSpaceOfProcess);
  judgement.goes_on = true;
  EXPECT_EQ(WriteStall::CauseOf(judgement), StallCause::kSpaceSlowdown)
      << "a write that goes on is only slowed";
}

TEST_F(WriteStallTest, ListenersAreToldWhenAStallBeginsChangesAndEnds) {
  WriteStall::Judgement flush = Meets(StallCondition::kWaitForFlush);
  flush.memtables = 4;
  flush.level0_files = 9;
  EXPECT_TRUE(stall.Tell(flush, Status::OK(), 1000));
  EXPECT_FALSE(stall.Tell(flush, Status::OK(), 2000))
      << "the same stall must be reported only once";
  notifier.Deliver();
  EXPECT_EQ(LastBegun().cause, StallCause::kFlush);
  EXPECT_EQ(LastBegun().memtables, 4u);
  EXPECT_EQ(LastBegun().level0_files, 9u);

  EXPECT_TRUE(stall.Tell(Slowed(), Status::OK(), 3000));
  notifier.Deliver();
  EXPECT_EQ(LastBegun().cause, StallCause::kSpaceSlowdown);
  EXPECT_EQ(LastBegun().file_bytes, 700u);
  EXPECT_EQ(LastBegun().pinned_bytes, 30u);
  EXPECT_EQ(heard->count(EventKind::kStallEnd), 1u);

  EXPECT_TRUE(stall.Tell(Meets(StallCondition::kNone), Status::OK(), 5500));
  EXPECT_FALSE(stall.Tell(Meets(StallCondition::kNone), Status::OK(), 6000));
  notifier.Deliver();
  const std::vector<StallInfo> ended = heard->All<StallInfo>(EventKind::kStallEnd);
  ASSERT_EQ(ended.size(), 2u);
  EXPECT_EQ(ended[0].cause, StallCause::kFlush);
  EXPECT_EQ(ended[0].duration_us, 2000u);
  EXPECT_EQ(ended[1].cause, StallCause::kSpaceSlowdown);
  EXPECT_EQ(ended[1].duration_us, 2500u);
}

TEST_F(WriteStallTest, AWriteThatFailsEndsTheStallWithItsError) {
  ASSERT_TRUE(stall.Tell(Slowed(), Status::OK(), 1000));
  EXPECT_TRUE(stall.Tell(Slowed(), Status::NoSpace("full"), 2000));
  notifier.Deliver();
  EXPECT_EQ(heard->count(EventKind::kStallBegin), 1u);
  const std::vector<StallInfo> ended = heard->All<StallInfo>(EventKind::kStallEnd);
  ASSERT_EQ(ended.size(), 1u);
  EXPECT_TRUE(ended[0].status.IsNoSpace());
}

TEST_F(WriteStallTest, AWriteThatFreesSpaceSaysNothingOfLimits) {
  WriteStall::Judgement frees = Slowed();
  frees.stores = false;
  frees.goes_on = true;
  EXPECT_FALSE(stall.Tell(frees, Status::OK(), 1000))
      << "a write that frees space must not begin a stall of space";
  ASSERT_TRUE(stall.Tell(Meets(StallCondition::kWaitForFlush), Status::OK(), 2000));
  EXPECT_FALSE(stall.Tell(frees, Status::OK(), 3000))
      << "a write that frees space must not change the stall of other writes";
  frees.condition = StallCondition::kWaitForCompaction;
  EXPECT_TRUE(stall.Tell(frees, Status::OK(), 4000))
      << "a write that frees space must still wait for jobs";
  frees = Meets(StallCondition::kNone);
  frees.stores = false;
  EXPECT_TRUE(stall.Tell(frees, Status::OK(), 5000)) << "no write has to wait any more";
}

TEST_F(WriteStallTest, TheTimeIsCountedForItsCause) {
  stall.Count(StallCondition::kNone, false, 1);
  EXPECT_EQ(counters.stall_us, 1u);
  stall.Count(StallCondition::kWaitForFlush, false, 10);
  stall.Count(StallCondition::kWaitForCompaction, false, 100);
  stall.Count(StallCondition::kWaitForFlush, true, 1000);
  EXPECT_EQ(counters.flush_stall_us, 10u);
  EXPECT_EQ(counters.compaction_stall_us, 100u);
  EXPECT_EQ(counters.space_stall_us, 1000u) << "the last cause of the wait was space";
  EXPECT_EQ(counters.stall_us, 1111u);
}

}  // namespace
}  // namespace lava
