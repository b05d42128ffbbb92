// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "table/index_block.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "testing/random.h"

namespace lava::ksst {
namespace {

struct Loaded {
  std::unique_ptr<uint64_t[]> memory;
  IndexBlock index;
  const char* error = nullptr;
};

Loaded Load(Slice encoded, uint64_t base, uint64_t end) {
  Loaded loaded;
  size_t bytes = IndexBlock::MemoryBytes(encoded);
  if (bytes == 0) {
    loaded.error = "malformed";
    return loaded;
  }
  loaded.memory = std::make_unique<uint64_t[]>((bytes + 7) / 8);
  loaded.error =
      loaded.index.Load(encoded, base, end, reinterpret_cast<char*>(loaded.memory.get()));
  return loaded;
}

TEST(IndexBlockTest, FindsAsASet) {
  testing::Random random(1);
  for (size_t count : {1u, 2u, 3u, 10u, 500u}) {
    std::set<std::string> keys;
    std::string common(random.Uniform(12), 'c');
    while (keys.size() < count) {
      std::string key = common + std::string(random.Uniform(10), 'm');
      keys.insert(key + random.Bytes(random.Uniform(count > 50 ? 4 : 12)));
    }
    IndexBlockBuilder builder;
    uint64_t end = 1000;
    for (const std::string& key : keys) {
      builder.Add(key, 50 + key.size(), 20);
      end += 50 + key.size();
    }
    std::string encoded;
    builder.Finish(&encoded);
    EXPECT_TRUE(builder.empty());
    Loaded loaded = Load(encoded, 1000, end);
    ASSERT_EQ(loaded.error, nullptr);
    std::vector<std::string> sorted(keys.begin(), keys.end());
    ASSERT_EQ(loaded.index.count(), sorted.size());
    for (uint32_t i = 0; i < sorted.size(); ++i) {
      EXPECT_EQ(loaded.index.key(i), sorted[i]);
      EXPECT_EQ(loaded.index.Find(sorted[i]), i);
      EXPECT_EQ(loaded.index.extent_end(i) - loaded.index.extent_begin(i), 50 + sorted[i].size());
      EXPECT_EQ(loaded.index.block_bytes(i), 20u);
      for (size_t bytes = 0; bytes <= sorted[i].size(); ++bytes) {
        EXPECT_TRUE(loaded.index.KeyStartsWith(i, Slice(sorted[i]).substr(0, bytes)));
      }
      EXPECT_FALSE(loaded.index.KeyStartsWith(i, sorted[i] + "x"));
      const std::string& other = sorted[random.Uniform(sorted.size())];
      EXPECT_EQ(loaded.index.Reaches(i, other), other <= sorted[i]);
      EXPECT_FALSE(loaded.index.Reaches(i, sorted[i] + '\0'));
      EXPECT_TRUE(loaded.index.Reaches(i, sorted[i].substr(0, sorted[i].size() / 2)));
    }
    for (int i = 0; i < 1000; ++i) {
      std::string target = random.OneIn(2) ? sorted[random.Uniform(sorted.size())]
                                           : common + std::string(random.Uniform(12), 'm');
      if (random.OneIn(3)) target.resize(random.Uniform(target.size() + 1));
      if (random.OneIn(3)) target += random.Bytes(random.Uniform(3));
      auto expected = std::lower_bound(sorted.begin(), sorted.end(), target) - sorted.begin();
      EXPECT_EQ(loaded.index.Find(target), static_cast<uint32_t>(expected));
    }
  }
}

TEST(IndexBlockTest, ExtentsMustFillTheirPlace) {
  IndexBlockBuilder builder;
  std::string encoded;
  builder.Add("a", 100, 87);
  builder.Add("b", 50, 10);
  builder.Finish(&encoded);
  EXPECT_EQ(Load(encoded, 10, 160).error, nullptr);
  EXPECT_NE(Load(encoded, 10, 161).error, nullptr);
  EXPECT_NE(Load(encoded, 10, 159).error, nullptr);
  EXPECT_NE(Load(encoded + "x", 10, 160).error, nullptr);
  EXPECT_NE(Load(Slice(encoded).substr(0, encoded.size() - 1), 10, 160).error, nullptr);
  EXPECT_NE(Load("", 0, 0).error, nullptr);
}

TEST(IndexBlockTest, BlocksLongerThanTheirExtentAndDisorderAreRefused) {
  IndexBlockBuilder builder;
  std::string encoded;
  builder.Add("a", 100, 88);
  builder.Finish(&encoded);
  EXPECT_NE(Load(encoded, 0, 100).error, nullptr);
  encoded.clear();
  builder.Add("b", 100, 10);
  builder.Add("a", 100, 10);
  builder.Finish(&encoded);
  EXPECT_NE(Load(encoded, 0, 200).error, nullptr);
}

TEST(IndexBlockTest, DamageNeverReadsOutside) {
  testing::Random random(4);
  IndexBlockBuilder builder;
  std::string good;
  for (int i = 100; i < 160; ++i) builder.Add("common" + std::to_string(i), 100, 80);
  builder.Finish(&good);
  for (int round = 0; round < 20000; ++round) {
    std::string bad = good;
    bad[random.Uniform(bad.size())] = static_cast<char>(random.Next());
    if (random.OneIn(5)) bad.resize(random.Uniform(bad.size()));
    Loaded loaded = Load(bad, 0, 6000);
    if (loaded.error == nullptr) {
      EXPECT_LE(loaded.index.Find("common130"), loaded.index.count());
    }
  }
}

}  // namespace
}  // namespace lava::ksst
