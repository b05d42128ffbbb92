// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "compaction/compaction_scope.h"

#include <gtest/gtest.h>

#include "compaction/entry_for_test.h"

namespace lava {
namespace {

FileId Id(uint64_t number) { return FileId{{}, number}; }

std::string Show(const Version& version) {
  std::string text;
  for (const auto& level : version.levels) {
    for (const KeyFileEntry& entry : level) text += entry.lower + "-" + entry.upper + " ";
    text += "|";
  }
  return text.substr(0, text.find_last_not_of('|') + 1);
}

TEST(CompactionScope, HoldsWhatOverlapsTheInputsAndOnlyMergedValueFiles) {
  auto version = std::make_shared<Version>();
  version->levels[0] = {Entry("a", "c"), Entry("x", "z"), Entry("b", "e")};
  version->levels[1] = {Entry("a", "b"), Entry("c", "d"), Entry("d", "f"), Entry("f", "k")};
  version->levels[2] = {Entry("a", "c"), Entry("c", "e"), Entry("e", "")};
  auto file = std::make_shared<ValueFileMeta>();
  const std::weak_ptr<ValueFileMeta> kept = file;
  BlobFile gone, live;
  auto other = std::make_shared<ValueFileMeta>();
  gone.locations = {{file, "a", "z"}};
  live.locations = {{file, "a", "c"}, {other, "c", "z"}};
  gone.expired_to_ms[7] = 5;
  version->blob_files[Id(1)] = std::make_shared<BlobFile>(gone);
  version->blob_files[Id(2)] = std::make_shared<BlobFile>(live);
  version->blob_files[Id(3)] = std::make_shared<BlobFile>(gone);
  version->value_files[Id(1)] = {file, 3};
  gone.locations = {};
  live.locations = {};
  file.reset();

  CompactionInput input;
  input.version = version;
  input.inputs.push_back(
      {1, {Entry("c", "d", {{Id(1), 1, 1}, {Id(2), 1, 1}}), Entry("d", "f", {{Id(9), 1, 1}})}});
  input.inputs.push_back({2, {Entry("c", "e")}});
  const std::shared_ptr<const Version> scope = ScopeOf(input);
  EXPECT_EQ(Show(*scope), "b-e |c-d d-f |c-e e- ");
  ASSERT_EQ(scope->blob_files.size(), 1u)
      << "the scope must only have blob files that the inputs name and that have an expiry mark";
  EXPECT_EQ(scope->blob_files.begin()->first, Id(1));
  EXPECT_EQ(scope->blob_files.begin()->second->expired_to_ms.at(7), 5);

  input.merged_values = {other.get()};
  const std::shared_ptr<const Version> merging = ScopeOf(input);
  ASSERT_EQ(merging->blob_files.size(), 2u);
  ASSERT_EQ(merging->blob_files.at(Id(2))->locations.size(), 1u);
  EXPECT_EQ(merging->blob_files.at(Id(2))->locations[0].file, other);
  EXPECT_TRUE(merging->blob_files.at(Id(1))->locations.empty());

  input.merged_values.clear();
  other->tables[7].Add(100, std::nullopt);
  input.tables[7] = {.kind = TableKind::kMap};
  EXPECT_FALSE(ScopeOf(input)->blob_files.contains(Id(2)));
  input.tables[7] = {.kind = TableKind::kList};
  const std::shared_ptr<const Version> lists = ScopeOf(input);
  ASSERT_TRUE(lists->blob_files.contains(Id(2)))
      << "the compaction may have to combine the parts of a list";
  ASSERT_EQ(lists->blob_files.at(Id(2))->locations.size(), 1u);
  EXPECT_EQ(lists->blob_files.at(Id(2))->locations[0].file, other);

  input.version.reset();
  version.reset();
  EXPECT_TRUE(kept.expired());
}

TEST(CompactionScope, WhatHasNoEndReachesAllThatComesAfter) {
  auto version = std::make_shared<Version>();
  version->levels[1] = {Entry("a", "b"), Entry("d", "")};
  version->levels[2] = {Entry("a", "c"), Entry("c", "e"), Entry("m", "p"), Entry("p", "")};
  CompactionInput input;
  input.version = version;
  input.inputs.push_back({1, {version->levels[1][1]}});
  EXPECT_EQ(Show(*ScopeOf(input)), "|d- |c-e m-p p- ");
  input.inputs.push_back({2, {version->levels[2][1], version->levels[2][2]}});
  EXPECT_EQ(Show(*ScopeOf(input)), "|d- |c-e m-p p- ");
}

}  // namespace
}  // namespace lava
