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
      {"a tree of one memtable's size never compacts", Of(1), kNever},
      {"a tree that level 1 holds", Of(128), 512},
      {"a large tree", Of(100'000), 512},
      {"shown once in a while", Of(1000, 0.3), 1024},
      {"shown as often as written", Of(1000, 1), 4096},
      {"shown ten times", Of(1000, 10), 32 << 10},
      {"shown all the time", Of(1000, 1000), kSeparationBytesMax},
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
  EXPECT_EQ(before, kNever) << "copied more often than the tree writes";
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

}  // namespace
}  // namespace lava
