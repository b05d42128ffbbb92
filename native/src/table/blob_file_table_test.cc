// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "table/blob_file_table.h"

#include "table/block_loader.h"
#include "table/format.h"
#include "table/table_test_util.h"
#include "table/verify.h"

namespace lava {
namespace {

using testing::InternalKey;
using testing::kPath;
using testing::OpenTable;
using testing::OwnedRecord;
using testing::ReadAll;
using testing::WriteTable;

constexpr uint64_t kRawBytes = 0x1234567;  // 4 bytes of varint that occur nowhere else

FileId BlobFileId(uint64_t number) { return {{3, number % 2}, number}; }

OwnedRecord Reference(const std::string& key, const ValueReference& reference) {
  OwnedRecord record{key, RecordKind::kPutReference, 0, ""};
  EncodeReference(reference, &record.value);
  return record;
}

TEST(BlobFileTable, AReferenceIsAnIndexIntoTheFilesTable) {
  std::vector<TableProperties::NamedBlobFile> blob_files;
  ksst::BlobFileTableBuilder builder(&blob_files);
  const ValueReference references[] = {
      {BlobFileId(9), 300, std::nullopt}, {BlobFileId(4), 1, 77}, {BlobFileId(9), 5, UINT64_MAX}};
  std::vector<std::string> forms(3);
  for (size_t i = 0; i < 3; ++i) builder.Add(i / 2, references[i], &forms[i]);
  ASSERT_EQ(blob_files.size(), 2u);
  EXPECT_EQ(blob_files[0].blob_file, BlobFileId(9))
      << "the blob files must be in the order of their first use";
  EXPECT_EQ(blob_files[1].blob_file, BlobFileId(4));
  EXPECT_EQ(forms[0], std::string("\x00\xac\x02", 3));
  EXPECT_EQ(forms[1], std::string("\x01\x01\x4d\0\0\0\0\0\0\0", 10));
  for (size_t i = 0; i < 3; ++i) {
    ValueReference read{{}, 1, 1};
    ASSERT_TRUE(ksst::DecodeFileReference(forms[i], blob_files, &read));
    EXPECT_EQ(read, references[i]);
    EXPECT_FALSE(ksst::DecodeFileReference(forms[i] + "x", blob_files, &read));
  }
  ASSERT_EQ(blob_files[0].partitions.size(), 2u);
  EXPECT_EQ(blob_files[0].partitions[0].records, 1u);
  EXPECT_EQ(blob_files[0].partitions[0].raw_bytes, 300u);
  EXPECT_EQ(blob_files[0].partitions[1].raw_bytes, 5u);
}

TEST(BlobFileTable, WhatIsNoReferenceIsRefused) {
  std::vector<TableProperties::NamedBlobFile> blob_files;
  ksst::BlobFileTableBuilder builder(&blob_files);
  std::string form;
  builder.Add(0, {BlobFileId(9), 300, 77}, &form);
  ValueReference read;
  for (size_t length = 0; length < form.size(); ++length) {
    // Cut before the timestamp, it is a reference without one.
    EXPECT_EQ(ksst::DecodeFileReference(form.substr(0, length), blob_files, &read), length == 3)
        << length;
  }
  form[0] = 1;
  EXPECT_FALSE(ksst::DecodeFileReference(form, blob_files, &read))
      << "the table has no such blob file";
  EXPECT_FALSE(ksst::DecodeFileReference(form, {}, &read));
}

class BlobFileTableFileTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(file_system_.CreateDirectory("/db").ok()); }

  TableProperties Write(const std::vector<OwnedRecord>& records, uint32_t partition_bytes = 1) {
    TableWriterOptions options;
    options.partition_bytes = partition_bytes;
    options.compression = Compression::kNone;
    options.decouple_records = decouple_;
    auto written = WriteTable(&file_system_, kPath, records, {}, options);
    EXPECT_TRUE(written.ok()) << written.status().ToString();
    return written.ok() ? *written : TableProperties();
  }
  ksst::Footer FooterOf() {
    const std::string content = *file_system_.Content(kPath);
    ksst::Footer footer;
    const Slice tail = Slice(content).substr(content.size() - ksst::kFooterBytes);
    EXPECT_TRUE(ksst::DecodeFooter(kPath, content.size(), tail, &footer).ok());
    return footer;
  }
  /// Changes the byte at this distance from the first place of kRawBytes, which is in the block
  /// with the references, and repairs the checksum.
  void ChangeByte(int from_raw_bytes, char to) {
    std::string content = *file_system_.Content(kPath);
    ksst::TableHead head;
    ASSERT_TRUE(ksst::ReadTableHead(std::move(file_system_.OpenRandom(kPath)).value(), &head).ok());
    std::shared_ptr<const ksst::CachedIndexPartition> partition;
    const BlockHandle handle = BlockAt(head.top, 0);
    ASSERT_TRUE(
        head.loader->LoadIndexPartitionAt(handle, head.top.extent_begin(0), &partition).ok());
    ASSERT_EQ(partition->decoupled.block().count() != 0, decouple_);
    const BlockHandle block = decouple_ ? handle : BlockAt(partition->index, 0);
    std::string raw;
    PutVarint64(&raw, kRawBytes);
    const size_t at = content.find(raw);
    ASSERT_LT(at, block.end());
    content[at + static_cast<size_t>(from_raw_bytes)] = to;
    const Slice covered = Slice(content).substr(block.offset, block.bytes + kBlockTrailerBytes - 8);
    EncodeFixed64(content.data() + block.end() - 8,
                  BlockChecksum(head.footer.unique_id, block.offset, covered));
    ASSERT_TRUE(file_system_.SetContent(kPath, content).ok());
  }
  static bool NamesPlace(const Status& status, const std::string& what) {
    return status.IsCorruption() && status.message().find(kPath) != Slice::npos &&
           status.message().find("offset ") != Slice::npos &&
           status.message().find(what) != Slice::npos;
  }

  bool decouple_ = true;
  testing::ChosenFileSystem file_system_;
  std::unique_ptr<BlockCache> cache_ = BlockCache::Create(1 << 20);
};

class BlobFileTableVersionsTest : public BlobFileTableFileTest,
                                  public ::testing::WithParamInterface<bool> {
 protected:
  BlobFileTableVersionsTest() { decouple_ = GetParam(); }
};
INSTANTIATE_TEST_SUITE_P(Decoupled, BlobFileTableVersionsTest, ::testing::Bool());

TEST_P(BlobFileTableVersionsTest, ReferencesSurviveGetAndIterator) {
  std::vector<OwnedRecord> records;
  std::vector<ValueReference> references;
  for (uint64_t i = 0; i < 500; ++i) {
    const std::string key = InternalKey(static_cast<uint8_t>(i / 100), 7, std::to_string(1000 + i));
    references.push_back({BlobFileId(i % 200), i * i * 1000, std::nullopt});
    if (i % 3 == 0) references.back().timestamp = i << 40;
    records.push_back(Reference(key, references.back()));
    records.push_back({key + "inline", RecordKind::kPut, 0, "v"});
  }
  Write(records);
  const auto reader = *OpenTable(&file_system_, kPath, cache_.get());
  auto read = ReadAll(*reader);
  ASSERT_TRUE(read.ok()) << read.status().ToString();
  EXPECT_EQ(*read, records);
  for (uint64_t i = 0; i < 500; ++i) {
    Lookup lookup(records[2 * i].key, 0);
    ASSERT_TRUE(reader->Get(&lookup).ok());
    ASSERT_NE(lookup.reference(), nullptr);
    EXPECT_EQ(*lookup.reference(), references[i]);
    EXPECT_TRUE(lookup.done());
    Lookup existence(records[2 * i].key, 0);
    existence.existence_only = true;
    ASSERT_TRUE(reader->Get(&existence).ok());
    EXPECT_TRUE(existence.found());
    ASSERT_NE(existence.reference(), nullptr)
        << "the value may have expired, so the caller needs the reference";
    EXPECT_EQ(*existence.reference(), references[i]);
  }
  EXPECT_TRUE(VerifyTableFile(&file_system_, kPath, {}).ok());
}

TEST_F(BlobFileTableFileTest, PropertiesCountByPartition) {
  std::vector<OwnedRecord> records;
  for (uint8_t partition = 1; partition <= 3; ++partition) {
    for (uint64_t i = 0; i < partition; ++i) {
      std::string key = InternalKey(partition, 7, std::to_string(i));
      key.insert(0, 1, '\x05');  // two bytes of partition
      records.push_back(Reference(key, {BlobFileId(partition == 2 ? 4 : 9), 10 + i, std::nullopt}));
    }
  }
  for (const TableProperties& p :
       {Write(records, 2), (*OpenTable(&file_system_, kPath, cache_.get()))->properties()}) {
    ASSERT_EQ(p.blob_files.size(), 2u);
    EXPECT_EQ(p.blob_files[0].blob_file, BlobFileId(9));
    EXPECT_EQ(p.blob_files[1].blob_file, BlobFileId(4));
    ASSERT_EQ(p.blob_files[0].partitions.size(), 2u);
    EXPECT_EQ(p.blob_files[0].partitions[0].partition, 0x0501u);
    EXPECT_EQ(p.blob_files[0].partitions[1].partition, 0x0503u);
    ASSERT_EQ(p.blob_files[1].partitions.size(), 1u);
    EXPECT_EQ(p.blob_files[1].partitions[0].partition, 0x0502u);
    EXPECT_EQ(p.blob_files[0].partitions[0].records, 1u);
    EXPECT_EQ(p.blob_files[0].partitions[1].records, 3u);
    EXPECT_EQ(p.blob_files[0].partitions[1].raw_bytes, 10u + 11 + 12);
    EXPECT_EQ(p.blob_files[1].partitions[0].raw_bytes, 10u + 11);
  }
}

// Older libraries can read files without newer features.
TEST_F(BlobFileTableFileTest, TheVersionIsTheOldestThatCanHoldTheFile) {
  const std::string key = InternalKey(0, 7, "k");
  const OwnedRecord reference = Reference(key, {BlobFileId(9), 300, std::nullopt});
  Write({{key, RecordKind::kPut, 0, "v"}, {key + "l", RecordKind::kAppend, 0, "v"}});
  EXPECT_EQ(FooterOf().version, 1u);
  for (const OwnedRecord& record :
       {reference, {key, RecordKind::kDelete, 0, ""}, {key, RecordKind::kPrefixDelete, 0, ""}}) {
    Write({record});
    EXPECT_EQ(FooterOf().version, 3u);
  }
  decouple_ = false;
  Write({{key, RecordKind::kDelete, 0, ""}});
  EXPECT_EQ(FooterOf().version, 1u);
  Write({reference});
  EXPECT_EQ(FooterOf().version, 2u);
}

TEST_P(BlobFileTableVersionsTest, AReferenceWithABadIndexIsCorruptionHoweverItIsMet) {
  const std::string key = InternalKey(0, 7, "k");
  Write({Reference(InternalKey(0, 7, "a"), {BlobFileId(4), 2, std::nullopt}),
         Reference(key, {BlobFileId(9), kRawBytes, std::nullopt}),
         {InternalKey(0, 7, "z"), RecordKind::kPut, 0, "v"}});
  ChangeByte(-1, '\x02');  // the file has only two blob files
  const auto reader = *OpenTable(&file_system_, kPath, cache_.get());
  Lookup lookup(key, 0);
  const Status got = reader->Get(&lookup);
  EXPECT_TRUE(NamesPlace(got, "reference")) << got.ToString();
  const Status walked = ReadAll(*reader).status();
  EXPECT_TRUE(NamesPlace(walked, "reference")) << walked.ToString();
  const auto at = reader->NewIterator({});
  at->Seek(InternalKey(0, 7, "z"));
  EXPECT_TRUE(at->Valid()) << "the next record is intact";
  const Status verified = VerifyTableFile(&file_system_, kPath, {});
  EXPECT_TRUE(NamesPlace(verified, "reference")) << verified.ToString();
}

TEST_P(BlobFileTableVersionsTest, VerificationCountsWhatIsReferenced) {
  Write({Reference(InternalKey(0, 7, "k"), {BlobFileId(9), kRawBytes, std::nullopt})});
  ASSERT_TRUE(VerifyTableFile(&file_system_, kPath, {}).ok());
  ChangeByte(-1, '\0');
  ASSERT_TRUE(VerifyTableFile(&file_system_, kPath, {}).ok()) << "this byte already had this value";
  std::string raw;
  PutVarint64(&raw, kRawBytes);
  ChangeByte(0, static_cast<char>(raw[0] ^ 1));
  const Status verified = VerifyTableFile(&file_system_, kPath, {});
  EXPECT_TRUE(NamesPlace(verified, "properties")) << verified.ToString();
}

TEST_F(BlobFileTableFileTest, TheWriterRefusesWhatIsNoReference) {
  const auto writer =
      TableWriter::Create({}, std::move(file_system_.Create(kPath, 1 << 16)).value(), kPath);
  std::string reference;
  EncodeReference({BlobFileId(9), 300, std::nullopt}, &reference);
  const std::string key = InternalKey(0, 7, "k");
  EXPECT_TRUE(writer->Add({key, RecordKind::kPutReference, 0, "no reference"}).IsInvalidArgument());
  EXPECT_TRUE(
      writer->Add({key, RecordKind::kPutReference, 0, reference + "x"}).IsInvalidArgument());
  EXPECT_TRUE(writer->Add({"", RecordKind::kPutReference, 0, reference}).IsInvalidArgument());
  EXPECT_TRUE(writer->Add({key, RecordKind::kPutReference, 0, reference}).ok());
  TableProperties properties;
  ASSERT_TRUE(writer->Finish(&properties).ok());
  ASSERT_EQ(properties.blob_files.size(), 1u);
  EXPECT_EQ(properties.blob_files[0].partitions[0].records, 1u) << "refused records must not count";
}

}  // namespace
}  // namespace lava
