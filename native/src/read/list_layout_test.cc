// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "read/list_layout.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <vector>

#include "lava/list_format.h"
#include "lava/options.h"

namespace lava {
namespace {

std::string Elements(std::initializer_list<Slice> elements) {
  std::string list;
  for (const Slice element : elements) AppendListSegment(ListSegment::kElement, element, &list);
  return list;
}

std::string Reference(uint64_t number, uint64_t raw_bytes) {
  std::string list;
  AppendListReference({FileId{{1, 2}, number}, raw_bytes, std::nullopt}, &list);
  return list;
}

TEST(ListLayout, EachPartHasItsPlace) {
  std::string list;
  AppendListSegment(ListSegment::kElement, "abc", &list);
  const size_t inline_bytes = list.size();
  list += Reference(7, 100) + Reference(8, 20);
  ListLayout layout;
  ASSERT_TRUE(layout.Read(list).ok());
  EXPECT_EQ(layout.bytes(), inline_bytes + 120);
  ASSERT_EQ(layout.parts().size(), 3u);
  EXPECT_EQ(layout.parts()[0].bytes, Slice(list).substr(0, inline_bytes));
  EXPECT_EQ(layout.parts()[1].reference->blob_file.number, 7u);
  EXPECT_EQ(layout.parts()[2].raw_bytes(), 20u);
}

// Each reference may name as much as a value file, and a forged list may have any number of them.
TEST(ListLayout, ManyReferencesOfMoreThanAListMayHaveAreRefused) {
  std::string list;
  for (uint64_t number = 1; number <= 2100; ++number) list += Reference(number, 1 << 20);
  ListLayout layout;
  const Status status = layout.Read(list);
  EXPECT_TRUE(status.IsCorruption());
  EXPECT_NE(status.ToString().find(std::to_string(uint64_t{2100} << 20)), std::string::npos)
      << status.ToString();
}

TEST(ListLayout, SoAreThoseWhoseSumOverflows) {
  ListLayout layout;
  EXPECT_TRUE(layout.Read(Reference(1, UINT64_MAX) + Reference(2, 2)).IsCorruption());
}

TEST(ListLayout, AValueThatNoFileHasIsLost) {
  ListLayout layout;
  const std::string list = Reference(7, 100) + Reference(8, 20);
  ASSERT_TRUE(layout.Read(list).ok());
  std::string whole;
  std::vector<ListLayout::Logged> logged;
  EXPECT_TRUE(layout.Fetch(Version(), "k", &whole, &logged).IsCorruption());
}

TEST(ListLayout, WhatIsLoggedIsLeftToTheCaller) {
  ListLayout layout;
  std::string list = Elements({"one", "two"});
  const uint64_t before = list.size();
  const ValueReference reference{FileId{{1, 2}, 7}, 2 << 20, std::nullopt, 50, 60};
  AppendListReference(reference, &list);
  list += Elements({"three"});
  ASSERT_TRUE(layout.Read(list).ok());
  std::string whole;
  std::vector<ListLayout::Logged> logged;
  ASSERT_TRUE(layout.Fetch(Version(), "k", &whole, &logged).ok());
  ASSERT_EQ(logged.size(), 1u);
  EXPECT_EQ(logged[0].reference, reference);
  EXPECT_EQ(logged[0].offset, before);
  EXPECT_EQ(whole.size(), layout.bytes());
  EXPECT_EQ(whole.substr(0, before), Elements({"one", "two"}));
  EXPECT_EQ(whole.substr(before + reference.raw_bytes), Elements({"three"}));
}

}  // namespace
}  // namespace lava
