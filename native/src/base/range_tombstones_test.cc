// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "base/range_tombstones.h"

#include <gtest/gtest.h>

#include <set>

#include "testing/random.h"

namespace lava {
namespace {

std::string Text(const RangeTombstoneSet& set) {
  std::string text;
  for (const RangeTombstone& range : set.ranges()) {
    text.append("[").append(range.begin).append(",").append(range.end).append(")");
  }
  return text;
}

TEST(RangeTombstonesTest, MergesWhatTouches) {
  RangeTombstoneSet set;
  EXPECT_TRUE(set.empty());
  set.Add("c", "c");
  set.Add("d", "c");
  EXPECT_TRUE(set.empty());
  set.Add("f", "h");
  set.Add("b", "d");
  EXPECT_EQ(Text(set), "[b,d)[f,h)");
  set.Add("d", "e");  // adjacent
  EXPECT_EQ(Text(set), "[b,e)[f,h)");
  set.Add("e", "f");  // closes the gap
  EXPECT_EQ(Text(set), "[b,h)");
  set.Add("c", "d");  // inside
  EXPECT_EQ(Text(set), "[b,h)");
  set.Add("k", "m");
  set.Add("a", "z");
  EXPECT_EQ(Text(set), "[a,z)");
}

TEST(RangeTombstonesTest, AddsItsOwnBounds) {
  RangeTombstoneSet set;
  set.Add("b", "d");
  set.Add("f", "h");
  set.Add(set.ranges()[0].begin, set.ranges()[1].end);
  EXPECT_EQ(Text(set), "[b,h)");
}

TEST(RangeTombstonesTest, CoversIsHalfOpen) {
  RangeTombstoneSet set;
  set.Add("b", "d");
  EXPECT_FALSE(set.Covers("az"));
  EXPECT_TRUE(set.Covers("b"));
  EXPECT_TRUE(set.Covers(Slice("b\0", 2)));
  EXPECT_TRUE(set.Covers("cz"));
  EXPECT_FALSE(set.Covers("d"));
  EXPECT_FALSE(set.Overlaps("a", "b"));
  EXPECT_TRUE(set.Overlaps("a", "ba"));
  EXPECT_TRUE(set.Overlaps("c", "z"));
  EXPECT_FALSE(set.Overlaps("d", "z"));
  EXPECT_FALSE(set.Overlaps("c", "c"));
}

TEST(RangeTombstonesTest, Clips) {
  RangeTombstoneSet set;
  set.Add("b", "d");
  set.Add("f", "h");
  EXPECT_EQ(Text(set.Clip("c", "g")), "[c,d)[f,g)");
  EXPECT_EQ(Text(set.Clip("", "")), "[b,d)[f,h)");
  EXPECT_EQ(Text(set.Clip("d", "f")), "");
  EXPECT_EQ(Text(set.Clip("g", "")), "[g,h)");
  EXPECT_EQ(Text(set.Clip("a", "c")), "[b,c)");
}

// Compares with a set of single-byte keys as the model.
TEST(RangeTombstonesTest, AgreesWithASetOfKeys) {
  testing::Random random(5);
  for (int round = 0; round < 200; ++round) {
    RangeTombstoneSet set;
    std::set<unsigned char> covered;
    for (int i = 0; i < 12; ++i) {
      const auto begin = static_cast<unsigned char>(random.Uniform(250));
      const auto end = static_cast<unsigned char>(begin + random.Uniform(5));
      set.Add(std::string(1, static_cast<char>(begin)), std::string(1, static_cast<char>(end)));
      for (unsigned char key = begin; key < end; ++key) covered.insert(key);
    }
    const auto lower = static_cast<unsigned char>(random.Uniform(200));
    const auto upper = static_cast<unsigned char>(lower + 1 + random.Uniform(50));
    const RangeTombstoneSet clipped = set.Clip(std::string(1, static_cast<char>(lower)),
                                               std::string(1, static_cast<char>(upper)));
    bool any = false;
    for (int key = 0; key < 256; ++key) {
      const std::string bytes(1, static_cast<char>(key));
      const bool expected = covered.count(static_cast<unsigned char>(key)) != 0;
      ASSERT_EQ(set.Covers(bytes), expected);
      const bool inside = key >= lower && key < upper;
      any |= expected && inside;
      ASSERT_EQ(clipped.Covers(bytes), expected && inside);
    }
    ASSERT_EQ(set.Overlaps(std::string(1, static_cast<char>(lower)),
                           std::string(1, static_cast<char>(upper))),
              any);
    for (size_t i = 1; i < set.ranges().size(); ++i) {
      ASSERT_LT(set.ranges()[i - 1].end, set.ranges()[i].begin);
    }
  }
}

TEST(RangeTombstonesTest, MemoryFollowsWhatIsHeld) {
  RangeTombstoneSet set;
  EXPECT_EQ(set.memory_bytes(), 0u);
  const std::string pad(500, 'p');
  for (int i = 100; i < 200; ++i) set.Add(std::to_string(i) + pad, std::to_string(i) + pad + "x");
  EXPECT_GT(set.memory_bytes(), 100 * 1000u);
  EXPECT_LT(set.memory_bytes(), 100 * 1600u);
  EXPECT_GT(set.Clip("15", "16").memory_bytes(), 10 * 1000u);
  set.Add("1", "2");
  EXPECT_LE(set.memory_bytes(), 128 * sizeof(RangeTombstone) + 1200)
      << "only one range, with two keys, may be left";
}

}  // namespace
}  // namespace lava
