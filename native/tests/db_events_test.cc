// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

// The events that listeners receive, and the calls that listeners may make.

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "db_test_util.h"
#include "db_value_test_util.h"
#include "lava/event_listener.h"
#include "testing/recording_listener.h"

namespace lava::testing {
namespace {

class EventsTest : public ::testing::Test {
 protected:
  void Open() {
    ASSERT_OK(db_.Open());
    t_ = db_.Values();
  }
  static std::string Key(int i) { return K(1, "k" + std::to_string(i)); }
  void Put(int first, int last, const std::string& tag) {
    for (int i = first; i < last; ++i) ASSERT_OK(db_->Put(t_, {Key(i)}, Large(tag)));
  }
  template <typename Info>
  std::vector<Info> All(EventKind kind) const {
    return heard_->All<Info>(kind);
  }
  // Every begin event has an end event with the same number, and each number is used once.
  template <typename Info>
  void ExpectPairs(EventKind begin, EventKind end) {
    std::multiset<uint64_t> began, ended;
    for (const Info& info : All<Info>(begin)) {
      began.insert(info.job);
      EXPECT_EQ(info.path, "/db");
      EXPECT_EQ(info.duration_us, 0u);
    }
    for (const Info& info : All<Info>(end)) ended.insert(info.job);
    EXPECT_EQ(began, ended);
    EXPECT_EQ(std::set<uint64_t>(began.begin(), began.end()).size(), began.size());
  }

  ValueDB db_;
  RecordingListener* const heard_ = &db_.heard();
  Table* t_ = nullptr;
};

TEST_F(EventsTest, AFlushIsToldWithItsCauseAndItsFiles) {
  Open();
  Put(0, 10, "a");
  ASSERT_OK(db_.Flush());
  const auto began = All<FlushInfo>(EventKind::kFlushBegin);
  const auto ended = All<FlushInfo>(EventKind::kFlushEnd);
  ASSERT_EQ(began.size(), 1u);
  ASSERT_EQ(ended.size(), 1u);
  EXPECT_EQ(began[0].cause, FlushCause::kRequested);
  EXPECT_EQ(began[0].memtables, 1u);
  EXPECT_GT(began[0].memtable_bytes, 10'000u);
  EXPECT_EQ(began[0].files, 0u);
  EXPECT_EQ(ended[0].job, began[0].job);
  EXPECT_EQ(ended[0].cause, FlushCause::kRequested);
  EXPECT_OK(ended[0].status);
  EXPECT_TRUE(ended[0].installed);
  const DBStatistics s = db_->statistics();
  EXPECT_EQ(ended[0].files, s.live_files);
  EXPECT_EQ(ended[0].file_bytes, s.bytes_at_level[0]);
  EXPECT_EQ(ended[0].value_file_bytes, s.value_file_bytes);
}

TEST_F(EventsTest, EachCauseOfAFlushIsTold) {
  db_.options().memtable_bytes = 64 << 10;
  Open();
  for (int i = 0; heard_->count(EventKind::kFlushEnd) == 0; ++i) {
    ASSERT_LT(i, 1000);
    ASSERT_OK(db_.Finish([&] { return db_->Put(t_, {Key(i)}, Large("x")); }));
    ASSERT_OK(db_.RunJobs());
  }
  EXPECT_EQ(All<FlushInfo>(EventKind::kFlushEnd)[0].cause, FlushCause::kMemtableFull);
  heard_->Clear();
  Put(0, 1, "snapshot");
  const auto snapshot = *db_->TakeSnapshot();
  ASSERT_OK(db_.FlushSnapshot(snapshot.get()));
  EXPECT_EQ(All<FlushInfo>(EventKind::kFlushEnd).back().cause, FlushCause::kSnapshot);
  Put(0, 1, "all");
  ASSERT_OK(db_.CompactAll());
  EXPECT_EQ(All<FlushInfo>(EventKind::kFlushEnd).back().cause, FlushCause::kCompactAll);
  ExpectPairs<FlushInfo>(EventKind::kFlushBegin, EventKind::kFlushEnd);
}

TEST_F(EventsTest, ACompactionIsToldWithItsLevelsAndFigures) {
  Open();
  for (int round = 0; round < 2; ++round) {
    Put(0, 10, std::to_string(round));
    ASSERT_OK(db_.Flush());
  }
  const DBStatistics before = db_->statistics();
  ASSERT_OK(db_.CompactAll());
  const auto began = All<CompactionInfo>(EventKind::kCompactionBegin);
  const auto ended = All<CompactionInfo>(EventKind::kCompactionEnd);
  ASSERT_EQ(began.size(), 1u);
  ASSERT_EQ(ended.size(), 1u);
  EXPECT_EQ(began[0].cause, CompactionCause::kManual);
  EXPECT_EQ(began[0].input_level, 0u);
  EXPECT_GT(began[0].output_level, 0u);
  EXPECT_EQ(began[0].input_files, 2u);
  EXPECT_EQ(began[0].input_file_bytes, before.bytes_at_level[0]);
  EXPECT_FALSE(began[0].trivial_move);
  EXPECT_EQ(ended[0].job, began[0].job);
  EXPECT_OK(ended[0].status);
  EXPECT_TRUE(ended[0].installed);
  EXPECT_EQ(ended[0].output_files, 1u);
  EXPECT_GT(ended[0].read_bytes, 0u);
  EXPECT_EQ(ended[0].written_bytes, db_->statistics().compaction_bytes_written);
}

TEST_F(EventsTest, ATrivialMoveIsToldAsSuch) {
  db_.options().l0_compaction_trigger = 1;
  Open();
  Put(0, 10, "a");
  ASSERT_OK(db_.Flush());
  ASSERT_OK(db_.RunJobs());
  const auto ended = All<CompactionInfo>(EventKind::kCompactionEnd);
  ASSERT_FALSE(ended.empty());
  EXPECT_EQ(ended[0].cause, CompactionCause::kLevel0);
  EXPECT_TRUE(ended[0].trivial_move);
  EXPECT_TRUE(ended[0].installed);
  EXPECT_EQ(ended[0].input_level, 0u);
  EXPECT_EQ(ended[0].output_level, 1u);
  ExpectPairs<CompactionInfo>(EventKind::kCompactionBegin, EventKind::kCompactionEnd);
}

TEST_F(EventsTest, ACollectionIsToldWithTheFilesThatItFrees) {
  Open();
  Put(0, 10, "old");
  ASSERT_OK(db_.Flush());
  Put(0, 8, "new");
  ASSERT_OK(db_.Settle());
  const size_t files = db_.ValueFileNames().size();
  ASSERT_OK(db_.CollectFrom(50));
  ASSERT_OK(db_.RunJobs());
  const auto began = All<CollectionInfo>(EventKind::kCollectionBegin);
  const auto ended = All<CollectionInfo>(EventKind::kCollectionEnd);
  ASSERT_EQ(began.size(), 1u);
  ASSERT_EQ(ended.size(), 1u);
  EXPECT_EQ(began[0].cause, CollectionCause::kGarbage);
  EXPECT_EQ(began[0].input_files, 1u);
  EXPECT_EQ(began[0].expired_files, 0u);
  EXPECT_GT(began[0].input_file_bytes, began[0].garbage_bytes);
  EXPECT_GE(began[0].garbage_bytes, 8000u);
  EXPECT_EQ(ended[0].job, began[0].job);
  EXPECT_OK(ended[0].status);
  EXPECT_TRUE(ended[0].installed);
  EXPECT_EQ(ended[0].values_dead, 8u);
  EXPECT_EQ(ended[0].output_files, 1u);
  EXPECT_EQ(ended[0].written_bytes, db_->statistics().collection_bytes_written);
  // The input was removed from the disk.
  EXPECT_EQ(db_.ValueFileNames().size(), files);
  const auto deleted = All<FileDeletedInfo>(EventKind::kFileDeleted);
  EXPECT_TRUE(std::any_of(deleted.begin(), deleted.end(), [](const FileDeletedInfo& info) {
    return info.file.ends_with(".vsst") && info.status.ok();
  }));
}

TEST_F(EventsTest, AStallForFlushesBeginsOnceAndEndsOnce) {
  db_.options().memtable_bytes = 64 << 10;
  db_.options().sealed_runs_max = 1;
  Open();
  int i = 0;
  Status status;
  for (; status.ok(); ++i) {
    ASSERT_LT(i, 1000);
    status = db_->Put(t_, {Key(i)}, Large("x"));
  }
  ASSERT_TRUE(status.IsBusy());
  EXPECT_TRUE(db_->Put(t_, {Key(i)}, Large("x")).IsBusy());
  const auto began = All<StallInfo>(EventKind::kStallBegin);
  ASSERT_EQ(began.size(), 1u);
  EXPECT_EQ(began[0].cause, StallCause::kFlush);
  EXPECT_EQ(began[0].memtables, 1u);
  EXPECT_EQ(heard_->count(EventKind::kStallEnd), 0u);
  db_.clock().Advance(30);
  ASSERT_OK(db_.RunJobs());
  ASSERT_OK(db_->Put(t_, {Key(i)}, Large("x")));
  const auto ended = All<StallInfo>(EventKind::kStallEnd);
  ASSERT_EQ(ended.size(), 1u);
  EXPECT_EQ(ended[0].stall, began[0].stall);
  EXPECT_EQ(ended[0].cause, StallCause::kFlush);
  EXPECT_OK(ended[0].status);
  EXPECT_GE(ended[0].duration_us, 30'000u);
  EXPECT_EQ(heard_->count(EventKind::kStallBegin), 1u);
}

TEST_F(EventsTest, AStallForLevel0EndsWithTheCompaction) {
  db_.options().l0_compaction_trigger = 2;
  db_.options().l0_stall_trigger = 3;
  Open();
  const auto flush = [&] {
    FlushTicket ticket;
    static_cast<void>(db_->Flush(0, &ticket));
    while (db_.executor().RunOne(os::Priority::kFlush)) {
    }
  };
  Status status;
  for (int round = 0; round < 10 && status.ok(); ++round) {
    status = db_->Put(t_, {Key(0)}, Large("x"));
    flush();
  }
  ASSERT_TRUE(status.IsBusy()) << status.ToString();
  const auto began = All<StallInfo>(EventKind::kStallBegin);
  ASSERT_EQ(began.size(), 1u);
  EXPECT_EQ(began[0].cause, StallCause::kLevel0);
  EXPECT_GE(began[0].level0_files, 3u);
  ASSERT_OK(db_.RunJobs());
  // A write that needs no new memtable.
  ASSERT_OK(db_->Put(t_, {Key(0)}, Large("x")));
  EXPECT_EQ(heard_->count(EventKind::kStallEnd), 1u);
}

TEST_F(EventsTest, AStallThatNoWriteEndsIsEndedByTheClose) {
  db_.options().memtable_bytes = 64 << 10;
  db_.options().sealed_runs_max = 1;
  Open();
  Status status;
  for (int i = 0; status.ok(); ++i) status = db_->Put(t_, {Key(i)}, Large("x"));
  ASSERT_TRUE(status.IsBusy());
  ASSERT_OK(db_->Close());
  const auto ended = All<StallInfo>(EventKind::kStallEnd);
  ASSERT_EQ(ended.size(), 1u);
  EXPECT_TRUE(ended[0].status.IsClosed());
}

TEST_F(EventsTest, AFullDiskIsToldOnceAndOnceThatItIsOver) {
  Open();
  Put(0, 10, "a");
  db_.faults.Arm({.fault = Fault::kNoSpace, .call = 1, .forever = true});
  EXPECT_TRUE(db_.Flush().IsNoSpace());
  EXPECT_TRUE(db_.Flush().IsNoSpace());
  const auto began = All<BackgroundErrorInfo>(EventKind::kErrorBegin);
  ASSERT_EQ(began.size(), 1u);
  EXPECT_TRUE(began[0].status.IsNoSpace());
  const auto flushes = All<FlushInfo>(EventKind::kFlushEnd);
  ASSERT_GE(flushes.size(), 2u) << "each attempt must be a job";
  EXPECT_TRUE(flushes[0].status.IsNoSpace());
  EXPECT_FALSE(flushes[0].installed);
  db_.faults.Disarm();
  ASSERT_OK(db_.Flush());
  const auto ended = All<BackgroundErrorInfo>(EventKind::kErrorEnd);
  ASSERT_EQ(ended.size(), 1u);
  EXPECT_GE(ended[0].failures, 2u);
  ExpectPairs<FlushInfo>(EventKind::kFlushBegin, EventKind::kFlushEnd);
  const std::vector<BackgroundEvent> taken = db_->TakeBackgroundEvents();
  ASSERT_EQ(taken.size(), 2u) << "TakeBackgroundEvents() must return the same two events";
  EXPECT_TRUE(taken[1].over);
}

TEST_F(EventsTest, ADamagedFileIsToldOnceWithItsTables) {
  Open();
  Put(0, 10, "a");
  ASSERT_OK(db_.Flush());
  const std::string damaged = db_.ValueFileNames().at(0);
  Put(0, 8, "b");
  ASSERT_OK(db_.CompactAll());
  std::string content = *db_.files.Content(damaged);
  content[content.rfind(Large("a"))] ^= 1;  // of k9, which is live
  ASSERT_OK(db_.files.SetContent(damaged, content));
  ASSERT_OK(db_.CollectFrom(1));
  t_ = db_.Values();
  ASSERT_OK(db_.RunJobs());
  const auto told = All<DamageInfo>(EventKind::kDamage);
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ("/db/" + told[0].file, damaged);
  EXPECT_TRUE(told[0].status.IsCorruption());
  EXPECT_EQ(told[0].tables, std::vector<std::string>{"t"});
  EXPECT_EQ(heard_->count(EventKind::kErrorBegin), 0u);
}

TEST_F(EventsTest, SnapshotsAreToldFromTakingToRelease) {
  Open();
  Put(0, 10, "a");
  ASSERT_OK(db_.Flush());
  const uint64_t file_bytes = db_->statistics().live_file_bytes;
  Put(0, 10, "b");
  auto first = *db_->TakeSnapshot();
  auto second = *db_->TakeSnapshot();
  const auto taken = All<SnapshotInfo>(EventKind::kSnapshotTaken);
  ASSERT_EQ(taken.size(), 2u);
  EXPECT_LT(taken[0].snapshot, taken[1].snapshot);
  EXPECT_GT(taken[0].memtable_bytes, 10'000u);
  EXPECT_EQ(taken[0].file_bytes, file_bytes);
  EXPECT_EQ(heard_->count(EventKind::kSnapshotReleased), 0u);
  first.reset();
  auto released = All<SnapshotInfo>(EventKind::kSnapshotReleased);
  ASSERT_EQ(released.size(), 1u);
  EXPECT_EQ(released[0].snapshot, taken[0].snapshot);
  EXPECT_EQ(released[0].end, SnapshotEnd::kReleased);
  ASSERT_OK(db_->Close());
  released = All<SnapshotInfo>(EventKind::kSnapshotReleased);
  ASSERT_EQ(released.size(), 2u);
  EXPECT_EQ(released[1].snapshot, taken[1].snapshot);
  EXPECT_EQ(released[1].end, SnapshotEnd::kClosed);
  second.reset();
  EXPECT_EQ(heard_->count(EventKind::kSnapshotReleased), 2u) << "no event may follow the close";
}

TEST_F(EventsTest, ADroppedTableIsToldByItsName) {
  Open();
  Put(0, 10, "a");
  ASSERT_OK(db_->DropTable(t_));
  EXPECT_TRUE(db_->DropTable(t_).IsClosed());
  const auto dropped = All<TableDroppedInfo>(EventKind::kTableDropped);
  ASSERT_EQ(dropped.size(), 1u);
  EXPECT_EQ(dropped[0].table, "t");
}

// Queries the instance from within each event.
class AskingListener final : public EventListener {
 public:
  explicit AskingListener(DB* const* db) : db_(db) {}
  void OnFlushBegin(const FlushInfo&) override { Ask(); }
  void OnFlushEnd(const FlushInfo&) override { Ask(); }
  void OnCompactionBegin(const CompactionInfo&) override { Ask(); }
  void OnCompactionEnd(const CompactionInfo&) override { Ask(); }
  void OnStallBegin(const StallInfo&) override { Ask(); }
  void OnStallEnd(const StallInfo&) override { Ask(); }
  void OnSnapshotTaken(const SnapshotInfo&) override { Ask(); }
  void OnSnapshotReleased(const SnapshotInfo&) override { Ask(); }
  void OnFileDeleted(const FileDeletedInfo&) override { Ask(); }
  void OnTableDropped(const TableDroppedInfo&) override { Ask(); }
  uint64_t asked() const { return asked_; }

 private:
  void Ask() {
    if (*db_ == nullptr) return;
    asked_ += (*db_)->statistics().live_files + (*db_)->ListTables().size() + 1;
    throw std::runtime_error("and throws");
  }
  DB* const* const db_;
  uint64_t asked_ = 0;
};

TEST_F(EventsTest, AListenerMayAskTheInstanceAndMayThrow) {
  DB* open = nullptr;
  const auto asking = std::make_shared<AskingListener>(&open);
  db_.options().listeners.insert(db_.options().listeners.begin(), asking);
  db_.options().memtable_bytes = 64 << 10;
  db_.options().sealed_runs_max = 1;
  Open();
  open = db_.get();
  for (int i = 0; i < 300; ++i)
    ASSERT_OK(db_.Finish([&] { return db_->Put(t_, {Key(i % 50)}, Large("x")); }));
  static_cast<void>(*db_->TakeSnapshot());
  ASSERT_OK(db_.CompactAll());
  ASSERT_OK(db_->DropTable(t_));
  EXPECT_GT(heard_->count(EventKind::kStallBegin), 0u);
  EXPECT_EQ(heard_->count(EventKind::kStallBegin), heard_->count(EventKind::kStallEnd));
  EXPECT_GT(asking->asked(), 0u);
  EXPECT_GT(db_->statistics().listener_failures, 0u);
  EXPECT_EQ(db_->statistics().events_dropped, 0u);
  EXPECT_EQ(db_->statistics().background_errors, 0u);
  open = nullptr;
}

// With the host's threads: waits for work that the engine does by itself.
TEST(Events, ATestWaitsForWorkThatIsDoneByThreads) {
  ChosenFileSystem files;
  const auto heard = std::make_shared<RecordingListener>();
  DBOptions options;
  options.lease = *Host::Get().Acquire(32 << 20, 0.5);
  options.file_system = &files;
  options.l0_compaction_trigger = 2;
  options.listeners = {heard};
  auto db = DB::Open(options, "/db").value();
  Table* const t = *db->CreateTable("t", {});
  for (int i = 0; i < 2; ++i) {
    ASSERT_OK(db->Put(t, {K(1, "k" + std::to_string(i))}, "v"));
    UntilDone([&, flush = FlushTicket()]() mutable { return db->Flush(100, &flush); });
  }
  ASSERT_TRUE(heard->WaitFor<CompactionInfo>(
      EventKind::kCompactionEnd, [](const CompactionInfo& info) { return info.installed; }));
  EXPECT_EQ(db->statistics().files_at_level[0], 0u);
  EXPECT_FALSE(heard->WaitFor<StallInfo>(EventKind::kStallBegin, std::chrono::milliseconds(1)));
}

}  // namespace
}  // namespace lava::testing
