// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "db/dead_ranges.h"

#include <gtest/gtest.h>

namespace lava {
namespace {

class DeadRangesTest : public ::testing::Test {
 protected:
  DeadRangesTest() { ranges_.Init(&memory_, 64 << 10); }

  void Remember(Slice begin, Slice end) {
    DeadRanges::Walk walk(&ranges_, "a", "z");
    walk.Remember(begin, end);
  }
  /// The end of the range that contains the key.
  std::string EndAt(Slice key) {
    std::string end;
    return ranges_.Find(key, &end) ? end : "none";
  }

  MemoryCounter memory_;
  DeadRanges ranges_;
};

TEST_F(DeadRangesTest, RangesAreFoundAndJoined) {
  EXPECT_FALSE(ranges_.watches());
  Remember("c", "f");
  EXPECT_TRUE(ranges_.watches());
  EXPECT_EQ(EndAt("b"), "none");
  EXPECT_EQ(EndAt("c"), "f");
  EXPECT_EQ(EndAt("ezzz"), "f");
  EXPECT_EQ(EndAt("f"), "none");
  Remember("h", "k");
  Remember("f", "g");
  EXPECT_EQ(EndAt("c"), "g");
  Remember("e", "i");
  EXPECT_EQ(EndAt("c"), "k");
  EXPECT_EQ(ranges_.size(), 1u);
  Remember("d", "e");
  EXPECT_EQ(EndAt("c"), "k");
}

TEST_F(DeadRangesTest, AWriteSplitsItsRange) {
  Remember("c", "k");
  ranges_.Wrote("e");
  EXPECT_EQ(EndAt("c"), "e");
  EXPECT_EQ(EndAt("e"), "none");
  EXPECT_EQ(EndAt(Slice("e\0", 2)), "k");
  ranges_.Wrote("c");  // no part is left before this key
  EXPECT_EQ(EndAt("c"), "none");
  EXPECT_EQ(EndAt("ca"), "e");
  ranges_.Wrote("m");
  EXPECT_EQ(EndAt("j"), "k");
}

TEST_F(DeadRangesTest, AWalkRemembersNothingBehindAWriteThatItMayNotHaveSeen) {
  DeadRanges::Walk walk(&ranges_, "c", "k");
  EXPECT_TRUE(ranges_.watches());
  ranges_.Wrote("b");
  ranges_.Wrote("k");
  ranges_.Wrote("g");
  ranges_.Wrote("h");
  walk.Remember("d", "j");
  EXPECT_EQ(EndAt("d"), "g");
  EXPECT_EQ(EndAt("g"), "none");
  EXPECT_EQ(EndAt("i"), "none");
  walk.Remember("g", "j");
  EXPECT_EQ(EndAt("i"), "none");
  ranges_.Wrote("c");
  walk.Remember("c", "d");
  EXPECT_EQ(EndAt("c"), "none");
}

// Otherwise a refilled map would leave a range between every two entries.
TEST_F(DeadRangesTest, ManyWritesIntoARangeLeaveFewParts) {
  Remember("c", "k");
  for (int i = 0; i < 4000; ++i) ranges_.Wrote("d" + std::to_string(100000 + i));
  EXPECT_LT(ranges_.size(), 300u);
  EXPECT_EQ(EndAt("c"), "d100000");
}

TEST_F(DeadRangesTest, MemoryIsBoundedAndCharged) {
  for (int i = 0; i < 5000; ++i) {
    const std::string key = "k" + std::to_string(100000 + i);
    Remember(key + "a", key + "b");
    ASSERT_LE(ranges_.bytes(), 64u << 10);
    ASSERT_EQ(memory_.used(), ranges_.bytes());
  }
  EXPECT_GT(ranges_.size(), 100u);
  Remember("b" + std::string(5000, 'x'), "c");
  EXPECT_EQ(EndAt("b" + std::string(5001, 'x')), "none");
  ranges_.Clear();
  EXPECT_FALSE(ranges_.watches());
  EXPECT_EQ(memory_.used(), 0u);
}

}  // namespace
}  // namespace lava
