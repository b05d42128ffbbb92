// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "value/crit_bit.h"

#include <gtest/gtest.h>

#include <set>

#include "testing/random.h"
#include "value/format.h"

namespace lava::vsst {
namespace {

using testing::Random;

struct Built {
  std::string payload;
  uint64_t tree_bytes = 0;
  IndexPartitionView view;
  const char* error = nullptr;
};

/// Record i has 20 + i % 7 bytes; the first begins at 1000.
std::unique_ptr<Built> Build(const std::set<std::string>& keys) {
  auto built = std::make_unique<Built>();
  IndexPartitionBuilder builder;
  uint64_t offset = 1000, i = 0;
  for (const std::string& key : keys) {
    builder.Add(key, offset);
    offset += 20 + i++ % 7;
  }
  EXPECT_EQ(builder.count(), keys.size());
  built->tree_bytes = builder.Finish(offset, &built->payload);
  EXPECT_EQ(builder.count(), 0u);
  built->error = built->view.Load(built->payload, offset - 1000);
  return built;
}

void ExpectAllFound(const std::set<std::string>& keys) {
  auto built = Build(keys);
  ASSERT_EQ(built->error, nullptr) << built->error;
  ASSERT_EQ(built->view.count(), keys.size());
  EXPECT_EQ(built->view.tree_bytes(), built->tree_bytes);
  uint64_t offset = 0;
  uint32_t i = 0;
  for (const std::string& key : keys) {
    ASSERT_EQ(built->view.Candidate(key), i);
    EXPECT_EQ(built->view.fingerprint(i), FingerprintOf(KeyHash(key)));
    EXPECT_EQ(built->view.group(i).begin, offset);
    offset += 20 + i % 7;
    EXPECT_EQ(built->view.group(i).end, offset);
    ++i;
  }
}

TEST(CritBitTest, FirstDifferingBit) {
  EXPECT_EQ(FirstDifferingBit("", "a"), 0u);
  EXPECT_EQ(FirstDifferingBit("a", std::string("a\0", 2)), 9u);
  EXPECT_EQ(FirstDifferingBit(std::string("\0", 1), "\x80"), 1u);
  EXPECT_EQ(FirstDifferingBit("ab", "ac"), 9u + 8u);
}

TEST(CritBitTest, FewKeys) {
  ExpectAllFound({""});
  ExpectAllFound({"", std::string("\0", 1)});
  ExpectAllFound({"a", "aa", "aaa", "aaaa", std::string("a\0", 2), "ab", "b"});
}

TEST(CritBitTest, RandomKeys) {
  Random random(1);
  for (int round = 0; round < 300; ++round) {
    std::set<std::string> keys;
    std::string shared = random.Bytes(random.Uniform(40));
    size_t count = random.Between(1, 300);
    for (size_t i = 0; i < count; ++i) {
      std::string key = shared + random.SkewedBytes(12);
      if (random.OneIn(3) && !keys.empty()) key = *keys.rbegin() + random.Bytes(random.Uniform(3));
      keys.insert(key);
    }
    SCOPED_TRACE(round);
    ExpectAllFound(keys);
  }
}

TEST(CritBitTest, StrangersGetSomeCandidate) {
  Random random(2);
  std::set<std::string> keys;
  for (int i = 0; i < 100; ++i) keys.insert(random.Bytes(random.Uniform(5)));
  auto built = Build(keys);
  for (int i = 0; i < 1000; ++i)
    EXPECT_LT(built->view.Candidate(random.Bytes(random.Uniform(9))), keys.size());
}

TEST(CritBitTest, WidthOfBitsGrowsWithTheKeys) {
  EXPECT_EQ(Build({"a", "b", "c"})->tree_bytes, 10 + 2 + 3u);
  std::string middle(100, 'x'), far(10000, 'x');
  EXPECT_EQ(Build({"a", middle + "a", middle + "b"})->tree_bytes, 10 + 2 * 2 + 3u);
  EXPECT_EQ(Build({"a", far + "a", far + "b"})->tree_bytes, 10 + 2 * 4 + 3u);
  // A prefix that all keys share costs nothing.
  EXPECT_EQ(Build({far + "a", far + "b"})->tree_bytes, 10 + 1 + 2u);
  ExpectAllFound({"a", middle + "a", middle + "b"});
  ExpectAllFound({"a", far + "a", far + "b"});
}

TEST(CritBitTest, TreeBytesOfKeysOf36Bytes) {
  Random random(3);
  std::set<std::string> keys;
  while (keys.size() < 256) keys.insert(std::string(14, 'p') + random.Bytes(22));
  EXPECT_LE(static_cast<double>(Build(keys)->tree_bytes) / 256, 2.5);
}

TEST(CritBitTest, BrokenPayloadsAreRefused) {
  const auto built = Build({"a", "b", "c"});
  const uint64_t extent = 20 + 21 + 22;
  IndexPartitionView view;
  for (size_t bytes = 0; bytes < built->payload.size(); ++bytes)
    EXPECT_NE(view.Load(Slice(built->payload).substr(0, bytes), extent), nullptr) << bytes;
  EXPECT_NE(view.Load(built->payload + "x", extent), nullptr);
  EXPECT_NE(view.Load(built->payload, extent + 1), nullptr);
  auto broken = [&](size_t at, char byte) {
    std::string payload = built->payload;
    payload[at] = byte;
    return view.Load(payload, extent) != nullptr;
  };
  EXPECT_TRUE(broken(0, 0));
  EXPECT_TRUE(broken(3, 1));  // a count beyond the limit
  EXPECT_TRUE(broken(8, 3));
  EXPECT_TRUE(broken(8, 2));
  EXPECT_TRUE(broken(9, 0));
  EXPECT_TRUE(broken(9, 9));
  EXPECT_TRUE(broken(built->payload.size() - 3, 15));  // no record is that short
  EXPECT_TRUE(broken(built->payload.size() - 2, 10));
}

TEST(CritBitTest, AnyBitsAreSafe) {
  Random random(4);
  const auto built = Build({"a", "b", "c", "d", "e", "f"});
  for (int round = 0; round < 2000; ++round) {
    std::string payload = built->payload;
    for (int i = 0; i < 9; ++i) payload[4 + random.Uniform(4)] = static_cast<char>(random.Next());
    for (int i = 0; i < 5; ++i) payload[10 + i] = static_cast<char>(random.Next());
    IndexPartitionView view;
    ASSERT_EQ(view.Load(payload, 20 + 21 + 22 + 23 + 24 + 25), nullptr);
    EXPECT_LT(view.Candidate(random.Bytes(random.Uniform(40))), 6u);
  }
}

}  // namespace
}  // namespace lava::vsst
