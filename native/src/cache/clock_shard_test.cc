#include "cache/clock_shard.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace lava {
namespace {

struct Block final : CachedBlock {
  explicit Block(uint64_t block_number) : number(block_number) {}
  size_t charge() const override { return 100; }
  uint64_t number;
};

BlockCache::Ref MakeBlock(uint64_t number) { return std::make_shared<Block>(number); }
uint64_t BlockNumber(const BlockCache::Ref& ref) {
  return static_cast<const Block*>(ref.get())->number;
}

TEST(ClockRingTest, TheHandTakesUsesRoundByRound) {
  ClockRing ring;
  const uint32_t unused = ring.Add({{1, 0}, MakeBlock(0)}, 0);
  const uint32_t once = ring.Add({{1, 1}, MakeBlock(1)}, 1);
  const uint32_t often = ring.Add({{1, 2}, MakeBlock(2)}, 0);
  for (int i = 0; i < 9; ++i) ring.CountUse(often);
  std::vector<uint32_t> order;
  while (ring.count() > 0) {
    uint32_t i;
    if (!ring.Advance(&i)) continue;
    order.push_back(i);
    ring.Remove(i);
  }
  EXPECT_EQ(order, (std::vector<uint32_t>{unused, once, often}));
  EXPECT_EQ(ring.end(), 0u) << "memory goes with the last entry";
}

// What was just added is the last that the hand comes to: it stands where the hand made room.
TEST(ClockRingTest, NewEntriesStandBehindTheHand) {
  ClockRing ring;
  for (uint64_t n = 0; n < 200; ++n) ring.Add({{1, n}, MakeBlock(n)}, 0);
  std::set<uint64_t> old;
  for (uint64_t n = 0; n < 200; ++n) {
    uint32_t i;
    ASSERT_TRUE(ring.Advance(&i));
    old.insert(BlockNumber(ring.Remove(i)));
    ring.Add({{1, 1000 + n}, MakeBlock(1000 + n)}, 0);
  }
  EXPECT_EQ(old.size(), 200u);
  EXPECT_EQ(*old.rbegin(), 199u) << "no new one was met before all old ones";
}

// All keys of one tag and home: what stands behind a hole moves up.
TEST(ClockShardTest, KeysWithOneHash) {
  ClockShard shard;
  constexpr uint64_t kHash = 0xffff'ffff'0000'0000;
  for (uint64_t n = 0; n < 40; ++n) {
    bool added = false;
    shard.Insert({7, n}, kHash, 1, MakeBlock(n), &added);
    ASSERT_TRUE(added);
  }
  for (uint64_t n = 0; n < 40; n += 3) EXPECT_GT(shard.Erase({7, n}, kHash), 100u);
  for (uint64_t n = 0; n < 40; ++n) {
    const BlockCache::Ref found = shard.Lookup({7, n}, kHash);
    ASSERT_EQ(found != nullptr, n % 3 != 0) << n;
    if (found != nullptr) {
      EXPECT_EQ(BlockNumber(found), n);
    }
  }
  EXPECT_EQ(shard.Erase({7, 0}, kHash), 0u) << "gone already";
  const BlockCache::Ref first = shard.Lookup({7, 1}, kHash);
  const BlockCache::Ref second = shard.Lookup({7, 1}, kHash);
  EXPECT_EQ(shard.Erase({7, 1}, kHash), 0u) << "somebody else has it";
}

TEST(ClockShardTest, EvictMakesAFewStepsAndPassesPinnedBlocks) {
  ClockShard shard;
  std::vector<BlockCache::Ref> pins;
  for (uint64_t n = 0; n < 12; ++n) {
    const CacheKey key{1, n};
    bool added = false;
    BlockCache::Ref ref = shard.Insert(key, ClockShard::HashOf(key), 0, MakeBlock(n), &added);
    if (n % 2 == 0) pins.push_back(std::move(ref));
  }
  const uint64_t charge = ClockShard::ChargeOf(Block(0));
  size_t steps = 0;
  EXPECT_EQ(shard.Evict(charge, &steps), charge);
  EXPECT_EQ(steps, 2u) << "a pinned one, and the one behind it";
  EXPECT_EQ(shard.Evict(UINT64_MAX, &steps), 4 * charge);
  EXPECT_EQ(steps, ClockShard::kStepsMax);
  EXPECT_EQ(shard.count(), 7u);
  BlockCache::Statistics statistics;
  shard.AddTo(&statistics);
  EXPECT_EQ(statistics.pinned_bytes, 6 * charge);
}

}  // namespace
}  // namespace lava
