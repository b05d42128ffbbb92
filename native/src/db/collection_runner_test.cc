// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "db/collection_runner.h"

#include <gtest/gtest.h>

#include "db/jobs_for_test.h"
#include "read/stamped_for_test.h"

namespace lava {
namespace {

using testing::FileCall;

const std::string kLargeValue(1000, 'a');

class CollectionRunnerTest : public JobsForTest {
 protected:
  PartsForTest* OpenParts() {
    PartsForTest* const parts = Open();
    runner_ = std::make_unique<CollectionRunner>(&parts->instance, &parts->tree);
    return parts;
  }
  // Makes a value file with four values, of which one lives.
  void MakeGarbage(PartsForTest* parts) {
    options_.l0_compaction_trigger = 2;
    table_ = parts->NewTable("t", {.separation_bytes = 100});
    AddFile(table_, {"pa", "pb", "pc", "pd"}, kLargeValue);
    AddFile(table_, {"pa", "pb", "pc"}, "small");
    uint64_t ticket = 0;
    EXPECT_TRUE(parts->jobs.CompactAll(0, 0, &ticket).IsBusy());
    ASSERT_TRUE(executor_.RunOne());
    executor_.DropAll();
    parts->jobs.Clear();
    ASSERT_EQ(parts->version()->value_files.size(), 1u);
  }
  CollectionTask TaskOf() {
    CollectionTask task;
    task.input.version = parts_->version();
    for (const auto& [id, entry] : task.input.version->value_files)
      task.input.files.push_back(entry.file);
    task.input.tables = parts_->tables.Options();
    task.input.now_ms = parts_->instance.expiry_time.Now().older_ms;
    task.garbage_bytes = 3'000;
    return task;
  }
  // Records the notes of the runner.
  CollectionRunner::NoteOutput Note() {
    return [this](const FileId& file, uint64_t referenced) {
      noted_[file] = referenced;
      EXPECT_FALSE(parts_->version()->value_files.contains(file))
          << "readers must no longer see the input file";
    };
  }
  const Counters& counters() const { return parts_->instance.counters; }

  std::unique_ptr<CollectionRunner> runner_;
  Table* table_ = nullptr;
  std::map<FileId, uint64_t> noted_;
  CollectionInfo told_;
};

TEST_F(CollectionRunnerTest, TheOutputTakesTheInputsPlacesAndIsNotedBeforeReadersHaveIt) {
  PartsForTest* const parts = OpenParts();
  MakeGarbage(parts);
  auto task = std::make_unique<const CollectionTask>(TaskOf());
  CollectionRunner::Describe(*task, &told_);
  EXPECT_EQ(told_.input_files, 1u);
  EXPECT_EQ(told_.expired_files, 0u);
  EXPECT_EQ(told_.garbage_bytes, 3'000u);
  EXPECT_EQ(told_.input_file_bytes, task->input.files[0]->bytes);
  ASSERT_TRUE(runner_->Run(*task, Note(), &told_).ok());
  EXPECT_TRUE(told_.installed);
  EXPECT_EQ(told_.output_files, 1u);
  EXPECT_EQ(told_.values_dead, 3u);
  ASSERT_EQ(parts->version()->value_files.size(), 1u);
  std::shared_ptr<const ValueFileMeta> output = parts->version()->value_files.begin()->second.file;
  EXPECT_NE(output->id, task->input.files[0]->id);
  EXPECT_EQ(noted_, (std::map<FileId, uint64_t>{{output->id, output->raw_bytes}}));
  EXPECT_EQ(parts->version(), parts->tree.versions.newest());
  EXPECT_EQ(counters().collections, 1u);
  EXPECT_EQ(counters().collection_values_dead, 3u);
  EXPECT_EQ(counters().collection_input_bytes, task->input.files[0]->bytes);
  EXPECT_EQ(parts->Get(table_, "pd"), kLargeValue);
  EXPECT_EQ(parts->Get(table_, "pa"), "small");
  task.reset();  // its files borrow from the instance
  output.reset();
  Open();
  EXPECT_EQ(parts_->Get(parts_->NewTable("t"), "pd"), kLargeValue);
}

TEST_F(CollectionRunnerTest, NothingIsInstalledOrNotedAfterAnError) {
  PartsForTest* const parts = OpenParts();
  MakeGarbage(parts);
  const CollectionTask task = TaskOf();
  const std::shared_ptr<const Version> before = parts->version();
  for (const char* const path : {".vsst", "MANIFEST"}) {
    files_.Arm({.forever = true, .path_contains = path});
    EXPECT_FALSE(runner_->Run(task, Note(), &told_).ok()) << path;
    files_.Disarm();
    EXPECT_EQ(parts->version(), before) << path;
    EXPECT_EQ(parts->tree.versions.newest(), before) << path;
    EXPECT_TRUE(noted_.empty()) << path;
    EXPECT_EQ(counters().collections, 0u) << path;
  }
  EXPECT_EQ(parts->Get(table_, "pd"), kLargeValue);
}

// All keys of a collection's input may die before the collection ends.
TEST_F(CollectionRunnerTest, AnOutputWithoutAPlaceIsObsolete) {
  PartsForTest* const parts = OpenParts();
  MakeGarbage(parts);
  const CollectionTask task = TaskOf();
  ASSERT_TRUE(runner_->Run(task, Note(), &told_).ok());
  const std::shared_ptr<const Version> before = parts->version();
  ASSERT_EQ(noted_.size(), 1u);
  ASSERT_TRUE(runner_->Run(task, Note(), &told_).ok());
  EXPECT_EQ(parts->version(), before);
  EXPECT_EQ(noted_.size(), 1u);
  EXPECT_EQ(parts->tree.versions.obsolete_files().TakeUnused().files.size(), 1u)
      << "only the second output may be obsolete, because the task still holds its input";
  EXPECT_EQ(parts->Get(table_, "pd"), kLargeValue);
}

TEST_F(CollectionRunnerTest, NoFileIsDroppedWhenTheClockWasSetBackMeanwhile) {
  PartsForTest* const parts = OpenParts();
  table_ = parts->NewTable(
      "t", {.ttl_layout = TtlLayout::kValue, .ttl_ms = 1'000, .separation_bytes = 100});
  const int64_t written_ms = clock_.WallMillis();
  parts->instance.expiry_time.Accept(written_ms);
  const std::string value = Stamped(written_ms, kLargeValue);
  AddFile(table_, {"pa"}, value);
  // The time of expiry is never later than the system's clock.
  clock_.Advance(5'000);
  parts->instance.expiry_time.Accept(clock_.WallMillis());
  CollectionTask task = TaskOf();
  task.input.expired = std::exchange(task.input.files, {});
  CollectionRunner::Describe(task, &told_);
  EXPECT_EQ(told_.expired_files, 1u);
  const std::shared_ptr<const Version> before = parts->version();
  ASSERT_EQ(before->value_files.size(), 1u);
  parts->instance.expiry_time.Accept(written_ms);
  EXPECT_TRUE(runner_->Run(task, Note(), &told_).ok());
  EXPECT_FALSE(told_.installed);
  EXPECT_EQ(parts->version(), before);
  EXPECT_EQ(counters().value_files_expired, 0u);
  EXPECT_EQ(parts->Get(table_, "pa"), value);

  parts->instance.expiry_time.Accept(clock_.WallMillis());
  EXPECT_TRUE(runner_->Run(task, Note(), &told_).ok());
  EXPECT_TRUE(told_.installed);
  EXPECT_TRUE(parts->version()->value_files.empty());
  EXPECT_EQ(counters().value_files_expired, 1u);
  EXPECT_EQ(parts->Get(table_, "pa"), Status::NotFound().ToString());
}

}  // namespace
}  // namespace lava
