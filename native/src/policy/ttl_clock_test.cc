// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "policy/ttl_clock.h"

#include <gtest/gtest.h>

namespace lava {
namespace {

constexpr int64_t kHour = 3'600'000, kStart = 1'700'000'000'000;

// Has a wall clock that a test may set, and a steady clock.
class TtlClockTest : public ::testing::Test {
 protected:
  void Pass(int64_t ms) {
    wall_ms_ += ms;
    steady_us_ += static_cast<uint64_t>(ms) * 1000;
  }
  DropTime Tell() {
    clock_.Tell(wall_ms_, steady_us_);
    return clock_.drop_time(INT64_MAX);
  }
  DropTime StepAndTell(int64_t ms) {
    wall_ms_ += ms;
    return Tell();
  }
  // Tells the time each minute, like a job that works all the time.
  DropTime PassAndTell(int64_t ms) {
    for (; ms > 60'000; ms -= 60'000) {
      Pass(60'000);
      Tell();
    }
    Pass(ms);
    return Tell();
  }

  // How far the time for older records lags behind the wall clock.
  int64_t LagAfter(int64_t ms) {
    const int64_t older_ms = PassAndTell(ms).older_ms;
    return wall_ms_ - older_ms;
  }

  TtlClock clock_;
  int64_t wall_ms_ = kStart;
  uint64_t steady_us_ = 77'000'000;
};

TEST_F(TtlClockTest, ClocksThatAgreeAreFollowed) {
  EXPECT_EQ(Tell().older_ms, kStart);
  EXPECT_EQ(Tell().recent_from_ms, INT64_MAX);
  EXPECT_EQ(PassAndTell(5 * kHour).older_ms, kStart + 5 * kHour);
  EXPECT_EQ(clock_.time(), (TtlTime{kStart + 5 * kHour, 0, 0}));
}

TEST_F(TtlClockTest, TimeStandsBetweenCalls) {
  Tell();
  Pass(kHour);
  EXPECT_EQ(clock_.drop_time(INT64_MAX).older_ms, kStart);
}

TEST_F(TtlClockTest, AStepBackHoldsAtOnce) {
  Tell();
  PassAndTell(kHour);
  const DropTime time = StepAndTell(-2 * kHour);
  EXPECT_EQ(time.older_ms, kStart - kHour);
  EXPECT_EQ(time.recent_ms, kStart - kHour);
  EXPECT_EQ(PassAndTell(1000).older_ms, kStart - kHour + 1000)
      << "the time must go on from the step back";
}

TEST_F(TtlClockTest, AStepAheadThatIsTakenBackDropsNothing) {
  Tell();
  PassAndTell(60'000);
  EXPECT_EQ(StepAndTell(2 * kHour).older_ms, kStart + 60'000);
  EXPECT_EQ(PassAndTell(kHour).older_ms, kStart + 60'000 + kHour)
      << "the time must advance with the steady clock";
  EXPECT_EQ(StepAndTell(-2 * kHour).older_ms, kStart + 60'000 + kHour);
  EXPECT_EQ(clock_.time().lead_ms, 0);
  // Another step waits just as long.
  StepAndTell(2 * kHour);
  EXPECT_EQ(LagAfter(kHour + 1000), 2 * kHour);
}

TEST_F(TtlClockTest, AStepAheadIsAcceptedAfterItHasStoodAsLongAsItIs) {
  Tell();
  StepAndTell(2 * kHour);
  EXPECT_EQ(LagAfter(2 * kHour - 1), 2 * kHour);
  EXPECT_EQ(LagAfter(1), 0);
  EXPECT_EQ(clock_.drop_time(INT64_MAX).recent_from_ms, INT64_MAX);
}

TEST_F(TtlClockTest, ALongStepAheadIsAcceptedAfterADay) {
  Tell();
  StepAndTell(1000 * kHour);
  EXPECT_EQ(LagAfter(24 * kHour - 1), 1000 * kHour);
  EXPECT_EQ(LagAfter(1), 0);
}

TEST_F(TtlClockTest, WhatIsWrittenAfterAStepAheadExpiresAsEver) {
  Tell();
  StepAndTell(5 * kHour);
  const int64_t written_ms = wall_ms_;
  const DropTime time = PassAndTell(kHour);
  EXPECT_EQ(time.For(written_ms), wall_ms_);
  EXPECT_EQ(time.For(written_ms - 1), wall_ms_ - 5 * kHour);
}

TEST_F(TtlClockTest, ASecondStepAheadWaitsForItself) {
  Tell();
  StepAndTell(kHour);
  PassAndTell(kHour / 2);
  const int64_t before_ms = wall_ms_;
  const DropTime time = StepAndTell(10 * kHour);
  EXPECT_EQ(time.older_ms, kStart + kHour / 2);
  EXPECT_EQ(time.recent_ms, before_ms)
      << "the time for recent records must wait for the second step, too";
  EXPECT_EQ(LagAfter(kHour / 2), 10 * kHour);
  EXPECT_EQ(LagAfter(10 * kHour), 0);
}

TEST_F(TtlClockTest, APartOfAStepMayBeTakenBack) {
  Tell();
  StepAndTell(10 * kHour);
  PassAndTell(60'000);
  const DropTime time = StepAndTell(-9 * kHour);
  EXPECT_EQ(time.older_ms, kStart + 60'000);
  EXPECT_EQ(time.recent_ms, wall_ms_);
  EXPECT_EQ(LagAfter(kHour - 60'000), 0)
      << "the rest of the step is an hour and has lasted for an hour";
}

TEST_F(TtlClockTest, AClockThatStandsIsNeverOutrun) {
  Tell();
  steady_us_ += 3'600'000'000;
  EXPECT_EQ(Tell().older_ms, kStart);
}

// Models a suspended virtual machine: only the wall clock knows of the pause, and it is right.
TEST_F(TtlClockTest, AfterASuspensionDataStayAsLongAsThatWas) {
  Tell();
  EXPECT_EQ(StepAndTell(kHour).older_ms, kStart);
  EXPECT_EQ(LagAfter(kHour), 0);
}

TEST_F(TtlClockTest, NothingIsDroppedByALaterTimeThanTheProcessesClock) {
  Tell();
  StepAndTell(kHour);
  const DropTime time = clock_.drop_time(kStart - 5);
  EXPECT_EQ(time.older_ms, kStart - 5);
  EXPECT_EQ(time.recent_ms, kStart - 5);
}

TEST_F(TtlClockTest, ACheckpointOfAnotherTimeIsHeldAgainstTheClock) {
  clock_.Continue({kStart - 3 * kHour, 0, 0});
  EXPECT_EQ(Tell().older_ms, kStart - 3 * kHour);
  EXPECT_EQ(clock_.drop_time(INT64_MAX).For(kStart), kStart);
  EXPECT_EQ(LagAfter(3 * kHour), 0);
}

TEST_F(TtlClockTest, ACheckpointOfAMachineThatWasAheadGivesWay) {
  clock_.Continue({kStart + 2 * kHour, 0, 0});
  EXPECT_EQ(Tell().older_ms, kStart);
}

// Otherwise a job that is restored every hour would never accept a step of more than an hour.
TEST_F(TtlClockTest, WhatAStepHasStoodIsCarriedOn) {
  Tell();
  StepAndTell(3 * kHour);
  for (int restores = 0; restores < 3; ++restores) {
    EXPECT_GT(LagAfter(kHour - 1000), 0);
    const TtlTime carried = clock_.time();
    clock_ = TtlClock();
    clock_.Continue(carried);
    Pass(1000);
    Tell();
  }
  EXPECT_EQ(LagAfter(10'000), 3000) << "only the pauses during the restores must be missing";
  EXPECT_EQ(LagAfter(3000), 0);
}

TEST_F(TtlClockTest, DataOfUnknownTimeStayForADay) {
  clock_.Continue({});
  EXPECT_EQ(Tell().older_ms, TtlTime::kUnknown);
  EXPECT_EQ(clock_.drop_time(INT64_MAX).For(wall_ms_), wall_ms_)
      << "the unknown time must not affect records that are written now";
  PassAndTell(10 * kHour);
  const TtlTime carried = clock_.time();
  clock_ = TtlClock();
  clock_.Continue(carried);
  Tell();
  EXPECT_EQ(PassAndTell(14 * kHour - 1).older_ms, TtlTime::kUnknown);
  EXPECT_EQ(LagAfter(1), 0);
}

TEST_F(TtlClockTest, ATimeThatIsKnownToBeRightIsAccepted) {
  Tell();
  clock_.Accept(kStart + 9 * kHour, steady_us_);
  EXPECT_EQ(clock_.drop_time(INT64_MAX).older_ms, kStart + 9 * kHour);
}

TEST_F(TtlClockTest, OfSeveralTimesWhatHoldsForAllIsTaken) {
  const TtlTime both = TtlTime{10, 7, 3}.With({20, 5, 9});
  EXPECT_EQ(both, (TtlTime{10, 5, 3}));
  EXPECT_EQ(both.With({}).time_ms, TtlTime::kUnknown);
}

TEST_F(TtlClockTest, NoClockIsTooOdd) {
  for (const int64_t carried : {INT64_MIN, int64_t{-1}, INT64_MAX}) {
    for (const int64_t told : {INT64_MIN, INT64_MAX, int64_t{0}, INT64_MAX, INT64_MIN}) {
      clock_ = TtlClock();
      clock_.Continue({carried, INT64_MAX, INT64_MAX - 1});
      clock_.Tell(told, UINT64_MAX);
      clock_.Tell(told, 0);
      clock_.Tell(INT64_MAX, 5'000'000);
      clock_.Tell(told, UINT64_MAX);
      EXPECT_LE(clock_.drop_time(INT64_MAX).older_ms, told);
    }
  }
}

TEST_F(TtlClockTest, WhatAJobDroppedIsHeldAgainstTheTimeThatCame) {
  const DropTime by{.older_ms = 100, .recent_ms = 150, .recent_from_ms = 120};
  EXPECT_TRUE(MayStillDrop({}, by, {.older_ms = INT64_MIN, .recent_ms = INT64_MIN}));
  EXPECT_TRUE(MayStillDrop({100, 150}, by, by));
  EXPECT_FALSE(MayStillDrop({100, INT64_MIN}, by, {.older_ms = 99, .recent_ms = 99}));
  EXPECT_TRUE(MayStillDrop({99, INT64_MIN}, by, {.older_ms = 99, .recent_ms = 99}));
  // The jump has been accepted in the meantime.
  EXPECT_TRUE(MayStillDrop({100, 150}, by, {.older_ms = 151, .recent_ms = 151}));
  EXPECT_FALSE(MayStillDrop({100, 150}, by, {.older_ms = 149, .recent_ms = 149}));
  // After another jump, recent records have become older ones.
  const DropTime jumped{.older_ms = 101, .recent_ms = 200, .recent_from_ms = 190};
  EXPECT_FALSE(MayStillDrop({100, 150}, by, jumped));
  EXPECT_TRUE(MayStillDrop({100, INT64_MIN}, by, jumped));
}

}  // namespace
}  // namespace lava
