// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "value/key_iterator.h"

#include <gtest/gtest.h>

#include "testing/fault_file_system.h"
#include "value/value_test_util.h"

namespace lava::testing {
namespace {

class KeyIteratorTest : public ::testing::Test {
 protected:
  KeyIteratorTest() { EXPECT_TRUE(files_.CreateDirectory("/v").ok()); }
  void Write(const ValueMap& values) {
    ASSERT_TRUE(WriteValues(&files_, kValuePath, values, {Compression::kNone, 7}).ok());
  }
  /// Status at the end of a walk over a file with these entries as its only key block, which must
  /// have the length of the present one.
  Status WalkOver(const std::string& payload, uint64_t* records) {
    auto image = ImageOf(&files_, kValuePath);
    EXPECT_TRUE(image.ok());
    EXPECT_EQ(image->key_blocks.size(), 1u);
    const auto part = image->key_blocks[0];
    EXPECT_EQ(part.end - part.offset, payload.size() + kBlockTrailerBytes);
    image->bytes.replace(part.offset, payload.size(), payload);
    image->Repair();
    EXPECT_TRUE(files_.SetContent("/v/changed.vsst", image->bytes).ok());
    auto head = OpenHead(&files_, "/v/changed.vsst");
    EXPECT_TRUE(head.ok());
    vsst::KeyIterator at(head->get());
    for (*records = 0; at.Valid(); at.Next()) ++*records;
    return at.status();
  }
  struct Entry {
    std::string key;
    vsst::KeyBlockEntry entry;
  };
  static std::string Block(const std::vector<Entry>& entries, uint64_t first_offset = 0) {
    vsst::KeyBlockBuilder builder;
    for (const Entry& e : entries) builder.Add(e.key, e.entry, first_offset);
    return builder.payload();
  }

  ChosenFileSystem files_;
};

TEST_F(KeyIteratorTest, WalksManyBlocksInFewReads) {
  ValueMap values;
  Random random(1);
  while (values.size() < 5000) values[{random.Bytes(30), BlobFileId(1)}] = "v";
  Write(values);
  FaultFileSystem counting(&files_);
  auto head = OpenHead(&counting, kValuePath);
  ASSERT_TRUE(head.ok());
  ASSERT_GT((*head)->top.key_blocks().size(), 5u);
  const uint64_t before = counting.calls(FileCall::kRead);
  vsst::KeyIterator at(head->get());
  uint64_t offset = 0;
  for (const auto& [name, value] : values) {
    ASSERT_TRUE(at.Valid());
    EXPECT_EQ(at.key(), name.first);
    EXPECT_EQ(at.record_offset(), offset);
    EXPECT_FALSE(at.same_key());
    offset += at.record_bytes();
    at.Next();
  }
  EXPECT_FALSE(at.Valid());
  EXPECT_TRUE(at.status().ok());
  EXPECT_EQ(offset, (*head)->top.records_end());
  EXPECT_EQ(counting.calls(FileCall::kRead) - before, 1u);
}

/// Records of 18 bytes: a key of 1 byte and a value of 1 byte.
TEST_F(KeyIteratorTest, WhatDoesNotFitTheRecordsIsCorrupt) {
  Write({{{"a", BlobFileId(1)}, "1"}, {{"b", BlobFileId(2)}, "2"}, {{"b", BlobFileId(3)}, "3"}});
  uint64_t records = 0;
  auto walk = [&](const std::vector<Entry>& entries, uint64_t first_offset = 0) {
    return WalkOver(Block(entries, first_offset), &records);
  };
  EXPECT_TRUE(walk({{"a", {0, 18, 1}}, {"b", {1, 18, 1}}, {"b", {2, 18, 1}}}).ok());
  EXPECT_EQ(records, 3u);
  auto corrupt = [&](const Status& status) {
    return status.IsCorruption() && status.message().find("offset 54") != Slice::npos;
  };
  EXPECT_TRUE(corrupt(walk({{"a", {0, 18, 1}}, {"b", {2, 18, 1}}, {"b", {1, 18, 1}}})));
  EXPECT_EQ(records, 2u) << "the blob files of b must ascend";
  EXPECT_TRUE(corrupt(walk({{"b", {0, 18, 1}}, {"a", {1, 18, 1}}, {"a", {2, 18, 1}}})));
  EXPECT_EQ(records, 1u) << "the keys must ascend";
  EXPECT_TRUE(corrupt(walk({{"a", {0, 18, 1}}, {"b", {1, 18, 1}}, {"b", {3, 18, 1}}})));
  EXPECT_EQ(records, 2u) << "the file has no such blob file";
  EXPECT_TRUE(corrupt(walk({{"a", {0, 18, 1}}, {"b", {1, 18, 1}}, {"b", {2, 19, 1}}})));
  EXPECT_EQ(records, 2u) << "the record of the last key is too long";
  EXPECT_TRUE(corrupt(walk({{"a", {0, 18, 1}}, {"b", {1, 15, 1}}, {"b", {2, 18, 1}}})));
  EXPECT_EQ(records, 1u) << "the record of the second key is too short";
  EXPECT_TRUE(walk({{"a", {0, 18, 1}}, {"b", {1, 18, 1}}, {"b", {2, 17, 1}}}).IsCorruption());
  EXPECT_TRUE(corrupt(walk({{"a", {0, 18, 1}}, {"b", {1, 18, 1}}, {"b", {2, 18, 1}}}, 18)));
  EXPECT_EQ(records, 0u) << "the block must begin with the first record";
}

}  // namespace
}  // namespace lava::testing
