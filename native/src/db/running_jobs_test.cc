// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "db/running_jobs.h"

#include <gtest/gtest.h>

namespace lava {
namespace {

KeyFileEntry EntryOf(uint64_t number, const std::string& lower, const std::string& upper) {
  auto file = std::make_shared<FileMeta>();
  file->id = {{}, number};
  file->lower = "a";
  file->upper = "z";
  return {file, lower, upper};
}

std::shared_ptr<ValueFileMeta> RunningValueFile(uint64_t number) {
  auto file = std::make_shared<ValueFileMeta>();
  file->id = {{}, number};
  return file;
}

std::shared_ptr<CompactionTask> CompactionOf(const std::vector<KeyFileEntry>& entries) {
  auto task = std::make_shared<CompactionTask>();
  CompactionInput::Level& level = task->input.inputs.emplace_back();
  level.level = 1;
  for (const KeyFileEntry& entry : entries) level.entries.push_back(entry);
  return task;
}

class RunningJobsTest : public ::testing::Test {
 protected:
  JobCounts counts_;
  RunningJobs jobs_{&counts_};
};

TEST_F(RunningJobsTest, InputsAreBusyUntilTheirCompactionEnds) {
  const KeyFileEntry one = EntryOf(1, "a", "z"), two = EntryOf(2, "a", "z"),
                     idle = EntryOf(3, "a", "z");
  const auto first = CompactionOf({one}), second = CompactionOf({two});
  jobs_.Insert(first);
  jobs_.Insert(second);
  EXPECT_EQ(jobs_.compactions(), 2u);
  EXPECT_TRUE(jobs_.IsBusy(one));
  EXPECT_TRUE(jobs_.IsBusy(two));
  EXPECT_FALSE(jobs_.IsBusy(idle));
  jobs_.Remove(first);
  EXPECT_FALSE(jobs_.IsBusy(one));
  EXPECT_TRUE(jobs_.IsBusy(two)) << "the input of another job must stay busy";
  jobs_.Remove(first);
  EXPECT_EQ(jobs_.compactions(), 1u) << "removing a job twice must count only once";
}

// A version may have several entries of an imported file, each for a part of its keys.
TEST_F(RunningJobsTest, EntriesOfOneFileAreBusyByThemselves) {
  const KeyFileEntry left = EntryOf(1, "a", "m");
  KeyFileEntry right = left;
  right.lower = "m";
  right.upper = "z";
  const auto of_left = CompactionOf({left}), of_right = CompactionOf({right});
  jobs_.Insert(of_left);
  EXPECT_TRUE(jobs_.IsBusy(left));
  EXPECT_FALSE(jobs_.IsBusy(right));
  jobs_.Insert(of_right);
  jobs_.Remove(of_left);
  EXPECT_FALSE(jobs_.IsBusy(left));
  EXPECT_TRUE(jobs_.IsBusy(right));
}

TEST_F(RunningJobsTest, ValueFilesAreBusyThatAreCollectedDroppedOrMerged) {
  const auto collected = RunningValueFile(1), dropped = RunningValueFile(2),
             merged = RunningValueFile(3);
  const auto collection = std::make_shared<CollectionTask>();
  collection->input.files.push_back(collected);
  collection->input.expired.push_back(dropped);
  const auto compaction = CompactionOf({EntryOf(9, "a", "z")});
  compaction->input.merged_values.insert(merged.get());
  EXPECT_TRUE(jobs_.BusyValueFiles().empty());
  jobs_.Insert(collection);
  jobs_.Insert(compaction);
  EXPECT_EQ(jobs_.BusyValueFiles(),
            (std::set<const ValueFileMeta*>{collected.get(), dropped.get(), merged.get()}));
  jobs_.Remove(collection);
  EXPECT_EQ(jobs_.BusyValueFiles(), std::set<const ValueFileMeta*>{merged.get()});
}

TEST_F(RunningJobsTest, AnyoneMayReadTheCounts) {
  const auto compaction = CompactionOf({EntryOf(1, "a", "z")});
  const auto collection = std::make_shared<CollectionTask>();
  jobs_.Insert(compaction);
  jobs_.Insert(collection);
  EXPECT_EQ(counts_.compactions, 1u);
  EXPECT_EQ(counts_.collections, 1u);
  jobs_.Remove(compaction);
  EXPECT_EQ(counts_.compactions, 0u);
  jobs_.Remove(collection);
  EXPECT_EQ(counts_.collections, 0u);
}

TEST_F(RunningJobsTest, ClearLetsGoOfTasksAndTheirFiles) {
  std::weak_ptr<FileMeta> key_file;
  std::weak_ptr<ValueFileMeta> value_file;
  KeyFileEntry same;
  {
    const KeyFileEntry entry = EntryOf(1, "a", "z");
    key_file = entry.file;
    same = EntryOf(1, "a", "z");
    jobs_.Insert(CompactionOf({entry}));
    const auto collection = std::make_shared<CollectionTask>();
    collection->input.files.push_back(RunningValueFile(2));
    value_file = collection->input.files.front();
    jobs_.Insert(collection);
  }
  EXPECT_FALSE(key_file.expired());
  EXPECT_FALSE(value_file.expired());
  EXPECT_TRUE(jobs_.IsBusy(same));
  jobs_.Clear();
  EXPECT_TRUE(key_file.expired());
  EXPECT_TRUE(value_file.expired());
  EXPECT_FALSE(jobs_.IsBusy(same));
  EXPECT_EQ(counts_.compactions + counts_.collections, 0u);
}

}  // namespace
}  // namespace lava
