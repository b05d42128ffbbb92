// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "db/tree_state.h"

#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <thread>

#include "db/components_for_test.h"
#include "db/snapshot_impl.h"

namespace lava {
namespace {

using testing::ComponentsForTest;
using testing::Fault;
using testing::FileCall;

constexpr std::chrono::hours kNoTimeout{1};

class TreeStateTest : public ::testing::Test {
 protected:
  TreeStateTest() { parts_.Begin(); }
  // Expects that the newest view has the current state.
  static void ExpectViewIsNow(ComponentsForTest* parts) {
    MutexLock state(parts->tree.mutex());
    const ViewRef view = parts->tree.view();
    ASSERT_TRUE(view);
    EXPECT_EQ(view->active, parts->active);
    EXPECT_EQ(view->sealed, parts->tree.sealed().runs());
    EXPECT_EQ(view->version, parts->tree.version());
    EXPECT_EQ(view->version, parts->tree.versions.newest());
  }
  static size_t FilesIn(const ViewRef& view) { return view->version->levels[0].size(); }
  std::shared_ptr<FlushGroup> StartFlush() {
    MutexLock state(tree_.mutex());
    std::shared_ptr<FlushGroup> group = tree_.sealed().NextToStart();
    EXPECT_NE(group, nullptr);
    tree_.sealed().Started(group.get());
    return group;
  }
  PlanInputs InputsNow() {
    PlanInputs inputs;
    MutexLock state(tree_.mutex());
    tree_.AddTo(&inputs);
    return inputs;
  }
  SpaceWork WorkNow() {
    MutexLock state(tree_.mutex());
    return tree_.SpaceWorkNow();
  }
  uint64_t MetadataBytes() {
    return parts_.instance.budget.counter(MemoryPurpose::kMetadata)->used();
  }

  ComponentsForTest parts_;
  TreeState& tree_ = parts_.tree;
};

TEST_F(TreeStateTest, TheViewIsAlwaysOfTheStateOfThisMoment) {
  ExpectViewIsNow(&parts_);
  EXPECT_FALSE(tree_.has_older());
  EXPECT_FALSE(tree_.is_flushing());
  const std::shared_ptr<SealedRun> first = parts_.Seal("a"), second = parts_.Seal("b");
  ExpectViewIsNow(&parts_);
  EXPECT_EQ(tree_.view()->sealed, (SealedMemTables::Runs{second, first}))
      << "the newest memtable must be the first one";
  EXPECT_TRUE(tree_.has_older());
  EXPECT_TRUE(tree_.is_flushing());
  parts_.Install(ComponentsForTest::Adding(parts_.NewFile()));
  ExpectViewIsNow(&parts_);
  EXPECT_EQ(FilesIn(tree_.view()), 1u);
  EXPECT_EQ(tree_.view()->totals.records, 1u);
}

TEST_F(TreeStateTest, AHeldViewKeepsItsMemtablesAndFiles) {
  const std::shared_ptr<FileMeta> file = parts_.NewFile();
  parts_.Install(ComponentsForTest::Adding(file));
  const std::shared_ptr<SealedRun> run = parts_.Seal("a");
  const ViewRef held = tree_.view();
  const std::shared_ptr<MemTable> active = held->active;
  parts_.Seal("b");
  parts_.Install(ComponentsForTest::Removing(file));
  EXPECT_EQ(held->active, active);
  EXPECT_EQ(held->sealed, SealedMemTables::Runs{run});
  ASSERT_EQ(FilesIn(held), 1u);
  EXPECT_EQ(held->version->levels[0].begin()->file, file);
  EXPECT_EQ(FilesIn(tree_.view()), 0u);
}

TEST_F(TreeStateTest, APreparedSealChangesNothing) {
  {
    MutexLock state(tree_.mutex());
    const uint64_t changes = tree_.changes();
    (void)tree_.PrepareSeal(std::make_shared<SealedRun>(), parts_.NewMemTable());
    EXPECT_TRUE(tree_.sealed().empty());
    EXPECT_EQ(tree_.sealed().sealed_through(), 0u);
    EXPECT_EQ(tree_.changes(), changes);
  }
  EXPECT_FALSE(tree_.is_flushing());
  ExpectViewIsNow(&parts_);
}

TEST_F(TreeStateTest, ReadersHaveALoggedEditOnceItIsAdopted) {
  ASSERT_TRUE(parts_.Log(ComponentsForTest::Adding(parts_.NewFile())).ok());
  EXPECT_EQ(tree_.versions.newest()->levels[0].size(), 1u);
  EXPECT_EQ(FilesIn(tree_.view()), 0u);
  EXPECT_FALSE(tree_.has_older());
  {
    MutexLock state(tree_.mutex());
    EXPECT_EQ(tree_.l0_depth(), 0u);
    tree_.AdoptLeft();
    EXPECT_EQ(tree_.version()->levels[0].size(), 0u)
        << "AdoptLeft() must adopt nothing when memory was not short";
  }
  parts_.Adopt();
  EXPECT_EQ(FilesIn(tree_.view()), 1u);
  EXPECT_TRUE(tree_.has_older());
  MutexLock state(tree_.mutex());
  EXPECT_EQ(tree_.l0_depth(), 1u);
}

TEST_F(TreeStateTest, TheFileOfAFlushTakesThePlaceOfItsMemtables) {
  parts_.Seal("a");
  const std::shared_ptr<FlushGroup> group = StartFlush();
  const std::shared_ptr<SealedRun> newer = parts_.Seal("b");
  ASSERT_TRUE(parts_.Log(ComponentsForTest::Adding(parts_.NewFile()), group.get()).ok());
  EXPECT_TRUE(group->logged);
  EXPECT_EQ(tree_.view()->sealed.size(), 2u) << "readers do not have the file yet";
  parts_.Adopt();
  EXPECT_EQ(tree_.view()->sealed, SealedMemTables::Runs{newer})
      << "the file of the oldest logged flush must replace its memtables";
  EXPECT_EQ(FilesIn(tree_.view()), 1u);
  ExpectViewIsNow(&parts_);
  MutexLock state(tree_.mutex());
  EXPECT_EQ(tree_.sealed().installed_through(), 1u);
}

// Memory was refused when the flush was logged, and a plan adopted the flush before its retry.
TEST_F(TreeStateTest, AFlushThatAPlanAdoptedTakesNoOthersWithIt) {
  parts_.Seal("a");
  const std::shared_ptr<FlushGroup> group = StartFlush();
  const std::shared_ptr<SealedRun> newer = parts_.Seal("b");
  const std::shared_ptr<FlushGroup> next = StartFlush();
  ASSERT_TRUE(parts_.Log(ComponentsForTest::Adding(parts_.NewFile()), group.get()).ok());
  parts_.Adopt();
  {
    MutexLock install(tree_.versions.install_mutex());
    MutexLock state(tree_.mutex());
    FlushedViews views;
    tree_.AdoptFlush(group, &views);
    EXPECT_TRUE(tree_.sealed().IsOldest(*next));
  }
  EXPECT_EQ(tree_.view()->sealed, SealedMemTables::Runs{newer});
  ExpectViewIsNow(&parts_);
}

TEST_F(TreeStateTest, AFlushThatWroteNothingEndsWithoutAnEdit) {
  parts_.SealActive();
  const std::shared_ptr<FlushGroup> group = StartFlush();
  {
    MutexLock install(tree_.versions.install_mutex());
    MutexLock state(tree_.mutex());
    FlushedViews views;
    tree_.AdoptFlush(group, &views);
  }
  EXPECT_TRUE(tree_.view()->sealed.empty());
  EXPECT_FALSE(tree_.is_flushing());
  EXPECT_FALSE(tree_.has_older());
  ExpectViewIsNow(&parts_);
}

TEST_F(TreeStateTest, AnEditThatTheManifestRefusesIsOfNoFlush) {
  parts_.Seal("a");
  const std::shared_ptr<FlushGroup> group = StartFlush();
  parts_.files.Arm({.fault = Fault::kNoSpace, .path_contains = "MANIFEST"});
  EXPECT_TRUE(parts_.Log(ComponentsForTest::Adding(parts_.NewFile()), group.get()).IsNoSpace());
  parts_.files.Disarm();
  EXPECT_FALSE(group->logged);
  EXPECT_FALSE(tree_.slow_path())
      << "writes must not take the slow path, because the manifest is still writable";
  parts_.Adopt();
  EXPECT_EQ(tree_.view()->sealed.size(), 1u);
  EXPECT_EQ(FilesIn(tree_.view()), 0u);
}

TEST_F(TreeStateTest, ASnapshotHasAllButTheActiveMemtableAndEndsAFlush) {
  parts_.Install(ComponentsForTest::Adding(parts_.NewFile()));
  const std::shared_ptr<SealedRun> run = parts_.Seal("a");
  {
    MutexLock state(tree_.mutex());
    const ViewRef view = tree_.SnapshotView();
    EXPECT_EQ(view->active, nullptr);
    EXPECT_EQ(view->sealed, SealedMemTables::Runs{run});
    EXPECT_EQ(view->version, tree_.version());
    EXPECT_EQ(view->totals.records, 1u);
  }
  parts_.Seal("b");
  EXPECT_EQ(StartFlush()->runs, SealedMemTables::Runs{run});
}

TEST_F(TreeStateTest, WritesTakeTheSlowPathFromTheStallsTriggerOn) {
  ComponentsForTest parts([](DBOptions* options) {
    options->l0_compaction_trigger = 1;
    options->l0_stall_trigger = 3;
  });
  parts.Begin();
  for (int i = 0; i < 3; ++i) {
    const std::string lower = "a" + std::to_string(i);
    parts.Install(ComponentsForTest::Adding(parts.NewFile(lower, lower + "z")));
  }
  EXPECT_FALSE(parts.tree.slow_path()) << "no key is in more than one file";
  for (int more = 0; more < 2; ++more) {
    EXPECT_FALSE(parts.tree.slow_path());
    parts.Install(ComponentsForTest::Adding(parts.NewFile("a1", "a1z")));
  }
  EXPECT_TRUE(parts.tree.slow_path());
  MutexLock state(parts.tree.mutex());
  EXPECT_EQ(parts.tree.l0_depth(), 3u);
}

TEST_F(TreeStateTest, WritesTakeTheSlowPathOnceTheInstanceIsClosed) {
  EXPECT_FALSE(tree_.slow_path());
  parts_.instance.closed = true;
  MutexLock state(tree_.mutex());
  tree_.UpdateSlowPath();
  EXPECT_TRUE(tree_.slow_path());
}

TEST_F(TreeStateTest, WritesTakeTheSlowPathOnceTheManifestIsReadOnly) {
  ComponentsForTest parts([](DBOptions* options) { options->sync = true; });
  parts.Begin();
  parts.files.Arm({.only = FileCall::kSync, .path_contains = "MANIFEST"});
  EXPECT_FALSE(parts.Log(ComponentsForTest::Adding(parts.NewFile())).ok());
  parts.files.Disarm();
  EXPECT_TRUE(parts.tree.slow_path());
}

TEST_F(TreeStateTest, AClosedTreeHasNoViewAndChargesNothing) {
  const std::shared_ptr<FileMeta> file = parts_.NewFile();
  parts_.Install(ComponentsForTest::Adding(file));
  std::weak_ptr<SealedRun> run = parts_.Seal("a");
  MutexLock install(tree_.versions.install_mutex());
  MutexLock state(tree_.mutex());
  EXPECT_GT(MetadataBytes(), 0u);
  {
    const ViewRef held = tree_.view();
    tree_.HideView();
    EXPECT_FALSE(tree_.view());
    tree_.Clear();
    EXPECT_TRUE(tree_.sealed().empty());
    EXPECT_TRUE(tree_.version()->levels[0].empty());
    EXPECT_EQ(MetadataBytes(), 0u);
    EXPECT_FALSE(run.expired()) << "a view must keep its memtables";
    EXPECT_EQ(FilesIn(held), 1u);
  }
  EXPECT_TRUE(run.expired());
}

TEST_F(TreeStateTest, TheDescriptionOfTheInstalledVersionIsCharged) {
  const auto expected = [this] {
    return sizeof(Version) + tree_.versions.newest()->sums.memory_bytes;
  };
  EXPECT_EQ(MetadataBytes(), expected());
  const std::shared_ptr<FileMeta> file = parts_.NewFile();
  const uint64_t before = MetadataBytes();
  parts_.Install(ComponentsForTest::Adding(file));
  EXPECT_GT(MetadataBytes(), before);
  EXPECT_EQ(MetadataBytes(), expected());
  parts_.Install(ComponentsForTest::Removing(file));
  EXPECT_EQ(MetadataBytes(), expected());
}

TEST_F(TreeStateTest, AWaitDoesNotMissAChangeThatCameBefore) {
  MutexLock state(tree_.mutex());
  const uint64_t before = tree_.changes();
  tree_.NotifyChanged();
  tree_.WaitForChange(before, kNoTimeout);
  tree_.NotifyUnlocked();
  tree_.WaitForChange(before + 1, kNoTimeout);
  EXPECT_EQ(tree_.changes(), before + 2);
  EXPECT_FALSE(tree_.WaitUntil(std::chrono::steady_clock::time_point::min()));
}

// The test hangs if a waiting thread is not woken.
TEST_F(TreeStateTest, AllWhoWaitAreWokenByEachPublishedView) {
  std::atomic<int> waiting{0}, woken{0};
  std::vector<std::thread> threads;
  for (int n = 0; n < 2; ++n)
    threads.emplace_back([&] {
      MutexLock state(tree_.mutex());
      const uint64_t changes = tree_.changes();
      ++waiting;
      while (tree_.changes() == changes) tree_.WaitForChange(changes, kNoTimeout);
      EXPECT_EQ(tree_.sealed().size(), 1u);
      ++woken;
    });
  while (waiting < 2) std::this_thread::yield();
  parts_.Seal("a");  // takes the mutex, so both threads are waiting by now
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(woken, 2);
}

TEST_F(TreeStateTest, AJobIsInFlightUntilItsEndIsTold) {
  EXPECT_FALSE(WorkNow().busy);
  tree_.JobBegan();
  EXPECT_TRUE(WorkNow().busy);
  EXPECT_EQ(tree_.job_counts().in_flight, 1u);
  MutexLock state(tree_.mutex());
  const uint64_t changes = tree_.changes();
  state.Unlock();
  tree_.JobEnded();
  EXPECT_EQ(tree_.job_counts().in_flight, 0u);
  EXPECT_FALSE(WorkNow().busy);
  state.Lock();
  EXPECT_GT(tree_.changes(), changes) << "writes must see the end of the job as a change";
}

TEST_F(TreeStateTest, TheUseOfSpaceNamesPinnedFilesAndFailures) {
  EXPECT_EQ(WorkNow().pinned_bytes, 0u);
  EXPECT_EQ(WorkNow().failure, "");
  std::shared_ptr<FileMeta> file = parts_.NewFile();
  parts_.Install(ComponentsForTest::Adding(file));
  const ViewRef held = tree_.view();
  parts_.Install(ComponentsForTest::Removing(file));
  EXPECT_EQ(WorkNow().pinned_bytes, file->bytes);
  EXPECT_EQ(WorkNow().oldest_snapshot, SpaceReport::kNoSnapshot);
  parts_.faults.Failed(BackgroundFaults::Work::kFlush, Status::NoSpace("full"), 0, {}, Version());
  EXPECT_EQ(WorkNow().failure, Status::NoSpace("full").ToString());
}

TEST_F(TreeStateTest, EachFileOfAJobHasANameOfItsOwn) {
  const JobContext first = tree_.MakeJobContext(0), second = tree_.MakeJobContext(1);
  const std::set<FileId> ids{first.next_file(), first.next_file(), second.next_file()};
  EXPECT_EQ(ids.size(), 3u);
  for (const FileId& id : ids) EXPECT_EQ(id.origin, tree_.versions.origin());
}

TEST_F(TreeStateTest, PlansKnowWhatTheNextCheckpointUploadsAgain) {
  const auto with = [](const FileId& id, Version* version) {
    auto file = std::make_shared<ValueFileMeta>();
    file->id = id;
    version->value_files[id].file = file;
  };
  const Origin own = tree_.versions.origin();
  EXPECT_FALSE(InputsNow().takes_checkpoints);
  EXPECT_FALSE(InputsNow().IsInCheckpoint({own, 1}));
  Version version, older;
  with({own, 5}, &version);
  with({{own.high + 1, own.low}, 9}, &version);
  tree_.GoesIntoCheckpoint(version);
  EXPECT_TRUE(InputsNow().takes_checkpoints);
  EXPECT_TRUE(InputsNow().IsInCheckpoint({own, 5}));
  EXPECT_FALSE(InputsNow().IsInCheckpoint({own, 6}));
  with({own, 3}, &older);
  tree_.GoesIntoCheckpoint(older);
  EXPECT_TRUE(InputsNow().IsInCheckpoint({own, 5}))
      << "a file of an earlier checkpoint may be in a later one again";
  EXPECT_EQ(InputsNow().version, tree_.versions.newest());
  EXPECT_EQ(InputsNow().origin, own);
}

}  // namespace
}  // namespace lava
