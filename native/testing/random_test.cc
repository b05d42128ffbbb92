// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "testing/random.h"

#include <gtest/gtest.h>

#include <set>

#include "base/coding.h"

namespace lava::testing {
namespace {

TEST(RandomTest, TheSeedDecides) {
  Random a(1);
  Random b(1);
  Random c(2);
  EXPECT_EQ(a.Bytes(50), b.Bytes(50));
  EXPECT_NE(a.Next(), c.Next());
}

TEST(RandomTest, StaysInItsBounds) {
  Random random(1);
  std::set<uint64_t> seen;
  size_t empty = 0;
  for (int i = 0; i < 2'000; ++i) {
    seen.insert(random.Between(5, 9));
    const std::string bytes = random.SkewedBytes(100);
    EXPECT_LE(bytes.size(), 100u);
    empty += bytes.empty() ? 1 : 0;
  }
  EXPECT_EQ(seen, (std::set<uint64_t>{5, 6, 7, 8, 9}));
  EXPECT_GT(empty, 0u);
  EXPECT_LT(empty, 1'500u);
}

TEST(KeyGeneratorTest, KeysLieInTheirPartitionsAndMeetAgain) {
  KeyGenerator generator(1, {.partition_bytes = 2, .partitions = 3, .keys = 4});
  std::set<std::string> keys;
  for (int i = 0; i < 500; ++i) {
    const std::string key = generator.Key();
    EXPECT_LT(DecodeBigEndian(key.data(), 2), 3u);
    keys.insert(key);
  }
  EXPECT_EQ(keys.size(), 12u);
  EXPECT_EQ(*keys.begin(), generator.KeyAt(0));
  EXPECT_EQ(*keys.rbegin(), generator.KeyAt(11));
  for (uint64_t n = 1; n < 12; ++n) EXPECT_LT(generator.KeyAt(n - 1), generator.KeyAt(n));
}

TEST(KeyGeneratorTest, MapKeysStartWithAPrefix) {
  KeyGenerator generator(1, {.partitions = 2, .keys = 3});
  std::set<std::string> prefixes;
  for (uint64_t n = 0; n < 6; ++n) prefixes.insert(generator.KeyAt(n));
  bool whole = false;
  for (int i = 0; i < 300; ++i) {
    uint32_t prefix_bytes = 0;
    const std::string key = generator.MapKey(&prefix_bytes);
    EXPECT_EQ(prefixes.count(key.substr(0, prefix_bytes)), 1u);
    whole |= key.size() == prefix_bytes;
    EXPECT_EQ(prefixes.count(generator.MapPrefix()), 1u);
  }
  EXPECT_TRUE(whole) << "one of the keys must have an empty user key";
}

}  // namespace
}  // namespace lava::testing
