// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "table/verify.h"

#include "table/format.h"
#include "table/table_test_util.h"

namespace lava {
namespace {

using testing::InternalKey;
using testing::kPath;
using testing::OpenTable;
using testing::OwnedRecord;
using testing::ReadAll;
using testing::SmallRecords;
using testing::WriteTable;

class VerifyTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(file_system_.CreateDirectory("/db").ok()); }

  std::string Write(const std::vector<OwnedRecord>& records, const TableWriterOptions& options,
                    const RangeTombstoneSet& tombstones = {}) {
    records_ = records;
    auto written = WriteTable(&file_system_, kPath, records, tombstones, options);
    EXPECT_TRUE(written.ok()) << written.status().ToString();
    return *file_system_.Content(kPath);
  }

  Status Verify(std::string content) {
    EXPECT_TRUE(file_system_.SetContent(kPath, std::move(content)).ok());
    return VerifyTableFile(&file_system_, kPath, tables_);
  }

  /// / A damaged file: verification must report the damage, with the file and an offset in it.
  /// Reads must return an error or the written data.
  void CheckDamaged(const std::string& content, const std::string& what) {
    Status status = Verify(content);
    ASSERT_FALSE(status.ok()) << what;
    EXPECT_TRUE(status.IsCorruption()) << what << status.ToString();
    EXPECT_NE(status.message().find(kPath), std::string_view::npos) << status.ToString();
    EXPECT_NE(status.message().find("offset "), std::string_view::npos) << status.ToString();
    auto cache = BlockCache::Create(1 << 20);
    auto reader = OpenTable(&file_system_, kPath, cache.get());
    if (!reader.ok()) return;
    auto all = ReadAll(**reader);
    if (all.ok()) {
      ASSERT_EQ(*all, records_) << what;
    }
    for (size_t i = 0; i < records_.size(); i += 3) {
      const OwnedRecord& record = records_[i];
      if (record.kind == RecordKind::kPrefixDelete) continue;
      Lookup lookup(record.key, 0);
      Status got = (*reader)->Get(&lookup);
      if (!got.ok()) continue;
      lookup.Finish();
      ASSERT_EQ(lookup.found(), record.kind != RecordKind::kDelete) << what;
      if (lookup.found()) {
        ASSERT_EQ(lookup.value(), record.value) << what;
      }
    }
  }

  testing::ChosenFileSystem file_system_;
  std::vector<OwnedRecord> records_;
  std::vector<TableInfo> tables_ = {{"first-state", 7, {}}, {"second-state", 8, {}}};
};

TableWriterOptions SmallBlocks(Compression compression) {
  TableWriterOptions options;
  options.block_bytes = 150;
  options.index_partition_bytes = 200;
  options.compression = compression;
  return options;
}

RangeTombstoneSet OneTombstone() {
  RangeTombstoneSet tombstones;
  tombstones.Add(InternalKey(0, 7, "prefix10"), InternalKey(0, 7, "prefix11"));
  return tombstones;
}

TEST_F(VerifyTest, EveryBitOfASmallFileOfEachForm) {
  for (const bool decouple : {true, false}) {
    TableWriterOptions options = SmallBlocks(Compression::kNone);
    options.decouple_records = decouple;
    std::string good = Write(SmallRecords(12), options, OneTombstone());
    ASSERT_LT(good.size(), 2500u);
    ASSERT_TRUE(Verify(good).ok());
    for (size_t at = 0; at < good.size() && !HasFatalFailure(); ++at) {
      for (int bit = 0; bit < 8; ++bit) {
        std::string bad = good;
        bad[at] = static_cast<char>(bad[at] ^ (1 << bit));
        CheckDamaged(bad, "byte " + std::to_string(at) + " bit " + std::to_string(bit));
      }
    }
  }
}

TEST_F(VerifyTest, OneBitOfEveryByteWithEachCodec) {
  for (Compression codec : {Compression::kLz4, Compression::kZstd}) {
    TableWriterOptions options = SmallBlocks(codec);
    options.block_bytes = 500;
    std::string good = Write(SmallRecords(120), options, OneTombstone());
    ASSERT_TRUE(Verify(good).ok());
    for (size_t at = 0; at < good.size() && !HasFatalFailure(); ++at) {
      std::string bad = good;
      bad[at] = static_cast<char>(bad[at] ^ (1 << (at % 8)));
      CheckDamaged(bad, "byte " + std::to_string(at));
    }
  }
}

TEST_F(VerifyTest, EveryTruncationAndTails) {
  std::string good = Write(SmallRecords(24), SmallBlocks(Compression::kLz4), OneTombstone());
  for (size_t length = 0; length < good.size() && !HasFatalFailure(); ++length)
    CheckDamaged(good.substr(0, length), "length " + std::to_string(length));
  CheckDamaged(good + '\0', "a zero behind");
  CheckDamaged(good + good, "twice");
  CheckDamaged(std::string(good.size(), '\0'), "zeros");
}

TEST_F(VerifyTest, BlocksOfAnotherPlaceOrFileAreCaught) {
  TableWriterOptions options = SmallBlocks(Compression::kNone);
  std::vector<OwnedRecord> same;
  for (int i = 0; i < 20; ++i)
    same.push_back(
        {InternalKey(0, 7, std::to_string(10 + i)), RecordKind::kPut, 0, std::string(200, 'v')});
  std::string good = Write(same, options);
  size_t value = good.find(std::string(200, 'v'));
  size_t next = good.find(std::string(200, 'v'), value + 200);
  size_t block = next - value;
  std::string swapped = good;
  swapped.replace(0, block, good.substr(block, block));
  CheckDamaged(swapped, "the second block in the first one's place");
  ASSERT_TRUE(WriteTable(&file_system_, "/db/a-2.ksst", same, {}, options).ok());
  std::string other = *file_system_.Content("/db/a-2.ksst");
  ASSERT_EQ(other.size(), good.size());
  std::string mixed = good;
  mixed.replace(0, block, other.substr(0, block));
  CheckDamaged(mixed, "the same block of another file");
}

TEST_F(VerifyTest, NamesTheTableThatIsHit) {
  std::string good = Write(SmallRecords(60), SmallBlocks(Compression::kNone));
  std::string bad = good;
  bad[10] = static_cast<char>(bad[10] ^ 1);
  EXPECT_NE(Verify(bad).message().find("table 'first-state'"), std::string_view::npos)
      << Verify(bad).ToString();
  bad = good;
  size_t second = bad.find(InternalKey(1, 8, ""));
  ASSERT_NE(second, std::string::npos);
  second += 3;
  bad[second] = static_cast<char>(bad[second] ^ 1);
  EXPECT_NE(Verify(bad).message().find("table 'second-state'"), std::string_view::npos)
      << Verify(bad).ToString();
  tables_.clear();
  EXPECT_NE(Verify(bad).message().find("table with id 8"), std::string_view::npos);
}

TEST_F(VerifyTest, RefusesANewerVersionNamingBoth) {
  std::string content = Write(SmallRecords(4), {});
  size_t footer = content.size() - ksst::kFooterBytes;
  EncodeFixed32(&content[footer + 48], 7);
  uint64_t sum = Hash64(Slice(content).substr(footer, ksst::kFooterBytes - 16), footer);
  EncodeFixed64(&content[footer + 52], sum);
  Status status = Verify(content);
  EXPECT_EQ(status.code(), Status::Code::kNotSupported);
  EXPECT_NE(status.message().find("version 7"), std::string_view::npos);
  EXPECT_NE(status.message().find("version " + std::to_string(ksst::kFormatVersion)),
            std::string_view::npos);
  auto cache = BlockCache::Create(1 << 20);
  EXPECT_EQ(OpenTable(&file_system_, kPath, cache.get()).status().code(),
            Status::Code::kNotSupported);
}

TEST_F(VerifyTest, MissingFile) {
  EXPECT_TRUE(VerifyTableFile(&file_system_, "/db/none.ksst", {}).IsNotFound());
}

}  // namespace
}  // namespace lava
