// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "cache/cache_shard.h"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <vector>

#include "cache/block_for_test.h"

namespace lava {
namespace {

constexpr uint64_t kCharge = 100 + CacheShard::kEntryCharge;

CacheShard::Key KeyOf(uint64_t file, uint64_t offset, BlockCache::Segment segment = kData) {
  return {{file, offset}, segment};
}

CacheShard::Inserted Put(CacheShard* shard, const CacheShard::Key& key, uint32_t now = 0,
                         CacheUse* use = nullptr) {
  return shard->Insert(key, std::make_shared<TestBlock>(key.key.offset, 100), kCharge, use, now,
                       10);
}

// All keys have the same home in the table, so a removal moves the slots behind the hole.
TEST(CacheShardTest, KeysWithOneHome) {
  constexpr uint64_t kCount = 40, kHomes = 128;  // kHomes: slots that kCount keys need
  CacheShard shard;
  std::vector<CacheShard::Key> keys;
  for (uint64_t offset = 0; keys.size() < kCount; ++offset) {
    const uint64_t n = keys.size();
    const CacheShard::Key key = KeyOf(n % 3 == 0 ? 8 : 7, offset, n % 2 == 0 ? kData : kIndex);
    if ((key.hash >> 32) % kHomes == 5) keys.push_back(key);
  }
  for (const CacheShard::Key& key : keys) ASSERT_TRUE(Put(&shard, key).added);
  const std::array<uint64_t, 2> freed = shard.EraseFile(8);
  EXPECT_EQ(freed[0] + freed[1], 14 * kCharge);
  for (uint64_t n = 0; n < kCount; ++n) {
    const BlockCache::Ref found = shard.Lookup(keys[n], nullptr);
    ASSERT_EQ(found != nullptr, n % 3 != 0) << n;
    if (found != nullptr) {
      EXPECT_EQ(NumberOf(found), keys[n].key.offset);
    }
  }
}

TEST(CacheShardTest, EvictLooksAtAFewAndPassesPinnedBlocks) {
  CacheShard shard;
  std::vector<BlockCache::Ref> pins;
  for (uint64_t n = 0; n < 12; ++n) {
    BlockCache::Ref ref = Put(&shard, KeyOf(1, n)).block;
    if (n % 2 == 0) pins.push_back(std::move(ref));
  }
  size_t steps = 0;
  EXPECT_EQ(shard.Evict(kData, kCharge, 0, &steps), kCharge);
  EXPECT_EQ(steps, 2u) << "Evict() must look at a pinned block and at the next block only";
  EXPECT_EQ(shard.Evict(kData, UINT64_MAX, 0, &steps), 4 * kCharge);
  EXPECT_EQ(steps, CacheShard::kStepsMax);
  EXPECT_EQ(shard.count(kData), 7u);
  BlockCache::Statistics statistics;
  shard.AddTo(&statistics);
  EXPECT_EQ(statistics.pinned_bytes, 6 * kCharge);
  EXPECT_EQ(statistics.data.evictions, 5u);
  EXPECT_EQ(shard.Evict(kIndex, UINT64_MAX, 0, &steps), 0u) << "the shard has only data blocks";
  EXPECT_EQ(steps, 0u);
}

TEST(CacheShardTest, ToldHowLongAgoItWasEvicted) {
  CacheShard shard;
  for (uint64_t n = 0; n < 40; ++n) Put(&shard, KeyOf(1, n));
  size_t steps = 0;
  EXPECT_EQ(shard.Evict(kData, kCharge, 100, &steps), kCharge);
  EXPECT_EQ(Put(&shard, KeyOf(1, 40), 103).ghost_age, Ghosts::kNever);
  EXPECT_EQ(Put(&shard, KeyOf(1, 0), 103).ghost_age, 3u);
  EXPECT_EQ(shard.Evict(kData, 2 * kCharge, 105, &steps), 2 * kCharge);
  EXPECT_NE(shard.Lookup(KeyOf(1, 0), nullptr), nullptr)
      << "a block that returned soon must not be on trial again";
  for (const uint64_t n : {1, 2}) {
    EXPECT_EQ(shard.Lookup(KeyOf(1, n), nullptr), nullptr);
    EXPECT_EQ(Put(&shard, KeyOf(1, n), 105).ghost_age, 0u);
  }
}

TEST(CacheShardTest, CountsForWhoUsesIt) {
  CacheShard shard;
  CacheUse a, b;
  for (uint64_t n = 0; n < 10; ++n) {
    Put(&shard, KeyOf(1, n), 0, &a);
    Put(&shard, KeyOf(2, n, kIndex), 0, &b);
    Put(&shard, KeyOf(3, n));
  }
  EXPECT_NE(shard.Lookup(KeyOf(1, 1), &a), nullptr);
  EXPECT_EQ(shard.Lookup(KeyOf(1, 11), &a), nullptr);
  EXPECT_EQ(a.used_bytes, 10 * kCharge);
  EXPECT_EQ(a.hits, 1u);
  EXPECT_EQ(a.misses, 1u);
  EXPECT_EQ(b.used_bytes, 10 * kCharge);
  EXPECT_EQ(shard.EraseFile(1), (std::array<uint64_t, 2>{0, 10 * kCharge}));
  EXPECT_EQ(a.used_bytes, 0u);
  size_t steps = 0;
  const uint64_t evicted = shard.Evict(kIndex, 3 * kCharge, 0, &steps);
  EXPECT_EQ(evicted, 3 * kCharge);
  EXPECT_EQ(b.used_bytes, 7 * kCharge);
  EXPECT_EQ(shard.EraseFile(2), (std::array<uint64_t, 2>{7 * kCharge, 0}));
  EXPECT_EQ(b.used_bytes, 0u);
}

}  // namespace
}  // namespace lava
