// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "manifest/blob_locations.h"

#include <gtest/gtest.h>

#include <string>

#include "manifest/version.h"

namespace lava {
namespace {

BlobLocation At(const std::string& lower) {
  return {std::make_shared<ValueFileMeta>(), lower, lower + "~"};
}

std::string LowersOf(const BlobLocations& locations) {
  std::string text;
  for (const BlobLocation& location : locations) text += location.lower;
  return text;
}

TEST(BlobLocations, CopiesShareAnArrayUntilOneChanges) {
  BlobLocations first;
  for (const char* lower : {"a", "b", "c"}) first.push_back(At(lower));  // with a free part
  BlobLocations second = first;
  EXPECT_EQ(second.data(), first.data());
  second.push_back(At("d"));
  EXPECT_NE(second.data(), first.data());
  EXPECT_EQ(LowersOf(first), "abc");
  EXPECT_EQ(LowersOf(second), "abcd");
  EXPECT_EQ(second[1].file, first[1].file);
}

TEST(BlobLocations, TwoCopiesThatGrowDoNotMeet) {
  BlobLocations first;
  for (const char* lower : {"a", "b", "c"}) first.push_back(At(lower));
  BlobLocations second = first, third = first;
  second.push_back(At("d"));
  third.push_back(At("e"));
  first.push_back(At("f"));
  EXPECT_EQ(LowersOf(second), "abcd");
  EXPECT_EQ(LowersOf(third), "abce");
  EXPECT_EQ(LowersOf(first), "abcf");
}

TEST(BlobLocations, ErasingLeavesCopiesAsTheyWere) {
  BlobLocations first = {At("a"), At("b"), At("c")};
  const BlobLocations copy = first;
  EXPECT_EQ(first.EraseIf([](const BlobLocation&) { return false; }), 0u);
  EXPECT_EQ(first.data(), copy.data());
  EXPECT_EQ(first.EraseIf([](const BlobLocation& at) { return at.lower != "b"; }), 2u);
  EXPECT_EQ(LowersOf(first), "b");
  EXPECT_EQ(first.EraseIf([](const BlobLocation&) { return true; }), 1u);
  EXPECT_TRUE(first.empty());
  EXPECT_EQ(LowersOf(copy), "abc");
}

TEST(BlobLocations, AssignmentTakesWhatACopyWould) {
  BlobLocations first = {At("a"), At("b")};
  BlobLocations second = {At("c")};
  second = first;
  EXPECT_EQ(second.data(), first.data());
  second.push_back(At("d"));
  first = std::move(second);
  EXPECT_EQ(LowersOf(first), "abd");
  first = {};
  EXPECT_TRUE(first.empty());
  EXPECT_EQ(first.begin(), first.end());
}

}  // namespace
}  // namespace lava
