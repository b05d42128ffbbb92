// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "policy/space_shares.h"

#include <gtest/gtest.h>

namespace lava {
namespace {

SpacePressure Full(double fullness) {
  return {.fullness = fullness, .slow = 0, .stop = fullness >= 1, .bytes = true};
}

TEST(SpaceShares, StepsBeginAtThreeQuartersAndEndWhereWritesWait) {
  const struct {
    double fullness;
    uint32_t step;
  } cases[] = {{0, 0}, {0.74, 0}, {0.76, 1}, {0.81, 2}, {0.96, 5}, {0.999, 5}, {1, 6}, {3, 6}};
  for (const auto& c : cases) EXPECT_EQ(SpaceStep(Full(c.fullness)), c.step) << c.fullness;
}

TEST(SpaceShares, WhoHasMostGarbageCollectsFirst) {
  const SpaceShare small{.file_bytes = 1000, .garbage_bytes = 100};
  const SpaceShare middle{.file_bytes = 1000, .garbage_bytes = 450};
  const SpaceShare large{.file_bytes = 1000, .garbage_bytes = 900};
  const SpaceShare spent{.file_bytes = 1000, .garbage_bytes = 990, .spent_step = 2};
  const SpaceShare clean{.file_bytes = 5000, .garbage_bytes = 0};
  const SpaceShare dense{.file_bytes = 1'000'000, .garbage_bytes = 900};
  const struct {
    const char* what;
    std::vector<SpaceShare> shares;
    uint32_t step;
    std::vector<uint32_t> picked;
  } cases[] = {
      {"no instance is asked while there is space", {small, large}, 0, {}},
      {"the instance with the most garbage, and those with at least half as much",
       {small, middle, large},
       1,
       {1, 2}},
      {"the next instance when the first one has left", {small, middle}, 1, {1}},
      {"a small instance when it is the only one with garbage", {clean, small}, 1, {1}},
      {"an instance without garbage is never asked", {clean}, kSpaceStepFull, {}},
      {"an instance that found no garbage at this step is not asked again", {spent, small}, 2, {1}},
      {"an instance that found no garbage is asked at the next step", {spent, small}, 3, {0}},
      {"an instance with little garbage for its size is not asked", {dense}, 5, {}},
      {"any garbage counts when writes wait", {dense}, kSpaceStepFull, {0}},
      {"all instances with the same garbage", {large, large, large}, 1, {0, 1, 2}},
  };
  for (const auto& c : cases) EXPECT_EQ(PickCollectors(c.shares, c.step), c.picked) << c.what;
}

TEST(SpaceShares, WhoHasMostWorksHardest) {
  EXPECT_NEAR(PressureOfShare(Full(0.95), 100, 100).fullness, 0.95, 1e-9);
  EXPECT_NEAR(PressureOfShare(Full(0.95), 50, 100).fullness, 0.85, 1e-9);
  EXPECT_NEAR(PressureOfShare(Full(0.5), 1, 100).fullness, 0.5, 1e-9);
  EXPECT_TRUE(PressureOfShare(Full(1.2), 1, 100).stop);
  EXPECT_NEAR(PressureOfShare(Full(1.2), 1, 100).fullness, 1.2, 1e-9);
}

TEST(SpaceShares, TheNearerLimitDecides) {
  SpacePressure ratio;
  ratio.garbage_percent = 33;
  EXPECT_EQ(Stronger(ratio, {}).garbage_percent, 33u)
      << "without a limit of the process nothing must change";
  ratio.fullness = 0.9;
  EXPECT_FALSE(Stronger(ratio, Full(0.8)).bytes);
  EXPECT_TRUE(Stronger(ratio, Full(0.95)).bytes);
  ratio.fullness = 3;
  EXPECT_TRUE(Stronger(ratio, Full(1)).bytes)
      << "a full process must count as full, whatever the ratio says";
}

TEST(SpaceShares, WhoWritesSharesWhatMayBeWritten) {
  SpacePressure half;
  EXPECT_EQ(SlowedShare(half, 1600, 0, 4), 0u) << "without slowdown the rate must be unlimited";
  half.slow = 0.5;
  EXPECT_EQ(SlowedShare(half, 1600, 0, 0), 800u);
  EXPECT_EQ(SlowedShare(half, 1600, 0, 4), 200u);
  EXPECT_EQ(SlowedShare(half, 1600, 1600, 4), 400u)
      << "collections that free more must allow a higher rate";
  EXPECT_EQ(SlowedShare(half, 1, 0, 1000), 1u);
}

}  // namespace
}  // namespace lava
