// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "value/value_file.h"

#include <gtest/gtest.h>

#include "testing/count.h"
#include "value/value_test_util.h"

// A small file of each codec, with one bit of each byte flipped in turn, and cut at every length:
// each read returns the right value, or reports the damage with path and offset.

namespace lava::testing {
namespace {

class DamagedValueFileTest : public ::testing::TestWithParam<Compression> {
 protected:
  DamagedValueFileTest() {
    EXPECT_TRUE(files_.CreateDirectory("/v").ok());
    ValueWriterOptions options{std::min(GetParam(), Compression::kZstd), 6};
    if (GetParam() == kZstdDictionary) options.dictionary = kDictionaryAlways;
    auto written = WriteValues(&files_, kValuePath, values_, options);
    EXPECT_TRUE(written.ok());
    auto image = ImageOf(&files_, kValuePath);
    EXPECT_TRUE(image.ok() && (image->dictionary.end != 0) == (GetParam() == kZstdDictionary));
    good_ = image->bytes;
  }

  /// Opening, a Get() or verification must report the damage; verification must report all.
  void ExpectTold(std::string content) {
    ASSERT_TRUE(files_.SetContent(kValuePath, std::move(content)).ok());
    auto reader = OpenValues(&files_, kValuePath, cache_.get());
    if (!reader.ok()) return ExpectDamage(reader.status());
    for (const auto& [name, expected] : values_) {
      Slice value;
      std::shared_ptr<const void> pin;
      const Status status = (*reader)->Get(name.first, name.second, true, &value, &pin);
      if (status.ok()) {
        EXPECT_EQ(value, expected);
      } else {
        ExpectDamage(status);
      }
    }
    uint64_t records = 0;
    auto at = (*reader)->NewKeyIterator();
    for (; at->Valid(); at->Next()) {
      ++records;
      std::string buffer;
      Compression codec{};
      Slice stored;
      const Status status = (*reader)->ReadStored(*at, &buffer, &codec, &stored);
      if (!status.ok()) ExpectDamage(status);
    }
    if (at->status().ok()) {
      EXPECT_EQ(records, values_.size());
    } else {
      ExpectDamage(at->status());
    }
    ExpectDamage((*reader)->VerifyAll());
  }
  static void ExpectDamage(const Status& status) {
    EXPECT_TRUE(status.IsCorruption()) << status.ToString();
    EXPECT_NE(status.message().find(kValuePath), Slice::npos) << status.ToString();
    EXPECT_NE(status.message().find("offset"), Slice::npos) << status.ToString();
  }

  const ValueMap values_ = SmallValues(24);
  ChosenFileSystem files_;
  const std::unique_ptr<BlockCache> cache_ = BlockCache::Create(1 << 20);
  std::string good_;
};

TEST_P(DamagedValueFileTest, EveryByteFlipped) {
  for (size_t at = 0; at < good_.size(); ++at) {
    SCOPED_TRACE(at);
    std::string content = good_;
    content[at] = static_cast<char>(content[at] ^ (1 << at % 8));
    ExpectTold(std::move(content));
  }
  Count(good_.size(), "flips of value files detected");
}

TEST_P(DamagedValueFileTest, EveryTruncation) {
  for (size_t bytes = 0; bytes < good_.size(); ++bytes) {
    SCOPED_TRACE(bytes);
    ExpectTold(good_.substr(0, bytes));
  }
  ExpectTold(good_ + '\0');
  Count(good_.size(), "truncations of value files detected");
}

INSTANTIATE_TEST_SUITE_P(Codecs, DamagedValueFileTest,
                         ::testing::Values(Compression::kNone, Compression::kLz4,
                                           Compression::kZstd, kZstdDictionary));

}  // namespace
}  // namespace lava::testing
