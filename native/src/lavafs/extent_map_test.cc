// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "lavafs/extent_map.h"

#include <gtest/gtest.h>

#include <set>

#include "testing/random.h"

namespace lava::lavafs {
namespace {

TEST(ExtentMap, LowExtentsComeFirstAndTheSuperblocksNever) {
  ExtentMap map(6);
  EXPECT_EQ(map.free_count(), 5u);
  EXPECT_EQ(map.Allocate(2, 0), (std::vector<ExtentRange>{{1, 2}}));
  EXPECT_EQ(map.Allocate(1, 0), (std::vector<ExtentRange>{{3, 1}}));
  map.Give({1, 2});
  EXPECT_EQ(map.Allocate(4, 0), (std::vector<ExtentRange>{{1, 2}, {4, 2}}));
  EXPECT_EQ(map.free_count(), 0u);
  EXPECT_TRUE(map.Allocate(1, 0).empty());
}

TEST(ExtentMap, AFileGoesOnWhereItsLastRunEnds) {
  ExtentMap map(10);
  ASSERT_TRUE(map.Take({4, 1}));
  EXPECT_EQ(map.Allocate(3, 5), (std::vector<ExtentRange>{{5, 3}}));
  EXPECT_EQ(map.Allocate(3, 9), (std::vector<ExtentRange>{{9, 1}, {1, 2}}));
}

TEST(ExtentMap, WhatIsInUseOrNotThereCannotBeTaken) {
  ExtentMap map(70);
  EXPECT_FALSE(map.Take({0, 1}));
  EXPECT_FALSE(map.Take({69, 2}));
  EXPECT_FALSE(map.Take({UINT32_MAX, 2}));
  ASSERT_TRUE(map.Take({63, 2}));
  EXPECT_FALSE(map.Take({60, 4}));
  EXPECT_EQ(map.free_count(), 67u);
  EXPECT_TRUE(map.Take({60, 3}));
  map.Extend(200);
  EXPECT_EQ(map.free_count(), 194u);
  EXPECT_EQ(map.LargestFreeRange(), 135u);
  EXPECT_EQ(map.FreeRanges(), (std::vector<ExtentRange>{{1, 59}, {65, 135}}));
}

TEST(ExtentMap, AgreesWithASet) {
  testing::Random random(3);
  ExtentMap map(300);
  std::set<uint32_t> used = {0};
  for (int round = 0; round < 3000; round++) {
    if (random.OneIn(2)) {
      const auto count = static_cast<uint32_t>(random.Uniform(20));
      const auto after = static_cast<uint32_t>(random.Uniform(301));
      uint32_t got = 0;
      for (const ExtentRange& range : map.Allocate(count, after)) {
        for (uint32_t e = range.first; e < range.first + range.count; e++, got++) {
          ASSERT_TRUE(used.insert(e).second);
        }
      }
      ASSERT_EQ(got, std::min<uint32_t>(count, got + map.free_count()));
    } else if (used.size() > 1) {
      const auto extent = static_cast<uint32_t>(1 + random.Uniform(299));
      if (used.erase(extent) > 0) map.Give({extent, 1});
    }
    ASSERT_EQ(map.free_count(), 300 - used.size());
    const auto any = static_cast<uint32_t>(random.Uniform(300));
    ASSERT_EQ(map.IsUsed(any), used.count(any) == 1);
  }
}

}  // namespace
}  // namespace lava::lavafs
