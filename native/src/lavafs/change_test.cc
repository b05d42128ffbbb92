// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "lavafs/change.h"

#include <gtest/gtest.h>

#include "base/coding.h"

namespace lava::lavafs {
namespace {

using Type = Change::Type;

std::string Encoded(const Change& change) {
  std::string out;
  EncodeChange(change, &out);
  return out;
}

std::vector<Change> OneOfEach() {
  return {
      {.type = Type::kMakeDirectory, .directory = 3, .name = "/a/b"},
      {.type = Type::kRemoveDirectory, .directory = 300},
      {.type = Type::kCreate, .inode = 5, .directory = 3, .name = "file"},
      {.type = Type::kLink, .inode = 5, .directory = 4, .name = "other"},
      {.type = Type::kUnlink, .directory = 3, .name = "file"},
      {.type = Type::kRename, .directory = 3, .to_directory = 4, .name = "x", .to_name = "y"},
      {.type = Type::kExtents, .inode = 5, .ranges = {{1, 2}, {900, 1}}},
      {.type = Type::kSize, .inode = 5, .size = 1ull << 40, .open_ended = true},
      {.type = Type::kRestore, .inode = 6, .size = 12, .ranges = {{7, 1}}},
      {.type = Type::kJump, .extent = 77},
      {.type = Type::kResume, .start = {.extent = 8, .sequence = 1ull << 50, .previous = 9}},
  };
}

TEST(Change, ComesBackAsItWas) {
  for (const Change& change : OneOfEach()) {
    const std::string bytes = Encoded(change) + "rest";
    Slice in = bytes;
    const auto decoded = DecodeChange(&in);
    ASSERT_TRUE(decoded.ok()) << NameOf(change.type);
    EXPECT_EQ(in, "rest");
    EXPECT_EQ(Encoded(*decoded), Encoded(change));
    EXPECT_EQ(decoded->ranges, change.ranges);
    EXPECT_EQ(decoded->open_ended, change.open_ended);
    EXPECT_EQ(decoded->start, change.start);
    EXPECT_LE(Encoded(change).size(), kChangeBytesMax);
  }
}

TEST(Change, CutOffAnywhereIsRefused) {
  for (const Change& change : OneOfEach()) {
    const std::string bytes = Encoded(change);
    for (size_t length = 0; length < bytes.size(); length++) {
      Slice in(bytes.data(), length);
      EXPECT_TRUE(DecodeChange(&in).status().IsCorruption()) << NameOf(change.type) << length;
    }
  }
}

TEST(Change, WhatNoVersionWritesIsRefused) {
  std::string long_name(256, 'n');
  for (const Change& change : std::vector<Change>{
           {.type = Type::kCreate, .name = ""},
           {.type = Type::kCreate, .name = "a/b"},
           {.type = Type::kCreate, .name = Slice("a\0b", 3)},
           {.type = Type::kLink, .name = long_name},
           {.type = Type::kMakeDirectory, .name = ""},
           {.type = Type::kExtents, .ranges = {{0, 1}}},
           {.type = Type::kExtents, .ranges = {{5, 0}}},
           {.type = Type::kExtents, .ranges = {{kExtentsMax - 1, 2}}},
           {.type = Type::kSize, .size = UINT64_MAX},
       }) {
    const std::string bytes = Encoded(change);
    Slice in = bytes;
    EXPECT_TRUE(DecodeChange(&in).status().IsCorruption()) << NameOf(change.type);
  }
  for (const char type : {'\0', '\x0c', '\xff'}) {
    Slice in(&type, 1);
    EXPECT_TRUE(DecodeChange(&in).status().IsCorruption());
  }
  // More ranges than a change may have.
  std::string many(1, static_cast<char>(Type::kExtents));
  PutVarint32(&many, 1);
  PutVarint32(&many, 1u << 30);
  Slice in = many;
  EXPECT_TRUE(DecodeChange(&in).status().IsCorruption());
}

TEST(Superblock, ComesBackAsItWasOrIsRefused) {
  const Superblock superblock{.uuid = {1, 2},
                              .extent_bytes = 1 << 20,
                              .capacity_bytes = 1ull << 40,
                              .generation = 4,
                              .journal = {.extent = 6, .sequence = 7, .previous = 8}};
  const std::string block = EncodeSuperblock(superblock);
  ASSERT_EQ(block.size(), kBlockBytes);
  ASSERT_TRUE(DecodeSuperblock(block).ok());
  EXPECT_EQ(*DecodeSuperblock(block), superblock);
  // All bytes lie in one sector, which is written whole or not at all.
  EXPECT_EQ(block.find_last_not_of('\0') / 512, 0u);
  for (size_t at = 0; at < 80; at++) {
    std::string damaged = block;
    damaged[at] ^= 0x10;
    EXPECT_TRUE(DecodeSuperblock(damaged).status().IsCorruption()) << at;
  }
  Superblock small = superblock;
  small.extent_bytes = 4096;
  EXPECT_TRUE(DecodeSuperblock(EncodeSuperblock(small)).status().IsCorruption());
  Superblock away = superblock;
  away.journal.extent = 1 << 20;
  EXPECT_TRUE(DecodeSuperblock(EncodeSuperblock(away)).status().IsCorruption());
}

TEST(Transaction, AnyDamagedByteIsSeen) {
  const Uuid uuid{5, 6};
  std::string bytes;
  const TransactionHeader header{
      .sequence = 9, .previous = 10, .mount = 11, .boot = 12, .durable = 8, .ordered = true};
  const uint64_t checksum = EncodeTransaction(uuid, header, "payload", &bytes);
  ASSERT_EQ(bytes.size(), kBlockBytes);
  TransactionHeader read;
  ASSERT_TRUE(PeekTransaction(bytes, kBlockBytes, &read));
  EXPECT_EQ(read.checksum, checksum);
  EXPECT_EQ(read.sequence, 9u);
  EXPECT_EQ(read.durable, 8u);
  EXPECT_TRUE(read.ordered);
  EXPECT_TRUE(CheckTransaction(uuid, read, bytes));
  EXPECT_FALSE(CheckTransaction({6, 6}, read, bytes));
  for (size_t at = 0; at < kTransactionHeaderBytes + 7; at++) {
    std::string damaged = bytes;
    damaged[at] ^= 1;
    const bool whole =
        PeekTransaction(damaged, kBlockBytes, &read) && CheckTransaction(uuid, read, damaged);
    EXPECT_FALSE(whole) << at;
  }
  // A length that exceeds the extent.
  EncodeFixed32(bytes.data() + 4, kBlockBytes);
  EXPECT_FALSE(PeekTransaction(bytes, kBlockBytes, &read));
}

}  // namespace
}  // namespace lava::lavafs
