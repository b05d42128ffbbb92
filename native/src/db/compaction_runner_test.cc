// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "db/compaction_runner.h"

#include <gtest/gtest.h>

#include "db/jobs_for_test.h"
#include "read/stamped_for_test.h"

namespace lava {
namespace {

using testing::FileCall;

class CompactionRunnerTest : public JobsForTest {
 protected:
  CompactionRunnerTest() { options_.l0_compaction_trigger = 2; }

  PartsForTest* OpenParts() {
    PartsForTest* const parts = Open();
    runner_ = std::make_unique<CompactionRunner>(&parts->instance, &parts->tree);
    return parts;
  }
  // Plans the compaction that is due.
  CompactionTask Plan() {
    Counters counters;
    OrderBudget budget(&counters.scan_value_bytes, 0, 1 << 20);
    ValueDecisions decisions(&counters, 0);
    CompactionPlanner planner(&parts_->instance.options, &parts_->missing_files, &budget,
                              &decisions);
    JobCounts counts;
    const RunningJobs jobs(&counts);
    std::optional<CompactionTask> task = planner.PlanNext(parts_->Inputs(), jobs);
    EXPECT_TRUE(task.has_value());
    if (!task) return {};
    task->input.drop_time = parts_->instance.expiry_time.Now();
    return std::move(*task);
  }
  const Counters& counters() const { return parts_->instance.counters; }

  std::unique_ptr<CompactionRunner> runner_;
  CompactionInfo told_;
};

TEST_F(CompactionRunnerTest, TheOutputTakesTheInputsPlace) {
  PartsForTest* const parts = OpenParts();
  Table* const table = parts->NewTable("t");
  AddFile(table, {"pa", "pb"}, "1");
  AddFile(table, {"pb", "pc"}, "2");
  auto task = std::make_unique<const CompactionTask>(Plan());
  const uint64_t bytes =
      parts->version()->levels[0][0].file->bytes + parts->version()->levels[0][1].file->bytes;
  CompactionRunner::Describe(*task, &told_);
  EXPECT_EQ(told_.cause, CompactionCause::kLevel0);
  EXPECT_EQ(told_.input_level, 0u);
  EXPECT_EQ(told_.output_level, 1u);
  EXPECT_EQ(told_.input_files, 2u);
  EXPECT_EQ(told_.input_file_bytes, bytes);
  EXPECT_FALSE(told_.trivial_move);
  ASSERT_TRUE(runner_->Run(*task, &told_).ok());
  EXPECT_TRUE(told_.installed);
  EXPECT_EQ(told_.output_files, 1u);
  EXPECT_EQ(FilesOf(0), 0u);
  EXPECT_EQ(FilesOf(1), 1u);
  EXPECT_EQ(parts->version(), parts->tree.versions.newest())
      << "readers must see the newest version";
  EXPECT_EQ(counters().compactions, 1u);
  EXPECT_EQ(counters().compaction_bytes_written, told_.written_bytes);
  EXPECT_EQ(counters().trivial_moves, 0u);
  EXPECT_EQ(parts->Scan(table), "pa=1 pb=2 pc=2 ");
  task.reset();  // its files borrow from the instance
  Open();
  EXPECT_EQ(FilesOf(1), 1u) << "the manifest must contain the same version";
}

TEST_F(CompactionRunnerTest, NothingIsInstalledWhenTheOutputCannotBeWritten) {
  PartsForTest* const parts = OpenParts();
  Table* const table = parts->NewTable("t");
  AddFile(table, {"pa"}, "1");
  AddFile(table, {"pa"}, "2");
  const CompactionTask task = Plan();
  const std::shared_ptr<const Version> before = parts->version();
  for (const FileCall call : {FileCall::kCreate, FileCall::kFlush, FileCall::kClose}) {
    files_.Arm({.forever = true, .only = call, .path_contains = ".ksst"});
    const Status status = runner_->Run(task, &told_);
    EXPECT_EQ(status.ok(), files_.fired() == 0) << testing::FileCallName(call);
    if (status.ok()) break;
    EXPECT_FALSE(told_.installed);
    EXPECT_EQ(parts->version(), before);
    EXPECT_EQ(parts->tree.versions.newest(), before);
    EXPECT_EQ(counters().compactions, 0u);
  }
  files_.Disarm();
  EXPECT_EQ(parts->Scan(table), "pa=2 ");
}

TEST_F(CompactionRunnerTest, NothingIsInstalledWhenTheEditIsNotLogged) {
  PartsForTest* const parts = OpenParts();
  AddFile(parts->NewTable("t"), {"pa"}, "1");
  AddFile(parts->NewTable("t"), {"pa"}, "2");
  const CompactionTask task = Plan();
  const std::shared_ptr<const Version> before = parts->version();
  files_.Arm({.forever = true, .path_contains = "MANIFEST"});
  EXPECT_FALSE(runner_->Run(task, &told_).ok());
  files_.Disarm();
  EXPECT_EQ(parts->version(), before);
  EXPECT_EQ(parts->tree.versions.newest(), before);
  EXPECT_EQ(counters().compactions, 0u);
}

TEST_F(CompactionRunnerTest, ATrivialMoveNeitherReadsNorWritesAFile) {
  PartsForTest* const parts = OpenParts();
  Table* const table = parts->NewTable("t");
  AddFile(table, {"pa"}, "1");
  AddFile(table, {"pa"}, "2");
  CompactionTask task = Plan();
  task.trivial_move = true;
  // The files of level 0 overlap, so only the older one may be moved.
  const KeyFileEntry older = parts->version()->levels[0][1];
  const std::shared_ptr<FileMeta> file = older.file;
  task.input.inputs[0].entries = FileList();
  task.input.inputs[0].entries.push_back(older);
  const uint64_t reads = files_.calls(FileCall::kRead), creates = files_.calls(FileCall::kCreate);
  ASSERT_TRUE(runner_->Run(task, &told_).ok());
  EXPECT_TRUE(told_.installed);
  EXPECT_EQ(files_.calls(FileCall::kRead), reads);
  EXPECT_EQ(files_.calls(FileCall::kCreate), creates);
  ASSERT_EQ(FilesOf(1), 1u);
  EXPECT_EQ(parts->version()->levels[1][0].file, file);
  EXPECT_EQ(FilesOf(0), 1u);
  EXPECT_EQ(counters().trivial_moves, 1u);
  EXPECT_EQ(counters().compactions, 0u);
  EXPECT_EQ(parts->Scan(table), "pa=2 ");
  const ObsoleteFiles::Unused unused = parts->tree.versions.obsolete_files().TakeUnused();
  EXPECT_EQ(unused.files.count(file->id.FileName()), 0u) << "the moved file is still in use";
}

TEST_F(CompactionRunnerTest, NothingIsInstalledWhenTheClockWasSetBackMeanwhile) {
  PartsForTest* const parts = OpenParts();
  Table* const table = parts->NewTable("t", {.ttl_layout = TtlLayout::kValue, .ttl_ms = 1'000});
  const int64_t written_ms = clock_.WallMillis();
  parts->instance.expiry_time.Accept(written_ms);
  AddFile(table, {"pa", "pb"}, Stamped(written_ms));
  AddFile(table, {"pb"}, Stamped(written_ms));
  // The time of expiry is never later than the system's clock.
  clock_.Advance(5'000);
  parts->instance.expiry_time.Accept(clock_.WallMillis());
  const CompactionTask task = Plan();
  const std::shared_ptr<const Version> before = parts->version();
  parts->instance.expiry_time.Accept(written_ms);
  EXPECT_TRUE(runner_->Run(task, &told_).ok());
  EXPECT_FALSE(told_.installed);
  EXPECT_EQ(parts->version(), before);
  EXPECT_EQ(parts->tree.versions.newest(), before);
  EXPECT_EQ(counters().compactions, 0u);
  EXPECT_EQ(counters().records_expired, 0u);
  EXPECT_EQ(parts->Get(table, "pa"), Stamped(written_ms));

  parts->instance.expiry_time.Accept(clock_.WallMillis());
  ASSERT_TRUE(runner_->Run(task, &told_).ok());
  EXPECT_TRUE(told_.installed);
  EXPECT_GT(counters().records_expired, 0u);
  EXPECT_EQ(FilesOf(0), 0u);
  EXPECT_EQ(parts->Get(table, "pa"), Status::NotFound().ToString());
}

}  // namespace
}  // namespace lava
