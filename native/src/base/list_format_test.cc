// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "lava/list_format.h"

#include <gtest/gtest.h>

namespace lava {
namespace {

TEST(ListFormatTest, SegmentsComeBackAndFoldByConcatenation) {
  std::string older;
  AppendListSegment(ListSegment::kElement, "one", &older);
  std::string newer;
  AppendListSegment(ListSegment::kJoined, "two,three", &newer);
  AppendListSegment(ListSegment::kElement, std::string(300, 'x'), &newer);
  AppendListSegment(ListSegment::kElement, "", &newer);
  const std::string folded = older + newer;

  Slice in = folded;
  ListSegment kind;
  Slice bytes;
  ASSERT_TRUE(NextListSegment(&in, &kind, &bytes).ok());
  EXPECT_EQ(kind, ListSegment::kElement);
  EXPECT_EQ(bytes, "one");
  ASSERT_TRUE(NextListSegment(&in, &kind, &bytes).ok());
  EXPECT_EQ(kind, ListSegment::kJoined);
  EXPECT_EQ(bytes, "two,three");
  ASSERT_TRUE(NextListSegment(&in, &kind, &bytes).ok());
  EXPECT_EQ(bytes.size(), 300u);
  ASSERT_TRUE(NextListSegment(&in, &kind, &bytes).ok());
  EXPECT_TRUE(in.empty());

  std::string joined;
  ASSERT_TRUE(JoinList(folded, &joined).ok());
  EXPECT_EQ(joined, "one,two,three," + std::string(300, 'x') + ",");
}

TEST(ListFormatTest, AnEmptyValueIsAnEmptyList) {
  std::string joined = "kept";
  ASSERT_TRUE(JoinList("", &joined).ok());
  EXPECT_EQ(joined, "kept");
}

TEST(ListFormatTest, DamageIsCorruption) {
  std::string value;
  AppendListSegment(ListSegment::kElement, "payload", &value);
  for (size_t length = 1; length < value.size(); ++length) {
    std::string joined;
    EXPECT_TRUE(JoinList(Slice(value).substr(0, length), &joined).IsCorruption()) << length;
  }
  std::string joined;
  EXPECT_TRUE(JoinList("\x03", &joined).IsCorruption());  // too long, without its sizes
  std::string reference;
  AppendListSegment(ListSegment::kReference, "r", &reference);
  EXPECT_EQ(JoinList(reference, &joined).code(), Status::Code::kNotSupported);
}

TEST(ListFormatTest, AListThatPassedTheLimitNamesItWhereverItIsRead) {
  std::string value;
  AppendListSegment(ListSegment::kElement, "older", &value);
  AppendTooLongSegment(123456789012, 2143289344, &value);
  AppendListSegment(ListSegment::kElement, "newer", &value);
  std::string joined;
  const Status status = JoinList(value, &joined);
  EXPECT_TRUE(status.IsInvalidArgument());
  EXPECT_NE(status.message().find("123456789012"), std::string_view::npos) << status.ToString();
  EXPECT_NE(status.message().find("2143289344"), std::string_view::npos) << status.ToString();
}

}  // namespace
}  // namespace lava
