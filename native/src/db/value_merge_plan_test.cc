#include "db/value_merge_plan.h"

#include <gtest/gtest.h>

#include "manifest/births_for_test.h"

namespace lava {
namespace {

class ValueMergePlanTest : public ::testing::Test {
 protected:
  // Puts a key file that references these births into the level.
  FileEntry Add(uint32_t level, uint64_t number, std::vector<BirthShare> births,
                const std::vector<std::shared_ptr<ValueFileMeta>>& born, std::string lower = "a",
                std::string upper = "z") {
    const FileEntry entry =
        WholeOf(KeyFileOf(number, std::move(births), std::move(lower), std::move(upper)));
    VersionEdit edit;
    edit.Add(level, entry);
    for (const auto& file : born) edit.AddBorn(file);
    births_.Apply(edit);
    return entry;
  }
  CompactionInput InputOf(const std::vector<FileEntry>& entries) {
    CompactionInput input;
    input.version = births_.state().version;
    input.output_level = 2;
    CompactionInput::Level& level = input.inputs.emplace_back();
    level.level = 1;
    for (const FileEntry& entry : entries) level.entries.push_back(entry);
    return input;
  }

  BirthsForTest births_;
};

TEST_F(ValueMergePlanTest, FindsTheFilesThatTheInputsReference) {
  const FileEntry mine =
      Add(1, 1, {{IdOf(10), 4, 400}}, {BornFile(10, 10, 1000), BornFile(11, 10, 1000)}, "c", "m");
  Add(2, 2, {{IdOf(10), 2, 200}, {IdOf(11), 10, 1000}}, {});
  const CompactionInput input = InputOf({mine});
  const ValueMergePlan plan = FindMergeable(input);
  ASSERT_EQ(plan.files.size(), 1u) << "a file that only others reference is taken along";
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
  edit.AddBorn(BornFile(10, 10, 1000));
  births_.Apply(edit);
  const CompactionInput input = InputOf({{file, "a", "m"}, {file, "m", "z"}});
  const ValueMergePlan plan = FindMergeable(input);
  ASSERT_EQ(plan.files.size(), 1u);
  EXPECT_EQ(plan.files[0].reached, 400u);
}

TEST_F(ValueMergePlanTest, ABirthInSeveralFilesIsDividedBetweenThem) {
  const FileEntry mine = Add(1, 1, {{IdOf(10), 6, 600}}, {BornFile(10, 10, 1000)});
  births_.Replace({10},
                  {{ValueFileOf(20, "a", "z", {{IdOf(10), 3, 250}}), {{IdOf(10), "a", "z"}}},
                   {ValueFileOf(21, "a", "z", {{IdOf(10), 5, 500}}), {{IdOf(10), "a", "z"}}}});
  const CompactionInput input = InputOf({mine});
  const ValueMergePlan plan = FindMergeable(input);
  ASSERT_EQ(plan.files.size(), 2u);
  EXPECT_EQ(plan.files[0].reached, 250u) << "more than the file holds of it";
  EXPECT_EQ(plan.files[1].reached, 300u);
}

TEST_F(ValueMergePlanTest, NothingIsMergedWithinLevel0) {
  const FileEntry mine = Add(0, 1, {{IdOf(10), 4, 400}}, {BornFile(10, 10, 1000)});
  CompactionInput input = InputOf({mine});
  EXPECT_EQ(FindMergeable(input).files.size(), 1u);
  input.output_level = 0;
  EXPECT_TRUE(FindMergeable(input).files.empty());
}

TEST_F(ValueMergePlanTest, CountsTheValueFilesThatAScanReadsSideBySide) {
  const FileEntry mine = Add(1, 1, {{IdOf(10), 1, 100}, {IdOf(11), 1, 100}, {IdOf(12), 1, 100}},
                             {BornFile(10, 1, 100, "a", "f"), BornFile(11, 1, 100, "d", "k"),
                              BornFile(12, 1, 100, "e", "z")},
                             "b", "h");
  EXPECT_EQ(ValueOverlapOf(births_.version(), mine), 3u);
  FileEntry part = mine;
  part.lower = "g";
  EXPECT_EQ(ValueOverlapOf(births_.version(), part), 2u) << "values beyond the entry count";
}

TEST_F(ValueMergePlanTest, OnlyTheLastTwoLevelsAreLowEnough) {
  Add(4, 1, {}, {});
  EXPECT_FALSE(IsLowEnough(births_.version(), 0));
  EXPECT_FALSE(IsLowEnough(births_.version(), 2));
  EXPECT_TRUE(IsLowEnough(births_.version(), 3));
  EXPECT_TRUE(IsLowEnough(births_.version(), 4));
}

}  // namespace
}  // namespace lava
