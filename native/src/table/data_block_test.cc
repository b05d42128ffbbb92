// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "table/data_block.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "table/format.h"
#include "table/table_test_util.h"

namespace lava::ksst {
namespace {

using lava::testing::Own;
using lava::testing::OwnedRecord;
using lava::testing::Random;

size_t Shared(Slice a, Slice b) {
  size_t i = 0;
  while (i < a.size() && i < b.size() && a[i] == b[i]) ++i;
  return i;
}

uint64_t HashOf(const OwnedRecord& record) {
  return record.kind == RecordKind::kPrefixDelete ? PrefixDeleteHash(record.key)
                                                  : PointHash(record.key);
}

/// The block, followed by its slack.
std::string Build(const std::vector<OwnedRecord>& records) {
  DataBlockBuilder builder;
  std::string before;
  for (const OwnedRecord& record : records) {
    builder.Add(record.view(), HashOf(record), Shared(before, record.key));
    before = record.key;
  }
  return std::string(builder.Finish());
}

constexpr RecordKinds kAllKinds = kInlineKinds | kDecoupledKinds;

const char* Check(DataBlock* block, std::string* bytes) {
  size_t size = bytes->size();
  bytes->resize(size + kDataBlockSlackBytes);
  const char* error = block->Check(Slice(bytes->data(), size), kAllKinds);
  bytes->resize(size);
  bytes->reserve(size + kDataBlockSlackBytes);
  return error;
}

std::vector<OwnedRecord> RandomRecords(Random* random, size_t count) {
  std::map<std::pair<std::string, bool>, OwnedRecord> sorted;
  while (sorted.size() < count) {
    std::string key = std::string(random->Uniform(30), 'a' + static_cast<char>(random->Uniform(2)));
    key += random->OneIn(20) ? std::string(200, 'l') : "";
    key += random->Bytes(random->Uniform(3));
    bool point = !random->OneIn(8);
    OwnedRecord record{key, point ? RecordKind::kPut : RecordKind::kPrefixDelete, 0, ""};
    if (point) record.value = random->Bytes(random->OneIn(9) ? 300 : random->Uniform(9));
    if (point && random->OneIn(2)) record.prefix_bytes = static_cast<uint32_t>(key.size());
    sorted[{key, point}] = record;
  }
  std::vector<OwnedRecord> records;
  for (auto& [key, record] : sorted) records.push_back(record);
  return records;
}

TEST(DataBlockTest, FindsWalksAndSeeksAsAVector) {
  Random random(1);
  for (size_t count : {1u, 2u, 15u, 16u, 17u, 32u, 33u, 200u}) {
    auto records = RandomRecords(&random, count);
    std::string bytes = Build(records);
    bytes.reserve(bytes.size() + kDataBlockSlackBytes);
    DataBlock block;
    ASSERT_EQ(block.Check(bytes, kAllKinds), nullptr);
    ASSERT_EQ(block.count(), count);
    DataBlockCursor cursor;
    cursor.SeekToFirst(block);
    for (const OwnedRecord& record : records) {
      ASSERT_TRUE(cursor.Valid());
      ASSERT_EQ(Own(cursor.record()), record);
      cursor.Next();
      DataBlockEntry entry;
      bool prefix_delete = record.kind == RecordKind::kPrefixDelete;
      ASSERT_TRUE(block.Find(record.key, HashOf(record), prefix_delete, &entry));
      EXPECT_EQ(entry.value(), record.value);
      EXPECT_EQ(entry.kind, record.kind);
    }
    EXPECT_FALSE(cursor.Valid());
    for (int i = 0; i < 300; ++i) {
      std::string target = std::string(random.Uniform(31), 'a') + random.Bytes(random.Uniform(2));
      auto at = std::find_if(records.begin(), records.end(),
                             [&](const OwnedRecord& r) { return r.key >= target; });
      cursor.Seek(block, target);
      ASSERT_EQ(cursor.Valid(), at != records.end());
      if (cursor.Valid()) {
        ASSERT_EQ(Own(cursor.record()), *at);
      }
      bool has = std::any_of(records.begin(), records.end(), [&](const OwnedRecord& r) {
        return r.key == target && r.kind == RecordKind::kPut;
      });
      DataBlockEntry entry;
      EXPECT_EQ(block.Find(target, PointHash(target), false, &entry), has);
    }
  }
}

TEST(DataBlockTest, CollidingFingerprintsDoNotConfuse) {
  // All records have the same fingerprint, so each is a candidate for every key.
  DataBlockBuilder builder;
  std::string before;
  for (int i = 100; i < 180; ++i) {
    std::string key = "key" + std::to_string(i);
    builder.Add({key, RecordKind::kPut, 0, key}, 0, Shared(before, key));
    before = key;
  }
  std::string bytes(builder.Finish());
  bytes.reserve(bytes.size() + kDataBlockSlackBytes);
  DataBlock block;
  ASSERT_EQ(block.Check(bytes, kAllKinds), nullptr);
  for (int i = 100; i < 180; ++i) {
    std::string key = "key" + std::to_string(i);
    DataBlockEntry entry;
    ASSERT_TRUE(block.Find(key, 0, false, &entry));
    EXPECT_EQ(entry.value(), key);
    EXPECT_FALSE(block.Find(key + "x", 0, false, &entry));
    EXPECT_FALSE(block.Find(key.substr(0, 5), 0, false, &entry));
    EXPECT_FALSE(block.Find(key, 0, true, &entry));
  }
}

TEST(DataBlockTest, ResetStartsAFreshBlock) {
  DataBlockBuilder builder;
  builder.Add({"aaaa", RecordKind::kPut, 0, "1"}, 1, 0);
  builder.Finish();
  builder.Reset();
  EXPECT_TRUE(builder.empty());
  builder.Add({"aaab", RecordKind::kPut, 0, "2"}, 1, 3);
  std::string bytes(builder.Finish());
  bytes.reserve(bytes.size() + kDataBlockSlackBytes);
  DataBlock block;
  ASSERT_EQ(block.Check(bytes, kAllKinds), nullptr);
  DataBlockCursor cursor;
  cursor.SeekToFirst(block);
  EXPECT_EQ(cursor.record().key, "aaab");
}

TEST(DataBlockTest, DamageIsRefusedOrHarmless) {
  Random random(9);
  auto records = RandomRecords(&random, 50);
  std::string good = Build(records);
  for (int round = 0; round < 20000; ++round) {
    std::string bad = good;
    for (uint64_t edits = 1 + random.Uniform(3); edits > 0; --edits)
      bad[random.Uniform(bad.size())] = static_cast<char>(random.Next());
    if (random.OneIn(10)) bad.resize(random.Uniform(bad.size()));
    bad.reserve(bad.size() + kDataBlockSlackBytes);
    DataBlock block;
    if (Check(&block, &bad) != nullptr) continue;
    DataBlockCursor cursor;
    size_t walked = 0;
    for (cursor.SeekToFirst(block); cursor.Valid(); cursor.Next()) ++walked;
    EXPECT_EQ(walked, block.count());
    for (const OwnedRecord& record : records) {
      DataBlockEntry entry;
      if (block.Find(record.key, HashOf(record), false, &entry)) {
        EXPECT_LE(entry.end(), block.entries_end());
      }
      cursor.Seek(block, record.key);
    }
  }
}

TEST(DataBlockTest, UnknownKindsAreRefused) {
  for (const int kind : {0, 6, 7}) {
    std::string bytes = Build({{"k", static_cast<RecordKind>(kind), 0, "v"}});
    DataBlock block;
    EXPECT_NE(Check(&block, &bytes), nullptr) << kind;
  }
}

TEST(DataBlockTest, NothingIsNoBlock) {
  std::string bytes;
  DataBlock block;
  EXPECT_NE(Check(&block, &bytes), nullptr);
}

}  // namespace
}  // namespace lava::ksst
