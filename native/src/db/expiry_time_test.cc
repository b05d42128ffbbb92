// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "db/expiry_time.h"

#include <gtest/gtest.h>

namespace lava {
namespace {

class SettableClock : public Clock {
 public:
  uint64_t MonotonicMicros() override { return steady_us; }
  int64_t WallMillis() override { return wall_ms; }

  uint64_t steady_us = 1;
  int64_t wall_ms = 1'000'000;
};

TEST(ExpiryTime, IsTheSystemsUntilTheLayerAboveTellsOne) {
  SettableClock clock;
  ExpiryTime time(&clock);
  EXPECT_EQ(time.Now().older_ms, 1'000'000);
  clock.wall_ms = 1'000'500;
  clock.steady_us += 500'000;
  EXPECT_EQ(time.Now().older_ms, 1'000'500);

  time.Tell(7'000);
  EXPECT_EQ(time.Now().older_ms, 7'000)
      << "the time from the layer above must replace the system's clock";
  clock.wall_ms += 1'000;
  EXPECT_EQ(time.time().time_ms, 7'000) << "the system's clock must no longer set the time";
}

TEST(ExpiryTime, NeverPassesTheSystemsClock) {
  SettableClock clock;
  ExpiryTime time(&clock);
  time.Tell(5'000'000);
  EXPECT_LE(time.Now().older_ms, clock.wall_ms);
  clock.wall_ms = 900'000;  // a step back that is not reported
  EXPECT_LE(time.Now().older_ms, 900'000);
}

TEST(ExpiryTime, GoesOnFromACheckpointsTime) {
  SettableClock clock;
  clock.wall_ms = 9'000'000;
  ExpiryTime before(&clock);
  before.Tell(1'000'000);
  ExpiryTime after(&clock);
  after.Continue(before.time());
  after.Tell(3'000'000);
  EXPECT_LT(after.Now().older_ms, 3'000'000)
      << "a lead over the checkpoint's time must not be accepted at once";
  after.Accept(3'000'000);
  EXPECT_EQ(after.Now().older_ms, 3'000'000);
}

TEST(ExpiryTime, ACheckpointThatComesLateChangesNothing) {
  SettableClock clock;
  clock.wall_ms = 9'000'000;
  ExpiryTime time(&clock);
  time.Tell(3'000'000);
  TtlTime early;
  early.time_ms = 1'000;
  time.Continue(early);
  EXPECT_EQ(time.Now().older_ms, 3'000'000);
}

}  // namespace
}  // namespace lava
