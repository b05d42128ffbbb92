// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "base/compression.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "base/zstd_contexts.h"
#include "testing/random.h"

namespace lava {
namespace {

TEST(CompressionTest, RoundTripOfWhatShrinks) {
  for (Compression codec : {Compression::kLz4, Compression::kZstd}) {
    Compressor compressor(codec);
    for (size_t bytes : {100u, 4096u, 300000u}) {
      std::string raw(bytes, 'x');
      raw += "tail";
      std::string out;
      ASSERT_EQ(compressor.Compress(raw, &out), codec);
      EXPECT_LT(out.size(), raw.size());
      uint32_t raw_bytes = static_cast<uint32_t>(raw.size());
      EXPECT_TRUE(RawBytesPossible(codec, out, raw_bytes));
      std::string back(raw.size(), '\0');
      ASSERT_TRUE(Decompress(codec, out, back.data(), raw_bytes));
      EXPECT_EQ(back, raw);
      EXPECT_FALSE(Decompress(codec, out, back.data(), raw_bytes - 1));
      std::string larger(raw.size() + 1, '\0');
      EXPECT_FALSE(Decompress(codec, out, larger.data(), raw_bytes + 1));
    }
  }
}

TEST(CompressionTest, NoiseAndSmallBlocksStayRaw) {
  testing::Random random(3);
  std::string out;
  for (Compression codec : {Compression::kNone, Compression::kLz4, Compression::kZstd}) {
    Compressor compressor(codec);
    EXPECT_EQ(compressor.Compress(random.Bytes(5000), &out), Compression::kNone);
    EXPECT_EQ(compressor.Compress("", &out), Compression::kNone);
    EXPECT_EQ(compressor.Compress("aaaa", &out), Compression::kNone);
  }
}

// Incompressible blocks cost little, and compressible blocks are soon detected again.
TEST(CompressionTest, NoiseIsTriedLessAndLess) {
  testing::Random random(4);
  const std::string text(4096, 'x');
  for (Compression codec : {Compression::kLz4, Compression::kZstd}) {
    Compressor compressor(codec);
    std::string out;
    for (int blocks : {15, 16, 100, 1000}) {
      for (int i = 0; i < blocks; ++i)
        ASSERT_EQ(compressor.Compress(random.Bytes(4096), &out), Compression::kNone);
      int tried = 1;
      while (compressor.Compress(text, &out) == Compression::kNone) ++tried;
      if (blocks < 16) {
        EXPECT_EQ(tried, 1);
      } else {
        EXPECT_GT(tried, 1) << blocks;
        EXPECT_LE(tried, 8) << blocks;
      }
      for (int i = 0; i < 20; ++i) ASSERT_EQ(compressor.Compress(text, &out), codec);
    }
  }
}

// One Compressor handles blocks of all sizes, also after a block that does not shrink.
TEST(CompressionTest, BlocksOfAllSizesOneAfterTheOther) {
  testing::Random random(6);
  for (Compression codec : {Compression::kLz4, Compression::kZstd}) {
    Compressor compressor(codec);
    for (int i = 0; i < 300; ++i) {
      std::string raw = random.Bytes(random.Uniform(40));
      const size_t bytes = 100 + random.Uniform(i % 50 == 0 ? 300'000 : 9000);
      while (raw.size() < bytes) raw += raw.substr(random.Uniform(raw.size() + 1)) + "abc";
      std::string out;
      if (i % 3 == 0) {
        ASSERT_EQ(compressor.Compress(random.Bytes(bytes), &out), Compression::kNone);
      }
      ASSERT_EQ(compressor.Compress(raw, &out), codec);
      std::string back(raw.size(), '\0');
      ASSERT_TRUE(Decompress(codec, out, back.data(), static_cast<uint32_t>(raw.size())));
      ASSERT_EQ(back, raw);
    }
  }
}

TEST(CompressionTest, ContextsAreUsedAgainAsIfNew) {
  auto& contexts = ZstdContexts<ZSTD_CCtx>::Get();
  const size_t kept_max = contexts.kKeptMax;
  std::vector<std::unique_ptr<CompressContext>> used(kept_max + 3);
  for (auto& context : used) context = std::make_unique<CompressContext>();
  EXPECT_EQ(contexts.kept(), 0u);
  for (auto& context : used) ZSTD_CCtx_setParameter(context->get(), ZSTD_c_checksumFlag, 1);
  used.clear();
  EXPECT_EQ(contexts.kept(), kept_max);

  CompressContext again;
  EXPECT_EQ(contexts.kept(), kept_max - 1);
  const auto compressed_with = [](ZSTD_CCtx* context) {
    const std::string raw(1000, 'x');
    std::string out(raw.size(), '\0');
    out.resize(ZSTD_compress2(context, out.data(), out.size(), raw.data(), raw.size()));
    return out;
  };
  EXPECT_EQ(compressed_with(again.get()),
            compressed_with(ZstdPtr<ZSTD_CCtx>(ZSTD_createCCtx()).get()));
}

TEST(CompressionTest, AContextThatHasGrownIsNotKept) {
  auto& contexts = ZstdContexts<ZSTD_CCtx>::Get();
  size_t kept;
  {
    CompressContext large;
    kept = contexts.kept();
    ZSTD_CCtx_setParameter(large.get(), ZSTD_c_compressionLevel, 19);
    const std::string raw(8 << 20, 'x');
    std::string out(raw.size(), '\0');
    ASSERT_FALSE(
        ZSTD_isError(ZSTD_compress2(large.get(), out.data(), out.size(), raw.data(), raw.size())));
  }
  EXPECT_EQ(contexts.kept(), kept);
}

TEST(CompressionTest, ImpossibleLengthsAreSeenBeforeAllocation) {
  Compressor compressor(Compression::kZstd);
  std::string out;
  ASSERT_EQ(compressor.Compress(std::string(1000, 'z'), &out), Compression::kZstd);
  EXPECT_FALSE(RawBytesPossible(Compression::kZstd, out, 1001));
  EXPECT_FALSE(RawBytesPossible(Compression::kLz4, "1234567890", 1 << 20));
  EXPECT_FALSE(RawBytesPossible(Compression::kNone, "1234567890", 11));
  // Sizes beyond lz4's limits; the payload is never read.
  EXPECT_FALSE(RawBytesPossible(Compression::kLz4, Slice(out.data(), 100u << 20), 0x7e000001));
  EXPECT_FALSE(RawBytesPossible(Compression::kLz4, Slice(out.data(), size_t{3} << 30), 100));
}

TEST(CompressionTest, DamagedInputNeverWritesBeyond) {
  testing::Random random(5);
  for (Compression codec : {Compression::kLz4, Compression::kZstd}) {
    Compressor compressor(codec);
    std::string raw, out;
    for (int i = 0; i < 200; ++i) raw += "key" + std::to_string(i % 37);
    ASSERT_EQ(compressor.Compress(raw, &out), codec);
    for (int i = 0; i < 2000; ++i) {
      std::string bad = out;
      bad[random.Uniform(bad.size())] = static_cast<char>(random.Next());
      std::vector<char> back(raw.size());
      bool done = Decompress(codec, bad, back.data(), static_cast<uint32_t>(back.size()));
      EXPECT_TRUE(done || bad != out);
    }
  }
}

TEST(CompressionTest, ManyThreadsDecompress) {
  Compressor compressor(Compression::kZstd);
  std::string raw(5000, 'p'), out;
  ASSERT_EQ(compressor.Compress(raw, &out), Compression::kZstd);
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i) {
        std::string back(raw.size(), '\0');
        EXPECT_TRUE(Decompress(Compression::kZstd, out, back.data(), 5000));
        EXPECT_EQ(back, raw);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace lava
