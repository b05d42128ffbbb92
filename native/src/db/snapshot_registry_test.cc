// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <set>
#include <thread>
#include <vector>

#include "db/snapshot_impl.h"
#include "testing/recording_listener.h"

namespace lava {
namespace {

using testing::EventKind;
using testing::RecordingListener;

using Runs = std::vector<std::shared_ptr<SealedRun>>;
using SnapshotPtr = std::shared_ptr<SnapshotImpl>;

/// Snapshots without an instance. Their close guard is closed, so that they do not use an instance.
class SnapshotRegistryTest : public ::testing::Test {
 protected:
  SnapshotRegistryTest() { EXPECT_TRUE(close_guard_->Close(std::chrono::milliseconds(0))); }

  std::shared_ptr<SnapshotRegistry> NewRegistry() {
    return std::make_shared<SnapshotRegistry>(&quota_, notifier_);
  }
  SnapshotPtr Take(const Runs& newest_first = {},
                   std::shared_ptr<const Version> version = std::make_shared<Version>()) {
    auto view = std::make_unique<ReadView>();
    view->sealed = newest_first;
    view->version = std::move(version);
    view->totals.records = kTotal;
    return std::make_shared<SnapshotImpl>(nullptr, close_guard_, registry_, ViewRef(view.release()),
                                          std::map<uint64_t, TableRegistration>(), 0);
  }
  std::shared_ptr<SealedRun> NewRun() {
    auto run = std::make_shared<SealedRun>();
    run->memtable = MemTable::Create(&memory_);
    run->memtable->Put("key", 0, "value");
    run->memtable->Seal();
    return run;
  }
  static Runs RunsOf(const SnapshotPtr& snapshot) { return snapshot->View().value()->sealed; }
  static const Version* VersionOf(const SnapshotPtr& snapshot) {
    return snapshot->View().value()->version.get();
  }
  std::vector<SnapshotInfo> Ended() {
    notifier_->Deliver();
    return listener_->All<SnapshotInfo>(EventKind::kSnapshotReleased);
  }
  std::vector<SnapshotInfo> Taken() {
    notifier_->Deliver();
    return listener_->All<SnapshotInfo>(EventKind::kSnapshotTaken);
  }

  static constexpr uint64_t kTotal = 77;
  MemoryCounter memory_;
  void Flush(const Runs& runs, const VersionEdit& edit) {
    FlushedViews views = registry_->PrepareFlushed(runs, edit);
    registry_->RunsFlushed(runs, edit, &views);
  }

  SpaceQuota quota_;
  const std::shared_ptr<RecordingListener> listener_ = std::make_shared<RecordingListener>();
  const std::shared_ptr<EventNotifier> notifier_ =
      std::make_shared<EventNotifier>(std::vector<std::shared_ptr<EventListener>>{listener_}, "/d");
  const std::shared_ptr<CloseGuard> close_guard_ = std::make_shared<CloseGuard>();
  std::shared_ptr<SnapshotRegistry> registry_ = NewRegistry();
};

/// Makes the edit of a flush that adds one file to L0.
VersionEdit FlushedTo(uint64_t number, uint64_t bytes) {
  auto file = std::make_shared<FileMeta>();
  file->id = {{3, 4}, number};
  file->bytes = bytes;
  file->lower = "a";
  file->upper = "z";
  VersionEdit edit;
  edit.Add(0, {file, "a", "z"});
  return edit;
}

TEST_F(SnapshotRegistryTest, NumbersAscendByAgeOverAllInstancesOfAQuota) {
  EXPECT_EQ(registry_->oldest(), SpaceReport::kNoSnapshot);
  const SnapshotPtr first = Take();
  const uint64_t oldest = registry_->oldest();
  EXPECT_EQ(oldest, first->Info().snapshot);

  const std::shared_ptr<SnapshotRegistry> own = std::exchange(registry_, NewRegistry());
  EXPECT_EQ(registry_->oldest(), SpaceReport::kNoSnapshot);
  const SnapshotPtr foreign = Take();
  EXPECT_GT(registry_->oldest(), oldest);
  const std::shared_ptr<SnapshotRegistry> other = std::exchange(registry_, own);
  const SnapshotPtr second = Take();
  EXPECT_GT(second->Info().snapshot, foreign->Info().snapshot);
  EXPECT_EQ(registry_->oldest(), oldest) << "a younger snapshot must not become the oldest";
  EXPECT_EQ(registry_->size(), 2u);
  EXPECT_EQ(other->size(), 1u);
  EXPECT_EQ(first->registry(), registry_.get());
  EXPECT_EQ(foreign->registry(), other.get());
}

TEST_F(SnapshotRegistryTest, ASnapshotLeavesItAtItsEndInAnyOrder) {
  SnapshotPtr first = Take(), second = Take(), third = Take();
  const uint64_t number = third->Info().snapshot;
  first.reset();
  EXPECT_EQ(registry_->size(), 2u);
  EXPECT_EQ(registry_->oldest(), second->Info().snapshot);
  second.reset();
  EXPECT_EQ(registry_->oldest(), number);
  third.reset();
  EXPECT_EQ(registry_->size(), 0u);
  EXPECT_EQ(registry_->oldest(), SpaceReport::kNoSnapshot);
  EXPECT_FALSE(registry_->GiveUpOldest());
}

TEST_F(SnapshotRegistryTest, TellsBeginAndEndOfASnapshotWithItsState) {
  auto version = std::make_shared<Version>();
  version->sums.levels[0].file_bytes = 100;
  version->sums.levels[2].file_bytes = 20;
  version->sums.value_file_bytes = 3;
  const std::shared_ptr<SealedRun> run = NewRun();
  SnapshotPtr snapshot = Take({run, NewRun()}, version);
  EXPECT_EQ(listener_->size(), 0u) << "listeners may only be called without a lock";
  const std::vector<SnapshotInfo> taken = Taken();
  ASSERT_EQ(taken.size(), 1u);
  EXPECT_EQ(taken[0].path, "/d");
  EXPECT_EQ(taken[0].file_bytes, 123u);
  EXPECT_EQ(taken[0].memtable_bytes, 2 * run->memtable->arena_bytes());
  EXPECT_EQ(snapshot->flushed().sealed_bytes, taken[0].memtable_bytes);
  EXPECT_EQ(snapshot->flushed().file_bytes, 0u);

  snapshot.reset();
  const auto ended = listener_->All<SnapshotInfo>(EventKind::kSnapshotReleased);
  ASSERT_EQ(ended.size(), 1u) << "the end of a snapshot must deliver its event";
  EXPECT_EQ(ended[0].snapshot, taken[0].snapshot);
  EXPECT_EQ(ended[0].file_bytes, 123u);
  EXPECT_EQ(ended[0].end, SnapshotEnd::kReleased);
}

TEST_F(SnapshotRegistryTest, GivesUpTheOldestAndDropsItsView) {
  const auto old_version = std::make_shared<const Version>();
  SnapshotPtr old = Take({}, old_version);
  const SnapshotPtr young = Take();
  ASSERT_EQ(old_version.use_count(), 2);
  const uint64_t number = old->Info().snapshot;

  EXPECT_TRUE(registry_->GiveUpOldest());
  EXPECT_EQ(old_version.use_count(), 1)
      << "the view of a snapshot that was given up must not keep files";
  EXPECT_TRUE(old->View().status().IsNoSpace());
  EXPECT_TRUE(young->View().ok());
  EXPECT_EQ(registry_->size(), 1u);
  EXPECT_EQ(registry_->oldest(), young->Info().snapshot);
  std::vector<SnapshotInfo> ended = Ended();
  ASSERT_EQ(ended.size(), 1u);
  EXPECT_EQ(ended[0].snapshot, number);
  EXPECT_EQ(ended[0].end, SnapshotEnd::kGivenUp);

  old.reset();
  EXPECT_EQ(Ended().size(), 1u) << "the snapshot had already ended when it was given up";
  EXPECT_EQ(registry_->size(), 1u);
  EXPECT_TRUE(young->View().ok());
  EXPECT_TRUE(registry_->GiveUpOldest());
  EXPECT_TRUE(young->View().status().IsNoSpace());
  EXPECT_FALSE(registry_->GiveUpOldest());
  EXPECT_EQ(Ended().size(), 2u);
}

TEST_F(SnapshotRegistryTest, AViewInUseOutlivesItsSnapshot) {
  const auto version = std::make_shared<const Version>();
  const SnapshotPtr snapshot = Take({}, version);
  {
    const ViewRef view = snapshot->View().value();
    EXPECT_TRUE(registry_->GiveUpOldest());
    EXPECT_EQ(view->version, version);
  }
  EXPECT_EQ(version.use_count(), 1);
}

TEST_F(SnapshotRegistryTest, AClosedInstanceDropsAllViewsAndNamesWhatWasOpen) {
  const auto version = std::make_shared<const Version>();
  std::vector<SnapshotPtr> snapshots;
  for (int i = 0; i < 3; ++i) snapshots.push_back(Take({NewRun()}, version));
  EXPECT_TRUE(registry_->GiveUpOldest());
  const std::string text = registry_->Clear();
  EXPECT_TRUE(text.starts_with("snapshots open: 2\n")) << text;
  EXPECT_EQ(version.use_count(), 1);
  EXPECT_EQ(registry_->size(), 0u);
  EXPECT_EQ(registry_->oldest(), SpaceReport::kNoSnapshot);
  EXPECT_FALSE(registry_->GiveUpOldest());
  EXPECT_TRUE(snapshots[0]->View().status().IsNoSpace()) << "the snapshot was already given up";
  EXPECT_TRUE(snapshots[1]->View().status().IsClosed());
  EXPECT_TRUE(snapshots[2]->View().status().IsClosed());
  std::string metadata;
  std::vector<Snapshot::File> files;
  EXPECT_TRUE(snapshots[2]->Files(&files, &metadata).IsClosed());
  EXPECT_TRUE(snapshots[2]->WaitFlushed(0).IsClosed());
  EXPECT_GT(snapshots[2]->flushed().sealed_bytes, 0u);

  const std::vector<SnapshotInfo> ended = Ended();
  ASSERT_EQ(ended.size(), 3u);
  EXPECT_EQ(ended[1].end, SnapshotEnd::kClosed);
  EXPECT_EQ(ended[2].end, SnapshotEnd::kClosed);
  EXPECT_EQ(ended[2].snapshot, snapshots[2]->Info().snapshot);
  snapshots.clear();
  EXPECT_EQ(Ended().size(), 3u);
  EXPECT_EQ(registry_->Clear(), "") << "no snapshot is open any more";
}

size_t CountIn(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++count;
  return count;
}

TEST_F(SnapshotRegistryTest, DescribesNoMoreThanEightOfThoseThatAreOpen) {
  std::vector<SnapshotPtr> snapshots;
  for (int i = 0; i < 8; ++i) snapshots.push_back(Take());
  std::string text = registry_->Clear();
  EXPECT_EQ(CountIn(text, "  taken "), 8u) << text;
  EXPECT_EQ(CountIn(text, "taken later"), 0u) << text;

  for (int i = 0; i < 11; ++i) snapshots.push_back(Take());
  text = registry_->Clear();
  EXPECT_TRUE(text.starts_with("snapshots open: 11\n")) << text;
  EXPECT_EQ(CountIn(text, "  taken "), 8u) << text;
  EXPECT_TRUE(text.ends_with("  and 3 taken later\n")) << text;
  for (const SnapshotPtr& snapshot : snapshots)
    EXPECT_TRUE(snapshot->View().status().IsClosed())
        << "a snapshot without a description must be closed, too";
}

TEST_F(SnapshotRegistryTest, FlushedRunsBecomeFilesInTheViewsThatHaveThem) {
  const std::shared_ptr<SealedRun> oldest = NewRun(), middle = NewRun(), newest = NewRun();
  const auto version = std::make_shared<const Version>();
  const SnapshotPtr before = Take({}, version);
  const SnapshotPtr has_one = Take({oldest}, version);
  const SnapshotPtr has_all = Take({newest, middle, oldest}, version);
  const SnapshotPtr after = Take({newest}, version);

  Flush({oldest}, FlushedTo(1, 500));
  EXPECT_EQ(RunsOf(has_one), Runs());
  EXPECT_EQ(RunsOf(has_all), (Runs{newest, middle}));
  EXPECT_EQ(VersionOf(has_one)->levels[0].size(), 1u);
  EXPECT_EQ(VersionOf(has_all)->levels[0].size(), 1u);
  EXPECT_EQ(has_all->View().value()->totals.records, kTotal);
  EXPECT_EQ(has_one->flushed().file_bytes, 500u);
  EXPECT_EQ(has_all->flushed().file_bytes, 500u);
  EXPECT_TRUE(version->levels[0].empty()) << "the flush must not change a version that others use";
  // Views without the run stay as they are.
  EXPECT_EQ(VersionOf(before), version.get());
  EXPECT_EQ(before->flushed().file_bytes, 0u);
  EXPECT_EQ(VersionOf(after), version.get());
  EXPECT_EQ(RunsOf(after), Runs{newest});
  EXPECT_EQ(after->flushed().file_bytes, 0u);
}

TEST_F(SnapshotRegistryTest, SeveralRunsOfAFlushLeaveTogether) {
  const std::shared_ptr<SealedRun> oldest = NewRun(), middle = NewRun(), newest = NewRun();
  const SnapshotPtr snapshot = Take({newest, middle, oldest});
  Flush({middle, oldest}, FlushedTo(1, 500));
  EXPECT_EQ(RunsOf(snapshot), Runs{newest});
  EXPECT_EQ(VersionOf(snapshot)->levels[0].size(), 1u);
  Flush({newest}, FlushedTo(2, 30));
  EXPECT_EQ(RunsOf(snapshot), Runs());
  ASSERT_EQ(VersionOf(snapshot)->levels[0].size(), 2u);
  EXPECT_EQ(VersionOf(snapshot)->levels[0][0].file->id.number, 2u)
      << "the newest file must be the first one";
  EXPECT_EQ(snapshot->flushed().file_bytes, 530u);
}

TEST_F(SnapshotRegistryTest, RunsOfWhichNothingIsLeftLeaveTheVersionAsItIs) {
  const std::shared_ptr<SealedRun> run = NewRun();
  const auto version = std::make_shared<const Version>();
  const SnapshotPtr snapshot = Take({run}, version);
  Flush({run}, VersionEdit());
  EXPECT_EQ(RunsOf(snapshot), Runs());
  EXPECT_EQ(VersionOf(snapshot), version.get());
  EXPECT_EQ(snapshot->flushed().file_bytes, 0u);
  EXPECT_EQ(snapshot->flushed().sealed_bytes, run->memtable->arena_bytes());
}

TEST_F(SnapshotRegistryTest, AFlushKeepsNoRunAndPassesOverWhatHasEnded) {
  std::shared_ptr<SealedRun> run = NewRun();
  const SnapshotPtr given_up = Take({run}), open = Take({run});
  ASSERT_TRUE(registry_->GiveUpOldest());
  Flush({run}, FlushedTo(1, 500));
  EXPECT_TRUE(given_up->View().status().IsNoSpace());
  EXPECT_EQ(given_up->flushed().file_bytes, 0u);
  EXPECT_EQ(open->flushed().file_bytes, 500u);
  EXPECT_EQ(run.use_count(), 1) << "no view may keep the memory of a flushed run";
}

TEST_F(SnapshotRegistryTest, PreparedViewsAreThoseThatSnapshotsGet) {
  const std::shared_ptr<SealedRun> run = NewRun();
  const SnapshotPtr snapshot = Take({run});
  const VersionEdit edit = FlushedTo(1, 500);
  FlushedViews views = registry_->PrepareFlushed({run}, edit);
  ASSERT_EQ(views.size(), 1u);
  const ReadView* const prepared = &*views.begin()->second.after;
  EXPECT_EQ(RunsOf(snapshot), Runs{run}) << "the flush is not published yet";
  registry_->RunsFlushed({run}, edit, &views);
  EXPECT_EQ(&**snapshot->View(), prepared);
  EXPECT_EQ(snapshot->flushed().file_bytes, 500u);
}

TEST_F(SnapshotRegistryTest, SnapshotsMayComeAndGoWhileViewsArePrepared) {
  const std::shared_ptr<SealedRun> run = NewRun();
  const SnapshotPtr given_up = Take({run});
  SnapshotPtr ended = Take({run});
  const VersionEdit edit = FlushedTo(1, 500);
  FlushedViews views = registry_->PrepareFlushed({run}, edit);
  EXPECT_EQ(views.size(), 2u);
  const SnapshotPtr late = Take({run});
  ASSERT_TRUE(registry_->GiveUpOldest());
  ended.reset();
  registry_->RunsFlushed({run}, edit, &views);
  EXPECT_TRUE(given_up->View().status().IsNoSpace());
  EXPECT_EQ(RunsOf(late), Runs());
  EXPECT_EQ(VersionOf(late)->levels[0].size(), 1u);
  EXPECT_EQ(late->flushed().file_bytes, 500u);
  EXPECT_EQ(run.use_count(), 4) << "the caller must destroy the replaced views";
  views.clear();
  EXPECT_EQ(run.use_count(), 1);
}

// Takes and releases snapshots. The registry may give up each of them in the meantime.
void TakeAndLook(const std::function<SnapshotPtr()>& take) {
  for (int round = 0; round < 200; ++round) {
    const SnapshotPtr snapshot = take();
    for (int i = 0; i < 3; ++i) {
      const Result<ViewRef> view = snapshot->View();
      if (view.ok()) {
        EXPECT_NE((*view)->version, nullptr);
      } else {
        EXPECT_TRUE(view.status().IsNoSpace());
      }
    }
  }
}

TEST_F(SnapshotRegistryTest, ThreadsTakeEndAndGiveUpAtOnce) {
  const std::shared_ptr<SealedRun> run = NewRun();
  const auto version = std::make_shared<const Version>();
  std::atomic<bool> stop{false};
  std::thread registry_user([&] {
    for (uint64_t number = 1; !stop; ++number) {
      Flush({run}, FlushedTo(number, 1));
      registry_->GiveUpOldest();
      std::this_thread::yield();
    }
  });
  std::vector<std::thread> takers;
  for (int i = 0; i < 3; ++i)
    takers.emplace_back([&] { TakeAndLook([&] { return Take({run}, version); }); });
  for (std::thread& taker : takers) taker.join();
  stop = true;
  registry_user.join();

  EXPECT_EQ(registry_->size(), 0u);
  EXPECT_EQ(version.use_count(), 1) << "no view may be left";
  EXPECT_EQ(run.use_count(), 1);
  std::multiset<uint64_t> taken, ended;
  for (const SnapshotInfo& info : Taken()) taken.insert(info.snapshot);
  for (const SnapshotInfo& info : Ended()) ended.insert(info.snapshot);
  EXPECT_EQ(taken.size(), 600u);
  EXPECT_EQ(taken, ended) << "each snapshot must end exactly once";
}

}  // namespace
}  // namespace lava
