// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "value/key_block.h"

#include <gtest/gtest.h>

#include "base/coding.h"
#include "value/format.h"

namespace lava::vsst {
namespace {

TEST(KeyBlockTest, RoundTrip) {
  KeyBlockBuilder builder;
  builder.Add("", {0, 16, 0}, 777);
  builder.Add("abc", {1, 1ull << 40, 1u << 31}, 793);
  builder.Add("abc", {300, 20, 4}, 0);
  builder.Add("abd", {0, 21, 5}, 0);
  uint64_t offset = 0;
  int order = 0;
  KeyBlockCursor cursor;
  ASSERT_EQ(cursor.Load(builder.payload(), &offset), nullptr);
  EXPECT_EQ(offset, 777u);
  ASSERT_EQ(cursor.Next(&order), nullptr);
  EXPECT_EQ(cursor.key(), "");
  ASSERT_EQ(cursor.Next(&order), nullptr);
  EXPECT_LT(order, 0);
  EXPECT_EQ(cursor.key(), "abc");
  EXPECT_EQ(cursor.entry().blob_file_index, 1u);
  EXPECT_EQ(cursor.entry().record_bytes, 1ull << 40);
  EXPECT_EQ(cursor.entry().raw_bytes, 1u << 31);
  ASSERT_EQ(cursor.Next(&order), nullptr);
  EXPECT_EQ(order, 0);
  EXPECT_EQ(cursor.entry().blob_file_index, 300u);
  ASSERT_EQ(cursor.Next(&order), nullptr);
  EXPECT_EQ(cursor.key(), "abd");
  EXPECT_TRUE(cursor.done());
}

TEST(KeyBlockTest, TheNextBlockSharesNothing) {
  KeyBlockBuilder builder;
  builder.Add("abc", {0, 16, 0}, 0);
  const std::string first = builder.payload();
  builder.Reset();
  builder.Add("abb", {0, 16, 0}, 16);
  uint64_t offset = 0;
  int order = 0;
  KeyBlockCursor cursor;
  ASSERT_EQ(cursor.Load(first, &offset), nullptr);
  ASSERT_EQ(cursor.Next(&order), nullptr);
  ASSERT_EQ(cursor.Load(builder.payload(), &offset), nullptr);
  ASSERT_EQ(cursor.Next(&order), nullptr);
  EXPECT_GT(order, 0) << "the next block must not be compared with the key of the block before";
  EXPECT_EQ(cursor.key(), "abb");
}

TEST(KeyBlockTest, BrokenPayloads) {
  KeyBlockBuilder builder;
  builder.Add("abc", {1, 16, 0}, 5);
  const std::string& payload = builder.payload();
  uint64_t offset = 0;
  int order = 0;
  for (size_t bytes = 0; bytes < payload.size(); ++bytes) {
    KeyBlockCursor cursor;
    const char* error = cursor.Load(Slice(payload).substr(0, bytes), &offset);
    if (error == nullptr) error = cursor.Next(&order);
    EXPECT_NE(error, nullptr) << bytes;
  }
  std::string shares = payload;
  shares[1] = 1;
  KeyBlockCursor cursor;
  ASSERT_EQ(cursor.Load(shares, &offset), nullptr);
  EXPECT_NE(cursor.Next(&order), nullptr);
}

TEST(KeyBlockTest, LongKeysAreRefused) {
  KeyBlockBuilder builder;
  builder.Add(std::string(kRecordKeyBytesMax, 'a'), {0, 16, 0}, 0);
  builder.Add(std::string(kRecordKeyBytesMax, 'a') + "b", {0, 16, 0}, 0);
  uint64_t offset = 0;
  int order = 0;
  KeyBlockCursor cursor;
  ASSERT_EQ(cursor.Load(builder.payload(), &offset), nullptr);
  EXPECT_EQ(cursor.Next(&order), nullptr);
  EXPECT_NE(cursor.Next(&order), nullptr);
}

}  // namespace
}  // namespace lava::vsst
