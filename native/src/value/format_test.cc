// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "value/format.h"

#include <gtest/gtest.h>

#include "base/coding.h"
#include "base/compression.h"
#include "base/dictionary.h"

namespace lava::vsst {
namespace {

const std::string kPath = "/d/f.vsst";

/// / The footer is at 150, after the properties at 100 and the top index.
std::string FooterAt150(uint32_t version, std::string more = "") {
  Footer footer{{120, 17}, {100, 7}, 0xabcdef};
  std::string bytes;
  EncodeFooter(footer, 150, &bytes);
  EncodeFixed32(bytes.data() + 36, version);
  if (version == 2 && more.empty()) more = std::string(12, '\0');
  bytes.insert(32, more);
  size_t head = bytes.size() - 16;
  EncodeFixed32(bytes.data() + head - 8, static_cast<uint32_t>(bytes.size()));
  EncodeFixed64(bytes.data() + head, Hash64(Slice(bytes).substr(0, head), 150));
  return bytes;
}

TEST(ValueFormatTest, FooterRoundTrip) {
  std::string bytes = FooterAt150(1);
  ASSERT_EQ(bytes.size(), kPlainFooterBytes);
  EXPECT_EQ(bytes.substr(48), "lavaVAL1");
  Footer footer;
  ASSERT_TRUE(DecodeFooter(kPath, 150 + kPlainFooterBytes, bytes, &footer).ok());
  EXPECT_FALSE(footer.has_dictionary());
  EXPECT_EQ(footer.top_index.offset, 120u);
  EXPECT_EQ(footer.top_index.bytes, 17u);
  EXPECT_EQ(footer.properties.offset, 100u);
  EXPECT_EQ(footer.properties.bytes, 7u);
  EXPECT_EQ(footer.unique_id, 0xabcdefu);
}

TEST(ValueFormatTest, EveryFlipOfTheFooterIsSeen) {
  const std::string good = FooterAt150(1);
  Footer footer;
  for (size_t bit = 0; bit < 8 * good.size(); ++bit) {
    std::string bytes = good;
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << bit % 8));
    Status status = DecodeFooter(kPath, 150 + kPlainFooterBytes, bytes, &footer);
    EXPECT_TRUE(status.IsCorruption()) << bit << status.ToString();
    EXPECT_NE(status.message().find(kPath), Slice::npos);
  }
  EXPECT_TRUE(DecodeFooter(kPath, 151 + kPlainFooterBytes, good, &footer).IsCorruption());
}

TEST(ValueFormatTest, NewerVersions) {
  Footer footer;
  Status status = DecodeFooter(kPath, 150 + kPlainFooterBytes, FooterAt150(5), &footer);
  EXPECT_EQ(status.code(), Status::Code::kNotSupported);
  EXPECT_NE(status.message().find("version 5"), Slice::npos);
  EXPECT_NE(status.message().find("version 4"), Slice::npos);
  std::string longer = FooterAt150(6, std::string(40, 'x'));
  Slice tail = Slice(longer).substr(longer.size() - kFooterBytes);
  status = DecodeFooter(kPath, 150 + longer.size(), tail, &footer);
  EXPECT_EQ(status.code(), Status::Code::kNotSupported);
  EXPECT_TRUE(DecodeFooter(kPath, 150 + kPlainFooterBytes, FooterAt150(0), &footer).IsCorruption());
}

/// / The footer is at 250, after the dictionary, the properties at 150 and the top index.
std::string DictionaryFooterAt250(const BlockHandle& dictionary) {
  std::string bytes;
  EncodeFooter({{180, 57}, {150, 17}, 0xabcdef, dictionary}, 250, &bytes);
  return bytes;
}

TEST(ValueFormatTest, AFooterWithADictionary) {
  const std::string bytes = DictionaryFooterAt250({100, 37});
  ASSERT_EQ(bytes.size(), kFooterBytes);
  Footer footer;
  ASSERT_TRUE(DecodeFooter(kPath, 250 + kFooterBytes, bytes, &footer).ok());
  EXPECT_EQ(footer.version(), 2u);
  EXPECT_EQ(footer.dictionary.offset, 100u);
  EXPECT_EQ(footer.dictionary.bytes, 37u);
  EXPECT_EQ(footer.index_end(), 100u);
  EXPECT_EQ(footer.unique_id, 0xabcdefu);
  for (size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    std::string flipped = bytes;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << bit % 8));
    EXPECT_TRUE(DecodeFooter(kPath, 250 + kFooterBytes, flipped, &footer).IsCorruption()) << bit;
  }
  // Bytes of one version with the number of the other, and right checksums.
  EXPECT_TRUE(DecodeFooter(kPath, 150 + kFooterBytes, FooterAt150(2), &footer).IsCorruption());
  EXPECT_TRUE(DecodeFooter(kPath, 150 + kFooterBytes, FooterAt150(1, std::string(12, 'x')), &footer)
                  .IsCorruption());
}

TEST(ValueFormatTest, ADictionaryMustEndWherePropertiesBegin) {
  const auto refused = [](const BlockHandle& dictionary) {
    Footer footer;
    const Status status =
        DecodeFooter(kPath, 250 + kFooterBytes, DictionaryFooterAt250(dictionary), &footer);
    return status.IsCorruption() && status.message().find("dictionary") != Slice::npos;
  };
  EXPECT_FALSE(refused({100, 37}));
  EXPECT_TRUE(refused({100, 36}));
  EXPECT_TRUE(refused({101, 37}));
  EXPECT_TRUE(refused({0, kDictionaryBytesMax + 1}));
  EXPECT_TRUE(refused({UINT64_MAX, 150}));
}

TEST(ValueFormatTest, RecordRoundTrip) {
  std::string record;
  EncodeRecord(9, 1000, 2, "key", {Compression::kNone, 5, "value"}, &record);
  EXPECT_EQ(record.size(), 3 + 3 + 5 + kBlockTrailerBytes);
  RecordView view;
  const std::string with_more = record + "more";
  ASSERT_TRUE(DecodeRecord({kPath, 9, 3}, 1000, with_more, &view).ok());
  EXPECT_EQ(view.blob_file_index, 2u);
  EXPECT_EQ(view.key, "key");
  EXPECT_EQ(view.value.bytes, "value");
  EXPECT_EQ(view.value.raw_bytes, 5u);
  EXPECT_EQ(view.bytes, record.size());
  EXPECT_TRUE(DecodeRecord({kPath, 8, 3}, 1000, record, &view).IsCorruption())
      << "the record belongs to another file";
  EXPECT_TRUE(DecodeRecord({kPath, 9, 3}, 1001, record, &view).IsCorruption())
      << "the record belongs to another offset";
  EXPECT_TRUE(DecodeRecord({kPath, 9, 2}, 1000, record, &view).IsCorruption())
      << "the file has only two blob files";
}

TEST(ValueFormatTest, BrokenRecords) {
  std::string good;
  EncodeRecord(9, 1000, 2, "key", {Compression::kNone, 5, "value"}, &good);
  RecordView view;
  for (size_t bytes = 0; bytes < good.size(); ++bytes)
    EXPECT_TRUE(
        DecodeRecord({kPath, 9, 3}, 1000, Slice(good).substr(0, bytes), &view).IsCorruption());
  for (size_t bit = 0; bit < 8 * good.size(); ++bit) {
    std::string bytes = good;
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << bit % 8));
    Status status = DecodeRecord({kPath, 9, 3}, 1000, bytes, &view);
    EXPECT_TRUE(status.IsCorruption()) << bit;
    EXPECT_NE(status.message().find("offset 1000"), Slice::npos);
  }
}

TEST(ValueFormatTest, ImpossibleLengthsAreRefusedBeforeAllocating) {
  auto refused = [](const StoredValue& value) {
    std::string record;
    EncodeRecord(9, 0, 0, "key", value, &record);
    RecordView view;
    return DecodeRecord({kPath, 9, 1}, 0, record, &view).IsCorruption();
  };
  EXPECT_FALSE(refused({Compression::kNone, 5, "value"}));
  EXPECT_TRUE(refused({Compression::kNone, 6, "value"}));
  EXPECT_TRUE(refused({static_cast<Compression>(3), 5, "value"}));
  EXPECT_TRUE(refused({Compression::kLz4, 5 * 255 + 65, "value"}));
  EXPECT_TRUE(refused({Compression::kZstd, 5, "value"}));
  std::string zstd;
  ASSERT_EQ(Compressor(Compression::kZstd).Compress(std::string(99, 'a'), &zstd),
            Compression::kZstd);
  EXPECT_FALSE(refused({Compression::kZstd, 99, zstd}));
  EXPECT_TRUE(refused({Compression::kZstd, 98, zstd}));
  // Codec 3 needs a dictionary.
  std::string record;
  EncodeRecord(9, 0, 0, "key", {kZstdDictionary, 99, zstd}, &record);
  RecordView view;
  EXPECT_TRUE(DecodeRecord({kPath, 9, 1, false}, 0, record, &view).IsCorruption());
  EXPECT_TRUE(DecodeRecord({kPath, 9, 1, true}, 0, record, &view).ok());
  EncodeRecord(9, 0, 0, "key", {kZstdDictionary, 98, zstd}, &record);
  EXPECT_TRUE(DecodeRecord({kPath, 9, 1, true}, 0, record, &view).IsCorruption());
  EncodeRecord(9, 0, 0, "key", {static_cast<Compression>(4), 99, zstd}, &record);
  EXPECT_TRUE(DecodeRecord({kPath, 9, 1, true}, 0, record, &view).IsCorruption());
}

ValueFileProperties SomeProperties() {
  ValueFileProperties p;
  p.records = 7, p.raw_bytes = 70, p.stored_bytes = 60, p.tree_bytes = 14, p.index_partitions = 2;
  p.lower = "a", p.upper = "b";
  p.blob_files = {{FileId{{2, 2}, 3}, 3, 70}, {FileId{{1, 9}, 9}, 4, 0}};
  return p;
}

TEST(ValueFormatTest, PropertiesRoundTrip) {
  ValueFileProperties p = SomeProperties(), read;
  std::string bytes;
  EncodeProperties(p, p.blob_files, &bytes);
  std::vector<FileId> blob_files;
  ASSERT_EQ(DecodeProperties(bytes, &read, &blob_files), nullptr);
  EXPECT_EQ(blob_files,
            (std::vector<FileId>{p.blob_files[0].blob_file, p.blob_files[1].blob_file}));
  EXPECT_EQ(read.blob_files[0], p.blob_files[1]) << "the blob files must be sorted";
  EXPECT_EQ(read.blob_files[1], p.blob_files[0]);
  EXPECT_EQ(read.records, p.records);
  EXPECT_EQ(read.raw_bytes, p.raw_bytes);
  EXPECT_EQ(read.stored_bytes, p.stored_bytes);
  EXPECT_EQ(read.tree_bytes, p.tree_bytes);
  EXPECT_EQ(read.index_partitions, p.index_partitions);
  EXPECT_EQ(read.lower, p.lower);
  EXPECT_EQ(read.upper, p.upper);
}

TEST(ValueFormatTest, BrokenProperties) {
  auto refused = [](const ValueFileProperties& p, size_t cut = 0, Slice more = {}) {
    ValueFileProperties read;
    std::vector<FileId> blob_files;
    std::string bytes;
    EncodeProperties(p, p.blob_files, &bytes);
    bytes.resize(bytes.size() - cut);
    bytes.append(more);
    return DecodeProperties(bytes, &read, &blob_files) != nullptr;
  };
  ValueFileProperties p = SomeProperties();
  EXPECT_FALSE(refused(p));
  for (size_t cut = 1; cut < 49; ++cut) EXPECT_TRUE(refused(p, cut)) << cut;
  EXPECT_TRUE(refused(p, 0, "x"));
  (p = SomeProperties()).upper = "a";
  EXPECT_TRUE(refused(p));
  (p = SomeProperties()).records = 8;
  EXPECT_TRUE(refused(p));
  (p = SomeProperties()).raw_bytes = 71;
  EXPECT_TRUE(refused(p));
  (p = SomeProperties()).blob_files[0].records = UINT64_MAX - 3;
  EXPECT_TRUE(refused(p));
  p = SomeProperties();
  p.blob_files[1].blob_file = p.blob_files[0].blob_file;
  EXPECT_TRUE(refused(p));
  p = SomeProperties();
  p.blob_files.push_back({FileId{{5, 5}, 5}, 0, 0});
  EXPECT_TRUE(refused(p)) << "the blob file has no records";
  EXPECT_FALSE(refused(ValueFileProperties()));
}

}  // namespace
}  // namespace lava::vsst
