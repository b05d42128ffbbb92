// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "wal/write_ahead_log.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "base/coding.h"
#include "log/lava_log.h"
#include "process/lava_log_wal.h"
#include "testing/mem_file_system.h"

namespace lava {
namespace {

constexpr uint64_t kLoggedTable = 7;

class WriteAheadLogTest : public ::testing::Test {
 protected:
  WriteAheadLogTest() : partitions_(Options()) {
    EXPECT_TRUE(files_.CreateDurableDirectory("/db").ok());
    Result<std::unique_ptr<log::LavaLog>> log =
        log::LavaLog::Open({.file_system = &files_, .directory = "/wal"});
    EXPECT_TRUE(log.ok()) << log.status().ToString();
    log_ = std::move(log).value();
  }
  static DBOptions Options() {
    DBOptions options;
    options.partition_bytes = 1;
    options.partition_first = 0;
    options.partition_last = 1;
    return options;
  }
  std::unique_ptr<WriteAheadLog> Open(std::optional<uint64_t> flushed,
                                      WalMode mode = WalMode::kWal) {
    auto wal = std::make_unique<WriteAheadLog>(&partitions_, mode, &files_, "/db");
    Result<std::unique_ptr<Wal>> log =
        OpenLavaLogWal(log_, "/db", "/wal", mode == WalMode::kWalSync, flushed);
    EXPECT_TRUE(log.ok()) << log.status().ToString();
    if (log.ok()) wal->Open(std::move(log).value(), flushed);
    return wal;
  }
  static std::string Key(std::string_view rest, uint32_t partition = 0) {
    return TableStart(partition, 1, kLoggedTable).append(rest);
  }
  static Status Put(WriteAheadLog* wal, std::string_view rest, Slice value) {
    return wal->Write(WalRecord::Kind::kPut, Key(rest), 0, value);
  }
  // The changes that a replay shows, as text. It ends with the first lost record.
  static std::vector<std::string> Replay(WriteAheadLog* wal) {
    std::vector<std::string> shown;
    bool lost = false;
    const Status status = wal->Replay([&](Slice record) {
      if (lost) return Status::OK();
      WriteAheadLog::Decoded decoded;
      LAVA_RETURN_IF_ERROR(wal->Decode(record, &decoded));
      lost = decoded.lost;
      if (lost) {
        shown.push_back("lost");
        return Status::OK();
      }
      std::string text;
      for (const auto& change : decoded.changes)
        text += std::to_string(static_cast<int>(change.change.kind)) + ":" +
                std::string(change.change.key.substr(1 + kTableIdBytes)) + "=" +
                (change.is_of_table() ? "" : std::string(change.value())) + " ";
      shown.push_back(text);
      return Status::OK();
    });
    if (!status.ok()) shown.push_back(status.ToString());
    return shown;
  }
  std::string ReferenceTo(const FileId& segment, uint64_t bytes) {
    ValueReference reference;
    reference.blob_file = segment;
    reference.raw_bytes = bytes;
    reference.logged_offset = 100;
    reference.logged_bytes = 50;
    std::string encoded;
    EncodeReference(reference, &encoded);
    return encoded;
  }

  testing::MemFileSystem files_;
  const PartitionRange partitions_;
  std::shared_ptr<log::LavaLog> log_;
};

using Shown = std::vector<std::string>;

TEST_F(WriteAheadLogTest, WithoutALogNothingIsWrittenAndNothingFails) {
  WriteAheadLog wal(&partitions_, WalMode::kNone, &files_, "/db");
  EXPECT_FALSE(wal.enabled());
  EXPECT_TRUE(Put(&wal, "a", "1").ok());
  EXPECT_TRUE(wal.WriteReference(Key("a"), 0, "r").ok());
  EXPECT_TRUE(wal.WriteRangeDelete(kLoggedTable, {}, {}).ok());
  EXPECT_TRUE(wal.WriteDrop(kLoggedTable).ok());
  EXPECT_TRUE(wal.WriteCreate({"t", kLoggedTable, TableOptions()}).ok());
  EXPECT_FALSE(wal.HasUnsealed());
  EXPECT_EQ(wal.Seal(), 0u);
}

TEST_F(WriteAheadLogTest, AReplayHasTheRecordsBehindTheFlushedOnesInOrder) {
  std::unique_ptr<WriteAheadLog> wal = Open(std::nullopt);
  ASSERT_TRUE(Put(wal.get(), "a", "1").ok());
  const uint64_t sealed = wal->Seal();
  EXPECT_FALSE(wal->HasUnsealed());
  ASSERT_TRUE(Put(wal.get(), "b", "2").ok());
  ASSERT_TRUE(wal->Write(WalRecord::Kind::kDelete, Key("a"), 0, {}).ok());
  EXPECT_TRUE(wal->HasUnsealed());
  EXPECT_EQ(wal->last(), sealed + 2);
  ASSERT_TRUE(wal->Flushed(sealed).ok());
  wal = Open(sealed);
  EXPECT_EQ(Replay(wal.get()), (Shown{"1:b=2 ", "2:a= "}));
  EXPECT_EQ(wal->last(), sealed + 2);
  EXPECT_TRUE(wal->HasUnsealed()) << "the replayed records are not in a file yet";
}

TEST_F(WriteAheadLogTest, OneRecordHasAllOfARangeAndOfADrop) {
  std::unique_ptr<WriteAheadLog> wal = Open(std::nullopt);
  ASSERT_TRUE(wal->WriteRangeDelete(kLoggedTable, {}, {}).ok());
  ASSERT_TRUE(wal->WriteDrop(kLoggedTable).ok());
  const Shown shown = Replay(wal.get());
  ASSERT_EQ(shown.size(), 2u);
  EXPECT_EQ(std::count(shown[0].begin(), shown[0].end(), ':'), 2)
      << "the record must have a part for each partition";
  EXPECT_EQ(std::count(shown[1].begin(), shown[1].end(), ':'), 3)
      << "the record must also have the drop itself";
}

TEST_F(WriteAheadLogTest, ACreatedTableIsFoundInItsRecord) {
  std::unique_ptr<WriteAheadLog> wal = Open(std::nullopt);
  const TableRegistration table{"name", kLoggedTable, TableOptions()};
  ASSERT_TRUE(wal->WriteCreate(table).ok());
  int found = 0;
  ASSERT_TRUE(wal->Replay([&](Slice record) {
                   WriteAheadLog::Decoded decoded;
                   LAVA_RETURN_IF_ERROR(wal->Decode(record, &decoded));
                   EXPECT_TRUE(decoded.changes.at(0).is_of_table());
                   WalRecord::Change change = decoded.changes.at(0).change;
                   EXPECT_EQ(wal->TableOf(change), kLoggedTable);
                   Result<TableRegistration> created = wal->CreatedIn(change);
                   EXPECT_TRUE(created.ok() && created->name == "name");
                   const std::string other = TableStart(0, 1, kLoggedTable + 1);
                   change.key = other;
                   EXPECT_TRUE(wal->CreatedIn(change).status().IsCorruption());
                   ++found;
                   return Status::OK();
                 })
                  .ok());
  EXPECT_EQ(found, 1);
}

// The boot of the machine decides whether a missing value is a loss by a power cut, or damage.
TEST_F(WriteAheadLogTest, AMissingValueIsDamageUnlessAPowerCutMayHaveTakenIt) {
  const std::string reference = ReferenceTo({{1, 2}, 3}, 10);
  std::unique_ptr<WriteAheadLog> wal = Open(std::nullopt);
  ASSERT_TRUE(wal->WriteReference(Key("a"), 0, reference).ok());
  Shown shown = Replay(wal.get());
  ASSERT_EQ(shown.size(), 1u);
  EXPECT_NE(shown[0], "lost") << "the machine has not restarted since the write";

  WalRecord earlier_boot;
  earlier_boot.AddLogged(Key("a"), 0, files_.boot() + 1, reference);
  WriteAheadLog::Decoded decoded;
  EXPECT_TRUE(wal->Decode(earlier_boot.bytes(), &decoded).ok());
  EXPECT_TRUE(decoded.lost);

  WalRecord synced;
  synced.AddLogged(Key("a"), 0, WalRecord::kSynced, reference);
  decoded = {};
  EXPECT_FALSE(wal->Decode(synced.bytes(), &decoded).ok())
      << "a power cut cannot lose a synced value";
}

TEST_F(WriteAheadLogTest, AKeyThatIsTooShortIsRefused) {
  std::unique_ptr<WriteAheadLog> wal = Open(std::nullopt);
  WalRecord record;
  record.Add(WalRecord::Kind::kPut, "k", 0, "v");
  WriteAheadLog::Decoded decoded;
  EXPECT_TRUE(wal->Decode(record.bytes(), &decoded).IsCorruption());
  WalRecord range;
  range.Add(WalRecord::Kind::kDeleteRange, Key("a"), 0, "k");
  decoded = {};
  EXPECT_TRUE(wal->Decode(range.bytes(), &decoded).IsCorruption());
}

TEST(ReplayedLogSegments, TheyAreUnusedOnceAllEarlierRecordsAreFlushed) {
  ReplayedLogSegments segments;
  segments.SetLast(5);
  segments.Add("a");
  EXPECT_TRUE(segments.TakeUnused(4).empty());
  EXPECT_EQ(segments.TakeUnused(5), (std::vector<std::string>{"a"}));
  EXPECT_TRUE(segments.TakeUnused(6).empty()) << "each segment must be returned only once";
}

}  // namespace
}  // namespace lava
