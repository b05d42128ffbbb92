// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "db/collection_planner.h"

#include <gtest/gtest.h>

#include <random>

#include "manifest/blob_files_for_test.h"

namespace lava {
namespace {

constexpr uint64_t kTable = 5;

class CollectionPlannerTest : public ::testing::Test {
 protected:
  CollectionPlannerTest() {
    options_.collection_garbage_percent = 25;
    options_.value_file_bytes = 100'000;
    inputs_.origin = IdOf(1).origin;
    TableOptions& table = inputs_.tables[kTable];
    table.ttl_layout = TtlLayout::kValue;
    table.ttl_ms = 1'000;
  }

  // Adds a value file of 1000 bytes, and a key file that references `referenced` of these bytes.
  std::shared_ptr<ValueFileMeta> Add(uint64_t number, uint64_t referenced,
                                     std::optional<int64_t> newest_ms = std::nullopt) {
    const auto values = NewValueFile(number, 10, 1000);
    if (newest_ms)
      values->tables[kTable] = {.records = 10, .raw_bytes = 1000, .newest_ms = *newest_ms};
    keys_[number] = WholeOf(KeyFileOf(1000 + number, {{IdOf(number), 1, referenced}}));
    blob_files_.Flush(keys_[number], {values});
    return values;
  }
  // Replaces the key file of Add() by one that references fewer bytes, as a compaction does.
  void Rewrite(uint64_t number, uint64_t referenced) {
    VersionEdit edit;
    edit.Remove(0, keys_[number]);
    keys_[number] = WholeOf(KeyFileOf(++rewritten_, {{IdOf(number), 1, referenced}}));
    edit.Add(0, keys_[number]);
    blob_files_.Apply(edit);
  }
  std::shared_ptr<CollectionTask> Plan(CollectionPlanner* planner) {
    inputs_.version = blob_files_.state().version;
    return planner->Plan(inputs_, jobs_, now_ms_, planner->TakeFindings());
  }
  std::shared_ptr<CollectionTask> Plan() { return Plan(&planner_); }
  // Expects that the next plan collects the file of this number.
  void ExpectFound(uint64_t number) {
    const std::shared_ptr<CollectionTask> task = Plan();
    ASSERT_NE(task, nullptr);
    ASSERT_EQ(task->input.files.size(), 1u);
    EXPECT_EQ(task->input.files[0]->id, IdOf(number));
  }
  // Expects that a plan finds nothing, and that the plan after it looks at no file.
  void ExpectNothing() {
    EXPECT_EQ(Plan(), nullptr);
    const uint64_t looked_at = planner_.files_looked_at();
    EXPECT_EQ(Plan(), nullptr);
    EXPECT_EQ(planner_.files_looked_at(), looked_at)
        << "the second plan must not look at any file again";
  }

  DBOptions options_;
  MissingFiles missing_files_;
  CollectionPlanner planner_{&options_, &missing_files_};
  JobCounts counts_;
  RunningJobs jobs_{&counts_};
  BlobFilesForTest blob_files_;
  PlanInputs inputs_;
  int64_t now_ms_ = 0;
  std::map<uint64_t, KeyFileEntry> keys_;
  uint64_t rewritten_ = 100'000;
};

TEST_F(CollectionPlannerTest, TakesTheFilesWithTheMostGarbage) {
  EXPECT_EQ(Plan(), nullptr) << "there is no file to collect";
  Add(1, 1000);
  Add(2, 760);
  ExpectNothing();
  const auto dirty = Add(3, 400);
  const std::shared_ptr<CollectionTask> task = Plan();
  ASSERT_NE(task, nullptr);
  EXPECT_EQ(task->input.files, std::vector{dirty});
  EXPECT_TRUE(task->input.expired.empty());
  EXPECT_EQ(task->cause, CollectionCause::kGarbage);
  EXPECT_EQ(task->garbage_bytes, 600u);
  EXPECT_EQ(task->copied_bytes, dirty->bytes * 2 / 5);
  jobs_.Insert(task);
  EXPECT_EQ(Plan(), nullptr) << "a second job must not get the same file";
  options_.collection_garbage_percent = 101;
  jobs_.Remove(task);
  EXPECT_EQ(Plan(), nullptr) << "the options must turn the collection of garbage off";
}

TEST_F(CollectionPlannerTest, AFileThatGainsGarbageIsFound) {
  Add(1, 1000);
  Add(2, 900);
  ExpectNothing();
  Rewrite(1, 800);
  ExpectNothing();
  Rewrite(1, 700);
  ExpectFound(1);
}

TEST_F(CollectionPlannerTest, OnlyFilesThatChangedAreLookedAt) {
  VersionEdit edit;
  for (uint64_t number = 1; number <= 2000; ++number) {
    edit.Add(0, WholeOf(KeyFileOf(10'000 + number, {{IdOf(number), 10, 1000}})));
    edit.AddNewValueFile(NewValueFile(number, 10, 1000));
  }
  blob_files_.Apply(edit);
  ExpectNothing();
  EXPECT_EQ(planner_.files_looked_at(), 2000u);
  Add(3000, 1000);
  Add(3001, 900);
  EXPECT_EQ(Plan(), nullptr);
  EXPECT_LT(planner_.files_looked_at(), 2200u);
  Rewrite(3001, 500);
  ExpectFound(3001);
}

TEST_F(CollectionPlannerTest, AFileIsDroppedOnceAllInItHasExpired) {
  const auto values = Add(1, 1000, 5'000);
  Add(2, 1000, TableShare::kNeverExpires);
  Add(3, 1000);
  ExpectNothing();
  now_ms_ = 5'999;
  ExpectNothing();
  now_ms_ = 6'000;
  const std::shared_ptr<CollectionTask> task = Plan();
  ASSERT_NE(task, nullptr);
  EXPECT_EQ(task->cause, CollectionCause::kExpired);
  EXPECT_TRUE(task->input.files.empty());
  EXPECT_EQ(task->input.expired, std::vector{values});
  EXPECT_EQ(task->garbage_bytes, 1000u);
  EXPECT_EQ(task->copied_bytes, 0u);
  jobs_.Insert(task);
  EXPECT_EQ(Plan(), nullptr) << "the file must not be dropped a second time";
}

TEST_F(CollectionPlannerTest, AnotherTimeToLiveIsSeen) {
  Add(1, 1000, 5'000);
  now_ms_ = 5'500;
  ExpectNothing();
  inputs_.tables[kTable].ttl_ms = 400;
  EXPECT_NE(Plan(), nullptr);
  inputs_.tables.erase(kTable);
  ExpectNothing();
}

TEST_F(CollectionPlannerTest, LessGarbageIsEnoughWhenSpaceIsShort) {
  Add(1, 900);
  ExpectNothing();
  inputs_.pressure.fullness = 0.8;
  EXPECT_EQ(Plan(), nullptr);
  inputs_.pressure.fullness = 1;
  inputs_.pressure.slow = 0.5;
  const std::shared_ptr<CollectionTask> task = Plan();
  ASSERT_NE(task, nullptr);
  EXPECT_EQ(task->cause, CollectionCause::kSpace);
}

TEST_F(CollectionPlannerTest, OnAFullDiskAnyGarbageIsCollectedOnceNoCompactionRuns) {
  Add(1, 999);
  Add(2, 1000);
  ExpectNothing();
  const auto compaction = std::make_shared<CompactionTask>();
  jobs_.Insert(compaction);
  inputs_.disk_full = true;
  EXPECT_EQ(Plan(), nullptr);
  jobs_.Remove(compaction);
  ExpectFound(1);
}

TEST_F(CollectionPlannerTest, WhatACheckpointHasNeedsMoreGarbage) {
  options_.collection_upload_cost_percent = 300;
  Add(1, 600);
  inputs_.in_checkpoint_below = 2;
  ExpectNothing();
  Add(2, 600);
  ExpectFound(2);
  inputs_.in_checkpoint_below = 3;
  ExpectNothing();
  Rewrite(1, 300);
  ExpectFound(1);
}

TEST_F(CollectionPlannerTest, AnotherPolicyLooksAnew) {
  Add(1, 600);
  inputs_.value_policy = ValuePolicy::kMerge;
  EXPECT_EQ(Plan(), nullptr);
  inputs_.value_policy = ValuePolicy::kAutomatic;
  ExpectFound(1);
  inputs_.value_policy = ValuePolicy::kGreedy;
  ExpectFound(1);
}

TEST_F(CollectionPlannerTest, FilesThatWereNotJudgedAreLookedAtAgain) {
  const auto values = Add(1, 600);
  // The file is busy.
  const auto compaction = std::make_shared<CompactionTask>();
  compaction->input.merged_values.insert(values.get());
  jobs_.Insert(compaction);
  EXPECT_EQ(Plan(), nullptr);
  EXPECT_EQ(Plan(), nullptr);
  jobs_.Remove(compaction);
  ExpectFound(1);
  // The file is damaged. It is offered again once it is no longer avoided.
  inputs_.avoided = {IdOf(1)};
  EXPECT_EQ(Plan(), nullptr);
  EXPECT_EQ(Plan(), nullptr);
  inputs_.avoided = {};
  ExpectFound(1);
  // The file is missing. It is offered again once it has arrived.
  missing_files_.Add(values);
  EXPECT_EQ(Plan(), nullptr);
  EXPECT_EQ(Plan(), nullptr);
  missing_files_.Erase(values->id.ValueFileName());
  ExpectFound(1);
}

TEST_F(CollectionPlannerTest, FindingsLetGoOfTheVersion) {
  Add(1, 1000);
  Add(2, 1000);
  ASSERT_EQ(Plan(), nullptr);
  std::weak_ptr<ValueFileMeta> gone = blob_files_.version().value_files.at(IdOf(1)).file;
  blob_files_.RemoveKeys(0, keys_[1]);
  ASSERT_FALSE(blob_files_.version().value_files.contains(IdOf(1)));
  BlobFilesForTest other;  // the helper's own table of files keeps all of them
  std::swap(blob_files_, other);
  inputs_.version = std::make_shared<Version>(other.version());
  EXPECT_EQ(planner_.Plan(inputs_, jobs_, now_ms_, planner_.TakeFindings()), nullptr);
  inputs_.version.reset();
  keys_.clear();
  other = BlobFilesForTest();
  EXPECT_TRUE(gone.expired()) << "the findings must not hold a file that left the version";
  (void)planner_.TakeFindings();
}

// A collection's output counts as free of garbage until references to its blob files become fewer.
TEST_F(CollectionPlannerTest, AnOutputsGarbageIsCountedFromItsCreationOn) {
  keys_[1] = WholeOf(KeyFileOf(1001, {{IdOf(1), 5, 500}}));
  blob_files_.Flush(keys_[1], {NewValueFile(1, 10, 1000)});
  // A hot and a cold output, both of all keys: by the blob files, half of each is garbage.
  planner_.NoteOutput(IdOf(20), 500);
  planner_.NoteOutput(IdOf(21), 500);
  ASSERT_NE(Plan(), nullptr);  // a plan on the version before the outputs
  blob_files_.Replace({1},
                      {{ValueFileOf(20, "a", "z", {{IdOf(1), 5, 500}}), {{IdOf(1), "a", "z"}}},
                       {ValueFileOf(21, "a", "z", {{IdOf(1), 5, 500}}), {{IdOf(1), "a", "z"}}}});
  ASSERT_EQ(blob_files_.version().value_files.at(IdOf(20)).garbage.estimate, 250u);
  ExpectNothing();
  Rewrite(1, 480);
  ExpectNothing();
  Rewrite(1, 300);
  EXPECT_NE(Plan(), nullptr);
}

// A plan that uses findings gives the same result as a plan that looks at all files.
TEST_F(CollectionPlannerTest, FindingsNeverHideAnything) {
  std::mt19937 random(7);
  options_.collection_upload_cost_percent = 100;
  uint64_t next = 1, found = 0;
  for (int step = 0; step < 600; ++step) {
    const auto one_of = [&] { return keys_.lower_bound(1 + random() % next); };
    switch (random() % 8) {
      case 0:
      case 1:
        Add(next++, 700 + random() % 301,
            random() % 2 == 0 ? std::optional<int64_t>(step * 10) : std::nullopt);
        break;
      case 2:
        if (const auto key = one_of(); key != keys_.end()) Rewrite(key->first, random() % 1000 + 1);
        break;
      case 3:
        if (const auto key = one_of(); key != keys_.end()) {
          blob_files_.RemoveKeys(0, key->second);
          keys_.erase(key);
        }
        break;
      case 4:
        inputs_.pressure.fullness = static_cast<double>(random() % 101) / 100;
        break;
      case 5:
        now_ms_ += 100;
        break;
      case 6:
        inputs_.in_checkpoint_below = std::max(inputs_.in_checkpoint_below, random() % next);
        break;
      default:
        inputs_.avoided = {IdOf(random() % next), IdOf(random() % next)};
    }
    CollectionPlanner fresh(&options_, &missing_files_);
    const std::shared_ptr<CollectionTask> expected = Plan(&fresh), task = Plan();
    ASSERT_EQ(task != nullptr, expected != nullptr) << "at step " << step;
    if (task == nullptr) continue;
    ++found;
    ASSERT_EQ(task->input.files, expected->input.files);
    ASSERT_EQ(task->input.expired, expected->input.expired);
    // The job runs during some plans, or ends at once.
    jobs_.Clear();
    jobs_.Insert(task);
    if (random() % 2 == 0) continue;
    VersionEdit edit;
    for (const auto* files : {&task->input.files, &task->input.expired}) {
      for (const auto& file : *files) {
        edit.Remove(0, keys_[file->id.number]);
        keys_.erase(file->id.number);
      }
    }
    blob_files_.Apply(edit);
    jobs_.Clear();
  }
  EXPECT_GT(found, 50u);
}

}  // namespace
}  // namespace lava
