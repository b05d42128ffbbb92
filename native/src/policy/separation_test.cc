// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "policy/separation.h"

#include <gtest/gtest.h>

namespace lava {
namespace {

constexpr uint64_t kNever = UINT64_MAX;

SeparationInput Of(uint64_t tree_mib, double scanned_per_write = 0) {
  return {.records = 100'000, .scanned_per_write = scanned_per_write, .tree_bytes = tree_mib << 20};
}

TEST(Separation, Table) {
  struct Row {
    const char* name;
    SeparationInput input;
    uint64_t bound;
  };
  const Row rows[] = {
      {"a tree of the size of one memtable is never compacted", Of(1), kNever},
      {"a tree that fits into level 1", Of(128), 512},
      {"a large tree", Of(100'000), 512},
      {"scans rarely return a record", Of(1000, 0.3), 1024},
      {"scans return a record as often as it is written", Of(1000, 1), 4096},
      {"scans return a record ten times per write", Of(1000, 10), 32 << 10},
      {"scans return a record all the time", Of(1000, 1000), kSeparationBytesMax},
  };
  for (const Row& row : rows) EXPECT_EQ(ChooseSeparation(row.input, 1), row.bound) << row.name;
}

TEST(Separation, KnowsNothingFromAFewRecords) {
  SeparationInput input = Of(1000);
  input.records = kSeparationRecordsMin - 1;
  EXPECT_EQ(ChooseSeparation(input, 4096), 4096u);
}

TEST(Separation, DoesNotSwingBetweenNeighbours) {
  const SeparationInput input = Of(1000, 1);
  const uint64_t bound = ChooseSeparation(input, 1);
  EXPECT_EQ(ChooseSeparation(input, bound + bound / 2), bound + bound / 2);
  EXPECT_EQ(ChooseSeparation(input, 2 * bound), bound);
  EXPECT_EQ(ChooseSeparation(input, bound / 2), bound);
  EXPECT_EQ(ChooseSeparation(input, kNever), bound);
}

TEST(Separation, MoreCopiesScansAndKeyBytesRaiseItAndALargerTreeLowersIt) {
  const auto even = [](SeparationInput input) { return ChooseSeparation(input, 1); };
  SeparationInput input = Of(1000, 0.5);
  uint64_t before = even(input);
  for (const double scanned : {1.0, 2.0, 4.0, 100.0}) {
    input.scanned_per_write = scanned;
    EXPECT_GE(even(input), before);
    before = even(input);
  }
  input = Of(1000, 0.5);
  before = even(input);
  for (const double copied : {1.0, 2.0, 4.0, 100.0}) {
    input.copied_per_byte = copied;
    EXPECT_GE(even(input), before);
    before = even(input);
  }
  EXPECT_EQ(before, kNever) << "values are copied more often than the tree would write them";
  before = kNever;
  for (const uint64_t tree : {1, 10, 100, 1000, 10'000, 1'000'000}) {
    EXPECT_LE(even(Of(tree, 0.5)), before);
    before = even(Of(tree, 0.5));
  }
}

TEST(Separation, WritesOfTheTreeGrowWithItsLevels) {
  EXPECT_DOUBLE_EQ(TreeWritesPerByte(Of(0)), 2);
  EXPECT_DOUBLE_EQ(TreeWritesPerByte(Of(64)), 3);
  EXPECT_DOUBLE_EQ(TreeWritesPerByte(Of(128)), 4);
  EXPECT_DOUBLE_EQ(TreeWritesPerByte(Of(1280)), 10);
  EXPECT_DOUBLE_EQ(TreeWritesPerByte(Of(12'800)), 16);
}

LargeInput Put(bool synced, double died = 0, double scanned_per_write = 0) {
  return {.synced = synced,
          .records = kLargeRecordsMin,
          .died_in_memory = died,
          .scanned_per_write = scanned_per_write};
}

TEST(LargeValues, Table) {
  struct Row {
    const char* name;
    LargeInput input;
    uint64_t current, bound;
  };
  const Row rows[] = {
      {"a value goes to the log at almost no cost", Put(false), kNever, kLargeBytesMin},
      {"a sync makes a value in the log more expensive", Put(true), kNever, 32 << 10},
      {"scans return a record as often as it is written", Put(false, 0, 1), kNever, 32 << 10},
      {"the same, and each write is synced", Put(true, 0, 1), kNever, 64 << 10},
      {"scans return a record ten times per write", Put(false, 0, 10), kNever, 256 << 10},
      {"scans return a record all the time", Put(false, 0, 1000), kNever, kLargeBytesMax},
      {"some values die before a flush would write them", Put(true, 0.2), kNever, 32 << 10},
      {"too many values die, so the flush would rewrite the rest of the log", Put(false, 0.31),
       8 << 10, kNever},
      {"fewer values die, and values of this size are already in the log", Put(false, 0.29),
       8 << 10, 8 << 10},
      {"fewer values die, but values of this size are not in the log yet", Put(false, 0.21), kNever,
       kNever},
      {"all values die", Put(true, 1), 32 << 10, kNever},
      {"the bound changes by less than a factor of two", Put(true), 48 << 10, 48 << 10},
      {"the bound changes by a factor of two", Put(true), 64 << 10, 32 << 10},
  };
  for (const Row& row : rows) EXPECT_EQ(ChooseLarge(row.input, row.current), row.bound) << row.name;
}

TEST(LargeValues, KnowsNothingFromAFew) {
  LargeInput input = Put(false, 1);
  --input.records;
  EXPECT_EQ(ChooseLarge(input, 12'345), 12'345u);
  EXPECT_EQ(ChooseLarge(input, kNever), kNever);
}

}  // namespace
}  // namespace lava
