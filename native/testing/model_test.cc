// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "testing/model.h"

#include <gtest/gtest.h>

#include "base/coding.h"

namespace lava::testing {
namespace {

std::string Keys(const std::vector<Model::Entry>& entries) {
  std::string keys;
  for (const auto& [key, value] : entries) keys.append(key).append(" ");
  return keys;
}

class ModelTest : public ::testing::Test {
 protected:
  ModelTest() {
    model_.CreateTable("t");
    for (const char* key : {"a", "b", "ba", "bb", "c"}) model_.Put("t", {key, 1}, key);
  }
  Model model_;
};

TEST_F(ModelTest, PointOperations) {
  EXPECT_EQ(model_.Get("t", "b"), "b");
  model_.Put("t", {"b", 1}, "new");
  EXPECT_EQ(model_.Get("t", "b"), "new");
  model_.Delete("t", {"b", 1});
  EXPECT_EQ(model_.Get("t", "b"), std::nullopt);
  model_.Append("t", {"l"}, "x");
  model_.Append("t", {"l"}, "y");
  EXPECT_EQ(model_.Get("t", "l"), "xy");
  EXPECT_EQ(model_.size("t"), 5u);
}

TEST_F(ModelTest, PrefixDeletesTakeKeysOfThatPrefixOnly) {
  model_.Put("t", {"bz", 2}, "another prefix");
  model_.DeletePrefix("t", "b");
  EXPECT_EQ(Keys(model_.Scan("t", {})), "a bz c ");
}

TEST_F(ModelTest, RangeDeletesAreHalfOpen) {
  model_.DeleteRange("t", "b", "bb");
  EXPECT_EQ(Keys(model_.Scan("t", {})), "a bb c ");
  model_.DeleteRange("t", "z", "a");
  EXPECT_EQ(model_.size("t"), 3u);
}

TEST_F(ModelTest, Scans) {
  ScanRequest request;
  request.lower = "b";
  request.upper = "c";
  EXPECT_EQ(Keys(model_.Scan("t", request)), "b ba bb ");
  request.lower_exclusive = true;
  EXPECT_EQ(Keys(model_.Scan("t", request)), "ba bb ");
  request.lower_exclusive = false;
  request.prefix_bytes = 1;
  request.upper = "ba";  // ignored with a prefix
  request.skip_key_bytes = 1;
  EXPECT_EQ(Keys(model_.Scan("t", request)), " a b ");
  request.keys_only = true;
  EXPECT_EQ(model_.Scan("t", request)[1].second, "");
}

TEST_F(ModelTest, CopiesAreSnapshots) {
  const Model snapshot = model_;
  EXPECT_EQ(snapshot, model_);
  model_.Delete("t", {"a", 1});
  EXPECT_FALSE(snapshot == model_);
  EXPECT_EQ(snapshot.Get("t", "a"), "a");
  model_.CreateTable("u");
  EXPECT_EQ(model_.tables(), (std::vector<std::string>{"t", "u"}));
  model_.DropTable("t");
  EXPECT_EQ(model_.tables(), std::vector<std::string>{"u"});
}

TEST(ParsePageTest, TakesWholePagesOnly) {
  ScanPage page;
  for (const auto& [key, value] : {Model::Entry{"key", "value"}, Model::Entry{"", ""}}) {
    PutBigEndian(&page.bytes, key.size(), 4);
    PutBigEndian(&page.bytes, value.size(), 4);
    page.bytes.append(key).append(value);
    ++page.entries;
  }
  std::vector<Model::Entry> entries;
  ASSERT_TRUE(ParsePage(page, &entries).ok());
  EXPECT_EQ(entries, (std::vector<Model::Entry>{{"key", "value"}, {"", ""}}));
  page.entries = 3;
  EXPECT_TRUE(ParsePage(page, &entries).IsCorruption());
  page.entries = 1;
  EXPECT_TRUE(ParsePage(page, &entries).IsCorruption());
}

TEST(ListElementsTest, SplitsSegments) {
  std::string value;
  AppendListSegment(ListSegment::kElement, "a", &value);
  AppendListSegment(ListSegment::kJoined, "b,c", &value);
  EXPECT_EQ(*ListElements(value), (std::vector<std::string>{"a", "b,c"}));
  value.pop_back();
  EXPECT_TRUE(ListElements(value).status().IsCorruption());
}

}  // namespace
}  // namespace lava::testing
