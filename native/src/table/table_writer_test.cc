// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "table/table_writer.h"

#include "base/checksum.h"
#include "table/table_test_util.h"
#include "testing/fault_file_system.h"

namespace lava {
namespace {

using testing::InternalKey;
using testing::OwnedRecord;
using testing::WriteTable;

class TableWriterTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(file_system_.CreateDirectory("/db").ok()); }
  std::unique_ptr<TableWriter> Create(TableWriterOptions options = {}) {
    auto file = file_system_.Create("/db/1.ksst", 4096);
    EXPECT_TRUE(file.ok());
    return TableWriter::Create(options, std::move(*file), "/db/1.ksst");
  }
  testing::ChosenFileSystem file_system_;
};

TEST_F(TableWriterTest, PropertiesTellWhatTheFileHolds) {
  RangeTombstoneSet tombstones;
  tombstones.Add(InternalKey(0, 3, ""), InternalKey(0, 3, "z"));
  std::vector<OwnedRecord> records = {
      {InternalKey(0, 5, "a"), RecordKind::kPut, 0, "12345"},
      {InternalKey(0, 5, "b"), RecordKind::kDelete, 0, ""},
      {InternalKey(0, 6, "c"), RecordKind::kAppend, 0, "123"},
      {InternalKey(0, 6, "d"), RecordKind::kPrefixDelete, 0, ""},
  };
  auto written = WriteTable(&file_system_, "/db/1.ksst", records, tombstones);
  ASSERT_TRUE(written.ok());
  std::string content = *file_system_.Content("/db/1.ksst");
  EXPECT_EQ(written->file_bytes, content.size());
  EXPECT_EQ(written->file_crc32c, Crc32c(content));
  EXPECT_EQ(written->records, 4u);
  EXPECT_EQ(written->deletes, 1u);
  EXPECT_EQ(written->appends, 1u);
  EXPECT_EQ(written->prefix_deletes, 1u);
  EXPECT_EQ(written->range_tombstones, 1u);
  EXPECT_EQ(written->raw_key_bytes, 28u);
  EXPECT_EQ(written->raw_value_bytes, 8u);
  EXPECT_EQ(written->lower, InternalKey(0, 3, ""));
  EXPECT_EQ(written->upper, InternalKey(0, 6, "e"));
  ASSERT_EQ(written->tables.size(), 2u);
  EXPECT_EQ(written->tables[5].records, 2u);
  EXPECT_EQ(written->tables[5].bytes, 19u);
  auto cache = BlockCache::Create(0);
  auto reader = testing::OpenTable(&file_system_, "/db/1.ksst", cache.get());
  ASSERT_TRUE(reader.ok());
  const TableProperties& read = (*reader)->properties();
  EXPECT_EQ(read.records, 4u);
  EXPECT_EQ(read.upper, written->upper);
  EXPECT_EQ(read.tables.at(6).bytes, written->tables[6].bytes);
  EXPECT_EQ(read.file_bytes, content.size());
  EXPECT_EQ((*reader)->range_tombstones().ranges().size(), 1u);
}

TEST_F(TableWriterTest, UpperIsBehindTheLastKeyAndEndlessPrefixDeletes) {
  auto written = WriteTable(&file_system_, "/db/1.ksst", {{"k", RecordKind::kPut, 0, ""}});
  EXPECT_EQ(written->upper, std::string("k\0", 2));
  written = WriteTable(
      &file_system_, "/db/1.ksst",
      {{"a", RecordKind::kPrefixDelete, 0, ""}, {"ab", RecordKind::kPrefixDelete, 0, ""}});
  EXPECT_EQ(written->upper, "b")
      << "the outer one of two nested prefixes must determine the upper bound";
  written = WriteTable(&file_system_, "/db/1.ksst", {{"\xff", RecordKind::kPrefixDelete, 0, ""}});
  EXPECT_EQ(written->upper, "");
}

TEST_F(TableWriterTest, RefusesDisorderLimitsAndReservedKinds) {
  auto writer = Create();
  ASSERT_TRUE(writer->Add({"b", RecordKind::kPrefixDelete, 0, ""}).ok());
  EXPECT_TRUE(writer->Add({"b", RecordKind::kPrefixDelete, 0, ""}).IsInvalidArgument());
  ASSERT_TRUE(writer->Add({"b", RecordKind::kPut, 0, ""}).ok());
  EXPECT_TRUE(writer->Add({"b", RecordKind::kPut, 0, ""}).IsInvalidArgument());
  EXPECT_TRUE(writer->Add({"b", RecordKind::kPrefixDelete, 0, ""}).IsInvalidArgument());
  EXPECT_TRUE(writer->Add({"a", RecordKind::kPut, 0, ""}).IsInvalidArgument());
  EXPECT_TRUE(writer->Add({"", RecordKind::kPut, 0, ""}).IsInvalidArgument());
  EXPECT_TRUE(writer->Add({"c", RecordKind::kPutReference, 0, ""}).IsInvalidArgument());
  EXPECT_TRUE(writer->Add({"c", static_cast<RecordKind>(0), 0, ""}).IsInvalidArgument());
  EXPECT_TRUE(writer->Add({"c", RecordKind::kPut, 2, ""}).IsInvalidArgument());
  std::string long_key(kKeyBytesMax + 65, 'c');
  Status status = writer->Add({long_key, RecordKind::kPut, 0, ""});
  EXPECT_TRUE(status.IsInvalidArgument());
  EXPECT_NE(status.message().find(std::to_string(kKeyBytesMax + 64)), std::string_view::npos);
  // Refused because of its length, before any byte of it is read.
  Slice huge(long_key.data(), kListBytesMax + 1);
  status = writer->Add({"c", RecordKind::kPut, 0, huge});
  EXPECT_TRUE(status.IsInvalidArgument());
  EXPECT_NE(status.message().find(std::to_string(kListBytesMax)), std::string_view::npos);
  ASSERT_TRUE(writer->Add({"c", RecordKind::kPut, 1, "v"}).ok());
  TableProperties properties;
  ASSERT_TRUE(writer->Finish(&properties).ok());
  EXPECT_EQ(properties.records, 3u);
  EXPECT_TRUE(writer->Finish(&properties).IsInvalidArgument());
}

TEST_F(TableWriterTest, EstimateGrowsToTheFileSize) {
  TableWriterOptions options;
  options.compression = Compression::kNone;
  auto writer = Create(options);
  uint64_t before = 0;
  for (int i = 1000; i < 3000; ++i) {
    ASSERT_TRUE(writer->Add({std::to_string(i), RecordKind::kPut, 0, "some value"}).ok());
    EXPECT_GE(writer->estimated_bytes() + 600, before);
    before = writer->estimated_bytes();
  }
  TableProperties properties;
  ASSERT_TRUE(writer->Finish(&properties).ok());
  EXPECT_GT(properties.data_blocks, 5u);
  EXPECT_NEAR(static_cast<double>(before), static_cast<double>(properties.file_bytes),
              static_cast<double>(properties.file_bytes) * 0.1);
}

TEST_F(TableWriterTest, CompressionShrinksAndIsSkippedWhereItDoesNot) {
  testing::Random random(1);
  std::vector<OwnedRecord> equal, noise;
  for (int i = 1000; i < 1200; ++i) {
    equal.push_back({std::to_string(i), RecordKind::kPut, 0, std::string(200, 'e')});
    noise.push_back({std::to_string(i), RecordKind::kPut, 0, random.Bytes(200)});
  }
  for (Compression codec : {Compression::kLz4, Compression::kZstd}) {
    TableWriterOptions options;
    options.compression = codec;
    auto small = WriteTable(&file_system_, "/db/1.ksst", equal, {}, options);
    EXPECT_LT(small->file_bytes, 8000u);
    auto large = WriteTable(&file_system_, "/db/1.ksst", noise, {}, options);
    EXPECT_LT(large->file_bytes, 200 * 212u);
  }
}

TEST_F(TableWriterTest, EveryFailedWriteIsReportedByFinish) {
  testing::FaultFileSystem faulty(&file_system_);
  TableWriterOptions options;
  options.block_bytes = 100;
  options.sync = true;
  auto records = testing::SmallRecords(40);
  ASSERT_TRUE(WriteTable(&faulty, "/db/1.ksst", records, {}, options).ok());
  uint64_t calls = faulty.calls();
  ASSERT_GT(calls, 10u);
  for (testing::Fault fault : {testing::Fault::kIOError, testing::Fault::kNoSpace}) {
    uint64_t failed = 0;
    for (uint64_t call = 1; call <= calls; ++call) {
      testing::FaultFileSystem::Plan plan;
      plan.fault = fault;
      plan.call = call;
      faulty.Arm(plan);
      auto written = WriteTable(&faulty, "/db/1.ksst", records, {}, options);
      ASSERT_EQ(written.ok(), faulty.fired() == 0) << call;
      if (!written.ok()) ++failed;
    }
    EXPECT_GT(failed, 5u);
  }
}

TEST_F(TableWriterTest, PrefixEndOfAnything) {
  EXPECT_EQ(PrefixEnd("a"), "b");
  EXPECT_EQ(PrefixEnd("a\xff"), "b");
  EXPECT_EQ(PrefixEnd("\xff\xff"), "");
  EXPECT_EQ(PrefixEnd(""), "");
  EXPECT_EQ(PrefixEnd(std::string("a\0", 2)), "a\1");
}

}  // namespace
}  // namespace lava
