// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "policy/space_limits.h"

#include <gtest/gtest.h>

namespace lava {
namespace {

constexpr uint64_t kLive = 1000;

SpacePressure AtRatio(uint64_t file_bytes) {
  return JudgeSpace({.file_bytes = file_bytes, .live_bytes = kLive},
                    {.low_percent = 120, .high_percent = 150, .live_bytes_floor = 0});
}

TEST(SpaceLimits, NoLimitIsNoPressure) {
  const SpacePressure pressure = JudgeSpace({.file_bytes = 1ull << 50, .live_bytes = 1}, {});
  EXPECT_EQ(pressure.fullness, 0);
  EXPECT_EQ(pressure.slow, 0);
  EXPECT_FALSE(pressure.stop);
}

TEST(SpaceLimits, WritesSlowDownFromTheLowLimitAndStopAtTheHighOne) {
  EXPECT_EQ(AtRatio(1200).slow, 0);
  EXPECT_NEAR(AtRatio(1350).slow, 0.5, 1e-9);
  EXPECT_FALSE(AtRatio(1499).stop);
  EXPECT_TRUE(AtRatio(1500).stop);
  EXPECT_EQ(AtRatio(9000).slow, 1);
}

TEST(SpaceLimits, ARatioIsFullWhenTheGarbageThatItAllowsIsThere) {
  EXPECT_EQ(AtRatio(900).fullness, 0);
  EXPECT_NEAR(AtRatio(1000).fullness, 0, 1e-9);
  EXPECT_NEAR(AtRatio(1250).fullness, 0.5, 1e-9);
  EXPECT_NEAR(AtRatio(1500).fullness, 1, 1e-9);
  EXPECT_EQ(AtRatio(1250).garbage_percent, 33u);
  EXPECT_EQ(AtRatio(1250).garbage_bytes, 500u);
  const SpacePressure bytes = JudgeSpace({.file_bytes = 750}, {.high_bytes = 1000});
  EXPECT_NEAR(bytes.fullness, 0.75, 1e-9);
  EXPECT_EQ(bytes.garbage_percent, 0u);
}

TEST(SpaceLimits, WhatJobsWillWriteCountsBeforeItIsThere) {
  const SpaceLimits limits{.high_percent = 150, .high_bytes = 2000, .live_bytes_floor = 0};
  SpaceUse use{.file_bytes = 1400, .live_bytes = kLive};
  EXPECT_FALSE(JudgeSpace(use, limits).stop);
  use.copied_bytes = 100;
  EXPECT_TRUE(JudgeSpace(use, limits).stop);
  use = {.file_bytes = 1400, .pinned_bytes = 500, .live_bytes = 1900};
  EXPECT_FALSE(JudgeSpace(use, limits).stop);
  use.copied_bytes = 100;
  EXPECT_TRUE(JudgeSpace(use, limits).bytes);
  EXPECT_TRUE(JudgeSpace(use, limits).stop);
}

TEST(SpaceLimits, ASmallInstanceCountsAsLargeAsTheFloor) {
  const SpaceLimits limits{.high_percent = 150, .live_bytes_floor = 10000};
  EXPECT_FALSE(JudgeSpace({.file_bytes = 14999, .live_bytes = 1}, limits).stop);
  EXPECT_TRUE(JudgeSpace({.file_bytes = 15000, .live_bytes = 1}, limits).stop);
}

TEST(SpaceLimits, LowLimitsThatAreMissingLieBelowTheHighOnes) {
  const SpaceLimits ratio{.high_percent = 150, .live_bytes_floor = 0};
  EXPECT_EQ(JudgeSpace({.file_bytes = 1449, .live_bytes = kLive}, ratio).slow, 0);
  EXPECT_GT(JudgeSpace({.file_bytes = 1451, .live_bytes = kLive}, ratio).slow, 0);
  const SpaceLimits bytes{.high_bytes = 1000};
  EXPECT_EQ(JudgeSpace({.file_bytes = 900}, bytes).slow, 0);
  EXPECT_GT(JudgeSpace({.file_bytes = 901}, bytes).slow, 0);
}

TEST(SpaceLimits, PinnedFilesCountForBytesAloneAndTheNearerLimitDecides) {
  const SpaceLimits limits{.high_percent = 150, .high_bytes = 2000, .live_bytes_floor = 0};
  SpacePressure pressure =
      JudgeSpace({.file_bytes = 1400, .pinned_bytes = 600, .live_bytes = kLive}, limits);
  EXPECT_TRUE(pressure.stop);
  EXPECT_TRUE(pressure.bytes);
  pressure = JudgeSpace({.file_bytes = 1400, .live_bytes = kLive}, limits);
  EXPECT_FALSE(pressure.stop);
  EXPECT_FALSE(pressure.bytes);
  pressure = JudgeSpace({.file_bytes = 1460, .live_bytes = kLive}, limits);
  EXPECT_FALSE(pressure.bytes);
  EXPECT_GT(pressure.slow, 0);
}

TEST(SpaceLimits, ARatioFarBeyondNeverHidesThatTheBytesAreFull) {
  const SpaceLimits limits{.high_percent = 150, .high_bytes = 5000, .live_bytes_floor = 0};
  EXPECT_FALSE(JudgeSpace({.file_bytes = 4999, .live_bytes = kLive}, limits).bytes);
  const SpacePressure full = JudgeSpace({.file_bytes = 5001, .live_bytes = kLive}, limits);
  EXPECT_TRUE(full.stop);
  EXPECT_TRUE(full.bytes);
}

TEST(SpaceLimits, LimitsThatContradictEachOtherNeverStopBelowTheHighOne) {
  const SpacePressure pressure =
      JudgeSpace({.file_bytes = 1400, .live_bytes = kLive},
                 {.low_percent = 300, .high_percent = 150, .live_bytes_floor = 0});
  EXPECT_FALSE(pressure.stop);
  EXPECT_EQ(pressure.slow, 0);
  // A ratio below 100 % counts as 100 %: live data always fits.
  EXPECT_FALSE(JudgeSpace({.file_bytes = 999, .live_bytes = kLive},
                          {.high_percent = 50, .live_bytes_floor = 0})
                   .stop);
}

TEST(SpaceLimits, WhatIsHiddenIsExposedWhenTheCollectorCannotDoWithout) {
  struct Row {
    const char* name;
    SpacePressure pressure;
    uint64_t hidden;
    bool collecting, expected;
  };
  const SpacePressure ratio{.garbage_bytes = 500, .slow = 0.5};
  const SpacePressure full{.garbage_bytes = 500, .slow = 1, .stop = true};
  const SpacePressure bytes{.slow = 0.5, .bytes = true};
  const Row rows[] = {
      {"the use is far from the limits", {.garbage_bytes = 500, .slow = 0.49}, 400, false, false},
      {"less than half of the allowed garbage is hidden", ratio, 249, false, false},
      {"half of the allowed garbage is hidden", ratio, 250, true, true},
      {"writes wait, and a collection runs", full, 249, true, false},
      {"writes wait, and no collection runs", full, 249, false, true},
      {"almost no garbage is hidden", full, 9, false, false},
      {"the limit is in bytes", bytes, 10, true, true},
      {"the limit is in bytes, and almost no garbage is hidden", bytes, 9, false, false},
  };
  for (const Row& row : rows)
    EXPECT_EQ(ShouldExpose(row.pressure, row.hidden, kLive, row.collecting), row.expected)
        << row.name;
}

TEST(SpaceLimits, TheSlowedRateFallsToASixteenth) {
  EXPECT_EQ(SlowedBytesPerSecond({}, 1600, 0), 0u);
  EXPECT_EQ(SlowedBytesPerSecond({.slow = 0.5}, 1600, 0), 800u);
  EXPECT_EQ(SlowedBytesPerSecond({.slow = 1}, 1600, 0), 100u);
  EXPECT_EQ(SlowedBytesPerSecond({.slow = 1}, 1, 0), 1u);
}

TEST(SpaceLimits, HalfWayWritesComeAsFastAsCollectionsFreeSpace) {
  EXPECT_EQ(SlowedBytesPerSecond({}, 1600, 9000), 0u);
  EXPECT_EQ(SlowedBytesPerSecond({.slow = 0.5}, 1600, 9000), 9000u);
  EXPECT_GT(SlowedBytesPerSecond({.slow = 0.4}, 1600, 9000), 9000u);
  EXPECT_LT(SlowedBytesPerSecond({.slow = 0.6}, 1600, 9000), 9000u);
  EXPECT_EQ(SlowedBytesPerSecond({.slow = 0.5}, 1600, 10), 800u)
      << "collections must not make the rate lower than without them";
}

}  // namespace
}  // namespace lava
