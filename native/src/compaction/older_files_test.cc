// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "compaction/older_files.h"

#include <gtest/gtest.h>

#include "compaction/entry_for_test.h"

namespace lava {
namespace {

class OlderFilesTest : public ::testing::Test {
 protected:
  OlderFilesTest() {
    version_->levels[0] = {Entry("a", "c"), Entry("b", "d"), Entry("e", "g")};
    version_->levels[1] = {Entry("h", "i"), Entry("k", "m")};
    version_->levels[3] = {Entry("p", "r"), Entry("x", "")};
  }
  CompactionInput Input(const std::map<uint32_t, std::vector<size_t>>& files, uint32_t to) {
    CompactionInput input;
    input.version = version_;
    input.output_level = to;
    for (const auto& [level, indices] : files) {
      auto& part = input.inputs.emplace_back();
      part.level = level;
      for (const size_t i : indices) part.entries.push_back(version_->levels[level][i]);
    }
    return input;
  }
  std::shared_ptr<Version> version_ = std::make_shared<Version>();
};

TEST_F(OlderFilesTest, WithinL0OnlyWhatIsBehindIsOlder) {
  const CompactionInput input = Input({{0, {1}}}, 0);
  const OlderFiles older(input);
  EXPECT_FALSE(older.MayHoldKey("a"));
  EXPECT_FALSE(older.MayHoldKey("c"));
  EXPECT_TRUE(older.MayHoldKey("f"));
  EXPECT_TRUE(older.MayHoldKey("h"));
  EXPECT_FALSE(older.MayHoldKey("i"));
}

TEST_F(OlderFilesTest, InputsThemselvesAreNotOlder) {
  const CompactionInput input = Input({{0, {0, 1, 2}}, {1, {0}}}, 1);
  const OlderFiles older(input);
  EXPECT_FALSE(older.MayHoldKey("b"));
  EXPECT_FALSE(older.MayHoldKey("h"));
  EXPECT_TRUE(older.MayHoldKey("q"));
  EXPECT_TRUE(older.MayHoldKey("z"));
  EXPECT_FALSE(older.MayHoldKey("r"));
}

TEST_F(OlderFilesTest, RangesMeetHalfOpen) {
  const CompactionInput input = Input({{1, {0, 1}}}, 2);
  const OlderFiles older(input);
  EXPECT_FALSE(older.MayHoldRange("a", "p"));
  EXPECT_TRUE(older.MayHoldRange("a", "p\x01"));
  EXPECT_FALSE(older.MayHoldRange("r", "x"));
  EXPECT_TRUE(older.MayHoldRange("r", ""));
  EXPECT_TRUE(older.MayHoldRange("zz", ""));
}

// One file with two entries in a version: the entry that is no input counts as older.
TEST_F(OlderFilesTest, EntriesAreDistinguishedByTheirBounds) {
  KeyFileEntry low = Entry("a", "z"), high = low;
  low.upper = "m";
  high.lower = "m";
  auto version = std::make_shared<Version>();
  version->levels[1] = {low};
  version->levels[2] = {high};
  CompactionInput input;
  input.version = version;
  input.output_level = 2;
  input.inputs.push_back({1, {low}});
  const OlderFiles older(input);
  EXPECT_FALSE(older.MayHoldKey("b"));
  EXPECT_TRUE(older.MayHoldKey("n"));
}

}  // namespace
}  // namespace lava
