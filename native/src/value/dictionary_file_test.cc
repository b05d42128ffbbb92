// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <iostream>
#include <thread>

#include "base/compression.h"
#include "testing/fault_file_system.h"
#include "value/value_test_util.h"

// Value files with a dictionary: how the writer, the reader and verification handle them.

namespace lava::testing {
namespace {

class DictionaryFileTest : public ::testing::Test {
 protected:
  DictionaryFileTest() { EXPECT_TRUE(files_.CreateDirectory("/v").ok()); }

  ValueFileProperties Write(const ValueMap& values, const DictionaryOptions& dictionary = {},
                            Compression compression = Compression::kZstd) {
    ValueWriterOptions options{compression};
    options.dictionary = dictionary;
    auto properties = WriteValues(&files_, kValuePath, values, options);
    EXPECT_TRUE(properties.ok()) << properties.status().ToString();
    return properties.ok() ? *properties : ValueFileProperties();
  }
  ValueFileImage Image() {
    auto image = ImageOf(&files_, kValuePath);
    EXPECT_TRUE(image.ok()) << image.status().ToString();
    return image.ok() ? *image : ValueFileImage();
  }
  bool HasDictionary() { return Image().dictionary.end != 0; }
  Result<std::shared_ptr<ValueReader>> Open() {
    return OpenValues(&faults_, kValuePath, cache_.get(), &memory_, &counters_);
  }
  static void ExpectHolds(const ValueReader& reader, const ValueMap& values) {
    for (const auto& [name, expected] : values) {
      Slice value;
      std::shared_ptr<const void> pin;
      const Status status = reader.Get(name.first, name.second, true, &value, &pin);
      ASSERT_TRUE(status.ok()) << status.ToString();
      ASSERT_TRUE(value == expected);
    }
  }
  /// Opening or verifying the file with these bytes must return Corruption at offset.
  void ExpectRefused(std::string bytes, uint64_t offset, Slice what) {
    ASSERT_TRUE(files_.SetContent(kValuePath, std::move(bytes)).ok());
    auto reader = Open();
    const Status status = reader.ok() ? (*reader)->VerifyAll() : reader.status();
    EXPECT_TRUE(status.IsCorruption()) << status.ToString();
    for (const std::string& part :
         {kValuePath, "offset " + std::to_string(offset) + ":", std::string(what)})
      EXPECT_NE(status.message().find(part), Slice::npos) << status.ToString();
  }

  ChosenFileSystem files_;
  FaultFileSystem faults_{&files_};
  const std::unique_ptr<BlockCache> cache_ = BlockCache::Create(1 << 20);
  MemoryCounter memory_;
  ValueReader::ReadCounters counters_;
};

TEST_F(DictionaryFileTest, SimilarValuesTakeLess) {
  for (const size_t bytes : {400, 1000, 4000, 8000}) {
    const ValueMap values = JsonValues(2'000'000 / bytes, bytes);
    const ValueFileProperties with = Write(values);
    const std::string content = Image().bytes;
    EXPECT_TRUE(HasDictionary());
    Write(values);
    EXPECT_EQ(Image().bytes, content) << "the same values must give the same file";
    auto reader = Open();
    ASSERT_TRUE(reader.ok()) << reader.status().ToString();
    EXPECT_TRUE((*reader)->VerifyAll().ok());
    ExpectHolds(**reader, values);
    const ValueFileProperties without = Write(values, {.enabled = false});
    EXPECT_FALSE(HasDictionary());
    EXPECT_EQ(with.raw_bytes, without.raw_bytes);
    const uint64_t percent = 100 - 100 * with.file_bytes / without.file_bytes;
    std::cout << "values of " << bytes << " bytes: " << without.file_bytes << " bytes, with a "
              << "dictionary " << with.file_bytes << ", " << percent << " % less" << std::endl;
    EXPECT_GE(percent, bytes <= 1000 ? 30u : 10u);
  }
}

TEST_F(DictionaryFileTest, NoneWhereItDoesNotPay) {
  Random random(5);
  ValueMap values;
  for (int i = 0; i < 2000; ++i)
    values[{"key" + std::to_string(i), BlobFileId(1)}] = random.Bytes(1000);
  Write(values);
  EXPECT_FALSE(HasDictionary()) << "random values have nothing in common";
  Write(JsonValues(31, 4000));
  EXPECT_FALSE(HasDictionary()) << "there are too few values";
  Write(JsonValues(100, 100'000));
  EXPECT_FALSE(HasDictionary()) << "the values are too large";
  const ValueMap json = JsonValues(1000, 1000);
  Write(json, {}, Compression::kLz4);
  EXPECT_FALSE(HasDictionary());
  Write(json, {}, Compression::kNone);
  EXPECT_FALSE(HasDictionary());
  Write(json);
  EXPECT_TRUE(HasDictionary());
}

/// Older libraries can read them: docs/vsst-format.md describes the bytes of that version.
TEST_F(DictionaryFileTest, FilesWithoutOneAreOfVersion1) {
  const auto version = [&] {
    const std::string bytes = Image().bytes;
    return DecodeFixed32(bytes.data() + bytes.size() - 20);
  };
  Write(JsonValues(20, 1000));
  EXPECT_EQ(version(), 1u);
  Write(JsonValues(1000, 1000));
  EXPECT_EQ(version(), 2u);
}

TEST_F(DictionaryFileTest, WhatIsHeldBackCounts) {
  uint64_t last[2] = {};
  for (const bool enabled : {false, true}) {
    auto file = files_.Create(kValuePath, 4096);
    ASSERT_TRUE(file.ok());
    ValueWriterOptions options{Compression::kZstd};
    options.dictionary = {.enabled = enabled, .saving_percent_min = 99};
    auto writer = ValueWriter::Create(options, std::move(*file), kValuePath);
    uint64_t before = writer->estimated_bytes();
    for (const auto& [name, value] : JsonValues(200, 1000)) {
      ASSERT_TRUE(writer->Add(name.first, name.second, value).ok());
      EXPECT_GT(writer->estimated_bytes(), before);
      before = writer->estimated_bytes();
    }
    last[enabled] = before;
    ValueFileProperties properties;
    ASSERT_TRUE(writer->Finish(&properties).ok());
  }
  EXPECT_GT(last[true], last[false] - last[false] / 50);
  EXPECT_LT(last[true], last[false] + last[false] / 50);
}

TEST_F(DictionaryFileTest, RecordsOutOfOrderAreRefusedWhileValuesAreHeldBack) {
  auto file = files_.Create(kValuePath, 4096);
  ASSERT_TRUE(file.ok());
  auto writer = ValueWriter::Create({Compression::kZstd}, std::move(*file), kValuePath);
  ASSERT_TRUE(writer->Add("b", BlobFileId(2), "1").ok());
  EXPECT_TRUE(writer->Add("a", BlobFileId(3), "2").IsInvalidArgument());
  EXPECT_TRUE(writer->Add("b", BlobFileId(2), "3").IsInvalidArgument());
  EXPECT_TRUE(
      writer->AddStored("b", BlobFileId(1), Compression::kNone, 1, "4").IsInvalidArgument());
  EXPECT_TRUE(writer->AddStored("c", BlobFileId(1), kZstdDictionary, 1, "5").IsInvalidArgument());
  ASSERT_TRUE(writer->AddStored("b", BlobFileId(3), Compression::kNone, 1, "6").ok());
  // A value of this size ends the holding back.
  ASSERT_TRUE(writer->Add("c", BlobFileId(1), std::string(2 << 20, 'x')).ok());
  EXPECT_TRUE(writer->Add("b", BlobFileId(9), "7").IsInvalidArgument());
  ValueFileProperties properties;
  ASSERT_TRUE(writer->Finish(&properties).ok());
  EXPECT_EQ(properties.records, 3u);
  auto reader = Open();
  ASSERT_TRUE(reader.ok());
  EXPECT_TRUE((*reader)->VerifyAll().ok());
}

TEST_F(DictionaryFileTest, StoredAndRawValuesMixed) {
  const ValueMap values = JsonValues(3000, 600);
  auto file = files_.Create(kValuePath, 4096);
  ASSERT_TRUE(file.ok());
  auto writer = ValueWriter::Create({Compression::kZstd}, std::move(*file), kValuePath);
  Compressor compressor(Compression::kLz4);
  uint64_t i = 0;
  for (const auto& [name, value] : values) {
    std::string stored;
    const Compression codec = compressor.Compress(value, &stored);
    const uint32_t raw_bytes = static_cast<uint32_t>(value.size());
    const Status status =
        i++ % 3 != 0 ? writer->Add(name.first, name.second, value)
                     : writer->AddStored(name.first, name.second, codec, raw_bytes, stored);
    ASSERT_TRUE(status.ok()) << status.ToString();
  }
  ValueFileProperties properties;
  ASSERT_TRUE(writer->Finish(&properties).ok());
  EXPECT_TRUE(HasDictionary());
  auto reader = Open();
  ASSERT_TRUE(reader.ok());
  EXPECT_TRUE((*reader)->VerifyAll().ok());
  ExpectHolds(**reader, values);
  std::string buffer, raw;
  Compression codec{};
  Slice stored;
  i = 0;
  for (auto at = (*reader)->NewKeyIterator(); at->Valid(); at->Next()) {
    ASSERT_TRUE((*reader)->ReadStored(*at, &buffer, &codec, &stored).ok());
    EXPECT_EQ(codec, i++ % 3 != 0 ? kZstdDictionary : Compression::kLz4);
    ASSERT_TRUE((*reader)->DecodeStored(at->index_entry(), codec, stored, &raw).ok());
    EXPECT_EQ(raw, values.at({std::string(at->key()), at->blob_file()}));
  }
}

TEST_F(DictionaryFileTest, AGetIsOneReadOfTheRecord) {
  const ValueMap values = JsonValues(1000, 1000);
  Write(values);
  auto reader = Open();
  ASSERT_TRUE(reader.ok());
  ExpectHolds(**reader, {*values.begin()});
  const auto uncached = BlockCache::Create(1 << 20);
  auto at = (*reader)->NewKeyIterator();
  for (int i = 0; i < 10; ++i) at->Next();
  const uint64_t reads = faults_.calls(FileCall::kRead), bytes = counters_.value_bytes_read.load();
  Slice value;
  std::shared_ptr<const void> pin;
  ASSERT_TRUE((*reader)->Get(at->key(), at->blob_file(), true, &value, &pin).ok());
  EXPECT_EQ(faults_.calls(FileCall::kRead), reads + 1);
  EXPECT_EQ(counters_.value_bytes_read.load(), bytes + at->record_bytes());
}

TEST_F(DictionaryFileTest, ItsMemoryIsCountedAndGivenBack) {
  const ValueMap values = JsonValues(1000, 1000);
  Write(values, {.enabled = false});
  uint64_t without = 0;
  {
    auto reader = Open();
    ASSERT_TRUE(reader.ok());
    without = memory_.used();
  }
  EXPECT_EQ(memory_.used(), 0u);
  Write(values);
  {
    auto reader = Open();
    ASSERT_TRUE(reader.ok());
    std::cout << "a dictionary takes " << memory_.used() - without << " bytes of memory"
              << std::endl;
    EXPECT_GT(memory_.used(), without + (16 << 10));
    EXPECT_LT(memory_.used(), without + (64 << 10));
  }
  EXPECT_EQ(memory_.used(), 0u);
}

TEST_F(DictionaryFileTest, ParallelGets) {
  const ValueMap values = JsonValues(500, 1000);
  Write(values);
  auto reader = Open();
  ASSERT_TRUE(reader.ok());
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      const auto scanner = (*reader)->NewScanner(64 << 10);
      for (const auto& [name, expected] : values) {
        Slice value;
        std::shared_ptr<const void> pin;
        EXPECT_TRUE((*reader)->Get(name.first, name.second, false, &value, &pin).ok());
        EXPECT_TRUE(value == expected);
        EXPECT_TRUE(scanner->Get(name.first, name.second, &value).ok());
        EXPECT_TRUE(value == expected);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

/// Checksums are right, so only the dictionary's content shows the damage.
TEST_F(DictionaryFileTest, ABrokenDictionaryIsCorruption) {
  Write(JsonValues(100, 1000));
  const ValueFileImage good = Image();
  ASSERT_NE(good.dictionary.end, 0u);
  const uint64_t at = good.dictionary.offset;
  {
    ValueFileImage image = good;
    image.bytes[at + 20] = static_cast<char>(image.bytes[at + 20] ^ 1);
    ExpectRefused(image.bytes, at, "checksum");
  }
  // Bytes that are no dictionary of zstd's, stored uncompressed.
  ValueFileImage image = good;
  const uint64_t payload = good.dictionary.end - kBlockTrailerBytes - at;
  image.bytes.replace(at, payload, std::string(payload, 'x'));
  image.bytes[at + payload] = 0;
  EncodeFixed32(image.bytes.data() + at + payload + 1, static_cast<uint32_t>(payload));
  image.Repair();
  ExpectRefused(image.bytes, at, "zstd");
  image.bytes[at + payload] = 2;
  EncodeFixed32(image.bytes.data() + at + payload + 1, kDictionaryBytesMax + 1);
  image.Repair();
  ExpectRefused(image.bytes, at, "too large");
}

TEST_F(DictionaryFileTest, AFrameThatNamesAnotherDictionaryIsCorruption) {
  Write(JsonValues(100, 1000));
  ValueFileImage image = Image();
  ASSERT_NE(image.dictionary.end, 0u);
  const ValueFileImage::Part& record = image.records[0];
  // The frame's header says that a byte of dictionary id follows, and a size of 2 bytes.
  const size_t magic = image.bytes.find("\x28\xb5\x2f\xfd", record.offset);
  ASSERT_LT(magic, record.end);
  ASSERT_EQ(image.bytes[magic + 4] & 0xe3, 0x60);
  image.bytes[magic + 4] = static_cast<char>(image.bytes[magic + 4] | 1);
  image.Repair();
  // The first byte of the content size now counts as the id, so the size is another.
  ExpectRefused(image.bytes, record.offset, "");
}

TEST_F(DictionaryFileTest, ARecordOfCodec3NeedsADictionary) {
  Write(JsonValues(40, 300), {.enabled = false});
  ValueFileImage image = Image();
  const ValueFileImage::Part& record = image.records[0];
  ASSERT_EQ(image.bytes[record.end - kBlockTrailerBytes], 2);
  image.bytes[record.end - kBlockTrailerBytes] = 3;
  image.Repair();
  ExpectRefused(image.bytes, record.offset, "codec 3");
}

TEST_F(DictionaryFileTest, EveryFailureOfAWriteIsReported) {
  const ValueMap values = JsonValues(60, 300);
  uint64_t call = 1;
  for (;; ++call) {
    auto file = faults_.Create(kValuePath, 64);
    ASSERT_TRUE(file.ok());
    ValueWriterOptions options{Compression::kZstd};
    options.dictionary = kDictionaryAlways;
    auto writer = ValueWriter::Create(options, std::move(*file), kValuePath);
    faults_.Arm({.fault = Fault::kIOError, .call = call});
    for (const auto& [name, value] : values) {
      const Status status = writer->Add(name.first, name.second, value);
      EXPECT_EQ(status.ok(), faults_.fired() == 0);
    }
    ValueFileProperties properties;
    const Status status = writer->Finish(&properties);
    EXPECT_EQ(status.ok(), faults_.fired() == 0) << status.ToString();
    if (faults_.fired() == 0) break;
  }
  EXPECT_GT(call, values.size());
}

}  // namespace
}  // namespace lava::testing
