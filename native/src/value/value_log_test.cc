// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "cache/block_cache.h"
#include "value/value_log_writer.h"
#include "value/value_test_util.h"

namespace lava::testing {
namespace {

/// Values put in any order, some keys more than once.
class ValueLogTest : public ::testing::TestWithParam<Compression> {
 protected:
  ValueLogTest() {
    EXPECT_TRUE(files_.CreateDirectory("/v").ok());
    auto file = files_.Create(kValuePath, 1 << 16);
    EXPECT_TRUE(file.ok());
    writer_ = ValueLogWriter::Create({.compression = GetParam()}, std::move(*file), kValuePath,
                                     BlobFileId(1));
  }
  void Put(const std::string& key, const std::string& value) {
    LoggedRecord record;
    ASSERT_TRUE(writer_->Append(key, value, 0, &record).ok());
    live_[key] = record;
    values_[key] = value;
  }
  void PutMany() {
    Random random(7);
    for (int i = 0; i < 60; ++i) {
      const std::string n = std::to_string(random.Uniform(40));
      Put("key" + n, JsonValue(&random, random.Uniform(3000)));
    }
    Put("empty", "");
    Put("noise", random.Bytes(2000));
  }
  ValueFileProperties Finish() {
    for (const auto& [key, record] : live_) EXPECT_TRUE(writer_->AddLive(key, record).ok());
    ValueFileProperties properties;
    EXPECT_TRUE(writer_->Finish(&properties).ok());
    return properties;
  }
  std::shared_ptr<ValueReader> Open() {
    auto reader = OpenValues(&files_, kValuePath, cache_.get());
    EXPECT_TRUE(reader.ok()) << reader.status().ToString();
    return reader.ok() ? *reader : nullptr;
  }
  std::string Content() { return *files_.Content(kValuePath); }
  void ExpectDamageIsDetected() {
    const std::string good = Content();
    const auto detected = [&](const std::string& content) {
      EXPECT_TRUE(files_.SetContent(kValuePath, content).ok());
      auto reader = OpenValues(&files_, kValuePath, cache_.get());
      const Status status = reader.ok() ? (*reader)->VerifyAll() : reader.status();
      EXPECT_TRUE(status.ok() || status.message().find(kValuePath) != Slice::npos)
          << status.ToString();
      return status.IsCorruption() || status.code() == Status::Code::kNotSupported;
    };
    EXPECT_FALSE(detected(good));
    for (size_t at = 0; at < good.size(); ++at) {
      for (const int bit : {0, 3, 7}) {
        std::string bad = good;
        bad[at] = static_cast<char>(bad[at] ^ (1 << bit));
        ASSERT_TRUE(detected(bad)) << "at " << at << ", bit " << bit;
      }
      ASSERT_TRUE(detected(good.substr(0, at))) << at;
    }
  }

  ChosenFileSystem files_;
  const std::unique_ptr<BlockCache> cache_ = BlockCache::Create(1 << 20);
  std::unique_ptr<ValueLogWriter> writer_;
  std::map<std::string, LoggedRecord> live_;
  std::map<std::string, std::string> values_;
};

TEST_P(ValueLogTest, TheLastValueOfEachKeyIsFound) {
  PutMany();
  const ValueFileProperties written = Finish();
  const auto reader = Open();
  ASSERT_NE(reader, nullptr);
  EXPECT_EQ(written.records, values_.size());
  EXPECT_EQ(reader->properties().raw_bytes, written.raw_bytes);
  EXPECT_EQ(reader->properties().stored_bytes, written.stored_bytes);
  EXPECT_EQ(written.file_bytes, Content().size());
  for (const auto& [key, value] : values_) {
    for (const bool cached : {true, true, false}) {
      Slice found;
      std::shared_ptr<const void> pin;
      ASSERT_TRUE(reader->Get(key, BlobFileId(1), cached, &found, &pin).ok()) << key;
      EXPECT_EQ(found, value) << key;
    }
    Slice found;
    std::shared_ptr<const void> pin;
    EXPECT_TRUE(reader->Get(key, BlobFileId(2), true, &found, &pin).IsNotFound())
        << "the key has no value in this blob file";
    EXPECT_TRUE(reader->Get(key + "/", BlobFileId(1), true, &found, &pin).IsNotFound());
  }
  EXPECT_TRUE(reader->VerifyAll().ok());
}

TEST_P(ValueLogTest, TheCollectorWalksItByKey) {
  PutMany();
  Finish();
  const auto reader = Open();
  auto expected = values_.begin();
  const auto scanner = reader->NewScanner(64 << 10);
  for (const auto at = reader->NewKeyIterator(); at->Valid(); at->Next(), ++expected) {
    ASSERT_NE(expected, values_.end());
    EXPECT_EQ(at->key(), expected->first);
    EXPECT_EQ(at->blob_file(), BlobFileId(1));
    std::string buffer, raw;
    Compression codec;
    Slice stored, scanned;
    ASSERT_TRUE(reader->ReadStored(*at, &buffer, &codec, &stored).ok());
    if (codec == Compression::kNone) {
      raw = stored;
    } else {
      ASSERT_TRUE(reader->DecodeStored(at->index_entry(), codec, stored, &raw).ok());
    }
    EXPECT_EQ(raw, expected->second);
    ASSERT_TRUE(scanner->Get(at->key(), BlobFileId(1), &scanned).ok());
    EXPECT_EQ(scanned, expected->second);
  }
  EXPECT_EQ(expected, values_.end());
}

TEST_P(ValueLogTest, RecordsAreReadBeforeItEnds) {
  PutMany();
  ASSERT_TRUE(writer_->Flush().ok());
  const auto file = files_.OpenRandom(kValuePath);
  ASSERT_TRUE(file.ok());
  for (const auto& [key, record] : live_) {
    std::string value;
    ASSERT_TRUE(ReadLogged(**file, key, record, &value).ok()) << key;
    EXPECT_EQ(value, values_[key]);
    EXPECT_TRUE(ReadLogged(**file, key + "x", record, &value).IsCorruption());
  }
  LoggedRecord beyond = live_["noise"];
  beyond.offset += 1;
  std::string value;
  EXPECT_FALSE(ReadLogged(**file, "noise", beyond, &value).ok());
  beyond = live_["noise"];
  beyond.bytes += 100;
  EXPECT_FALSE(ReadLogged(**file, "noise", beyond, &value).ok());
}

TEST_P(ValueLogTest, WhatDiesInItIsNoRecordOfIt) {
  Put("a", std::string(100, 'a'));
  Put("b", std::string(100, 'b'));
  live_.erase("a");
  const ValueFileProperties written = Finish();
  EXPECT_EQ(written.records, 1u);
  EXPECT_EQ(written.raw_bytes, 100u);
  const auto reader = Open();
  Slice found;
  std::shared_ptr<const void> pin;
  EXPECT_TRUE(reader->Get("a", BlobFileId(1), true, &found, &pin).IsNotFound());
  EXPECT_TRUE(reader->VerifyAll().ok());
}

TEST_P(ValueLogTest, NothingMayLiveInIt) {
  Put("a", "value");
  live_.clear();
  EXPECT_EQ(Finish().records, 0u);
  const auto reader = Open();
  ASSERT_NE(reader, nullptr);
  EXPECT_FALSE(reader->NewKeyIterator()->Valid());
  EXPECT_TRUE(reader->VerifyAll().ok());
}

TEST_P(ValueLogTest, WhatIsOutOfPlaceIsRefused) {
  Put("a", "value");
  Put("b", "value");
  EXPECT_TRUE(writer_->AddLive("b", live_["b"]).ok());
  EXPECT_TRUE(writer_->AddLive("a", live_["a"]).IsInvalidArgument()) << "the records must ascend";
  EXPECT_TRUE(writer_->AddLive("c", {live_["b"].end(), 30, 5}).IsInvalidArgument());
  LoggedRecord record;
  EXPECT_TRUE(writer_->Append("d", "value", 0, &record).IsInvalidArgument())
      << "no value may follow the first live record";
  ValueFileProperties properties;
  ASSERT_TRUE(writer_->Finish(&properties).ok());
  EXPECT_TRUE(writer_->Finish(&properties).IsInvalidArgument());
}

// Elements of lists: each is a record of the list's key with a blob file of its own.
TEST_P(ValueLogTest, EachValueOfAKeyIsFoundByItsBlobFile) {
  std::map<std::pair<std::string, uint32_t>, std::pair<LoggedRecord, std::string>> elements;
  for (int i = 0; i < 20; ++i) {
    const std::string key = i % 3 == 0 ? "rare" : "often", value = std::to_string(i * 1000);
    auto& [record, written] = elements[{key, i % 3 == 0 ? i / 3 : i - i / 3 - 1}];
    written = value;
    ASSERT_TRUE(writer_->Append(key, value, i % 3 == 0 ? i / 3 : i - i / 3 - 1, &record).ok());
    Put("map", value);
  }
  ASSERT_TRUE(writer_->AddLive("map", live_["map"]).ok());
  for (const auto& [name, element] : elements)
    ASSERT_TRUE(writer_->AddLive(name.first, element.first).ok());
  EXPECT_TRUE(writer_->AddLive("rare", elements[{"rare", 1}].first).IsInvalidArgument());
  ValueFileProperties properties;
  ASSERT_TRUE(writer_->Finish(&properties).ok());
  EXPECT_EQ(Content()[Content().size() - 20], 4) << "the format version must be 4";
  ASSERT_EQ(properties.blob_files.size(), 13u);
  EXPECT_EQ(properties.blob_files[0].records, 3u);
  EXPECT_EQ(properties.blob_files[12].records, 1u);
  const auto reader = Open();
  ASSERT_NE(reader, nullptr);
  EXPECT_TRUE(reader->VerifyAll().ok());
  EXPECT_EQ(reader->properties().blob_files, properties.blob_files);
  const auto scanner = reader->NewScanner(64 << 10);
  auto at = reader->NewKeyIterator();
  at->Next();
  for (const auto& [name, element] : elements) {
    const auto& [key, index] = name;
    Slice found;
    std::shared_ptr<const void> pin;
    for (const bool cached : {true, true, false}) {
      ASSERT_TRUE(reader->Get(key, BlobFileId(1 + index), cached, &found, &pin).ok()) << index;
      EXPECT_EQ(found, element.second);
    }
    ASSERT_TRUE(scanner->Get(key, BlobFileId(1 + index), &found).ok());
    EXPECT_EQ(found, element.second);
    ASSERT_TRUE(at->Valid());
    EXPECT_EQ(at->key(), key);
    EXPECT_EQ(at->blob_file(), BlobFileId(1 + index));
    EXPECT_EQ(at->raw_bytes(), element.second.size());
    at->Next();
  }
  EXPECT_FALSE(at->Valid());
  Slice found;
  std::shared_ptr<const void> pin;
  EXPECT_TRUE(reader->Get("rare", BlobFileId(1 + 7), true, &found, &pin).IsNotFound());
  EXPECT_TRUE(reader->Get("often", BlobFileId(1 + 13), true, &found, &pin).IsNotFound());
}

TEST_P(ValueLogTest, BlobFilesAreAllUsedAndNotTooMany) {
  LoggedRecord record;
  EXPECT_TRUE(writer_->Append("key", "value", kLogBlobFilesMax, &record).IsInvalidArgument());
  ASSERT_TRUE(writer_->Append("key", "value", 1, &record).ok());
  ASSERT_TRUE(writer_->AddLive("key", record).ok());
  ValueFileProperties properties;
  EXPECT_TRUE(writer_->Finish(&properties).IsInvalidArgument()) << "blob file 0 has no live record";
}

// Dead records have checksums, too.
TEST_P(ValueLogTest, EveryFlipAndEveryLengthIsDetected) {
  for (int i = 0; i < 6; ++i) Put("key" + std::to_string(i % 4), std::string(20 + i, 'v'));
  Finish();
  ExpectDamageIsDetected();
}

TEST_P(ValueLogTest, EveryFlipAndEveryLengthIsDetectedWithSeveralBlobFiles) {
  LoggedRecord records[3];
  for (uint32_t i = 0; i < 3; ++i)
    ASSERT_TRUE(writer_->Append("key", std::string(20 + i, 'v'), i, &records[i]).ok());
  for (const LoggedRecord& record : records) ASSERT_TRUE(writer_->AddLive("key", record).ok());
  ValueFileProperties properties;
  ASSERT_TRUE(writer_->Finish(&properties).ok());
  ExpectDamageIsDetected();
}

INSTANTIATE_TEST_SUITE_P(Codecs, ValueLogTest,
                         ::testing::Values(Compression::kNone, Compression::kLz4,
                                           Compression::kZstd));

TEST(LogIndexTest, OnlyItsOwnKeysAreFound) {
  vsst::LogIndexBuilder builder(false);
  builder.Add("b", {0, 100, 50});
  builder.Add("d", {100, 100, 50});
  vsst::LogIndex index;
  ASSERT_EQ(index.Load(builder.payload(), 1000, 1), nullptr);
  for (const char* absent : {"", "a", "ba", "c", "e"})
    EXPECT_EQ(index.Find(absent, 0), nullptr) << absent;
  ASSERT_NE(index.Find("d", 0), nullptr);
  EXPECT_EQ(index.Find("d", 0)->offset, 100u);
  EXPECT_EQ(index.Find("b", 0)->offset, 0u);
  EXPECT_EQ(index.Find("b", 1), nullptr);
}

TEST(LogIndexTest, AKeyHasSeveralBlobFiles) {
  vsst::LogIndexBuilder builder(true);
  builder.Add("b", {0, 100, 50, 0});
  builder.Add("b", {300, 100, 50, 1});
  builder.Add("b", {200, 100, 50, 2});
  builder.Add("c", {100, 100, 50, 1});
  vsst::LogIndex index;
  ASSERT_EQ(index.Load(builder.payload(), 1000, 3), nullptr);
  EXPECT_EQ(index.Find("b", 0)->offset, 0u);
  EXPECT_EQ(index.Find("b", 1)->offset, 300u);
  EXPECT_EQ(index.Find("b", 2)->offset, 200u);
  EXPECT_EQ(index.Find("b", 3), nullptr);
  EXPECT_EQ(index.Find("c", 0), nullptr);
  EXPECT_EQ(index.Find("c", 1)->offset, 100u);
  EXPECT_NE(vsst::LogIndex().Load(builder.payload(), 1000, 2), nullptr)
      << "the file has only two blob files";
  for (const uint32_t blob_file_index : {0, 1}) {
    vsst::LogIndexBuilder wrong(true);
    wrong.Add("b", {0, 100, 50, 1});
    wrong.Add("b", {100, 100, 50, blob_file_index});
    EXPECT_NE(vsst::LogIndex().Load(wrong.payload(), 1000, 3), nullptr)
        << "the blob files of a key must ascend";
  }
}

TEST(LogIndexTest, WhatCannotBeIsNotLoaded) {
  const auto load = [](const std::function<void(vsst::LogIndexBuilder*)>& fill) {
    vsst::LogIndexBuilder builder(false);
    fill(&builder);
    vsst::LogIndex index;
    const char* error = index.Load(builder.payload(), 1000, 1);
    return std::string(error != nullptr ? error : "");
  };
  EXPECT_EQ(load([](auto* b) { b->Add("a", {0, 100, 50}); }), "");
  EXPECT_NE(load([](auto* b) {
              b->Add("a", {950, 100, 50});
            }),
            "")
      << "the record ends after the file's end";
  EXPECT_NE(load([](auto* b) { b->Add("a", {2000, 100, 50}); }), "");
  EXPECT_NE(load([](auto* b) { b->Add("a", {UINT64_MAX - 5, 100, 50}); }), "");
  EXPECT_NE(load([](auto* b) {
              b->Add(std::string(100, 'k'), {0, 100, 5});
            }),
            "")
      << "the record is too short for its key";
  EXPECT_NE(load([](auto* b) {
              b->Add("b", {0, 100, 5});
              b->Add("a", {100, 100, 5});
            }),
            "");
  EXPECT_NE(load([](auto* b) {
              b->Add("a", {0, 600, 5});
              b->Add("b", {100, 600, 5});
            }),
            "")
      << "the records overlap";
}

}  // namespace
}  // namespace lava::testing
