// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "value/top_index.h"

#include <gtest/gtest.h>

#include "base/coding.h"

namespace lava::vsst {
namespace {

std::string Encoded() {
  TopIndexBuilder builder;
  builder.AddIndexPartition("", 100, 10);
  builder.AddIndexPartition("b", 200, 20);
  builder.AddIndexPartition("bb", 300, 30);
  builder.AddKeyBlock(40);
  builder.AddKeyBlock(50);
  std::string payload;
  builder.Finish(&payload);
  return payload;
}
constexpr uint64_t kEnd = 600 + 40 + 50 + 10 + 20 + 30 + 5 * kBlockTrailerBytes;

TEST(TopIndexTest, ShortSeparator) {
  EXPECT_EQ(ShortSeparator("abc", "abd"), "abd");
  EXPECT_EQ(ShortSeparator("abc", "b"), "b");
  EXPECT_EQ(ShortSeparator("abc", "bzzzz"), "b");
  EXPECT_EQ(ShortSeparator("abc", "abcdef"), "abcd");
  EXPECT_EQ(ShortSeparator("", "abc"), "a");
}

TEST(TopIndexTest, EverythingHasItsPlace) {
  TopIndex top;
  ASSERT_EQ(top.Load(Encoded(), kEnd), nullptr);
  ASSERT_EQ(top.index_partitions().size(), 3u);
  ASSERT_EQ(top.key_blocks().size(), 2u);
  EXPECT_EQ(top.records_end(), 600u);
  EXPECT_EQ(top.key_blocks()[0].offset, 600u);
  EXPECT_EQ(top.key_blocks()[1].offset, 640 + kBlockTrailerBytes);
  EXPECT_EQ(top.key_blocks_end(), 690 + 2 * kBlockTrailerBytes);
  EXPECT_EQ(top.index_partitions()[0].block.offset, top.key_blocks_end());
  EXPECT_EQ(top.index_partitions()[2].block.end(), kEnd);
  EXPECT_EQ(top.index_partitions()[1].records_begin, 100u);
  EXPECT_EQ(top.index_partitions()[1].records_end, 300u);
  for (auto [key, index] :
       {std::pair{"", 0}, {"a", 0}, {"azz", 0}, {"b", 1}, {"ba", 1}, {"bb", 2}, {"z", 2}})
    EXPECT_EQ(&top.Find(key), &top.index_partitions()[static_cast<size_t>(index)]) << key;
}

TEST(TopIndexTest, EmptyFile) {
  std::string payload;
  TopIndexBuilder().Finish(&payload);
  TopIndex top, other;
  EXPECT_EQ(top.Load(payload, 0), nullptr);
  EXPECT_NE(other.Load(payload, 1), nullptr);
}

TEST(TopIndexTest, BrokenPayloads) {
  const std::string payload = Encoded();
  auto refused = [](std::string bytes, uint64_t end) {
    TopIndex top;
    return top.Load(std::move(bytes), end) != nullptr;
  };
  for (size_t bytes = 0; bytes < payload.size(); ++bytes)
    EXPECT_TRUE(refused(payload.substr(0, bytes), kEnd)) << bytes;
  for (uint64_t end = 0; end < 2 * kEnd; ++end) EXPECT_EQ(refused(payload, end), end != kEnd);
  EXPECT_TRUE(refused(payload + '\0', kEnd));
  // Every changed byte is noticed, but for separators as long as they ascend.
  for (size_t at = 0; at < payload.size(); ++at) {
    std::string flipped = payload;
    flipped[at] = static_cast<char>(flipped[at] ^ 0x20);
    bool separator = payload[at] == 'b' && payload[at + 1] != 'b';
    EXPECT_EQ(refused(flipped, kEnd), !separator) << at;
  }
  std::string huge;
  PutVarint64(&huge, UINT64_MAX);
  EXPECT_TRUE(refused(huge + payload, kEnd));
}

}  // namespace
}  // namespace lava::vsst
