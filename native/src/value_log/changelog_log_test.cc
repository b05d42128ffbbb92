// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "value_log/changelog_log.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "memory/memory_budget.h"
#include "testing/mem_file_system.h"

namespace lava {
namespace {

using testing::CrashableFileSystem;
using testing::CrashMode;
using testing::MemFileSystem;

constexpr Origin kOrigin{1, 1}, kNextOrigin{1, 2}, kForeign{2, 1};
const std::string kDirectory = "/db";

using Texts = std::vector<std::string>;

std::string TextOf(uint64_t number) {
  return "entry " + std::to_string(number) + std::string(50, 'x');
}

// The entries of these sequences, each with the text that EntryWriter gives it.
Texts TextsOf(uint64_t first, uint64_t last) {
  Texts texts;
  for (uint64_t number = first; number <= last; ++number) texts.push_back(TextOf(number));
  return texts;
}

/// Writes entries in the way in which an instance does.
class EntryWriter {
 public:
  EntryWriter(fs::FileSystem* files, ChangelogLog* log, const Origin& origin, uint64_t number = 1)
      : files_(files), log_(*log), origin_(origin), number_(number) {}

  /// Returns the segment's number.
  uint64_t Begin() {
    const FileId id{origin_, number_};
    number_ += kLogBlobFilesMax;
    Result<std::shared_ptr<ChangelogSegment>> segment =
        ChangelogSegment::Create(files_, kDirectory + "/" + id.ValueFileName(), id, {.sync = true},
                                 budget_.counter(MemoryPurpose::kMemtables));
    EXPECT_TRUE(segment.ok() && files_->SyncDirectory(kDirectory).ok());
    segment_ = *segment;
    log_.BeginSegment(segment_);
    return id.number;
  }
  EntryLocation Append(const ChangelogSegment::Value* value = nullptr) {
    const ChangelogLog::Sequence sequence = log_.TakeSequence();
    LoggedRecord logged;
    ValueReference reference;
    std::string text = TextOf(sequence.number);
    if (value != nullptr) text.resize(text.size() - value->bytes.size());
    EXPECT_TRUE(segment_
                    ->AppendEntry(sequence.number, sequence.skipped, text, value,
                                  /*synced=*/true, &logged, &reference)
                    .ok());
    log_.Logged();
    value_ = {segment_->id().number, reference.logged_offset, reference.logged_bytes, 0};
    return {segment_->id().number, logged.offset, logged.bytes, sequence.number};
  }
  void Append(int count) {
    for (int i = 0; i < count; ++i) Append();
  }
  const EntryLocation& value() const { return value_; }

 private:
  fs::FileSystem* const files_;
  ChangelogLog& log_;
  const Origin origin_;
  uint64_t number_;
  MemoryBudget budget_;
  std::shared_ptr<ChangelogSegment> segment_;
  EntryLocation value_;
};

class ChangelogLogTest : public ::testing::Test {
 protected:
  ChangelogLogTest() { EXPECT_TRUE(files_.CreateDurableDirectory(kDirectory).ok()); }

  /// Three segments of an earlier opening, each with three entries.
  void WriteNine(const Origin& origin = kOrigin) {
    ChangelogLog log(&files_, kDirectory, WalMode::kWalSync);
    ASSERT_TRUE(log.Open(origin, {origin}, 0).ok());
    EntryWriter writer(&files_, &log, origin);
    for (int i = 0; i < 3; ++i) {
      writer.Begin();
      writer.Append(3);
      log.EndSegment();
    }
  }
  static std::string PathOf(uint64_t segment) {
    const FileId id{kOrigin, 1 + (segment - 1) * kLogBlobFilesMax};
    return kDirectory + "/" + id.ValueFileName();
  }
  /// Cuts off the end of a segment's last entry.
  void Tear(uint64_t segment) {
    const std::string whole = *files_.Content(PathOf(segment));
    ASSERT_TRUE(files_.SetContent(PathOf(segment), whole.substr(0, whole.size() - 5)).ok());
  }
  void Damage(uint64_t segment, uint64_t entry) {
    std::string content = *files_.Content(PathOf(segment));
    const size_t at = content.find(TextOf(entry).substr(0, 7));
    ASSERT_NE(at, std::string::npos);
    content[at] ^= 1;
    ASSERT_TRUE(files_.SetContent(PathOf(segment), content).ok());
  }
  static Status OpenNext(ChangelogLog* log, uint64_t released = 0) {
    return log->Open(kNextOrigin, {kOrigin, kNextOrigin}, released);
  }
  static Texts Read(const ChangelogLog& log, uint64_t after = 0) {
    Texts texts;
    const Status status = log.ReadEarlierOpenings(after, [&](uint64_t sequence, Slice entry) {
      EXPECT_EQ(entry, TextOf(sequence));
      texts.emplace_back(entry);
      return Status::OK();
    });
    EXPECT_TRUE(status.ok()) << status.ToString();
    return texts;
  }
  static Texts ReleasedNames(const ChangelogLog& log) {
    Texts names;
    for (const ChangelogLog::Released& segment : log.FindReleased())
      names.push_back(segment.id.ValueFileName());
    return names;
  }

  MemFileSystem files_;
};

TEST_F(ChangelogLogTest, ASegmentIsHeldUntilAllOfItsEntriesAreReleased) {
  ChangelogLog log(&files_, kDirectory, WalMode::kNone);
  ASSERT_TRUE(log.Open(kOrigin, {kOrigin}, 0).ok());
  EntryWriter writer(&files_, &log, kOrigin);
  const std::string first = log.NameOf(writer.Begin());
  writer.Append(3);
  log.EndSegment();
  const std::string second = log.NameOf(writer.Begin());
  writer.Append(2);
  log.EndSegment();
  EXPECT_EQ(log.last_sequence(), 5u);
  EXPECT_TRUE(log.Holds(first) && log.Holds(second));
  EXPECT_FALSE(log.Holds(log.NameOf(7)));
  EXPECT_TRUE(log.FindReleased().empty());

  log.Release(2);
  EXPECT_TRUE(log.FindReleased().empty()) << "the third entry of the segment is not released";
  log.Release(3);
  EXPECT_EQ(ReleasedNames(log), Texts{first});
  EXPECT_EQ(ReleasedNames(log), Texts{first}) << "the segment must stay until it is dropped";
  EXPECT_TRUE(log.Holds(first));
  for (const ChangelogLog::Released& segment : log.FindReleased()) {
    EXPECT_FALSE(segment.of_earlier_opening);
    log.Drop(segment);
  }
  EXPECT_FALSE(log.Holds(first));
  EXPECT_TRUE(log.Holds(second));
  log.Release(5);
  EXPECT_EQ(ReleasedNames(log), Texts{second});
}

TEST_F(ChangelogLogTest, AnEarlierPositionReleasesNothingAndTakesNothingBack) {
  ChangelogLog log(&files_, kDirectory, WalMode::kNone);
  ASSERT_TRUE(log.Open(kOrigin, {kOrigin}, 0).ok());
  EntryWriter writer(&files_, &log, kOrigin);
  Texts names;
  for (int i = 0; i < 3; ++i) {
    names.push_back(log.NameOf(writer.Begin()));
    writer.Append(2);
    log.EndSegment();
  }
  log.Release(4);
  log.Release(1);
  EXPECT_EQ(ReleasedNames(log), Texts(names.begin(), names.begin() + 2));
}

TEST_F(ChangelogLogTest, TheSegmentThatGetsEntriesIsNotReleased) {
  ChangelogLog log(&files_, kDirectory, WalMode::kNone);
  ASSERT_TRUE(log.Open(kOrigin, {kOrigin}, 0).ok());
  EntryWriter writer(&files_, &log, kOrigin);
  const std::string name = log.NameOf(writer.Begin());
  EXPECT_TRUE(log.FindReleased().empty()) << "the segment has no entry yet";
  writer.Append(2);
  log.Release(2);
  EXPECT_TRUE(log.FindReleased().empty());
  log.EndSegment();
  EXPECT_EQ(ReleasedNames(log), Texts{name});
}

TEST_F(ChangelogLogTest, ASegmentIsFinishedOnceNoMoreEntriesCome) {
  ChangelogLog log(&files_, kDirectory, WalMode::kNone);
  ASSERT_TRUE(log.Open(kOrigin, {kOrigin}, 0).ok());
  EntryWriter writer(&files_, &log, kOrigin);
  const uint64_t number = writer.Begin();
  writer.Append(2);
  const std::string path = kDirectory + "/" + log.NameOf(number);
  const size_t bytes = files_.Content(path)->size();
  EXPECT_TRUE(log.Finish(number).IsInvalidArgument()) << "the segment still gets entries";
  EXPECT_TRUE(log.Finish(number + 1).IsInvalidArgument()) << "the segment does not exist";
  EXPECT_EQ(files_.Content(path)->size(), bytes);
  log.EndSegment();
  EXPECT_TRUE(log.Finish(number).ok());
  EXPECT_GT(files_.Content(path)->size(), bytes) << "the segment must get an index and a footer";
  log.Release(2);
  log.Drop(log.FindReleased().front());
  EXPECT_TRUE(log.Finish(number).IsInvalidArgument()) << "the segment is no longer held";
}

TEST_F(ChangelogLogTest, EntriesAndTheirValuesAreReadByLocation) {
  ChangelogLog log(&files_, kDirectory, WalMode::kNone);
  ASSERT_TRUE(log.Open(kOrigin, {kOrigin}, 0).ok());
  EntryWriter writer(&files_, &log, kOrigin);
  writer.Begin();
  const EntryLocation plain = writer.Append();
  const std::string value(20, 'x');
  const ChangelogSegment::Value logged{.key = "key", .bytes = value, .timestamp = std::nullopt};
  const EntryLocation with_value = writer.Append(&logged);
  std::string read;
  ASSERT_TRUE(log.Read(plain, &read).ok());
  EXPECT_EQ(read, TextOf(1));
  ASSERT_TRUE(log.Read(with_value, &read).ok());
  EXPECT_EQ(read, TextOf(2));
  ASSERT_TRUE(log.ReadValue(writer.value(), &read).ok());
  EXPECT_EQ(read, value);
  EXPECT_TRUE(log.ReadValue(plain, &read).IsCorruption()) << "the entry has no value";
  EXPECT_TRUE(log.Read({plain.segment, 1 << 20, 10, 0}, &read).IsInvalidArgument());
  EXPECT_TRUE(log.Read({plain.segment, 0, UINT64_MAX, 0}, &read).IsInvalidArgument());
  EXPECT_TRUE(log.Read({plain.segment + 1, 0, 10, 0}, &read).IsNotFound());
}

TEST_F(ChangelogLogTest, RecoveryReadsUnreleasedEntriesOverAllSegments) {
  WriteNine();
  for (const WalMode mode : {WalMode::kWal, WalMode::kWalSync}) {
    const auto image = files_.CrashClone(CrashMode::kSyncedOnly);
    ChangelogLog log(image.get(), kDirectory, mode);
    ASSERT_TRUE(OpenNext(&log).ok());
    EXPECT_EQ(log.last_sequence(), 9u);
    EXPECT_EQ(Read(log), TextsOf(1, 9));
    EXPECT_EQ(Read(log, 4), TextsOf(5, 9));
    log.Release(5);
    EXPECT_EQ(Read(log), TextsOf(6, 9)) << "released entries must not be read again";
    const std::vector<ChangelogLog::Released> released = log.FindReleased();
    ASSERT_EQ(released.size(), 1u);
    EXPECT_TRUE(released[0].of_earlier_opening);
    EXPECT_EQ(released[0].first, 1u);
    EXPECT_EQ(kDirectory + "/" + released[0].id.ValueFileName(), PathOf(1));
    EXPECT_EQ(released[0].id.origin, kOrigin);
  }
}

TEST_F(ChangelogLogTest, WithoutAWriteAheadLogNothingIsRecovered) {
  WriteNine();
  ChangelogLog log(&files_, kDirectory, WalMode::kNone);
  ASSERT_TRUE(OpenNext(&log).ok());
  EXPECT_EQ(log.last_sequence(), 0u);
  EXPECT_TRUE(Read(log).empty());
}

TEST_F(ChangelogLogTest, ReleasedSegmentsOfEarlierOpeningsAreNotHeld) {
  WriteNine();
  ChangelogLog log(&files_, kDirectory, WalMode::kWalSync);
  ASSERT_TRUE(OpenNext(&log, 4).ok());
  EXPECT_FALSE(log.Holds(PathOf(1).substr(4)));
  EXPECT_TRUE(log.Holds(PathOf(2).substr(4)));
  EXPECT_EQ(Read(log), TextsOf(5, 9));

  ChangelogLog all_released(&files_, kDirectory, WalMode::kWalSync);
  ASSERT_TRUE(OpenNext(&all_released, 9).ok());
  EXPECT_FALSE(all_released.Holds(PathOf(3).substr(4)));
  EXPECT_EQ(all_released.last_sequence(), 9u) << "the sequences must continue";
}

TEST_F(ChangelogLogTest, EntriesOfSeveralRunsFollowEachOther) {
  WriteNine();
  {
    ChangelogLog log(&files_, kDirectory, WalMode::kWalSync);
    ASSERT_TRUE(OpenNext(&log).ok());
    EntryWriter writer(&files_, &log, kNextOrigin);
    writer.Begin();
    writer.Append(2);
    EXPECT_EQ(Read(log), TextsOf(1, 9)) << "entries of this opening must not be recovered";
  }
  const Origin third{1, 3};
  ChangelogLog log(&files_, kDirectory, WalMode::kWalSync);
  ASSERT_TRUE(log.Open(third, {kOrigin, kNextOrigin, third}, 0).ok());
  EXPECT_EQ(Read(log), TextsOf(1, 11));
}

TEST_F(ChangelogLogTest, EntriesThatFailedAreNoGap) {
  {
    ChangelogLog log(&files_, kDirectory, WalMode::kWalSync);
    ASSERT_TRUE(log.Open(kOrigin, {kOrigin}, 0).ok());
    EntryWriter writer(&files_, &log, kOrigin);
    writer.Begin();
    writer.Append(2);
    EXPECT_EQ(log.TakeSequence().number, 3u);  // and the entry fails
    EXPECT_EQ(log.TakeSequence().skipped, 1u);
    writer.Append();
    EXPECT_EQ(log.TakeSequence().skipped, 0u) << "a written entry must end the run of failed ones";
    log.EndSegment();
    writer.Begin();  // the failed entry may be in the segment before
    writer.Append();
  }
  ChangelogLog log(&files_, kDirectory, WalMode::kWalSync);
  ASSERT_TRUE(OpenNext(&log).ok());
  EXPECT_EQ(Read(log), (Texts{TextOf(1), TextOf(2), TextOf(5), TextOf(7)}));
}

TEST_F(ChangelogLogTest, AMissingSegmentIsCorruptionOnlyIfEntriesWereSynced) {
  WriteNine();
  ASSERT_TRUE(files_.Remove(PathOf(2)).ok());
  ChangelogLog synced(&files_, kDirectory, WalMode::kWalSync);
  const Status status = OpenNext(&synced);
  EXPECT_TRUE(status.IsCorruption());
  EXPECT_NE(status.ToString().find(PathOf(1)), std::string::npos) << status.ToString();

  {
    ChangelogLog log(&files_, kDirectory, WalMode::kWal);
    ASSERT_TRUE(OpenNext(&log).ok());
    EXPECT_EQ(Read(log), TextsOf(1, 3)) << "no entry must be read after a missing one";
    EXPECT_EQ(log.last_sequence(), 9u) << "no sequence must be used twice";
    EntryWriter writer(&files_, &log, kNextOrigin);
    writer.Begin();
    writer.Append(2);
  }
  // New entries follow the loss, and the lost entries stay lost.
  const Origin third{1, 3};
  ChangelogLog log(&files_, kDirectory, WalMode::kWal);
  ASSERT_TRUE(log.Open(third, {kOrigin, kNextOrigin, third}, 0).ok());
  Texts texts = TextsOf(1, 3);
  texts.insert(texts.end(), {TextOf(10), TextOf(11)});
  EXPECT_EQ(Read(log), texts);
}

TEST_F(ChangelogLogTest, TheFirstSegmentIsMissedToo) {
  WriteNine();
  ASSERT_TRUE(files_.Remove(PathOf(1)).ok());
  ChangelogLog synced(&files_, kDirectory, WalMode::kWalSync);
  const Status status = OpenNext(&synced);
  EXPECT_TRUE(status.IsCorruption());
  EXPECT_NE(status.ToString().find(PathOf(2)), std::string::npos) << status.ToString();
  ChangelogLog released(&files_, kDirectory, WalMode::kWalSync);
  ASSERT_TRUE(OpenNext(&released, 3).ok()) << "the missing segment is not needed";
  EXPECT_EQ(Read(released), TextsOf(4, 9));
}

TEST_F(ChangelogLogTest, ATornLastEntryIsLeftOut) {
  WriteNine();
  Tear(3);
  for (const WalMode mode : {WalMode::kWal, WalMode::kWalSync}) {
    ChangelogLog log(&files_, kDirectory, mode);
    const Status status = OpenNext(&log);
    ASSERT_TRUE(status.ok()) << status.ToString();
    EXPECT_EQ(Read(log), TextsOf(1, 8));
    EXPECT_EQ(log.last_sequence(), 8u);
  }
}

TEST_F(ChangelogLogTest, ATornEntryBeforeOthersIsALossIfEntriesWereNotSynced) {
  WriteNine();
  Tear(2);
  ChangelogLog synced(&files_, kDirectory, WalMode::kWalSync);
  const Status status = OpenNext(&synced);
  EXPECT_TRUE(status.IsCorruption());
  EXPECT_NE(status.ToString().find(PathOf(2)), std::string::npos) << status.ToString();
  ChangelogLog log(&files_, kDirectory, WalMode::kWal);
  ASSERT_TRUE(OpenNext(&log).ok());
  EXPECT_EQ(Read(log), TextsOf(1, 5));
  EXPECT_EQ(log.last_sequence(), 9u);
}

TEST_F(ChangelogLogTest, ADamagedEntryBeforeSoundOnesIsCorruptionIfEntriesWereSynced) {
  WriteNine();
  Damage(3, 8);
  ChangelogLog synced(&files_, kDirectory, WalMode::kWalSync);
  const Status status = OpenNext(&synced);
  EXPECT_TRUE(status.IsCorruption());
  EXPECT_NE(status.ToString().find(PathOf(3)), std::string::npos) << status.ToString();
  ChangelogLog log(&files_, kDirectory, WalMode::kWal);
  ASSERT_TRUE(OpenNext(&log).ok());
  EXPECT_EQ(Read(log), TextsOf(1, 7));
}

TEST_F(ChangelogLogTest, EntriesOfOtherInstancesAreNotOfThisChangelog) {
  WriteNine(kForeign);
  ChangelogLog log(&files_, kDirectory, WalMode::kWalSync);
  ASSERT_TRUE(OpenNext(&log).ok());
  EXPECT_TRUE(Read(log).empty());
  EXPECT_EQ(log.last_sequence(), 0u);
  EXPECT_FALSE(log.Holds(FileId{kForeign, 1}.ValueFileName()));
}

TEST_F(ChangelogLogTest, FilesOfValuesAreNoSegments) {
  const FileId id{kOrigin, 1};
  const std::string path = kDirectory + "/" + id.ValueFileName();
  const std::shared_ptr<ValueLogSegment> values = *ValueLogSegment::Create(&files_, path, id, {});
  ValueReference reference;
  ASSERT_TRUE(values->Append("key", "value", /*synced=*/true, &reference).ok());
  ASSERT_TRUE(files_.SetContent(kDirectory + "/another.vsst", "of another kind").ok());
  ChangelogLog log(&files_, kDirectory, WalMode::kWalSync);
  ASSERT_TRUE(OpenNext(&log).ok());
  EXPECT_FALSE(log.Holds(id.ValueFileName()));
  EXPECT_EQ(log.last_sequence(), 0u);
}

TEST_F(ChangelogLogTest, AnErrorOfTheReaderEndsTheWalk) {
  WriteNine();
  ChangelogLog log(&files_, kDirectory, WalMode::kWalSync);
  ASSERT_TRUE(OpenNext(&log).ok());
  uint64_t last = 0;
  const Status status = log.ReadEarlierOpenings(0, [&](uint64_t sequence, Slice) {
    last = sequence;
    return sequence == 5 ? Status::Busy() : Status::OK();
  });
  EXPECT_TRUE(status.IsBusy());
  EXPECT_EQ(last, 5u);
}

TEST_F(ChangelogLogTest, ClearForgetsAllSegments) {
  WriteNine();
  ChangelogLog log(&files_, kDirectory, WalMode::kWalSync);
  ASSERT_TRUE(OpenNext(&log).ok());
  EntryWriter writer(&files_, &log, kNextOrigin);
  const uint64_t number = writer.Begin();
  log.Clear();
  EXPECT_FALSE(log.Holds(log.NameOf(number)));
  EXPECT_TRUE(log.Finish(number).IsInvalidArgument());
  EXPECT_TRUE(Read(log).empty());
}

}  // namespace
}  // namespace lava
