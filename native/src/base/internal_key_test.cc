// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "base/internal_key.h"

#include <gtest/gtest.h>

#include "base/coding.h"

namespace lava {
namespace {

std::string IdBytes(uint64_t id) {
  std::string bytes;
  PutBigEndian(&bytes, id, kTableIdBytes);
  return bytes;
}

TEST(InternalKey, PutsTheTableBehindThePartition) {
  const std::string id = IdBytes(0x0102030405);
  for (const uint32_t partition_bytes : {1u, 2u}) {
    for (const size_t length : {size_t{2}, size_t{10}, size_t{187}, size_t{188}, size_t{5000}}) {
      std::string user(length, 'k');
      user[0] = 3;
      const InternalKey key(partition_bytes, id.data(), user);
      EXPECT_EQ(key.slice(), user.substr(0, partition_bytes) + id + user.substr(partition_bytes));
      EXPECT_EQ(TableIdOf(key.slice(), partition_bytes), 0x0102030405u);
      for (const size_t skip : {size_t{0}, size_t{1}, size_t{2}, length - 1, length, length + 9}) {
        std::string back;
        AppendUserKey(key.slice(), partition_bytes, skip, &back);
        EXPECT_EQ(back, user.substr(std::min(skip, length))) << skip << " of " << length;
      }
    }
  }
}

TEST(InternalKey, TablesOfAPartitionStandTogether) {
  EXPECT_LT(TableStart(1, 1, 7), TableStart(1, 1, 8));
  EXPECT_LT(TableStart(1, 1, kTableIdLimit - 1), TableStart(2, 1, 0));
  EXPECT_LT(TableStart(255, 2, 9), TableStart(256, 2, 3));
  EXPECT_EQ(PartitionOf(TableStart(258, 2, 9), 2), 258u);
}

TEST(InternalKey, EveryNameHasAnIdWithAnEndBehindIt) {
  for (int i = 0; i < 1000; ++i)
    EXPECT_LT(TableIdOfName("state" + std::to_string(i)), kTableIdLimit - 1);
  EXPECT_EQ(TableIdOfName("a"), TableIdOfName("a"));
  EXPECT_NE(TableIdOfName("a"), TableIdOfName("b"));
}

}  // namespace
}  // namespace lava
