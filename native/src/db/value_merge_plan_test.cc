// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "db/value_merge_plan.h"

#include <gtest/gtest.h>

#include "manifest/blob_files_for_test.h"

namespace lava {
namespace {

class ValueMergePlanTest : public ::testing::Test {
 protected:
  // Adds a key file that references these blob files to the level.
  KeyFileEntry Add(uint32_t level, uint64_t number, std::vector<BlobReference> blob_files,
                   const std::vector<std::shared_ptr<ValueFileMeta>>& value_files,
                   std::string lower = "a", std::string upper = "z") {
    const KeyFileEntry entry =
        WholeOf(KeyFileOf(number, std::move(blob_files), std::move(lower), std::move(upper)));
    VersionEdit edit;
    edit.Add(level, entry);
    for (const auto& file : value_files) edit.AddNewValueFile(file);
    blob_files_.Apply(edit);
    return entry;
  }
  CompactionInput InputOf(const std::vector<KeyFileEntry>& entries) {
    CompactionInput input;
    input.version = blob_files_.state().version;
    input.output_level = 2;
    CompactionInput::Level& level = input.inputs.emplace_back();
    level.level = 1;
    for (const KeyFileEntry& entry : entries) level.entries.push_back(entry);
    return input;
  }

  BlobFilesForTest blob_files_;
};

TEST_F(ValueMergePlanTest, FindsTheFilesThatTheInputsReference) {
  const KeyFileEntry mine = Add(1, 1, {{IdOf(10), 4, 400}},
                                {NewValueFile(10, 10, 1000), NewValueFile(11, 10, 1000)}, "c", "m");
  Add(2, 2, {{IdOf(10), 2, 200}, {IdOf(11), 10, 1000}}, {});
  const CompactionInput input = InputOf({mine});
  const ValueMergePlan plan = FindMergeable(input);
  ASSERT_EQ(plan.files.size(), 1u)
      << "a file without references from the inputs must not be in the plan";
  EXPECT_EQ(plan.candidates[0]->id, IdOf(10));
  const MergeableFile& file = plan.files[0];
  EXPECT_EQ(file.range.lower, Slice("c"));
  EXPECT_EQ(file.range.upper, Slice("m"));
  EXPECT_EQ(file.raw_bytes, 1000u);
  EXPECT_EQ(file.records, 10u);
  EXPECT_EQ(file.reached, 400u);
  EXPECT_EQ(file.referenced, 600u);
  EXPECT_EQ(file.garbage, 400u);
}

TEST_F(ValueMergePlanTest, AFileThatStandsTwiceInTheInputsIsCountedOnce) {
  const auto file = KeyFileOf(1, {{IdOf(10), 4, 400}});
  VersionEdit edit;
  edit.Add(1, {file, "a", "m"});
  edit.Add(1, {file, "m", "z"});
  edit.AddNewValueFile(NewValueFile(10, 10, 1000));
  blob_files_.Apply(edit);
  const CompactionInput input = InputOf({{file, "a", "m"}, {file, "m", "z"}});
  const ValueMergePlan plan = FindMergeable(input);
  ASSERT_EQ(plan.files.size(), 1u);
  EXPECT_EQ(plan.files[0].reached, 400u);
}

TEST_F(ValueMergePlanTest, ABlobFileInSeveralFilesIsDividedBetweenThem) {
  const KeyFileEntry mine = Add(1, 1, {{IdOf(10), 6, 600}}, {NewValueFile(10, 10, 1000)});
  blob_files_.Replace({10},
                      {{ValueFileOf(20, "a", "z", {{IdOf(10), 3, 250}}), {{IdOf(10), "a", "z"}}},
                       {ValueFileOf(21, "a", "z", {{IdOf(10), 5, 500}}), {{IdOf(10), "a", "z"}}}});
  const CompactionInput input = InputOf({mine});
  const ValueMergePlan plan = FindMergeable(input);
  ASSERT_EQ(plan.files.size(), 2u);
  EXPECT_EQ(plan.files[0].reached, 250u)
      << "no more bytes can be reached than the file holds of the blob file";
  EXPECT_EQ(plan.files[1].reached, 300u);
}

TEST_F(ValueMergePlanTest, NothingIsMergedWithinLevel0) {
  const KeyFileEntry mine = Add(0, 1, {{IdOf(10), 4, 400}}, {NewValueFile(10, 10, 1000)});
  CompactionInput input = InputOf({mine});
  EXPECT_EQ(FindMergeable(input).files.size(), 1u);
  input.output_level = 0;
  EXPECT_TRUE(FindMergeable(input).files.empty());
}

TEST_F(ValueMergePlanTest, CountsTheValueFilesThatAScanReadsSideBySide) {
  const KeyFileEntry mine =
      Add(1, 1, {{IdOf(10), 1, 100}, {IdOf(11), 1, 100}, {IdOf(12), 1, 100}},
          {NewValueFile(10, 1, 100, "a", "f"), NewValueFile(11, 1, 100, "d", "k"),
           NewValueFile(12, 1, 100, "e", "z")},
          "b", "h");
  EXPECT_EQ(ValueOverlapOf(blob_files_.version(), mine), 3u);
  KeyFileEntry part = mine;
  part.lower = "g";
  EXPECT_EQ(ValueOverlapOf(blob_files_.version(), part), 2u)
      << "files outside the entry's bounds must not count";
}

TEST_F(ValueMergePlanTest, OnlyTheLastTwoLevelsAreLowEnough) {
  Add(4, 1, {}, {});
  EXPECT_FALSE(IsLowEnough(blob_files_.version(), 0));
  EXPECT_FALSE(IsLowEnough(blob_files_.version(), 2));
  EXPECT_TRUE(IsLowEnough(blob_files_.version(), 3));
  EXPECT_TRUE(IsLowEnough(blob_files_.version(), 4));
}

}  // namespace
}  // namespace lava
