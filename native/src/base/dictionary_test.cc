// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "base/dictionary.h"

#include <gtest/gtest.h>
#include <zstd.h>

#include <thread>
#include <vector>

#include "base/compression.h"
#include "testing/random.h"

namespace lava {
namespace {

std::string Text(testing::Random* random) {
  std::string text = "{\"name\":\"value " + std::to_string(random->Uniform(1000)) + "\",\"list\":[";
  for (int i = 0; i < 8; ++i) text += std::to_string(random->Uniform(1'000'000)) + ",\"entry\",";
  return text + "]}";
}

std::string Trained(uint64_t seed = 1, size_t count = 100) {
  testing::Random random(seed);
  std::string samples;
  std::vector<size_t> sizes;
  for (size_t i = 0; i < count; ++i) {
    const std::string text = Text(&random);
    samples += text;
    sizes.push_back(text.size());
  }
  return TrainDictionary(samples, sizes, 2048);
}

TEST(DictionaryTest, RoundTripInLessSpace) {
  const std::string trained = Trained();
  ASSERT_FALSE(trained.empty());
  EXPECT_LE(trained.size(), 2048u);
  EXPECT_EQ(Trained(), trained) << "the same samples must give the same dictionary";
  const auto dictionary = Dictionary::Load(trained);
  ASSERT_NE(dictionary, nullptr);
  EXPECT_GT(dictionary->memory_bytes(), trained.size());
  DictionaryCompressor with(trained);
  Compressor without(Compression::kZstd);
  testing::Random random(2);
  size_t with_bytes = 0, without_bytes = 0;
  for (int i = 0; i < 100; ++i) {
    const std::string raw = Text(&random);
    std::string out, plain;
    ASSERT_EQ(with.Compress(raw, &out), kZstdDictionary);
    with_bytes += out.size();
    without_bytes +=
        without.Compress(raw, &plain) == Compression::kNone ? raw.size() : plain.size();
    const uint32_t raw_bytes = static_cast<uint32_t>(raw.size());
    EXPECT_TRUE(RawBytesPossible(kZstdDictionary, out, raw_bytes));
    EXPECT_FALSE(RawBytesPossible(kZstdDictionary, out, raw_bytes + 1));
    std::string back(raw.size() + 1, '\0');
    ASSERT_TRUE(dictionary->Decompress(out, back.data(), raw_bytes));
    EXPECT_EQ(back.substr(0, raw.size()), raw);
    EXPECT_FALSE(dictionary->Decompress(out, back.data(), raw_bytes - 1));
    EXPECT_FALSE(dictionary->Decompress(out, back.data(), raw_bytes + 1));
    EXPECT_FALSE(Decompress(kZstdDictionary, out, back.data(), raw_bytes))
        << "decompression must fail without the dictionary";
  }
  EXPECT_LT(with_bytes * 3, without_bytes * 2);
}

TEST(DictionaryTest, WhatDoesNotShrinkStaysRaw) {
  DictionaryCompressor compressor(Trained());
  testing::Random random(3);
  std::string out;
  for (const size_t bytes : {0, 1, 5, 100, 10'000})
    EXPECT_EQ(compressor.Compress(random.Bytes(bytes), &out), Compression::kNone) << bytes;
}

TEST(DictionaryTest, TooLittleToTrain) {
  EXPECT_TRUE(TrainDictionary({}, {}, 1024).empty());
  EXPECT_TRUE(Trained(1, 3).empty());
  const std::vector<size_t> nothing(50, 0);
  EXPECT_TRUE(TrainDictionary({}, nothing, 1024).empty());
}

TEST(DictionaryTest, WhatIsNoDictionaryIsRefused) {
  const std::string trained = Trained();
  EXPECT_EQ(Dictionary::Load({}), nullptr);
  EXPECT_EQ(Dictionary::Load(std::string(3000, 'x')), nullptr);
  EXPECT_EQ(Dictionary::Load(trained.substr(1)), nullptr);
  for (size_t bytes = 0; bytes < 40; ++bytes)
    EXPECT_EQ(Dictionary::Load(trained.substr(0, bytes)), nullptr) << bytes;
}

TEST(DictionaryTest, AFrameMayNameItsDictionary) {
  const std::string trained = Trained(), other = Trained(77);
  const std::string raw(300, 'x');
  std::string out(1000, '\0'), back(raw.size(), '\0');
  const std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> context(ZSTD_createCCtx(),
                                                                     ZSTD_freeCCtx);
  out.resize(ZSTD_compress_usingDict(context.get(), out.data(), out.size(), raw.data(), raw.size(),
                                     trained.data(), trained.size(), 1));
  EXPECT_TRUE(Dictionary::Load(trained)->Decompress(out, back.data(), 300));
  EXPECT_EQ(back, raw);
  EXPECT_FALSE(Dictionary::Load(other)->Decompress(out, back.data(), 300))
      << "the frame has the id of another dictionary";
}

/// Decompression with the wrong dictionary may give a wrong value or fail, but never writes out of
/// bounds.
TEST(DictionaryTest, AnotherDictionarysFrames) {
  const auto other = Dictionary::Load(Trained(77));
  DictionaryCompressor compressor(Trained());
  testing::Random random(4);
  for (int i = 0; i < 50; ++i) {
    const std::string raw = Text(&random);
    std::string out;
    ASSERT_EQ(compressor.Compress(raw, &out), kZstdDictionary);
    const std::unique_ptr<char[]> exact(new char[raw.size()]);
    other->Decompress(out, exact.get(), static_cast<uint32_t>(raw.size()));
  }
}

TEST(DictionaryTest, ManyThreadsDecompress) {
  const std::string trained = Trained();
  const auto dictionary = Dictionary::Load(trained);
  ASSERT_NE(dictionary, nullptr);
  std::vector<std::thread> threads;
  for (uint64_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      testing::Random random(t);
      DictionaryCompressor compressor(trained);
      for (int i = 0; i < 300; ++i) {
        const std::string raw = Text(&random);
        std::string out, back(raw.size(), '\0');
        EXPECT_EQ(compressor.Compress(raw, &out), kZstdDictionary);
        EXPECT_TRUE(dictionary->Decompress(out, back.data(), static_cast<uint32_t>(raw.size())));
        EXPECT_EQ(back, raw);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace lava
