// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "policy/overlap_depth.h"

#include <gtest/gtest.h>

#include <string>

#include "testing/random.h"

namespace lava {
namespace {

TEST(OverlapDepth, Table) {
  struct Row {
    const char* name;
    std::vector<KeyRange> ranges;
    uint32_t depth;
  };
  const Row rows[] = {
      {"no ranges", {}, 0},
      {"one range", {{"a", "b"}}, 1},
      {"adjacent ranges", {{"a", "b"}, {"b", "c"}, {"c", "d"}}, 1},
      {"one range covers the others", {{"a", "b"}, {"b", "c"}, {"", "z"}}, 2},
      {"three equal ranges", {{"a", "b"}, {"a", "b"}, {"a", "b"}}, 3},
      {"ranges without an upper bound", {{"a", ""}, {"b", ""}, {"x", "y"}, {"c", "d"}}, 3},
      {"each range overlaps the next one", {{"a", "c"}, {"b", "d"}, {"c", "e"}, {"d", "f"}}, 2},
      {"two runs, each of three parts",
       {{"a", "b"}, {"a", "b"}, {"c", "d"}, {"c", "d"}, {"e", "f"}, {"e", "f"}},
       2},
  };
  for (const Row& row : rows) EXPECT_EQ(OverlapDepth(row.ranges), row.depth) << row.name;
}

TEST(OverlapDepth, AgreesWithCountingAtEveryKey) {
  testing::Random random(1);
  for (int round = 0; round < 500; ++round) {
    std::vector<std::string> keys;
    for (char c = 'a'; c <= 'k'; ++c) keys.emplace_back(1, c);
    std::vector<KeyRange> ranges;
    for (uint64_t n = random.Uniform(12); n > 0; --n) {
      const size_t lower = random.Uniform(keys.size() - 1);
      const size_t upper = random.Between(lower + 1, keys.size());
      ranges.push_back({keys[lower], upper == keys.size() ? Slice() : Slice(keys[upper])});
    }
    uint32_t deepest = 0;
    for (const std::string& key : keys) {
      uint32_t depth = 0;
      for (const KeyRange& r : ranges)
        depth += r.lower <= Slice(key) && (r.upper.empty() || Slice(key) < r.upper) ? 1 : 0;
      deepest = std::max(deepest, depth);
    }
    ASSERT_EQ(OverlapDepth(ranges), deepest);
  }
}

TEST(OverlapCounts, AgreeWithAskingEachPair) {
  testing::Random random(7);
  for (int round = 0; round < 500; ++round) {
    std::vector<std::string> keys;
    for (char c = 'a'; c <= 'k'; ++c) keys.emplace_back(1, c);
    std::vector<KeyRange> ranges;
    for (uint64_t n = random.Uniform(10); n > 0; --n) {
      const size_t lower = random.Uniform(keys.size() - 1);
      const size_t upper = lower + 1 + random.Uniform(keys.size() - lower);
      ranges.push_back({keys[lower], upper < keys.size() ? Slice(keys[upper]) : Slice()});
    }
    const std::vector<uint32_t> counts = OverlapCounts(ranges);
    ASSERT_EQ(counts.size(), ranges.size());
    for (size_t i = 0; i < ranges.size(); ++i) {
      uint32_t meets = 0;
      for (size_t j = 0; j < ranges.size(); ++j) {
        const bool before = !ranges[j].upper.empty() && ranges[j].upper <= ranges[i].lower;
        const bool behind = !ranges[i].upper.empty() && ranges[i].upper <= ranges[j].lower;
        meets += i != j && !before && !behind;
      }
      EXPECT_EQ(counts[i], meets) << round << " " << i;
    }
  }
}

}  // namespace
}  // namespace lava
