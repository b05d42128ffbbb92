// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "policy/cache_border.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>

namespace lava {
namespace {

// Returns the new borders, in 256ths.
std::string Judge(const std::string& table) {
  std::istringstream lines(table);
  std::ostringstream out;
  double border, used, index, data;
  while (lines >> border >> used >> index >> data) {
    out << 256 * MoveCacheBorder({.border = border / 256,
                                  .index_used = used / 256,
                                  .index_worth = index,
                                  .data_worth = data})
        << '\n';
  }
  return out.str();
}

TEST(CacheBorder, MovesToWhereAByteEarnsMore) {
  // border, used, worth of index and data
  EXPECT_EQ(Judge("100 100  50  20\n"
                  "100 100  50  50\n"
                  "100 100  50  60\n"
                  "100 100  50  63\n"
                  "100 100   0   1\n"
                  "100 100   0   0\n"),
            "104\n"    // the index is worth more
            "104\n"    // equal worth
            "100\n"    // data is worth more, but not by a quarter
            "99\n"     // data is worth over a quarter more
            "99\n"     // the index is worth nothing
            "100\n");  // both are worth nothing
}

TEST(CacheBorder, WhatTheIndexDoesNotUseIsNotItsGround) {
  EXPECT_EQ(Judge("240  30  0  9\n"
                  " 40 100  0  9\n"),
            "30\n"
            "39\n");
}

TEST(CacheBorder, EachSideKeepsAFloor) {
  EXPECT_EQ(Judge(" 16  10   0 100\n"
                  "239 239 100   0\n"
                  "240 240 100   0\n"),
            "16\n"
            "240\n"
            "240\n");
}

// Models a cache whose index needs a certain share and gains nothing from more: the border settles
// at this share from either side.
TEST(CacheBorder, RestsWhereTheIndexHasWhatItNeeds) {
  for (const double start : {kCacheFloorShare, 1 - kCacheFloorShare}) {
    const double needed = 0.4;
    double border = start, index_worth = 0, data_worth = 0, least = 1, most = 0;
    for (int period = 0; period < 2000; ++period) {
      const bool lacks = border < needed;
      index_worth = SmoothCacheWorth(
          index_worth, {.missed_cost = lacks ? 500.0 : 0.0, .out_bytes = needed - border});
      data_worth = SmoothCacheWorth(data_worth, {.missed_cost = 100, .out_bytes = 1});
      border = MoveCacheBorder({border, std::min(border, needed), index_worth, data_worth});
      if (period < 1000) continue;
      least = std::min(least, border);
      most = std::max(most, border);
    }
    EXPECT_GT(least, needed - 0.01);
    EXPECT_GT(most, needed - 0.01);
  }
}

TEST(CacheBorder, WorthIsByTheByteAndRemembered) {
  const CachePeriod period{.missed_cost = 1000, .out_bytes = 10, .capacity_bytes = 1000};
  EXPECT_NEAR(SmoothCacheWorth(0, period), 5, 1e-9);
  EXPECT_NEAR(SmoothCacheWorth(100, period), 100, 1e-9);
  EXPECT_NEAR(SmoothCacheWorth(100, {}), 95, 1e-9);
  const CachePeriod nothing_out{.missed_cost = 4096, .out_bytes = 0, .capacity_bytes = 4096 * 8};
  EXPECT_NEAR(SmoothCacheWorth(0, nothing_out), 0.05 * 4096 / 8, 1e-9);
}

TEST(CacheBorder, AMissCostsAReadAndItsBytes) {
  EXPECT_EQ(CacheMissCost(0), 16384);
  EXPECT_EQ(CacheMissCost(16384), 2 * CacheMissCost(0));
}

}  // namespace
}  // namespace lava
