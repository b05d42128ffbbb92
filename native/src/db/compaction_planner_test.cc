// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "db/compaction_planner.h"

#include <gtest/gtest.h>

#include "manifest/blob_files_for_test.h"

namespace lava {
namespace {

class CompactionPlannerTest : public ::testing::Test {
 protected:
  CompactionPlannerTest() {
    options_.l0_compaction_trigger = 4;
    options_.level1_bytes = 100'000;
    options_.target_file_bytes = 10'000;
    options_.value_file_bytes = 10'000;
    options_.value_sorted_runs_max = 3;
    inputs_.origin = IdOf(1).origin;
  }

  KeyFileEntry Add(uint32_t level, uint64_t number, std::vector<BlobReference> blob_files = {},
                   const std::vector<std::shared_ptr<ValueFileMeta>>& value_files = {},
                   std::string lower = "a", std::string upper = "z") {
    const KeyFileEntry entry =
        WholeOf(KeyFileOf(number, std::move(blob_files), std::move(lower), std::move(upper)));
    VersionEdit edit;
    edit.Add(level, entry);
    for (const auto& file : value_files) edit.AddNewValueFile(file);
    blob_files_.Apply(edit);
    return entry;
  }
  const PlanInputs& Inputs() {
    inputs_.version = blob_files_.state().version;
    return inputs_;
  }
  std::optional<CompactionTask> Next() { return planner_.PlanNext(Inputs(), jobs_); }
  std::optional<CompactionTask> All(bool* wait) { return planner_.PlanAll(Inputs(), jobs_, wait); }

  DBOptions options_;
  MissingFiles missing_files_;
  Counters counters_;
  OrderBudget order_budget_{&counters_.scan_value_bytes, 100, 10'000};
  ValueDecisions decisions_{&counters_, 100};
  CompactionPlanner planner_{&options_, &missing_files_, &order_budget_, &decisions_};
  JobCounts counts_;
  RunningJobs jobs_{&counts_};
  BlobFilesForTest blob_files_;
  PlanInputs inputs_;
};

TEST_F(CompactionPlannerTest, ALevelThatIsDueIsCompactedOnce) {
  for (uint64_t number = 1; number <= 3; ++number) Add(0, number);
  EXPECT_FALSE(Next().has_value()) << "level 0 is not due yet";
  Add(0, 4);
  std::optional<CompactionTask> task = Next();
  ASSERT_TRUE(task.has_value());
  EXPECT_EQ(task->cause, CompactionCause::kLevel0);
  EXPECT_EQ(task->priority, os::Priority::kL0Compaction);
  EXPECT_FALSE(task->manual);
  EXPECT_EQ(task->input.output_level, 1u);
  ASSERT_EQ(task->input.inputs.size(), 1u);
  EXPECT_EQ(task->input.inputs[0].entries.size(), 4u);
  EXPECT_GT(planner_.PendingBytes(Inputs(), jobs_), 0u);
  const auto running = std::make_shared<CompactionTask>(*task);
  jobs_.Insert(running);
  EXPECT_FALSE(Next().has_value()) << "a second compaction must not get the same files";
  jobs_.Remove(running);
  EXPECT_TRUE(Next().has_value()) << "level 0 stays due when the compaction ends without an output";
}

TEST_F(CompactionPlannerTest, FilesThatAreDamagedOrNotThereAreLeftAlone) {
  for (uint64_t number = 1; number <= 4; ++number) Add(0, number);
  inputs_.avoided = {IdOf(2)};
  EXPECT_FALSE(Next().has_value());
  inputs_.avoided = {IdOf(77)};
  EXPECT_TRUE(Next().has_value());
  inputs_.avoided = {};
  missing_files_.Add(blob_files_.version().levels[0][1].file);
  EXPECT_FALSE(Next().has_value());
}

TEST_F(CompactionPlannerTest, TheTaskKeepsNoMoreOfTheVersionThanItNeeds) {
  for (uint64_t number = 1; number <= 4; ++number) Add(0, number, {}, {}, "a", "m");
  const KeyFileEntry beside = Add(1, 9, {}, {}, "p", "z");
  const std::optional<CompactionTask> task = Next();
  ASSERT_TRUE(task.has_value());
  for (const FileList& level : task->input.version->levels)
    for (const KeyFileEntry& entry : level) EXPECT_NE(entry.file, beside.file);
}

TEST_F(CompactionPlannerTest, EverythingGoesToTheLastLevelInOneCompaction) {
  Add(2, 1);
  Add(1, 2);
  Add(0, 3);
  bool wait = true;
  const std::optional<CompactionTask> task = All(&wait);
  EXPECT_FALSE(wait);
  ASSERT_TRUE(task.has_value());
  EXPECT_TRUE(task->manual);
  EXPECT_EQ(task->cause, CompactionCause::kManual);
  EXPECT_EQ(task->input.output_level, 2u);
  EXPECT_EQ(task->input.inputs.size(), 3u);
  jobs_.Insert(std::make_shared<CompactionTask>(*task));
  EXPECT_FALSE(All(&wait).has_value());
  EXPECT_TRUE(wait) << "the request must wait, because its files are busy";
}

TEST_F(CompactionPlannerTest, TheLastLevelAloneIsRewrittenOnlyForWhatMayHaveExpired) {
  Add(3, 1);
  bool wait = true;
  EXPECT_FALSE(All(&wait).has_value());
  EXPECT_FALSE(wait);
  inputs_.tables[5].ttl_ms = 1000;
  const std::optional<CompactionTask> task = All(&wait);
  ASSERT_TRUE(task.has_value());
  EXPECT_EQ(task->input.inputs.front().level, 3u);
  EXPECT_EQ(task->input.output_level, 3u);
}

TEST_F(CompactionPlannerTest, AFullDiskIsAReasonToExposeGarbageUnlessSomethingIsCollected) {
  Add(2, 1);
  Add(1, 2);
  EXPECT_FALSE(Next().has_value());
  inputs_.disk_full = true;
  const std::optional<CompactionTask> task = Next();
  ASSERT_TRUE(task.has_value());
  EXPECT_EQ(task->cause, CompactionCause::kExposure);
  jobs_.Insert(std::make_shared<CollectionTask>());
  EXPECT_FALSE(Next().has_value());
}

// Four L0 files reference all live values of value file 10. Half of the value file is garbage.
TEST_F(CompactionPlannerTest, AFilesValuesGoWithTheInputsForItsGarbage) {
  const auto values = NewValueFile(10, 100, 2000);
  Add(0, 1, {{IdOf(10), 50, 1000}}, {values});
  for (uint64_t number = 2; number <= 4; ++number) Add(0, number);
  std::optional<CompactionTask> task = Next();
  ASSERT_TRUE(task.has_value());
  EXPECT_EQ(task->input.merged_values, std::set<const ValueFileMeta*>{values.get()});
  EXPECT_EQ(task->copied_bytes, values->bytes / 2);
  EXPECT_EQ(task->order_bytes, 0u);
  EXPECT_EQ(counters_.merged_for_garbage_bytes, 1000u);
  EXPECT_EQ(decisions_.Take().size(), 1u);

  // Its values stay while a collection has the file, and while the file is avoided as damaged.
  const auto collection = std::make_shared<CollectionTask>();
  collection->input.files.push_back(values);
  jobs_.Insert(collection);
  EXPECT_TRUE(Next()->input.merged_values.empty());
  jobs_.Remove(collection);
  inputs_.avoided = {IdOf(10)};
  EXPECT_TRUE(Next()->input.merged_values.empty());
  inputs_.avoided = {};

  // Rewriting a file of a checkpoint costs more, because the next checkpoint uploads the values
  // again.
  options_.collection_upload_cost_percent = 900;
  EXPECT_EQ(Next()->input.merged_values.size(), 1u);
  inputs_.in_checkpoint_below = 11;
  EXPECT_TRUE(Next()->input.merged_values.empty());
}

// Level 1 references four overlapping value files without garbage.
class CompactionPlannerOrderTest : public CompactionPlannerTest {
 protected:
  CompactionPlannerOrderTest() {
    std::vector<BlobReference> blob_files;
    std::vector<std::shared_ptr<ValueFileMeta>> value_files;
    for (uint64_t number = 10; number < 14; ++number) {
      value_files.push_back(NewValueFile(number, 20, 2000));
      blob_files.push_back(value_files.back()->blob_files.front());
    }
    Add(1, 1, blob_files, value_files);
  }
};

TEST_F(CompactionPlannerOrderTest, ScansPayForOrder) {
  EXPECT_FALSE(Next().has_value()) << "there are no scans that pay for order";
  counters_.scan_value_bytes = 7'900;
  EXPECT_FALSE(Next().has_value()) << "the scans have paid for only three of the four files";
  counters_.scan_value_bytes = 8'000;
  const std::optional<CompactionTask> task = Next();
  ASSERT_TRUE(task.has_value());
  EXPECT_EQ(task->cause, CompactionCause::kOrder);
  EXPECT_EQ(task->input.merged_values.size(), 4u);
  EXPECT_EQ(task->order_bytes, 8'000u);
  EXPECT_EQ(task->input.output_level, 1u);
}

TEST_F(CompactionPlannerOrderTest, OrderIsLeftForOtherWork) {
  counters_.scan_value_bytes = 80'000;
  inputs_.disk_full = true;
  EXPECT_FALSE(Next().has_value());
  inputs_.disk_full = false;
  inputs_.value_policy = ValuePolicy::kCollect;
  EXPECT_FALSE(Next().has_value());
  inputs_.value_policy = ValuePolicy::kAutomatic;
  const auto collection = std::make_shared<CollectionTask>();
  jobs_.Insert(collection);
  EXPECT_FALSE(Next().has_value());
  jobs_.Remove(collection);
  const auto compaction = std::make_shared<CompactionTask>();
  jobs_.Insert(compaction);
  EXPECT_FALSE(Next().has_value());
  jobs_.Remove(compaction);
  EXPECT_TRUE(Next().has_value());
}

TEST_F(CompactionPlannerOrderTest, BytesThatAreUploadedAgainCostMore) {
  options_.collection_upload_cost_percent = 100;
  inputs_.takes_checkpoints = true;
  inputs_.in_checkpoint_below = 14;
  counters_.scan_value_bytes = 8'000;
  EXPECT_FALSE(Next().has_value());
  counters_.scan_value_bytes = 16'000;
  const std::optional<CompactionTask> task = Next();
  ASSERT_TRUE(task.has_value());
  EXPECT_EQ(task->order_bytes, 16'000u);
}

}  // namespace
}  // namespace lava
