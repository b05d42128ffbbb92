// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "policy/collection_effort.h"

#include <gtest/gtest.h>

namespace lava {
namespace {

CollectionEffort EffortAt(double fullness) {
  return JudgeCollectionEffort({.garbage_percent = 25, .fullness = fullness, .jobs_max = 5});
}

TEST(CollectionEffort, IsCalmUntilThreeQuartersAreUsed) {
  for (const double fullness : {0.0, 0.5, 0.75}) {
    EXPECT_EQ(EffortAt(fullness).jobs, 1u);
    EXPECT_EQ(EffortAt(fullness).garbage_percent, 25u);
  }
}

TEST(CollectionEffort, GrowsWithFullnessToAllJobsAndTheLeastThreshold) {
  CollectionEffort before = EffortAt(0.75);
  for (double fullness = 0.76; fullness < 1.0; fullness += 0.01) {
    const CollectionEffort now = EffortAt(fullness);
    EXPECT_GE(now.jobs, before.jobs);
    EXPECT_LE(now.garbage_percent, before.garbage_percent);
    before = now;
  }
  EXPECT_EQ(EffortAt(0.875).jobs, 3u);
  EXPECT_EQ(EffortAt(0.875).garbage_percent, 15u);
  for (const double fullness : {1.0, 7.0}) {
    EXPECT_EQ(EffortAt(fullness).jobs, 5u);
    EXPECT_EQ(EffortAt(fullness).garbage_percent, kGarbagePercentMin);
  }
}

TEST(CollectionEffort, UploadsRaiseTheThresholdToTheSameCostForAFreedByte) {
  const CollectionEffort effort =
      JudgeCollectionEffort({.garbage_percent = 25, .jobs_max = 1, .upload_cost_percent = 100});
  // Cost of a freed byte: 0.75 / 0.25 = 3 without uploads, 2 * 0.6 / 0.4 = 3 with uploads.
  EXPECT_EQ(effort.checkpoint_percent, 40u);
  EXPECT_EQ(effort.garbage_percent, 25u)
      << "files that are not uploaded yet must keep the configured threshold";
  const CollectionEffort full = JudgeCollectionEffort(
      {.garbage_percent = 25, .fullness = 1, .jobs_max = 1, .upload_cost_percent = 100});
  EXPECT_EQ(full.garbage_percent, kGarbagePercentMin);
  EXPECT_EQ(full.checkpoint_percent, kGarbagePercentMin);
}

TEST(CollectionEffort, ARatioLetsGarbageGatherUntilItIsNearlyUsedUp) {
  CollectionEffortInput input{.garbage_percent = 25, .allowed_percent = 33, .jobs_max = 1};
  EXPECT_EQ(JudgeCollectionEffort(input).garbage_percent, 90u)
      << "only files that are almost all garbage must be collected";
  input.fullness = 0.375;
  EXPECT_EQ(JudgeCollectionEffort(input).garbage_percent, 70u);
  input.fullness = 0.75;
  EXPECT_EQ(JudgeCollectionEffort(input).garbage_percent, 50u);
  input.fullness = 1;
  EXPECT_EQ(JudgeCollectionEffort(input).garbage_percent, kGarbagePercentMin);
  // A threshold above the ratio's choice is kept, and so is a threshold that turns collection off.
  input = {.garbage_percent = 70, .fullness = 0.75, .allowed_percent = 33};
  EXPECT_EQ(JudgeCollectionEffort(input).garbage_percent, 70u);
  input.garbage_percent = 101;
  EXPECT_EQ(JudgeCollectionEffort(input).garbage_percent, 101u);
  // Files that are almost all garbage are collected, however much garbage is allowed.
  input = {.garbage_percent = 25, .fullness = 0.75, .allowed_percent = 99};
  EXPECT_EQ(JudgeCollectionEffort(input).garbage_percent, 90u);
}

TEST(CollectionEffort, AnyGarbageCountsAsTheLastResortAndNoneWhenCollectionIsOff) {
  EXPECT_EQ(JudgeCollectionEffort({.fullness = 1, .last_resort = true}).garbage_percent, 0u);
  EXPECT_EQ(JudgeCollectionEffort(
                {.garbage_percent = 101, .fullness = 1, .jobs_max = 4, .last_resort = true})
                .garbage_percent,
            101u);
  const CollectionEffort always =
      JudgeCollectionEffort({.garbage_percent = 0, .upload_cost_percent = 50});
  EXPECT_EQ(always.checkpoint_percent, 0u);
  // A threshold below kGarbagePercentMin is kept.
  EXPECT_EQ(JudgeCollectionEffort({.garbage_percent = 2, .fullness = 1}).garbage_percent, 2u);
}

}  // namespace
}  // namespace lava
