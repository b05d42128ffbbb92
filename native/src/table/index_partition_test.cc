// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "table/index_partition.h"

#include <gtest/gtest.h>

#include "base/coding.h"
#include "table/format.h"
#include "testing/random.h"

namespace lava::ksst {
namespace {

std::string Encoded(size_t blocks, uint32_t bits_per_key, size_t deletes = 0) {
  IndexPartitionBuilder builder(bits_per_key);
  for (size_t i = 0; i < blocks; ++i) {
    const std::string key = "key" + std::to_string(100 + i);
    builder.index.Add(key, 50, 37);
    builder.hashes.push_back(PointHash(key));
  }
  for (size_t i = 0; i < deletes; ++i) {
    const std::string key = "key" + std::to_string(100 + i) + "-deleted";
    const uint64_t hash = DecoupledHash(PointHash(key));
    builder.decoupled.Add({key, RecordKind::kDelete, 0, {}}, hash, 3);
    builder.hashes.push_back(hash);
  }
  std::string raw;
  builder.Finish(&raw);
  return raw;
}

TEST(IndexPartitionTest, RoundTripInOneAlignedPiece) {
  std::string raw = Encoded(40, 10);
  std::shared_ptr<CachedIndexPartition> index_partition;
  ASSERT_EQ(LoadIndexPartition(raw, kFormatVersion, 1000, 3000, &index_partition), nullptr);
  EXPECT_EQ(index_partition->index.count(), 40u);
  EXPECT_EQ(index_partition->index.Find("key105"), 5u);
  EXPECT_EQ(index_partition->index.extent_begin(5), 1250u);
  for (int i = 100; i < 140; ++i)
    EXPECT_TRUE(index_partition->filter.MayHold(PointHash("key" + std::to_string(i))));
  EXPECT_GE(index_partition->charge(), raw.size());
}

TEST(IndexPartitionTest, WithoutAFilterEverythingMayBeThere) {
  std::shared_ptr<CachedIndexPartition> index_partition;
  ASSERT_EQ(LoadIndexPartition(Encoded(3, 0), kFormatVersion, 0, 150, &index_partition), nullptr);
  EXPECT_TRUE(index_partition->filter.MayHold(12345));
}

TEST(IndexPartitionTest, DecoupledRecordsAreFoundByKeyAndByFilter) {
  for (const size_t blocks : {0u, 3u}) {
    std::shared_ptr<CachedIndexPartition> index_partition;
    const std::string raw = Encoded(blocks, 10, 200);
    ASSERT_EQ(LoadIndexPartition(raw, kFormatVersion, 0, 50 * blocks, &index_partition), nullptr);
    EXPECT_EQ(index_partition->index.count(), blocks);
    EXPECT_EQ(index_partition->index.Find("key999"), blocks);
    EXPECT_EQ(index_partition->decoupled.block().count(), 200u);
    EXPECT_GE(index_partition->charge(), raw.size());
    int inline_too = 0;
    DataBlockEntry entry;
    for (int i = 100; i < 300; ++i) {
      const std::string key = "key" + std::to_string(i) + "-deleted";
      const uint64_t hash = DecoupledHash(PointHash(key));
      EXPECT_TRUE(index_partition->filter.MayHold(hash));
      EXPECT_TRUE(index_partition->decoupled.Find(key, hash, false, &entry)) << key;
      EXPECT_FALSE(index_partition->decoupled.Find(key, hash, true, &entry));
      const std::string between = key + "x";
      EXPECT_FALSE(index_partition->decoupled.Find(between, DecoupledHash(PointHash(between)),
                                                   false, &entry));
      inline_too += index_partition->filter.MayHold(PointHash(key));
    }
    EXPECT_LT(inline_too, 20)
        << "the filter must tell decoupled records from records in data blocks";
  }
}

TEST(IndexPartitionTest, BothRecordsOfAKeyAreFoundInGroupsOfAnyPlace) {
  for (size_t before = 0; before < 40; ++before) {
    IndexPartitionBuilder builder(0);
    std::vector<std::string> keys;
    for (size_t i = 0; i < before; ++i) keys.push_back("k" + std::to_string(100 + i));
    for (const std::string& key : keys)
      builder.decoupled.Add({key, RecordKind::kDelete, 0, {}}, DecoupledHash(PointHash(key)), 0);
    const uint64_t delete_hash = DecoupledHash(PrefixDeleteHash("k2"));
    builder.decoupled.Add({"k2", RecordKind::kPrefixDelete, 0, {}}, delete_hash, 0);
    builder.decoupled.Add({"k2", RecordKind::kDelete, 0, {}}, DecoupledHash(PointHash("k2")), 0);
    std::string raw;
    builder.Finish(&raw);
    std::shared_ptr<CachedIndexPartition> index_partition;
    ASSERT_EQ(LoadIndexPartition(raw, kFormatVersion, 7, 7, &index_partition), nullptr);
    DataBlockEntry entry;
    EXPECT_TRUE(index_partition->decoupled.Find("k2", delete_hash, true, &entry)) << before;
    EXPECT_TRUE(
        index_partition->decoupled.Find("k2", DecoupledHash(PointHash("k2")), false, &entry));
  }
}

TEST(IndexPartitionTest, RefusesWhatItsVersionOrPlaceCannotHave) {
  std::shared_ptr<CachedIndexPartition> index_partition;
  EXPECT_NE(
      LoadIndexPartition(Encoded(2, 10, 5), kFormatVersionReferences, 0, 100, &index_partition),
      nullptr)
      << "this version has no decoupled records";
  EXPECT_NE(LoadIndexPartition(Encoded(0, 10, 5), kFormatVersion, 0, 50, &index_partition), nullptr)
      << "the partition has data blocks but no index for them";
  EXPECT_NE(LoadIndexPartition(Encoded(0, 10), kFormatVersion, 50, 50, &index_partition), nullptr)
      << "the partition has no records at all";
  std::string raw = Encoded(2, 10, 5);
  EncodeFixed32(raw.data() + 5, 0);
  EXPECT_NE(LoadIndexPartition(raw, kFormatVersion, 0, 100, &index_partition), nullptr);
  EncodeFixed32(raw.data() + 5, UINT32_MAX);
  EXPECT_NE(LoadIndexPartition(raw, kFormatVersion, 0, 100, &index_partition), nullptr);
}

TEST(IndexPartitionTest, DamageOfDecoupledRecordsIsRefusedOrHarmless) {
  testing::Random random(2);
  const std::string good = Encoded(3, 10, 60);
  for (int round = 0; round < 20000; ++round) {
    std::string bad = good;
    for (uint64_t edits = random.Between(1, 3); edits > 0; --edits)
      bad[random.Uniform(bad.size())] = static_cast<char>(random.Next());
    std::shared_ptr<CachedIndexPartition> index_partition;
    if (LoadIndexPartition(bad, kFormatVersion, 0, 150, &index_partition) != nullptr) continue;
    const std::string key = "key" + std::to_string(random.Between(90, 170)) + "-deleted";
    DataBlockEntry entry;
    index_partition->decoupled.Find(key, DecoupledHash(PointHash(key)), random.OneIn(2), &entry);
    index_partition->decoupled.Find(random.Bytes(5), random.Next(), false, &entry);
  }
}

TEST(IndexPartitionTest, DamageIsRefusedOrHarmless) {
  testing::Random random(1);
  std::string good = Encoded(20, 10);
  std::shared_ptr<CachedIndexPartition> index_partition;
  for (size_t length = 0; length < good.size(); ++length) {
    bool whole_lines = (good.size() - length) % kBloomLineBytes == 0;
    const char* error = LoadIndexPartition(Slice(good).substr(0, length), kFormatVersion, 0, 1000,
                                           &index_partition);
    EXPECT_TRUE(error != nullptr || whole_lines) << length;
  }
  for (int round = 0; round < 5000; ++round) {
    std::string bad = good;
    bad[random.Uniform(bad.size())] = static_cast<char>(random.Next());
    if (LoadIndexPartition(bad, kFormatVersion, 0, 1000, &index_partition) != nullptr) continue;
    index_partition->filter.MayHold(random.Next());
    EXPECT_LE(index_partition->index.Find("key110"), index_partition->index.count());
  }
}

}  // namespace
}  // namespace lava::ksst
