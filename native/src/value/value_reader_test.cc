// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "value/value_reader.h"

#include <gtest/gtest.h>

#include <iostream>

#include "testing/fault_file_system.h"
#include "value/value_test_util.h"

namespace lava::testing {
namespace {

class ValueReaderTest : public ::testing::Test {
 protected:
  ValueReaderTest() { EXPECT_TRUE(files_.CreateDirectory("/v").ok()); }

  void Write(const ValueMap& values, const ValueWriterOptions& options = {}) {
    auto properties = WriteValues(&files_, kValuePath, values, options);
    ASSERT_TRUE(properties.ok()) << properties.status().ToString();
    properties_ = *properties;
  }
  void Open(uint64_t cache_bytes = 64 << 20) {
    reader_.reset();
    cache_ = BlockCache::Create(cache_bytes);
    auto reader = OpenValues(&faults_, kValuePath, cache_.get(), &memory_, &counters_);
    ASSERT_TRUE(reader.ok()) << reader.status().ToString();
    reader_ = *reader;
  }
  Status Get(Slice key, const FileId& blob_file, std::string* value, bool fill_cache = true) {
    Slice found;
    std::shared_ptr<const void> pin;
    LAVA_RETURN_IF_ERROR(reader_->Get(key, blob_file, fill_cache, &found, &pin));
    EXPECT_NE(pin, nullptr);
    value->assign(found);
    return Status::OK();
  }
  void ExpectHolds(const ValueMap& values) {
    for (const auto& [name, expected] : values) {
      std::string value;
      const Status status = Get(name.first, name.second, &value);
      ASSERT_TRUE(status.ok()) << status.ToString();
      ASSERT_TRUE(value == expected);
    }
  }
  uint64_t reads() const { return faults_.calls(FileCall::kRead); }

  ChosenFileSystem files_;
  FaultFileSystem faults_{&files_};
  std::unique_ptr<BlockCache> cache_;
  MemoryCounter memory_;
  ValueReader::ReadCounters counters_;
  std::shared_ptr<ValueReader> reader_;
  ValueFileProperties properties_;
};

/// Keys as the engine makes them, and keys that others begin with.
ValueMap RandomValues(Random* random, size_t count) {
  ValueMap values;
  std::string shared = std::string("\1\0\0\0\0\7", 6) + " a prefix that is long", last;
  while (values.size() < count) {
    if (random->OneIn(100)) shared = random->Bytes(random->Uniform(30));
    std::string key = shared + random->SkewedBytes(20);
    if (random->OneIn(8)) key = last + random->Bytes(random->Uniform(2));
    const size_t bytes = random->OneIn(200) ? random->Uniform(200'000) : random->Uniform(300);
    std::string value = random->OneIn(2) ? random->Bytes(bytes) : std::string(bytes, 'r');
    for (uint64_t blob_files = random->OneIn(10) ? 3 : 1; blob_files > 0; --blob_files)
      values[{key, BlobFileId(random->Uniform(5))}] = value + std::to_string(blob_files);
    if (random->OneIn(50)) values[{key, BlobFileId(0)}] = "";
    last = key;
  }
  return values;
}

/// Scans that ask for some of the file's keys, in order.
class ScannerTest : public ValueReaderTest {
 protected:
  Status Scan(ValueScanner* scanner, Slice key, const FileId& blob_file, std::string* value) {
    Slice found;
    LAVA_RETURN_IF_ERROR(scanner->Get(key, blob_file, &found));
    value->assign(found);
    return Status::OK();
  }
};

TEST_F(ScannerTest, GetsWhatGetGetsWhicheverKeysAreAskedForInOrder) {
  Random random(23);
  for (const Compression codec : {Compression::kNone, Compression::kLz4, Compression::kZstd}) {
    const ValueMap values = RandomValues(&random, 2000);
    Write(values, {codec, 64, false});
    Open();
    for (const uint64_t every : {1u, 2u, 5u, 40u}) {
      const auto scanner = reader_->NewScanner(64 << 10);
      for (const auto& [name, expected] : values) {
        if (!random.OneIn(every)) continue;
        std::string value;
        const Status status = Scan(scanner.get(), name.first, name.second, &value);
        ASSERT_TRUE(status.ok()) << status.ToString();
        ASSERT_TRUE(value == expected);
        EXPECT_TRUE(Scan(scanner.get(), name.first, BlobFileId(77), &value).IsNotFound());
        const std::string absent = name.first + std::string(1, '\0') + "absent";
        if (values.contains({absent, name.second})) continue;
        EXPECT_TRUE(Scan(scanner.get(), absent, name.second, &value).IsNotFound());
      }
    }
  }
}

TEST_F(ScannerTest, ReadsManyNeighboursAtOnceAndLeavesThemOutOfTheCache) {
  ValueMap values;
  for (int i = 0; i < 1000; ++i)
    values[{"key" + std::to_string(10000 + i), BlobFileId(1)}] = std::string(1000, 'v');
  Write(values, {Compression::kNone, 256, false});
  Open();
  const auto scanner = reader_->NewScanner(64 << 10);
  for (const auto& [name, expected] : values) {
    std::string value;
    ASSERT_TRUE(Scan(scanner.get(), name.first, name.second, &value).ok());
    ASSERT_EQ(value, expected);
  }
  EXPECT_LT(counters_.value_reads, 40u);
  EXPECT_LT(counters_.value_bytes_read, 1100u * 1100);
  EXPECT_LT(cache_->statistics().used_bytes(), 50'000u);
}

TEST_F(ScannerTest, ADamagedRecordFailsItsOwnKeyAlone) {
  ValueMap values;
  for (int i = 0; i < 40; ++i)
    values[{"key" + std::to_string(100 + i), BlobFileId(1)}] =
        std::string(50, static_cast<char>(i));
  Write(values, {Compression::kNone, 256, false});
  auto image = ImageOf(&files_, kValuePath);
  ASSERT_TRUE(image.ok());
  const uint64_t damaged = image->records[20].offset + 20;
  image->bytes[damaged] = static_cast<char>(image->bytes[damaged] ^ 1);
  ASSERT_TRUE(files_.SetContent(kValuePath, image->bytes).ok());
  Open();
  const auto scanner = reader_->NewScanner(64 << 10);
  int i = 0;
  for (const auto& [name, expected] : values) {
    std::string value;
    const Status status = Scan(scanner.get(), name.first, name.second, &value);
    EXPECT_EQ(status.IsCorruption(), i == 20) << i << ": " << status.ToString();
    EXPECT_EQ(status.ok() ? value : expected, expected);
    ++i;
  }
}

TEST_F(ValueReaderTest, RandomRoundTrip) {
  Random random(17);
  for (const Compression codec : {Compression::kNone, Compression::kLz4, Compression::kZstd}) {
    for (const uint32_t index_partition_records : {1u, 7u, 256u, 4096u}) {
      const ValueMap values = RandomValues(&random, 2000);
      Write(values, {codec, index_partition_records, false});
      EXPECT_EQ(properties_.records, values.size());
      Open();
      ExpectHolds(values);
      ExpectHolds(values);
      EXPECT_GT(counters_.value_cache_hits, 0u);
      const Status status = reader_->VerifyAll();
      ASSERT_TRUE(status.ok()) << status.ToString();
      auto at = reader_->NewKeyIterator();
      for (const auto& [name, value] : values) {
        ASSERT_TRUE(at->Valid()) << at->status().ToString();
        ASSERT_EQ(at->key(), name.first);
        ASSERT_EQ(at->blob_file(), name.second);
        ASSERT_EQ(at->raw_bytes(), value.size());
        at->Next();
      }
      EXPECT_FALSE(at->Valid());
      EXPECT_TRUE(at->status().ok()) << at->status().ToString();
    }
  }
}

TEST_F(ValueReaderTest, AbsentKeysRarelyCostARead) {
  Random random(5);
  ValueMap values;
  while (values.size() < 3000) values[{"key" + random.Bytes(12), BlobFileId(1)}] = random.Bytes(50);
  Write(values);
  Open();
  ExpectHolds(values);
  const uint64_t before = counters_.value_reads, hits = counters_.value_cache_hits;
  constexpr uint64_t kAbsent = 20'000;
  std::string value;
  for (uint64_t i = 0; i < kAbsent; ++i) {
    const std::string key = "key" + random.Bytes(12);
    ASSERT_TRUE(values.contains({key, BlobFileId(1)}) ||
                Get(key, BlobFileId(1), &value).IsNotFound());
  }
  // Wrong candidates in the cache cost no read.
  EXPECT_EQ(counters_.value_reads, before);
  const double wrong = static_cast<double>(counters_.value_cache_hits - hits) / kAbsent;
  EXPECT_GT(wrong, 0.5 / 256);
  EXPECT_LT(wrong, 2.0 / 256);
  Open();
  const uint64_t cold = counters_.value_reads;
  for (uint64_t i = 0; i < kAbsent; ++i)
    ASSERT_TRUE(Get("key" + random.Bytes(12), BlobFileId(1), &value, false).IsNotFound());
  EXPECT_LT(static_cast<double>(counters_.value_reads - cold) / kAbsent, 2.0 / 256);
}

TEST_F(ValueReaderTest, OutsideTheBoundsOrOfUnknownBlobFileNothingIsRead) {
  Write(SmallValues(30));
  Open();
  const uint64_t before = reads();
  std::string value;
  EXPECT_TRUE(Get("a", BlobFileId(1), &value).IsNotFound());
  EXPECT_TRUE(Get("z", BlobFileId(1), &value).IsNotFound());
  EXPECT_TRUE(Get("key10", BlobFileId(77), &value).IsNotFound());
  EXPECT_EQ(reads(), before);
}

TEST_F(ValueReaderTest, ABlobFileThatTheKeyHasNot) {
  const ValueMap values = SmallValues(30);
  Write(values);
  Open();
  std::string value;
  for (int round = 0; round < 2; ++round) {  // from the file and from the cache
    for (const auto& [name, expected] : values) {
      const FileId other = name.second == BlobFileId(1) ? BlobFileId(2) : BlobFileId(1);
      const bool has_other = values.contains({name.first, other});
      EXPECT_EQ(Get(name.first, other, &value).IsNotFound(), !has_other) << name.first;
      ASSERT_TRUE(Get(name.first, name.second, &value).ok());
      EXPECT_EQ(value, expected);
    }
  }
}

TEST_F(ValueReaderTest, OneReadOfExactlyTheRecord) {
  const ValueMap values = SmallValues(200);
  Write(values, {Compression::kLz4, 256, false});
  ASSERT_EQ(properties_.index_partitions, 1u);
  Open();
  std::string value;
  ASSERT_TRUE(Get("key10", BlobFileId(1), &value, false).ok());
  EXPECT_EQ(counters_.index_reads, 1u);
  std::map<std::string, uint64_t> group_bytes;
  for (auto i = reader_->NewKeyIterator(); i->Valid(); i->Next())
    group_bytes[std::string(i->key())] += i->record_bytes();
  for (auto at = reader_->NewKeyIterator(); at->Valid(); at->Next()) {
    const uint64_t calls = reads(), records = counters_.value_reads,
                   bytes = counters_.value_bytes_read;
    ASSERT_TRUE(Get(at->key(), at->blob_file(), &value, false).ok());
    EXPECT_EQ(reads() - calls, 1u);
    EXPECT_EQ(counters_.value_reads - records, 1u);
    EXPECT_EQ(counters_.value_bytes_read - bytes, group_bytes[std::string(at->key())]);
  }
  EXPECT_EQ(counters_.index_reads, 1u);
  EXPECT_EQ(counters_.value_cache_hits, 0u);
}

TEST_F(ValueReaderTest, SmallValuesStayInTheCache) {
  ValueMap values;
  values[{"a", BlobFileId(1)}] = std::string(100, 'a');
  values[{"b", BlobFileId(1)}] = std::string((64 << 10) - 1, 'b');
  values[{"c", BlobFileId(1)}] = std::string(64 << 10, 'c');  // with its key it is above the limit
  values[{"d", BlobFileId(1)}] = std::string(3 << 20, 'd');
  for (const Compression codec : {Compression::kNone, Compression::kLz4}) {
    Write(values, {codec, 256, false});
    Open();
    ExpectHolds(values);
    uint64_t calls = reads();
    ExpectHolds(values);
    EXPECT_EQ(reads() - calls, 2u);
    Open();
    std::string value;
    calls = reads();
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(Get("a", BlobFileId(1), &value, false).ok());
    EXPECT_EQ(reads() - calls, 1 + 3u) << "a value must only be kept when the caller asks for it";
  }
}

TEST_F(ValueReaderTest, APinKeepsTheValue) {
  ValueMap values = SmallValues(20);
  values[{"z", BlobFileId(1)}] = std::string(1 << 20, 'z');
  for (const uint64_t cache_bytes : {0, 1 << 20}) {
    for (const bool fill_cache : {false, true}) {
      Write(values);
      Open(cache_bytes);
      std::vector<std::pair<Slice, std::shared_ptr<const void>>> pinned(values.size());
      size_t i = 0;
      for (const auto& [name, value] : values) {
        auto& [slice, pin] = pinned[i++];
        ASSERT_TRUE(reader_->Get(name.first, name.second, fill_cache, &slice, &pin).ok());
      }
      reader_.reset();
      cache_->SetCapacity(0);
      i = 0;
      for (const auto& [name, value] : values) EXPECT_TRUE(pinned[i++].first == value);
    }
  }
}

TEST_F(ValueReaderTest, WhatIsChargedIsReleased) {
  Write(SmallValues(1000), {Compression::kLz4, 4, false});
  Open();
  EXPECT_GT(memory_.used(), 1024 + properties_.index_partitions * 40);
  ExpectHolds(SmallValues(1000));
  EXPECT_GT(cache_->statistics().used_bytes(), 1000u);
  reader_.reset();
  EXPECT_EQ(memory_.used(), 0u);
  EXPECT_EQ(cache_->statistics().used_bytes(), 0u);
}

TEST_F(ValueReaderTest, StoredValuesMoveByteForByte) {
  Random random(23);
  const std::string copy_path = "/v/copy.vsst", plain_path = "/v/plain.vsst";
  const ValueMap values = RandomValues(&random, 500);
  Write(values, {Compression::kZstd, 64, false});
  Open();
  auto file = files_.Create(copy_path, 4096);
  ASSERT_TRUE(file.ok());
  auto writer = ValueWriter::Create({Compression::kNone, 16, false}, std::move(*file), copy_path);
  std::string buffer;
  Compression codec{};
  Slice stored;
  std::vector<std::string> all_stored;
  for (auto at = reader_->NewKeyIterator(); at->Valid(); at->Next()) {
    ASSERT_TRUE(reader_->ReadStored(*at, &buffer, &codec, &stored).ok());
    all_stored.emplace_back(stored);
    ASSERT_TRUE(writer
                    ->AddStored(at->key(), at->blob_file(), codec,
                                static_cast<uint32_t>(at->raw_bytes()), stored)
                    .ok());
  }
  ValueFileProperties copied;
  ASSERT_TRUE(writer->Finish(&copied).ok());
  EXPECT_EQ(copied.blob_files, properties_.blob_files);
  EXPECT_EQ(copied.stored_bytes, properties_.stored_bytes);
  EXPECT_EQ(copied.raw_bytes, properties_.raw_bytes);
  auto copy = OpenValues(&files_, copy_path, cache_.get());
  ASSERT_TRUE(copy.ok());
  EXPECT_TRUE((*copy)->VerifyAll().ok());
  size_t i = 0;
  for (auto at = (*copy)->NewKeyIterator(); at->Valid(); at->Next(), ++i) {
    ASSERT_TRUE((*copy)->ReadStored(*at, &buffer, &codec, &stored).ok());
    ASSERT_TRUE(stored == all_stored[i]);
  }
  EXPECT_EQ(i, all_stored.size());
  reader_ = *copy;
  ExpectHolds(values);
}

TEST_F(ValueReaderTest, ReadStoredNeedsARecord) {
  Write(SmallValues(3));
  Open();
  auto at = reader_->NewKeyIterator();
  std::string buffer;
  Compression codec{};
  Slice stored;
  while (at->Valid()) at->Next();
  EXPECT_TRUE(reader_->ReadStored(*at, &buffer, &codec, &stored).IsInvalidArgument());
  at->Next();
  EXPECT_FALSE(at->Valid());
  EXPECT_TRUE(at->status().ok());
}

TEST_F(ValueReaderTest, TreeBytesOfKeysOf36Bytes) {
  Random random(31);
  ValueMap values;
  // Key group, table id, and a serialized key of 4 fields, some of which are small numbers.
  while (values.size() < 20'000) {
    std::string key(1, static_cast<char>(random.Uniform(4)));
    key += std::string("\0\0\0\0\7", 5) + std::string("user-", 5) + random.Bytes(8);
    PutBigEndian(&key, random.Uniform(1000), 8);
    PutBigEndian(&key, random.Uniform(10), 1);
    key += random.Bytes(36 - key.size());
    values[{key, BlobFileId(1)}] = "v";
  }
  Write(values);
  const double bytes =
      static_cast<double>(properties_.tree_bytes) / static_cast<double>(values.size());
  std::cout << "tree bytes a key: " << bytes << std::endl;
  EXPECT_LE(bytes, 2.5);
}

TEST_F(ValueReaderTest, EveryFailureOfAReadIsReported) {
  const ValueMap values = SmallValues(60);
  Write(values, {Compression::kLz4, 8, false});
  for (const Fault fault : {Fault::kIOError, Fault::kShortRead, Fault::kBitFlip}) {
    uint64_t fired = 0;
    for (uint64_t call = 1;; ++call) {
      const auto cache = BlockCache::Create(1 << 20);
      MemoryCounter memory;
      {
        faults_.Arm({.fault = fault, .call = call, .only = FileCall::kRead, .seed = call});
        auto reader = OpenValues(&faults_, kValuePath, cache.get(), &memory);
        Status status = reader.status();
        Slice value;
        std::shared_ptr<const void> pin;
        for (auto i = values.begin(); status.ok() && i != values.end(); ++i) {
          status = (*reader)->Get(i->first.first, i->first.second, true, &value, &pin);
          EXPECT_TRUE(!status.ok() || value == i->second);
        }
        if (status.ok()) status = (*reader)->VerifyAll();
        // A flipped bit in another blob file's record of the same key does no harm.
        EXPECT_TRUE(!status.ok() || faults_.fired() == 0 || fault == Fault::kBitFlip) << call;
        EXPECT_TRUE(status.ok() || faults_.fired() > 0) << status.ToString();
        EXPECT_FALSE(status.IsNotFound());
      }
      EXPECT_EQ(memory.used(), 0u);
      fired += faults_.fired();
      if (faults_.fired() == 0) break;
    }
    EXPECT_GT(fired, 60u);
  }
}

}  // namespace
}  // namespace lava::testing
