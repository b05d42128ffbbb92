// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "db/file_runs.h"

#include <gtest/gtest.h>

namespace lava {
namespace {

TEST(ExpectedEntries, AreSharedByTheBytesOfRuns) {
  const ExpectedEntries expected{100, {.records = 1000, .level_bytes = {}}};
  EXPECT_EQ(expected.BytesOf(50'000), 5000u);
  EXPECT_EQ(expected.BytesOf(0), 0u);
  EXPECT_EQ((ExpectedEntries{0, {.records = 1000, .level_bytes = {}}}.BytesOf(50'000)), 0u);
  EXPECT_EQ((ExpectedEntries{100, {}}.BytesOf(50'000)), 0u)
      << "without records there is nothing to estimate from";
}

TEST(ExpectedEntries, AreNoMoreThanARunHasWhateverTheTotalsSay) {
  const FileTotals one{.records = 1, .level_bytes = {}};
  EXPECT_EQ((ExpectedEntries{UINT32_MAX, one}.BytesOf(UINT64_MAX)), UINT64_MAX);
  EXPECT_EQ((ExpectedEntries{5000, one}.BytesOf(4096)), 4096u);
  const FileTotals many{.records = UINT64_MAX, .level_bytes = {}};
  EXPECT_EQ((ExpectedEntries{UINT32_MAX, many}.BytesOf(4096)), 0u);
}

}  // namespace
}  // namespace lava
