// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "value/dictionary_sampler.h"

#include <gtest/gtest.h>

#include "base/compression.h"
#include "value/value_test_util.h"

namespace lava::vsst {
namespace {

/// Adds values as the writer does: compressed without a dictionary.
class DictionarySamplerTest : public ::testing::Test {
 protected:
  void Add(Slice value) {
    StoredValue stored{compressor_.Compress(value, &compressed_),
                       static_cast<uint32_t>(value.size()), value};
    if (stored.codec != Compression::kNone) stored.bytes = compressed_;
    sampler_.Add("key" + std::to_string(sampler_.size()), testing::BlobFileId(sampler_.size()),
                 stored, &value);
  }
  void AddJson(size_t count, size_t bytes) {
    for (size_t i = 0; i < count; ++i) Add(testing::JsonValue(&random_, bytes));
  }

  testing::Random random_{1};
  Compressor compressor_{Compression::kZstd};
  std::string compressed_;
  DictionarySampler sampler_;
};

TEST_F(DictionarySamplerTest, ReturnsTheValuesThatWereAdded) {
  const std::string shrinks(1000, 's'), random = random_.Bytes(50);
  Add(shrinks);
  Add(random);
  sampler_.Add("stored", testing::BlobFileId(7), {Compression::kLz4, 100, "as it is"}, nullptr);
  Add("");
  ASSERT_EQ(sampler_.size(), 4u);
  EXPECT_EQ(sampler_.at(0).raw, shrinks);
  EXPECT_EQ(sampler_.at(0).stored.codec, Compression::kZstd);
  EXPECT_LT(sampler_.at(0).stored.bytes.size(), 100u);
  EXPECT_EQ(sampler_.at(1).raw, random);
  EXPECT_EQ(sampler_.at(1).stored.bytes, random);
  EXPECT_EQ(sampler_.at(2).key, "stored");
  EXPECT_EQ(sampler_.at(2).blob_file, testing::BlobFileId(7));
  EXPECT_FALSE(sampler_.at(2).is_sample);
  EXPECT_EQ(sampler_.at(2).stored.bytes, "as it is");
  EXPECT_EQ(sampler_.at(3).raw, "");
  EXPECT_EQ(sampler_.last_key(), "key3");
  EXPECT_EQ(sampler_.last_blob_file(), testing::BlobFileId(3));
  EXPECT_GT(sampler_.estimated_bytes(), 4 * kRecordBytesMin + 50 + 8);
  EXPECT_LT(sampler_.estimated_bytes(), 400u);
}

TEST_F(DictionarySamplerTest, TakesALimitedNumberOfValuesAndBytes) {
  EXPECT_TRUE(sampler_.Fits(10, 1 << 20));
  EXPECT_FALSE(sampler_.Fits(10, (1 << 20) + 1));
  EXPECT_FALSE(sampler_.Fits(3 << 20, 1));
  AddJson(100, 1000);
  EXPECT_FALSE(sampler_.Fits(10, 1'000'000));
  for (int i = 100; i < 1023; ++i) Add("v");
  EXPECT_TRUE(sampler_.Fits(1, 1));
  Add("v");
  EXPECT_FALSE(sampler_.Fits(1, 1));
}

TEST_F(DictionarySamplerTest, LargeValuesAreNotTried) {
  for (int i = 0; i < 7; ++i) Add(std::string(33 << 10, 'x'));
  EXPECT_FALSE(sampler_.TooLarge());
  Add(std::string(33 << 10, 'x'));
  EXPECT_TRUE(sampler_.TooLarge());
  EXPECT_TRUE(sampler_.ChooseDictionary({.values_min = 1}).empty());
}

TEST_F(DictionarySamplerTest, AFewValuesGetNone) {
  AddJson(31, 4000);
  EXPECT_TRUE(sampler_.ChooseDictionary({}).empty());
  AddJson(1, 4000);
  EXPECT_FALSE(sampler_.ChooseDictionary({}).empty());
  EXPECT_TRUE(sampler_.ChooseDictionary({.enabled = false}).empty());
  EXPECT_TRUE(sampler_.ChooseDictionary({.raw_bytes_min = 200'000}).empty());
}

TEST_F(DictionarySamplerTest, ItMustSaveEnough) {
  AddJson(250, 1000);
  const std::string dictionary = sampler_.ChooseDictionary({});
  EXPECT_FALSE(dictionary.empty());
  EXPECT_LE(dictionary.size(), 16u << 10);
  EXPECT_EQ(sampler_.ChooseDictionary({}), dictionary)
      << "the same values must give the same dictionary";
  EXPECT_TRUE(sampler_.ChooseDictionary({.saving_percent_min = 90}).empty());
}

TEST_F(DictionarySamplerTest, ItMustSaveMoreThanItTakes) {
  // 64 KiB of small values shrink, but save less than a dictionary for them takes.
  for (int i = 0; i < 40; ++i) Add(random_.Bytes(1500) + std::string("0123456789abcdefghij", 20));
  EXPECT_TRUE(sampler_.ChooseDictionary({.raw_bytes_min = 0, .saving_percent_min = 1}).empty());
}

TEST_F(DictionarySamplerTest, RandomValuesGetNone) {
  for (int i = 0; i < 500; ++i) Add(random_.Bytes(1000));
  EXPECT_TRUE(sampler_.ChooseDictionary({}).empty());
}

TEST_F(DictionarySamplerTest, ValuesThatCameStoredAreNoSamples) {
  for (int i = 0; i < 500; ++i) {
    const std::string json = testing::JsonValue(&random_, 1000);
    sampler_.Add("key", testing::BlobFileId(1),
                 {Compression::kNone, static_cast<uint32_t>(json.size()), json}, nullptr);
  }
  EXPECT_TRUE(sampler_.ChooseDictionary({}).empty());
  AddJson(100, 1000);
  EXPECT_FALSE(sampler_.ChooseDictionary({}).empty());
}

}  // namespace
}  // namespace lava::vsst
