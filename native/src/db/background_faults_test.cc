// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "db/background_faults.h"

#include <gtest/gtest.h>

#include <memory>

#include "testing/recording_listener.h"
#include "testing/test_clock.h"

namespace lava {
namespace {

using testing::EventKind;
using testing::RecordingListener;
using Work = BackgroundFaults::Work;

std::shared_ptr<FileMeta> KeyFile(uint64_t number, std::map<uint64_t, uint64_t> tables = {}) {
  auto file = std::make_shared<FileMeta>();
  file->id = {{1, 2}, number};
  for (const auto& [id, records] : tables) file->tables[id] = {records, records};
  return file;
}

std::shared_ptr<ValueFileMeta> ValueFile(uint64_t number, std::map<uint64_t, uint64_t> tables) {
  auto file = std::make_shared<ValueFileMeta>();
  file->id = {{1, 2}, number};
  for (const auto& [id, records] : tables) file->tables[id].records = records;
  return file;
}

void Add(const std::shared_ptr<ValueFileMeta>& file, Version* version) {
  version->value_files[file->id].file = file;
}

std::string NameOf(const std::shared_ptr<FileMeta>& file) { return file->id.FileName(); }
std::string NameOf(const std::shared_ptr<ValueFileMeta>& file) { return file->id.ValueFileName(); }

template <typename File>
Status Bad(const std::shared_ptr<File>& file) {
  return Status::Corruption("read /db/" + NameOf(file) + ": checksum at offset 7");
}

constexpr uint64_t kRetryMin = 1000, kRetryMax = 5000;

class BackgroundFaultsTest : public ::testing::Test {
 protected:
  BackgroundFaultsTest() { tables_.Recover({{1, {"a", 1, {}}}, {2, {"b", 2, {}}}}); }
  // Reports a failure as a job of the version does.
  void Fail(Work work, const Status& status, const Version& version = {}) {
    faults_.Failed(work, status, clock_.MonotonicMicros(), Search(status, version), version);
  }
  DamageSearch Search(const Status& status, const Version& version) const {
    return {true, FindDamaged(version, tables_, status.message())};
  }
  // Microseconds until the work may start.
  uint64_t Wait(Work work) {
    uint64_t waited = 0;
    for (; !faults_.MayStart(work); waited += 100) clock_.AdvanceMicros(100);
    return waited;
  }
  bool DamageNames(const Version& version, const std::string& name) const {
    return faults_.DamageOf(version).message().find(name) != std::string_view::npos;
  }

  MemoryCounter memory_;
  TableRegistry tables_{&memory_, 0};
  const std::shared_ptr<RecordingListener> listener_ = std::make_shared<RecordingListener>();
  EventNotifier notifier_{{listener_}, "/db"};
  testing::TestClock clock_;
  Counters counters_;
  BackgroundFaults faults_{&clock_, &notifier_, &counters_.background_errors, kRetryMin, kRetryMax};
};

TEST_F(BackgroundFaultsTest, TheWaitDoublesUpToTheMostAndIsShortAgainAfterASuccess) {
  EXPECT_TRUE(faults_.MayStart(Work::kCompaction));
  for (const uint64_t wait : {1000, 2000, 4000, 5000, 5000}) {
    Fail(Work::kCompaction, Status::IOError("away"));
    EXPECT_TRUE(faults_.MayStart(Work::kFlush))
        << "each kind of work must have its own retry delay";
    EXPECT_EQ(Wait(Work::kCompaction), wait);
    EXPECT_TRUE(faults_.StatusOf(Work::kCompaction).IsIOError());
  }
  faults_.Worked(Work::kCompaction);
  EXPECT_TRUE(faults_.StatusOf(Work::kCompaction).ok());
  Fail(Work::kCompaction, Status::IOError("away"));
  EXPECT_EQ(Wait(Work::kCompaction), kRetryMin);
  EXPECT_EQ(counters_.background_errors.load(), 6u);
}

TEST_F(BackgroundFaultsTest, AWriteOnlyReportsAnAttemptThatBeganAfterTheWrite) {
  EXPECT_TRUE(faults_.RetryNow(Work::kFlush, 0).ok()) << "no flush has failed yet";
  Fail(Work::kFlush, Status::NoSpace("full"));
  clock_.AdvanceMicros(10);
  const uint64_t since_us = clock_.MonotonicMicros();
  EXPECT_FALSE(faults_.MayStart(Work::kFlush));
  EXPECT_TRUE(faults_.RetryNow(Work::kFlush, since_us).ok());
  EXPECT_TRUE(faults_.MayStart(Work::kFlush))
      << "a waiting write must make the retry start at once";
  Fail(Work::kFlush, Status::NoSpace("full"));
  EXPECT_TRUE(faults_.RetryNow(Work::kFlush, since_us).IsNoSpace());
  EXPECT_FALSE(faults_.MayStart(Work::kFlush));
}

TEST_F(BackgroundFaultsTest, FlushesComeBeforeCompactionsBeforeCollections) {
  EXPECT_TRUE(faults_.FirstFailure().ok());
  EXPECT_FALSE(faults_.RetryFirst(0));
  const uint64_t since_us = clock_.MonotonicMicros();
  Fail(Work::kCollection, Status::IOError("collection"));
  EXPECT_EQ(faults_.FirstFailure().message(), "collection");
  Fail(Work::kCompaction, Status::IOError("compaction"));
  EXPECT_EQ(faults_.FirstFailure().message(), "compaction");
  Fail(Work::kFlush, Status::IOError("flush"));
  EXPECT_EQ(faults_.FirstFailure().message(), "flush");
  EXPECT_EQ(faults_.RetryFirst(since_us)->message(), "flush");
  EXPECT_TRUE(faults_.RetryFirst(since_us + 1)->ok());
  EXPECT_TRUE(faults_.MayStart(Work::kFlush));
  EXPECT_FALSE(faults_.MayStart(Work::kCompaction))
      << "only the first failed kind of work, the flush, must be retried";
  faults_.RetryAll();
  EXPECT_TRUE(faults_.MayStart(Work::kCompaction));
  EXPECT_TRUE(faults_.MayStart(Work::kCollection));
  faults_.Worked(Work::kFlush);
  EXPECT_EQ(faults_.RetryFirst(since_us)->message(), "compaction");
}

TEST_F(BackgroundFaultsTest, AFullDiskIsTriedAgainOnceAJobGaveSpaceBack) {
  EXPECT_FALSE(faults_.RetryFlushOnSpace());
  const uint64_t since_us = clock_.MonotonicMicros();
  Fail(Work::kFlush, Status::IOError("away"));
  EXPECT_FALSE(faults_.is_disk_full());
  EXPECT_FALSE(faults_.RetryFlushOnSpace());
  EXPECT_FALSE(faults_.MayStart(Work::kFlush));
  Fail(Work::kFlush, Status::NoSpace("full"));
  EXPECT_TRUE(faults_.is_disk_full());
  EXPECT_TRUE(faults_.RetryFlushOnSpace());
  EXPECT_TRUE(faults_.MayStart(Work::kFlush));
  EXPECT_TRUE(faults_.RetryNow(Work::kFlush, since_us).ok())
      << "a write must not report the attempt that failed before space was freed";
}

TEST_F(BackgroundFaultsTest, EachCallerIsToldOnceOfFailedFlushes) {
  std::atomic<uint64_t> seen{faults_.flush_failures()}, other{faults_.flush_failures()};
  EXPECT_FALSE(faults_.NewFlushFailure(&seen));
  Fail(Work::kCompaction, Status::IOError("compaction"));
  EXPECT_FALSE(faults_.NewFlushFailure(&seen));
  Fail(Work::kFlush, Status::IOError("flush"));
  EXPECT_EQ(faults_.flush_failures(), 1u);
  EXPECT_TRUE(faults_.NewFlushFailure(&seen)->IsIOError());
  EXPECT_FALSE(faults_.NewFlushFailure(&seen));
  faults_.Worked(Work::kFlush);
  EXPECT_TRUE(faults_.NewFlushFailure(&other)->IsBusy())
      << "the failure ended with the successful flush";
  EXPECT_FALSE(faults_.NewFlushFailure(&other));
}

TEST_F(BackgroundFaultsTest, AFailureIsToldOnceWhenItBeginsAndOnceWhenItIsOver) {
  EXPECT_TRUE(faults_.TakeEvents().empty());
  const int64_t began_ms = clock_.WallMillis();
  Fail(Work::kFlush, Status::NoSpace("full"));
  clock_.Advance(5);
  Fail(Work::kFlush, Status::NoSpace("full"));
  Fail(Work::kCompaction, Status::NoSpace("full"));
  faults_.Note(Work::kRemoval, Status::IOError("away"));
  faults_.Worked(Work::kFlush);
  std::vector<BackgroundEvent> events = faults_.TakeEvents();
  ASSERT_EQ(events.size(), 2u)
      << "the lack of space is not over, because the compaction still finds none";
  EXPECT_EQ(events[0].code, Status::Code::kNoSpace);
  EXPECT_EQ(events[0].since_ms, began_ms);
  EXPECT_FALSE(events[0].over);
  EXPECT_EQ(events[1].code, Status::Code::kIOError);
  faults_.Worked(Work::kCompaction);
  faults_.Worked(Work::kCompaction);
  faults_.Note(Work::kRemoval, Status::OK());
  events = faults_.TakeEvents();
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0].code, Status::Code::kNoSpace);
  EXPECT_TRUE(events[0].over);
  EXPECT_EQ(events[0].failures, 3u);
  EXPECT_EQ(events[0].since_ms, began_ms);
  EXPECT_EQ(events[1].code, Status::Code::kIOError);
  EXPECT_TRUE(events[1].over);
  EXPECT_EQ(counters_.background_errors.load(), 3u)
      << "a failed removal must not count, because no call waits for it";
}

TEST_F(BackgroundFaultsTest, OnlyTheNewestEventsWait) {
  for (size_t i = 0; i < BackgroundEvents::kWaitingMax; ++i) {
    faults_.Note(Work::kLog, Status::IOError(std::to_string(i)));
    faults_.Note(Work::kLog, Status::OK());
  }
  const std::vector<BackgroundEvent> events = faults_.TakeEvents();
  ASSERT_EQ(events.size(), BackgroundEvents::kWaitingMax);
  EXPECT_EQ(events.front().message, std::to_string(BackgroundEvents::kWaitingMax / 2));
  EXPECT_TRUE(faults_.TakeEvents().empty());
}

TEST_F(BackgroundFaultsTest, ListenersGetTheSameEvents) {
  const auto file = KeyFile(3, {{2, 10}});
  Version version;
  version.levels[0].push_back({file, "", ""});
  Fail(Work::kFlush, Status::NoSpace("full"));
  Fail(Work::kCompaction, Bad(file), version);
  faults_.Worked(Work::kFlush);
  notifier_.Deliver();
  const std::vector<RecordingListener::Event> told = listener_->events();
  ASSERT_EQ(told.size(), 3u);
  EXPECT_EQ(told[0].kind, EventKind::kErrorBegin);
  EXPECT_TRUE(told[0].As<BackgroundErrorInfo>().status.IsNoSpace());
  EXPECT_EQ(told[1].kind, EventKind::kDamage);
  EXPECT_EQ(told[1].As<DamageInfo>().file, NameOf(file));
  EXPECT_EQ(told[1].As<DamageInfo>().tables, std::vector<std::string>{"b"});
  EXPECT_EQ(told[2].kind, EventKind::kErrorEnd);
  EXPECT_EQ(told[2].As<BackgroundErrorInfo>().failures, 1u);
}

TEST_F(BackgroundFaultsTest, ADamagedFileIsToldOnceAndLeftAloneWhileOtherWorkGoesOn) {
  const auto bad = KeyFile(1, {{1, 10}, {2, 5}}), sound = KeyFile(2);
  Version version;
  version.levels[0] = {{sound, "", ""}, {bad, "", ""}};
  EXPECT_TRUE(faults_.DamageOf(version).ok());
  Fail(Work::kCompaction, Bad(bad), version);
  Fail(Work::kCompaction, Bad(bad), version);
  const std::vector<BackgroundEvent> events = faults_.TakeEvents();
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].file, NameOf(bad));
  EXPECT_EQ(events[0].tables, (std::vector<std::string>{"a", "b"}));
  EXPECT_NE(events[0].message.find("it holds state of 'a', 'b'"), std::string::npos);
  EXPECT_EQ(faults_.damaged_files(), 1u);
  EXPECT_EQ(faults_.avoided(), std::set<FileId>{bad->id});
  EXPECT_TRUE(faults_.MayStart(Work::kCompaction));
  EXPECT_TRUE(faults_.StatusOf(Work::kCompaction).ok());
  EXPECT_TRUE(faults_.DamageOf(version).IsCorruption());
  EXPECT_TRUE(DamageNames(version, NameOf(bad)));
  EXPECT_TRUE(DamageNames(version, "restore from the last checkpoint"));
  faults_.Worked(Work::kCompaction);
  EXPECT_TRUE(faults_.TakeEvents().empty()) << "a damaged file stays damaged, so nothing is over";
  EXPECT_TRUE(faults_.DamageOf(version).IsCorruption());
}

TEST_F(BackgroundFaultsTest, FilesAreAvoidedUntilTheDamagedOneLeavesTheVersion) {
  const auto bad = ValueFile(7, {{1, 10}});
  Version before, after;
  Add(bad, &before);
  Fail(Work::kCollection, Bad(bad), before);
  faults_.VersionIs(before);
  EXPECT_EQ(faults_.avoided(), std::set<FileId>{bad->id});
  EXPECT_FALSE(faults_.IsKeyFileDamaged(before));
  EXPECT_TRUE(DamageNames(before, NameOf(bad)));

  faults_.VersionIs(after);
  EXPECT_FALSE(faults_.avoids_any());
  EXPECT_TRUE(faults_.DamageOf(after).ok());
  EXPECT_TRUE(DamageNames(before, NameOf(bad))) << "a snapshot may still contain the damaged file";
  EXPECT_EQ(faults_.damaged_files(), 1u);
}

// The file may leave the version while a job searches for its name.
TEST_F(BackgroundFaultsTest, AFileThatLeftTheVersionIsNoDamage) {
  const auto bad = KeyFile(1);
  Version before, current;
  before.levels[1].push_back({bad, "a", "b"});
  faults_.Failed(Work::kCompaction, Bad(bad), 1, Search(Bad(bad), before), current);
  EXPECT_EQ(faults_.damaged_files(), 0u);
  EXPECT_FALSE(faults_.avoids_any());
  EXPECT_FALSE(faults_.MayStart(Work::kCompaction));
}

TEST_F(BackgroundFaultsTest, CorruptionOfNoFileFailsCheckpointsUntilTheWorkSucceeds) {
  const auto bad = ValueFile(7, {});
  Version version;
  Add(bad, &version);
  Fail(Work::kCollection, Bad(bad), version);
  Fail(Work::kCompaction, Status::Corruption("somewhere"), version);
  EXPECT_TRUE(DamageNames(version, NameOf(bad)))
      << "the damaged file must be named before corruption of no file";
  EXPECT_EQ(faults_.DamageOf({}).message(), "somewhere");
  EXPECT_FALSE(faults_.MayStart(Work::kCompaction));
  faults_.VersionIs({});
  EXPECT_TRUE(faults_.avoids_any()) << "corruption of no file must last until the work succeeds";
  faults_.Worked(Work::kCompaction);
  EXPECT_TRUE(faults_.DamageOf({}).ok());
  faults_.VersionIs({});
  EXPECT_FALSE(faults_.avoids_any());
}

TEST_F(BackgroundFaultsTest, WithoutMemoryForTheSearchNothingIsTold) {
  faults_.Failed(Work::kCompaction, Status::Corruption("bad"), 1, {false, std::nullopt}, {});
  EXPECT_TRUE(faults_.TakeEvents().empty());
  EXPECT_TRUE(faults_.DamageOf({}).ok());
  EXPECT_FALSE(faults_.MayStart(Work::kCompaction));
}

TEST_F(BackgroundFaultsTest, AKeyFileIsFoundOnWhateverLevelItsEntriesAre) {
  const auto bad = KeyFile(1), other = KeyFile(2), wide = KeyFile(3);
  // Two entries of one file, as imports clip them, with another file between them.
  Version found;
  found.levels[2] = {{bad, "c", "e"}, {other, "e", "m"}, {bad, "m", "p"}};
  Fail(Work::kCompaction, Bad(bad), found);
  EXPECT_TRUE(faults_.IsKeyFileDamaged(found));

  Version moved;  // one entry was compacted, the other was moved
  moved.levels[2] = {{other, "e", "m"}};
  moved.levels[3] = {{wide, "a", "c"}, {wide, "d", "m"}, {bad, "m", "p"}};
  EXPECT_TRUE(faults_.IsKeyFileDamaged(moved));
  EXPECT_TRUE(DamageNames(moved, NameOf(bad)));

  Version older;
  older.levels[0] = {{other, "e", "m"}, {bad, "c", "e"}, {bad, "m", "p"}};
  EXPECT_TRUE(faults_.IsKeyFileDamaged(older));

  Version gone;  // other files have the same bounds
  gone.levels[1] = {{wide, "c", "e"}};
  gone.levels[3] = {{other, "a", "m"}, {wide, "m", "p"}};
  EXPECT_FALSE(faults_.IsKeyFileDamaged(gone));
  EXPECT_TRUE(faults_.DamageOf(gone).ok());
}

TEST_F(BackgroundFaultsTest, DamageIsNamedByLevelAndValueFilesLast) {
  const auto deep = KeyFile(1), high = KeyFile(2);
  const auto value = ValueFile(0, {});
  Version version;
  version.levels[0] = {{high, "a", "b"}};
  version.levels[3] = {{deep, "a", "b"}};
  Add(value, &version);
  Fail(Work::kCollection, Bad(value), version);
  EXPECT_TRUE(DamageNames(version, NameOf(value)));
  Fail(Work::kCompaction, Bad(deep), version);
  EXPECT_TRUE(DamageNames(version, NameOf(deep)));
  Fail(Work::kCompaction, Bad(high), version);
  EXPECT_TRUE(DamageNames(version, NameOf(high)));
}

// A compaction reads the values that its inputs reference, so it fails if their value file is
// damaged.
TEST_F(BackgroundFaultsTest, InputsThatReferenceADamagedValueFileAreAvoided) {
  const auto first = KeyFile(1), second = KeyFile(2);
  const auto value = ValueFile(7, {});
  Version version;
  version.levels[0] = {{first, "a", "b"}};
  version.levels[1] = {{second, "a", "b"}};
  Add(value, &version);
  CompactionInput input;
  input.inputs = {{0, version.levels[0]}, {1, version.levels[1]}};

  faults_.AvoidInputs(input, Search(Bad(first), version), version);
  EXPECT_FALSE(faults_.avoids_any())
      << "no other file must be avoided, because only the key file is damaged";
  input.merged_values.insert(value.get());
  faults_.AvoidInputs(input, Search(Bad(value), version), version);
  EXPECT_FALSE(faults_.avoids_any())
      << "no input must be avoided, because a compaction without the value file can succeed";
  input.merged_values.clear();
  faults_.AvoidInputs(input, Search(Bad(value), version), version);
  Fail(Work::kCompaction, Bad(value), version);
  EXPECT_EQ(faults_.avoided(), (std::set<FileId>{first->id, second->id, value->id}));

  version.value_files.clear();
  faults_.VersionIs(version);
  EXPECT_FALSE(faults_.avoids_any());
}

}  // namespace
}  // namespace lava
