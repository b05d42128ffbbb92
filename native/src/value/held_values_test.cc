#include "value/held_values.h"

#include <gtest/gtest.h>

#include "base/compression.h"
#include "value/value_test_util.h"

namespace lava::vsst {
namespace {

/// Holds values as the writer does: compressed without a dictionary.
class HeldValuesTest : public ::testing::Test {
 protected:
  void Hold(Slice value) {
    StoredValue stored{compressor_.Compress(value, &compressed_),
                       static_cast<uint32_t>(value.size()), value};
    if (stored.codec != Compression::kNone) stored.bytes = compressed_;
    held_.Add("key" + std::to_string(held_.size()), testing::Birth(held_.size()), stored, &value);
  }
  void HoldJson(size_t count, size_t bytes) {
    for (size_t i = 0; i < count; ++i) Hold(testing::JsonValue(&random_, bytes));
  }

  testing::Random random_{1};
  Compressor compressor_{Compression::kZstd};
  std::string compressed_;
  HeldValues held_;
};

TEST_F(HeldValuesTest, ShowsWhatItHolds) {
  const std::string shrinks(1000, 's'), random = random_.Bytes(50);
  Hold(shrinks);
  Hold(random);
  held_.Add("stored", testing::Birth(7), {Compression::kLz4, 100, "as it is"}, nullptr);
  Hold("");
  ASSERT_EQ(held_.size(), 4u);
  EXPECT_EQ(held_.at(0).raw, shrinks);
  EXPECT_EQ(held_.at(0).stored.codec, Compression::kZstd);
  EXPECT_LT(held_.at(0).stored.bytes.size(), 100u);
  EXPECT_EQ(held_.at(1).raw, random);
  EXPECT_EQ(held_.at(1).stored.bytes, random);
  EXPECT_EQ(held_.at(2).key, "stored");
  EXPECT_EQ(held_.at(2).birth, testing::Birth(7));
  EXPECT_FALSE(held_.at(2).is_sample);
  EXPECT_EQ(held_.at(2).stored.bytes, "as it is");
  EXPECT_EQ(held_.at(3).raw, "");
  EXPECT_EQ(held_.last_key(), "key3");
  EXPECT_EQ(held_.last_birth(), testing::Birth(3));
  EXPECT_GT(held_.estimated_bytes(), 4 * kRecordBytesMin + 50 + 8);
  EXPECT_LT(held_.estimated_bytes(), 400u);
}

TEST_F(HeldValuesTest, HasRoomForSoManyAndSoMuch) {
  EXPECT_TRUE(held_.HasRoom(10, 1 << 20));
  EXPECT_FALSE(held_.HasRoom(10, (1 << 20) + 1));
  EXPECT_FALSE(held_.HasRoom(3 << 20, 1));
  HoldJson(100, 1000);
  EXPECT_FALSE(held_.HasRoom(10, 1'000'000));
  for (int i = 100; i < 1023; ++i) Hold("v");
  EXPECT_TRUE(held_.HasRoom(1, 1));
  Hold("v");
  EXPECT_FALSE(held_.HasRoom(1, 1));
}

TEST_F(HeldValuesTest, LargeValuesAreNotTried) {
  for (int i = 0; i < 7; ++i) Hold(std::string(33 << 10, 'x'));
  EXPECT_FALSE(held_.TooLarge());
  Hold(std::string(33 << 10, 'x'));
  EXPECT_TRUE(held_.TooLarge());
  EXPECT_TRUE(held_.ChooseDictionary({.values_min = 1}).empty());
}

TEST_F(HeldValuesTest, AFewValuesGetNone) {
  HoldJson(31, 4000);
  EXPECT_TRUE(held_.ChooseDictionary({}).empty());
  HoldJson(1, 4000);
  EXPECT_FALSE(held_.ChooseDictionary({}).empty());
  EXPECT_TRUE(held_.ChooseDictionary({.enabled = false}).empty());
  EXPECT_TRUE(held_.ChooseDictionary({.raw_bytes_min = 200'000}).empty());
}

TEST_F(HeldValuesTest, ItMustSaveEnough) {
  HoldJson(250, 1000);
  const std::string dictionary = held_.ChooseDictionary({});
  EXPECT_FALSE(dictionary.empty());
  EXPECT_LE(dictionary.size(), 16u << 10);
  EXPECT_EQ(held_.ChooseDictionary({}), dictionary) << "not the same for the same values";
  EXPECT_TRUE(held_.ChooseDictionary({.saving_percent_min = 90}).empty());
}

TEST_F(HeldValuesTest, ItMustSaveMoreThanItTakes) {
  // 64 KiB of small values shrink, but save less than a dictionary for them takes.
  for (int i = 0; i < 40; ++i) Hold(random_.Bytes(1500) + std::string("0123456789abcdefghij", 20));
  EXPECT_TRUE(held_.ChooseDictionary({.raw_bytes_min = 0, .saving_percent_min = 1}).empty());
}

TEST_F(HeldValuesTest, RandomValuesGetNone) {
  for (int i = 0; i < 500; ++i) Hold(random_.Bytes(1000));
  EXPECT_TRUE(held_.ChooseDictionary({}).empty());
}

TEST_F(HeldValuesTest, ValuesThatCameStoredAreNoSamples) {
  for (int i = 0; i < 500; ++i) {
    const std::string json = testing::JsonValue(&random_, 1000);
    held_.Add("key", testing::Birth(1),
              {Compression::kNone, static_cast<uint32_t>(json.size()), json}, nullptr);
  }
  EXPECT_TRUE(held_.ChooseDictionary({}).empty());
  HoldJson(100, 1000);
  EXPECT_FALSE(held_.ChooseDictionary({}).empty());
}

}  // namespace
}  // namespace lava::vsst
