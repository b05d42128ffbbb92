// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "db/flush_scheduler.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "db/components_for_test.h"
#include "read/readers.h"

namespace lava {
namespace {

using testing::ComponentsForTest;
using testing::EventKind;
using testing::Fault;
using Work = BackgroundFaults::Work;

constexpr const char* kKeyFile = ".ksst";

class FlushSchedulerTest : public ::testing::Test {
 protected:
  FlushSchedulerTest() { parts_.Begin(); }

  size_t Sealed() {
    MutexLock state(tree_.mutex());
    return tree_.sealed().size();
  }
  uint32_t Running() {
    MutexLock state(tree_.mutex());
    return tree_.sealed().running();
  }
  size_t Files() const { return tree_.view()->version->levels[0].size(); }
  uint64_t Count(const Counters::Counter& counter) const { return counter; }
  void RefuseKeyFiles() {
    parts_.files.Arm({.fault = Fault::kNoSpace, .forever = true, .path_contains = kKeyFile});
  }
  void RefuseEdits() {
    parts_.files.Arm({.fault = Fault::kNoSpace, .forever = true, .path_contains = "MANIFEST"});
  }
  std::vector<FlushInfo> Ended() const {
    parts_.instance.notifier->Deliver();
    return parts_.listener->All<FlushInfo>(EventKind::kFlushEnd);
  }
  // Seals a memtable whose flush fails for lack of space. Space is available again afterwards.
  void FailOneFlush() {
    parts_.Seal("a");
    RefuseKeyFiles();
    flushes_.Schedule();
    parts_.held.RunAll();
    parts_.files.Disarm();
    EXPECT_EQ(Sealed(), 1u);
  }

  ComponentsForTest parts_;
  TreeState& tree_ = parts_.tree;
  FlushScheduler& flushes_ = parts_.flushes;
};

TEST_F(FlushSchedulerTest, ASealedMemtableBecomesAFile) {
  const std::weak_ptr<SealedRun> run = parts_.Seal("a");
  flushes_.Schedule();
  ASSERT_EQ(parts_.held.size(), 1u);
  EXPECT_EQ(parts_.held.PriorityOf(0), os::Priority::kFlush);
  EXPECT_EQ(tree_.job_counts().in_flight, 1u);
  EXPECT_EQ(Files(), 0u);
  parts_.held.RunAll();
  ASSERT_EQ(Files(), 1u);
  const KeyFileEntry& entry = *tree_.view()->version->levels[0].begin();
  EXPECT_TRUE(parts_.IsThere(entry.file->id.FileName()));
  EXPECT_EQ(entry.file->records, 1u);
  EXPECT_NE(ReaderOf(entry), nullptr);
  EXPECT_TRUE(run.expired()) << "the flush must free the memtable's memory";
  EXPECT_EQ(Running(), 0u);
  EXPECT_EQ(tree_.job_counts().in_flight, 0u);
  EXPECT_EQ(parts_.planned, 1);
  EXPECT_EQ(Count(parts_.instance.counters.flushes), 1u);
  EXPECT_EQ(Count(parts_.instance.counters.versions_installed), 1u);
  ASSERT_EQ(Ended().size(), 1u);
  EXPECT_TRUE(Ended()[0].installed);
  EXPECT_EQ(Ended()[0].files, 1u);
}

TEST_F(FlushSchedulerTest, NothingIsStartedTwice) {
  flushes_.Schedule();
  EXPECT_EQ(parts_.held.size(), 0u) << "no sealed memtable waits";
  parts_.Seal("a");
  flushes_.Schedule();
  flushes_.Schedule();
  flushes_.Schedule(/*force=*/true);
  EXPECT_EQ(parts_.held.size(), 1u);
}

TEST_F(FlushSchedulerTest, FilesAreInstalledOldestFirstWhateverFlushEndsFirst) {
  parts_.Seal("old");
  flushes_.Schedule();
  parts_.Seal("new");
  flushes_.Schedule();
  ASSERT_EQ(parts_.held.size(), 2u);
  parts_.held.Run(1);
  EXPECT_EQ(Files(), 0u) << "the older memtable has no file yet, so its file must come first";
  EXPECT_EQ(Sealed(), 2u);
  ASSERT_EQ(Ended().size(), 1u);
  EXPECT_TRUE(Ended()[0].status.ok());
  EXPECT_FALSE(Ended()[0].installed);
  parts_.held.Run();
  EXPECT_EQ(Sealed(), 0u);
  ASSERT_EQ(Files(), 2u);
  const ViewRef view = tree_.view();
  EXPECT_EQ(view->version->levels[0].begin()->lower, ComponentsForTest::KeyOf("new"))
      << "the newest file must be the first one";
  ASSERT_EQ(Ended().size(), 2u);
  EXPECT_TRUE(Ended()[1].installed);
  EXPECT_EQ(tree_.job_counts().in_flight, 0u);
}

TEST_F(FlushSchedulerTest, TheEndOfAFlushStartsTheNext) {
  parts_.Seal("a");
  flushes_.Schedule();
  parts_.Seal("b");
  flushes_.Schedule();
  parts_.Seal("c");
  flushes_.Schedule();
  ASSERT_EQ(parts_.held.size(), 2u);
  parts_.held.RunAll();
  EXPECT_EQ(Sealed(), 0u);
  EXPECT_EQ(Files(), 3u);
}

TEST_F(FlushSchedulerTest, AFailedFlushKeepsItsMemtableAndIsTriedAgainByTime) {
  FailOneFlush();
  EXPECT_EQ(Files(), 0u);
  EXPECT_EQ(tree_.view()->sealed.size(), 1u) << "the unflushed memtable must stay visible";
  EXPECT_EQ(Running(), 0u);
  EXPECT_EQ(tree_.job_counts().in_flight, 0u);
  EXPECT_TRUE(parts_.faults.StatusOf(Work::kFlush).IsNoSpace());
  EXPECT_TRUE(Ended()[0].status.IsNoSpace());
  EXPECT_EQ(parts_.planned, 1) << "a failed flush must also plan further jobs";
  flushes_.Schedule();
  EXPECT_EQ(parts_.held.size(), 0u) << "the retry must not start before its time";
  parts_.clock.Advance(ComponentsForTest::kRetryMs);
  flushes_.Schedule();
  ASSERT_EQ(parts_.held.size(), 1u);
  parts_.held.RunAll();
  EXPECT_EQ(Files(), 1u);
  EXPECT_TRUE(parts_.faults.StatusOf(Work::kFlush).ok());
}

TEST_F(FlushSchedulerTest, AForcedRetryDoesNotWaitForItsTime) {
  FailOneFlush();
  flushes_.Schedule(/*force=*/true);
  parts_.held.RunAll();
  EXPECT_EQ(Files(), 1u);
}

TEST_F(FlushSchedulerTest, AFlushWhoseInstallFailedIsInstalledWithoutBeingWrittenAgain) {
  parts_.Seal("a");
  RefuseEdits();
  flushes_.Schedule();
  parts_.held.RunAll();
  parts_.files.Disarm();
  EXPECT_EQ(Files(), 0u);
  EXPECT_EQ(Sealed(), 1u);
  flushes_.Schedule(/*force=*/true);
  parts_.held.RunAll();
  ASSERT_EQ(Files(), 1u);
  EXPECT_EQ(Count(parts_.instance.counters.flushes), 1u);
  EXPECT_TRUE(parts_.IsThere(tree_.view()->version->levels[0].begin()->file->id.FileName()));
}

TEST_F(FlushSchedulerTest, ARetryThatAnotherFlushMadeNeedlessEndsAtOnce) {
  parts_.Seal("old");
  RefuseEdits();
  flushes_.Schedule();
  parts_.held.RunAll();
  parts_.files.Disarm();
  flushes_.Schedule(/*force=*/true);
  parts_.Seal("new");
  flushes_.Schedule(/*force=*/true);
  ASSERT_EQ(parts_.held.size(), 2u);
  parts_.held.Run(1);
  EXPECT_EQ(Files(), 2u) << "one flush must write both memtables";
  EXPECT_EQ(Running(), 1u);
  const size_t ended = Ended().size();
  parts_.held.Run();
  EXPECT_EQ(Running(), 0u);
  EXPECT_EQ(tree_.job_counts().in_flight, 0u);
  EXPECT_EQ(Files(), 2u);
  EXPECT_EQ(Ended().size(), ended) << "the needless retry must not count as a flush";
}

TEST_F(FlushSchedulerTest, AFlushThatCannotBeQueuedIsStartedLater) {
  parts_.Seal("a");
  parts_.held.Refuse(true);
  EXPECT_THROW(flushes_.Schedule(), std::bad_alloc);
  EXPECT_EQ(Running(), 0u);
  EXPECT_EQ(tree_.job_counts().in_flight, 0u);
  parts_.held.Refuse(false);
  flushes_.Schedule();
  parts_.held.RunAll();
  EXPECT_EQ(Files(), 1u);
}

TEST_F(FlushSchedulerTest, AQueuedFlushKeepsNoMemtableAlive) {
  const std::weak_ptr<SealedRun> run = parts_.Seal("a");
  flushes_.Schedule();
  {
    MutexLock state(tree_.mutex());
    tree_.HideView();
    tree_.Clear();
  }
  EXPECT_TRUE(run.expired());
  EXPECT_EQ(parts_.held.size(), 1u);
}

TEST_F(FlushSchedulerTest, JobsArePlannedWithoutAMutex) {
  int planned = 0;
  parts_.plan_jobs = [&] {
    for (Mutex* mutex : {tree_.mutex(), tree_.versions.install_mutex()}) {
      const bool free = mutex->TryLock();
      EXPECT_TRUE(free);
      if (free) mutex->Unlock();
    }
    EXPECT_EQ(tree_.job_counts().in_flight, 1u)
        << "the job must count as in flight until further jobs are planned";
    EXPECT_EQ(Files(), 1u);
    ++planned;
  };
  parts_.Seal("a");
  flushes_.Schedule();
  parts_.held.RunAll();
  EXPECT_EQ(planned, 1);
}

// Freeing a memtable takes long, and writes need the mutex of the tree.
TEST_F(FlushSchedulerTest, AFlushedMemTableIsFreedWithoutTheMutexOfTheTree) {
  int freed = 0;
  {
    const std::shared_ptr<SealedRun> run = parts_.Seal("a");
    MutexLock state(tree_.mutex());
    run->memtable = {run->memtable.get(), [this, &freed, kept = run->memtable](MemTable*) {
                       const bool free = tree_.mutex()->TryLock();
                       EXPECT_TRUE(free);
                       if (free) tree_.mutex()->Unlock();
                       ++freed;
                     }};
  }
  flushes_.Schedule();
  parts_.held.RunAll();
  EXPECT_EQ(Files(), 1u);
  EXPECT_EQ(freed, 1);
}

TEST_F(FlushSchedulerTest, AllThatIsSealedIsFlushedHereIntoOneFile) {
  EXPECT_TRUE(flushes_.FlushAllHere().ok()) << "there is no sealed memtable";
  EXPECT_EQ(parts_.planned, 0);
  parts_.Seal("a");
  parts_.Seal("b");
  EXPECT_TRUE(flushes_.FlushAllHere().ok());
  EXPECT_EQ(parts_.held.size(), 0u);
  EXPECT_EQ(Sealed(), 0u);
  ASSERT_EQ(Files(), 1u);
  EXPECT_EQ(tree_.view()->version->levels[0].begin()->file->records, 2u);
}

TEST_F(FlushSchedulerTest, AFlushHereReturnsItsFailure) {
  parts_.Seal("a");
  RefuseKeyFiles();
  EXPECT_TRUE(flushes_.FlushAllHere().IsNoSpace());
  EXPECT_EQ(Sealed(), 1u);
  EXPECT_EQ(Running(), 0u);
}

TEST_F(FlushSchedulerTest, AMemtableOfWhichNothingIsLeftMakesNoFile) {
  parts_.SealActive();
  flushes_.Schedule();
  parts_.held.RunAll();
  EXPECT_EQ(Sealed(), 0u);
  EXPECT_EQ(Files(), 0u);
  EXPECT_EQ(Ended()[0].files, 0u);
  EXPECT_TRUE(Ended()[0].installed);
}

TEST_F(FlushSchedulerTest, AWaitEndsOnceItsFlushIsInstalled) {
  std::atomic<uint64_t> seen{0};
  EXPECT_TRUE(flushes_.WaitUntil([] { return true; }, 0, &seen).ok());
  EXPECT_EQ(parts_.held.thread_retries(), 0) << "the caller did not have to wait";
  parts_.Seal("a");
  const auto flushed = [this] { return tree_.view()->sealed.empty(); };
  EXPECT_TRUE(flushes_.WaitUntil(flushed, 0, &seen).IsBusy());
  EXPECT_EQ(parts_.held.size(), 1u) << "the wait must start the flush";
  EXPECT_EQ(parts_.held.thread_retries(), 1);
  parts_.held.RunAll();
  EXPECT_TRUE(flushes_.WaitUntil(flushed, 0, &seen).ok());
}

TEST_F(FlushSchedulerTest, AWaitReturnsEachFailureOnceAndForcesTheRetry) {
  FailOneFlush();
  std::atomic<uint64_t> seen{0};
  const auto never = [] { return false; };
  EXPECT_TRUE(flushes_.WaitUntil(never, 0, &seen).IsNoSpace());
  EXPECT_EQ(parts_.held.size(), 0u);
  EXPECT_TRUE(flushes_.WaitUntil(never, 0, &seen).IsBusy())
      << "the failure was already reported to this caller";
  EXPECT_EQ(parts_.held.size(), 1u);
}

TEST_F(FlushSchedulerTest, AClosedInstanceFlushesNothing) {
  parts_.Seal("a");
  parts_.instance.closed = true;
  flushes_.Schedule(/*force=*/true);
  EXPECT_EQ(parts_.held.size(), 0u);
  std::atomic<uint64_t> seen{0};
  EXPECT_TRUE(flushes_.WaitUntil([] { return true; }, 0, &seen).IsClosed());
}

TEST_F(FlushSchedulerTest, ACancelledFlushIsNoFault) {
  parts_.Seal("a");
  flushes_.Schedule();
  parts_.instance.cancelled = true;
  parts_.held.RunAll();
  EXPECT_EQ(Sealed(), 1u);
  EXPECT_TRUE(parts_.faults.StatusOf(Work::kFlush).ok());
  EXPECT_TRUE(parts_.faults.TakeEvents().empty());
}

TEST_F(FlushSchedulerTest, AWriteThatWaitsRetriesAtOnceAndIsToldOfLaterFailures) {
  FailOneFlush();
  parts_.clock.AdvanceMicros(1);
  const uint64_t since = parts_.clock.MonotonicMicros();
  EXPECT_TRUE(flushes_.Relieve(since).ok())
      << "a failure from before the write must not be reported";
  ASSERT_EQ(parts_.held.size(), 1u);
  EXPECT_EQ(parts_.held.made_urgent(), 1);
  RefuseKeyFiles();
  parts_.held.RunAll();
  parts_.files.Disarm();
  EXPECT_TRUE(flushes_.Relieve(since).IsNoSpace());
  EXPECT_EQ(parts_.held.size(), 0u);
}

TEST_F(FlushSchedulerTest, ADroppedTableLeavesTheManifestWithItsTombstonesUnlessItIsKnownAgain) {
  constexpr uint64_t kGone = 11, kBack = 12;
  VersionEdit tables;
  for (const uint64_t id : {kGone, kBack})
    tables.registered.push_back({"t" + std::to_string(id), id, {}});
  ASSERT_TRUE(parts_.Log(tables).ok());
  parts_.tables.Recover({{kBack, tables.registered[1]}});
  parts_.Seal("a")->dropped_tables = {kGone, kBack};
  parts_.Seal("b")->dropped_tables = {kGone};
  flushes_.Schedule();
  parts_.held.RunAll();
  EXPECT_EQ(Sealed(), 0u);
  MutexLock install(tree_.versions.install_mutex());
  EXPECT_FALSE(tree_.versions.state().tables.contains(kGone));
  EXPECT_TRUE(tree_.versions.state().tables.contains(kBack));
}

TEST_F(FlushSchedulerTest, TheManifestKnowsWhichRecordsOfTheLogAreInFiles) {
  ComponentsForTest parts([](DBOptions* options) { options->wal = WalMode::kWal; });
  parts.Begin();
  Result<std::unique_ptr<Wal>> log = parts.instance.lease->host()->wals()->Open(
      {&parts.memory, nullptr, "/wal", parts.instance.path}, /*synced=*/false, std::nullopt);
  ASSERT_TRUE(log.ok());
  parts.wal.Open(std::move(log).value(), std::nullopt);
  ASSERT_TRUE(parts.memory.SetContent(ComponentsForTest::PathOf("earlier.vsst"), "values").ok());
  parts.remover.AddReplayed("earlier.vsst");
  const std::string key = ComponentsForTest::KeyOf("a");
  ASSERT_TRUE(parts.wal.Write(WalRecord::Kind::kPut, key, 0, "value").ok());
  const uint64_t last = parts.wal.last();
  parts.remover.SetReplayedThrough(last);
  parts.Seal("a")->wal_last = parts.wal.Seal();
  parts.files.Arm({.fault = Fault::kNoSpace, .path_contains = "MANIFEST"});
  parts.flushes.Schedule();
  parts.held.RunAll();
  parts.files.Disarm();
  EXPECT_TRUE(parts.IsThere("earlier.vsst"));
  parts.flushes.Schedule(/*force=*/true);
  parts.held.RunAll();
  EXPECT_FALSE(parts.IsThere("earlier.vsst"));
  MutexLock install(parts.tree.versions.install_mutex());
  EXPECT_EQ(parts.tree.versions.state().wal_flushed, last);
}

}  // namespace
}  // namespace lava
