// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "db/job_scheduler.h"

#include <gtest/gtest.h>

#include "db/jobs_for_test.h"

namespace lava {
namespace {

using testing::Fault;
using testing::FileCall;
using Work = BackgroundFaults::Work;

class JobSchedulerTest : public JobsForTest {
 protected:
  // Adds as many files to level 0 as make a compaction due. The compaction is not planned yet.
  void FillLevel0(Table* table) {
    for (int i = 0; i < 4; ++i) AddFile(table, {"pa", "pb"}, "v" + std::to_string(i));
  }
  Status StatusOf(Work work) const {
    MutexLock state(parts_->tree.mutex());
    return parts_->faults.StatusOf(work);
  }
  Status CompactAll(uint64_t* ticket) {
    uint64_t through = 0;
    {
      MutexLock state(parts_->tree.mutex());
      through = parts_->tree.sealed().sealed_through();
    }
    return parts_->jobs.CompactAll(through, 0, ticket);
  }
  Status Relieve(StallCondition condition, uint64_t since_us) {
    bool relieved = false;
    return parts_->jobs.Relieve(condition, since_us, &relieved);
  }
  const JobCounts& counts() const { return parts_->tree.job_counts(); }
};

TEST_F(JobSchedulerTest, NoFileIsTheInputOfTwoJobs) {
  executor_.SetThreadCount(8);
  PartsForTest* const parts = Open();
  Table* const table = parts->NewTable("t");
  FillLevel0(table);
  parts->jobs.Schedule();
  parts->jobs.Schedule();
  parts->jobs.ScheduleCompactions();
  EXPECT_EQ(executor_.pending(), 1u);
  EXPECT_EQ(counts().compactions, 1u);
  EXPECT_EQ(counts().in_flight, 1u);
  executor_.RunUntilIdle();
  EXPECT_EQ(FilesOf(0), 0u);
  EXPECT_EQ(FilesOf(1), 1u);
  EXPECT_EQ(counts().compactions, 0u);
  EXPECT_EQ(counts().in_flight, 0u);
  EXPECT_EQ(parts->Scan(table), "pa=v3 pb=v3 ");
}

// A waiting thread checks the jobs in flight. The count must not drop to 0 between two jobs.
TEST_F(JobSchedulerTest, AJobCountsUntilItsSuccessorsArePlanned) {
  options_.level1_bytes = 1;
  PartsForTest* const parts = Open();
  Table* const table = parts->NewTable("t");
  FillLevel0(table);
  parts->jobs.Schedule();
  std::vector<uint32_t> in_flight;
  memory_.SetMutationHook([&](uint64_t) { in_flight.push_back(counts().in_flight); });
  ASSERT_TRUE(executor_.RunOne());
  memory_.SetMutationHook(nullptr);
  EXPECT_GT(in_flight.size(), 1u);
  for (const uint32_t count : in_flight) EXPECT_GE(count, 1u);
  EXPECT_EQ(executor_.pending(), 1u) << "the compaction of the next level is due";
  EXPECT_EQ(counts().in_flight, 1u);
  EXPECT_EQ(counts().compactions, 1u);
}

TEST_F(JobSchedulerTest, AFailedJobChangesNothingAndIsTriedAgainLater) {
  PartsForTest* const parts = Open();
  Table* const table = parts->NewTable("t");
  FillLevel0(table);
  const std::shared_ptr<const Version> before = parts->version();
  files_.Arm({.forever = true, .only = FileCall::kCreate, .path_contains = ".ksst"});
  parts->jobs.Schedule();
  executor_.RunUntilIdle();
  files_.Disarm();
  EXPECT_EQ(parts->version(), before);
  EXPECT_FALSE(StatusOf(Work::kCompaction).ok());
  EXPECT_EQ(counts().in_flight, 0u);
  parts->jobs.Schedule();
  EXPECT_EQ(executor_.pending(), 0u) << "the retry must not start before its time";
  clock_.AdvanceMicros(environment_.retry_us_min);
  parts->jobs.Schedule();
  EXPECT_EQ(executor_.pending(), 1u);
  executor_.RunUntilIdle();
  EXPECT_TRUE(StatusOf(Work::kCompaction).ok());
  EXPECT_EQ(FilesOf(0), 0u);
}

TEST_F(JobSchedulerTest, AWriteReportsOnlyFailuresOfJobsThatBeganAfterIt) {
  PartsForTest* const parts = Open();
  FillLevel0(parts->NewTable("t"));
  files_.Arm({.forever = true, .only = FileCall::kCreate, .path_contains = ".ksst"});
  parts->jobs.Schedule();
  executor_.RunUntilIdle();
  clock_.AdvanceMicros(1);
  const uint64_t since_us = clock_.MonotonicMicros();
  EXPECT_TRUE(Relieve(StallCondition::kWaitForCompaction, since_us).ok());
  EXPECT_EQ(executor_.pending(), 1u) << "the write must retry the failed compaction at once";
  EXPECT_EQ(executor_.pending_urgent(), 1u);
  clock_.AdvanceMicros(1);
  executor_.RunUntilIdle();
  EXPECT_TRUE(Relieve(StallCondition::kWaitForCompaction, since_us).IsIOError());
  files_.Disarm();
  EXPECT_TRUE(Relieve(StallCondition::kWaitForCompaction, clock_.MonotonicMicros() + 1).ok());
  executor_.RunUntilIdle();
  EXPECT_EQ(FilesOf(0), 0u);
}

TEST_F(JobSchedulerTest, WithoutMemoryForATaskNothingIsBusy) {
  PartsForTest* const parts = Open();
  FillLevel0(parts->NewTable("t"));
  executor_.refuses = true;
  parts->jobs.Schedule();
  EXPECT_THROW(parts->jobs.ScheduleCompactions(), std::bad_alloc);
  parts->jobs.MemoryFreed();
  EXPECT_EQ(counts().compactions, 0u);
  EXPECT_EQ(counts().in_flight, 0u);
  executor_.refuses = false;
  parts->jobs.Schedule();
  EXPECT_EQ(executor_.pending(), 1u);
}

TEST_F(JobSchedulerTest, AJobThatFindsNoMemoryIsPlannedAgainWhenAnotherEnds) {
  PartsForTest* const parts = Open();
  FillLevel0(parts->NewTable("t"));
  JobMemory* const memory = parts->instance.lease->job_memory();
  MemoryCounter* const counter = parts->instance.budget.counter(MemoryPurpose::kCompactions);
  std::optional<JobMemory::Grant> other = memory->TryBegin(counter, 1 << 30);
  ASSERT_TRUE(other.has_value());
  uint64_t ticket = 0;
  EXPECT_TRUE(CompactAll(&ticket).IsBusy());
  EXPECT_EQ(executor_.RunUntilIdle(100), 1u);
  EXPECT_EQ(FilesOf(0), 4u);
  EXPECT_EQ(counts().in_flight, 0u);
  EXPECT_TRUE(StatusOf(Work::kCompaction).ok()) << "a lack of memory is not a failure";
  EXPECT_EQ(parts->instance.counters.background_errors, 0u);
  other.reset();
  EXPECT_LT(executor_.RunUntilIdle(100), 100u);
  EXPECT_EQ(FilesOf(0), 0u);
  EXPECT_TRUE(CompactAll(&ticket).ok());
}

TEST_F(JobSchedulerTest, ARequestTakesEverythingToTheLastLevelInOneCompactionThatRunsAlone) {
  executor_.SetThreadCount(8);
  PartsForTest* const parts = Open();
  Table* const table = parts->NewTable("t");
  AddFile(table, {"pa"}, "1");
  AddFile(table, {"pb"}, "2");
  ASSERT_TRUE(parts->writer.Put(table, {"pc", 0}, "3").ok());
  uint64_t through = 0;
  ASSERT_TRUE(parts->writer.Seal(FlushCause::kCompactAll, &through).ok());
  uint64_t ticket = 0;
  EXPECT_TRUE(parts->jobs.CompactAll(through, 0, &ticket).IsBusy());
  EXPECT_EQ(counts().compactions, 0u)
      << "the compaction must wait until the sealed memtables are in files";
  parts->plans_after_flushes = true;
  ASSERT_TRUE(executor_.RunOne(os::Priority::kFlush));
  EXPECT_EQ(counts().compactions, 1u);
  // Newer files are left to the next request.
  parts->plans_after_flushes = false;
  for (int i = 0; i < 5; ++i) AddFile(table, {"pd"}, "4");
  parts->jobs.Schedule();
  EXPECT_EQ(counts().compactions, 1u);
  uint64_t next = 0;
  EXPECT_TRUE(CompactAll(&next).IsBusy());
  EXPECT_NE(next, ticket);
  ASSERT_TRUE(executor_.RunOne());
  EXPECT_TRUE(CompactAll(&ticket).ok());
  EXPECT_EQ(FilesOf(0), 5u);
  EXPECT_TRUE(CompactAll(&next).IsBusy());
  executor_.RunUntilIdle();
  EXPECT_TRUE(CompactAll(&next).ok());
  EXPECT_EQ(FilesOf(0), 0u);
  EXPECT_EQ(parts->Scan(table), "pa=1 pb=2 pc=3 pd=4 ");
}

TEST_F(JobSchedulerTest, ARequestEndsWithTheFailureOfItsCompaction) {
  PartsForTest* const parts = Open();
  FillLevel0(parts->NewTable("t"));
  uint64_t unknown = 77;
  EXPECT_TRUE(CompactAll(&unknown).IsInvalidArgument());
  files_.Arm({.forever = true, .only = FileCall::kCreate, .path_contains = ".ksst"});
  uint64_t ticket = 0;
  EXPECT_TRUE(CompactAll(&ticket).IsBusy());
  executor_.RunUntilIdle();
  EXPECT_TRUE(CompactAll(&ticket).IsIOError());
  files_.Disarm();
  clock_.AdvanceMicros(environment_.retry_us_max);
  ticket = 0;
  EXPECT_TRUE(CompactAll(&ticket).IsBusy());
  executor_.RunUntilIdle();
  EXPECT_TRUE(CompactAll(&ticket).ok());
}

TEST_F(JobSchedulerTest, WithoutAManifestNothingIsPlannedAndRequestsEnd) {
  options_.sync = true;
  PartsForTest* const parts = Open();
  Table* const table = parts->NewTable("t");
  FillLevel0(table);
  ASSERT_TRUE(parts->writer.Put(table, {"pa", 0}, "5").ok());
  files_.Arm({.forever = true, .only = FileCall::kSync, .path_contains = "MANIFEST"});
  EXPECT_FALSE(parts->Flush().ok());
  files_.Disarm();
  ASSERT_TRUE(parts->tree.versions.failed());
  uint64_t ticket = 0;
  const Status status = parts->jobs.CompactAll(0, 0, &ticket);
  EXPECT_EQ(status.ToString(), parts->tree.versions.status().ToString());
  parts->jobs.Schedule();
  EXPECT_EQ(executor_.pending(), 0u);
}

TEST_F(JobSchedulerTest, AReadErrorThatDoesNotOccurAgainIsNoFailure) {
  PartsForTest* const parts = Open();
  Table* const table = parts->NewTable("t");
  FillLevel0(table);
  files_.Arm({.fault = Fault::kShortRead, .only = FileCall::kRead, .path_contains = ".ksst"});
  parts->jobs.Schedule();
  executor_.RunUntilIdle();
  EXPECT_EQ(files_.fired(), 1u) << "the test must read from the file and not from the cache";
  EXPECT_EQ(parts->instance.counters.background_errors, 0u);
  EXPECT_EQ(FilesOf(0), 0u);
}

TEST_F(JobSchedulerTest, ADamagedFileIsLeftAloneFromThenOn) {
  PartsForTest* const parts = Open();
  FillLevel0(parts->NewTable("t"));
  const std::string name = parts->version()->levels[0][1].file->id.FileName();
  files_.Arm({.fault = Fault::kShortRead,
              .forever = true,
              .only = FileCall::kRead,
              .path_contains = name});
  parts->jobs.Schedule();
  executor_.RunUntilIdle();
  EXPECT_GT(files_.fired(), 1u);
  EXPECT_EQ(FilesOf(0), 4u);
  EXPECT_TRUE(parts->faults.avoids_any());
  clock_.AdvanceMicros(environment_.retry_us_max);
  parts->jobs.Schedule();
  EXPECT_EQ(executor_.pending(), 0u);
  EXPECT_TRUE(Relieve(StallCondition::kWaitForCompaction, 0).IsCorruption());
  uint64_t ticket = 0;
  EXPECT_TRUE(CompactAll(&ticket).IsCorruption());
}

TEST_F(JobSchedulerTest, AClosedInstancePlansNothingAndClearLetsGoOfJobs) {
  PartsForTest* const parts = Open();
  FillLevel0(parts->NewTable("t"));
  parts->jobs.Schedule();
  ASSERT_EQ(counts().compactions, 1u);
  std::weak_ptr<FileMeta> input = parts->version()->levels[0][0].file;
  const std::shared_ptr<const Version> before = parts->version();
  parts->SetClosed();
  parts->jobs.Clear();
  EXPECT_EQ(counts().compactions, 0u);
  executor_.RunUntilIdle();
  EXPECT_EQ(parts->version(), before) << "a job that was removed by Clear() must not run";
  parts->jobs.Schedule();
  parts->jobs.SetValuePolicy(ValuePolicy::kMerge);
  EXPECT_EQ(executor_.pending(), 0u);
  uint64_t ticket = 0;
  EXPECT_TRUE(CompactAll(&ticket).IsBusy());
}

TEST_F(JobSchedulerTest, AScanAsksForAPlanOnceItHasEarnedEnough) {
  options_.value_file_bytes = 1000;
  PartsForTest* const parts = Open();
  parts->jobs.LookForOrdering();
  EXPECT_EQ(executor_.pending(), 0u);
  parts->instance.counters.scan_value_bytes = 1 << 20;
  parts->jobs.LookForOrdering();
  EXPECT_EQ(executor_.pending(), 1u);
  parts->jobs.LookForOrdering();
  EXPECT_EQ(executor_.pending(), 1u);
}

TEST_F(JobSchedulerTest, AWriteThatFindsSpaceGoesOn) {
  PartsForTest* const parts = Open();
  bool relieved = false;
  EXPECT_TRUE(parts->jobs.Relieve(StallCondition::kNone, 0, &relieved).ok());
  EXPECT_TRUE(relieved);
}

TEST_F(JobSchedulerTest, AWriteThatNothingCanMakeSpaceForIsToldSo) {
  options_.space_high_bytes = 100;
  PartsForTest* const parts = Open();
  AddFile(parts->NewTable("t"), {"pa"}, std::string(1000, 'x'));
  bool relieved = false;
  EXPECT_TRUE(
      parts->jobs.Relieve(StallCondition::kNone, clock_.MonotonicMicros(), &relieved).IsNoSpace());
  EXPECT_FALSE(relieved);
}

class JobSchedulerCollectionTest : public JobSchedulerTest {
 protected:
  JobSchedulerCollectionTest() {
    options_.collection_garbage_percent = 25;
    options_.l0_compaction_trigger = 2;
  }
  // A compaction leaves a value file with four values, of which one lives.
  void MakeGarbage(PartsForTest* parts) {
    table_ = parts->NewTable("t", {.separation_bytes = 100});
    const std::string large(1000, 'a');
    AddFile(table_, {"pa", "pb", "pc", "pd"}, large);
    AddFile(table_, {"pa", "pb", "pc"}, "small");
    parts->jobs.ScheduleCompactions();
    ASSERT_TRUE(executor_.RunOne(os::Priority::kL0Compaction));
    ASSERT_EQ(FilesOf(0), 0u);
  }
  Table* table_ = nullptr;
};

TEST_F(JobSchedulerCollectionTest, TheEndOfACompactionStartsTheCollectionThatItMakesDue) {
  PartsForTest* const parts = Open();
  MakeGarbage(parts);
  EXPECT_EQ(counts().collections, 1u);
  EXPECT_EQ(executor_.pending(), 1u);
  parts->jobs.Schedule();
  EXPECT_EQ(executor_.pending(), 1u) << "a second collection must not get the same file";
  const uint64_t before = parts->version()->value_files.begin()->second.file->raw_bytes;
  executor_.RunUntilIdle();
  EXPECT_EQ(counts().in_flight, 0u);
  ASSERT_EQ(parts->version()->value_files.size(), 1u);
  EXPECT_LT(parts->version()->value_files.begin()->second.file->raw_bytes, before);
  EXPECT_EQ(parts->instance.counters.collections, 1u);
  EXPECT_EQ(parts->Get(table_, "pd"), std::string(1000, 'a'));
  EXPECT_EQ(parts->Get(table_, "pa"), "small");
}

TEST_F(JobSchedulerCollectionTest, AFailedCollectionChangesNothingAndIsTriedAgainLater) {
  PartsForTest* const parts = Open();
  MakeGarbage(parts);
  const std::shared_ptr<const Version> before = parts->version();
  files_.Arm({.forever = true, .only = FileCall::kCreate, .path_contains = ".vsst"});
  executor_.RunUntilIdle();
  files_.Disarm();
  EXPECT_EQ(parts->version(), before);
  EXPECT_TRUE(StatusOf(Work::kCollection).IsIOError());
  EXPECT_EQ(counts().in_flight, 0u);
  clock_.AdvanceMicros(environment_.retry_us_min);
  parts->jobs.ScheduleCollections();
  executor_.RunUntilIdle();
  EXPECT_TRUE(StatusOf(Work::kCollection).ok());
  EXPECT_EQ(parts->instance.counters.collections, 1u);
}

// All key files together decide which values live.
TEST_F(JobSchedulerCollectionTest, NothingIsCollectedWhileAKeyFileIsMissing) {
  PartsForTest* const parts = Open();
  MakeGarbage(parts);
  files_.Arm({.only = FileCall::kCreate, .path_contains = ".vsst"});
  executor_.RunUntilIdle();
  clock_.AdvanceMicros(environment_.retry_us_max);
  const auto file = std::make_shared<FileMeta>();
  file->id = parts->tree.versions.NewFileId();
  parts->missing_files.Add(file);
  parts->jobs.ScheduleCollections();
  EXPECT_EQ(executor_.pending(), 0u);
  parts->missing_files.Erase(file->id.FileName());
  parts->jobs.ScheduleCollections();
  EXPECT_EQ(executor_.pending(), 1u);
}

TEST_F(JobSchedulerCollectionTest, WithoutMemoryForATaskNothingIsBusy) {
  PartsForTest* const parts = Open();
  MakeGarbage(parts);
  files_.Arm({.only = FileCall::kCreate, .path_contains = ".vsst"});
  executor_.RunUntilIdle();
  clock_.AdvanceMicros(environment_.retry_us_max);
  executor_.refuses = true;
  parts->jobs.ScheduleCollections();
  EXPECT_EQ(counts().collections, 0u);
  EXPECT_EQ(counts().in_flight, 0u);
  executor_.refuses = false;
  parts->jobs.ScheduleCollections();
  EXPECT_EQ(counts().collections, 1u);
}

TEST_F(JobSchedulerCollectionTest, ARequestForSpaceRepeatsNoFailedWorkWhileNoWriteWaits) {
  PartsForTest* const parts = Open();
  MakeGarbage(parts);
  files_.Arm({.only = FileCall::kCreate, .path_contains = ".vsst"});
  executor_.RunUntilIdle();
  parts->jobs.RequestSpace();
  ASSERT_TRUE(executor_.RunOne(os::Priority::kFlush));
  EXPECT_EQ(executor_.pending(), 0u)
      << "the failed collection must not be retried, because no write waits";
  executor_.refuses = true;
  parts->jobs.RequestSpace();
  parts->jobs.RequestGiveUp(1);
}

}  // namespace
}  // namespace lava
