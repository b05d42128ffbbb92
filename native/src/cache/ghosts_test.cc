// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "cache/ghosts.h"

#include <gtest/gtest.h>

namespace lava {
namespace {

uint64_t HashOf(uint64_t n) { return (n + 1) * 0x9e3779b97f4a7c15ull; }

TEST(GhostsTest, KnowsWhatWasAddedNotLongAgo) {
  Ghosts ghosts;
  EXPECT_EQ(ghosts.Take(HashOf(1), 5), Ghosts::kNever) << "without capacity nothing is remembered";
  ghosts.Add(HashOf(1), 5);
  ghosts.Resize(1024);
  for (uint32_t n = 0; n < 100; ++n) ghosts.Add(HashOf(n), n);
  int known = 0;
  for (uint32_t n = 0; n < 100; ++n) {
    const uint32_t age = ghosts.Take(HashOf(n), 120);
    if (age == Ghosts::kNever) continue;
    EXPECT_EQ(age, 120 - n);
    ++known;
  }
  EXPECT_GT(known, 90);
  for (uint32_t n = 0; n < 200; ++n) EXPECT_EQ(ghosts.Take(HashOf(n), 120), Ghosts::kNever);
  ghosts.Add(HashOf(1), 5);
  ghosts.Resize(2048);
  EXPECT_EQ(ghosts.Take(HashOf(1), 5), Ghosts::kNever);
}

TEST(GhostsTest, ForgetsTheOldestOfABucketWheneverTheClockStarts) {
  for (const uint32_t start : {0u, 1000u, UINT32_MAX - 3}) {
    Ghosts ghosts;
    ghosts.Resize(2);
    for (uint32_t n = 0; n < 8; ++n) ghosts.Add(HashOf(n), start + n);
    for (uint32_t n = 0; n < 8; ++n)
      EXPECT_EQ(ghosts.Take(HashOf(n), start + 8), n < 6 ? Ghosts::kNever : 8 - n) << start;
  }
}

}  // namespace
}  // namespace lava
