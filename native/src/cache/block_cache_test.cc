// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "cache/block_cache.h"

#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <thread>
#include <utility>
#include <vector>

#include "cache/block_for_test.h"

namespace lava {
namespace {

TEST(BlockCacheTest, KeepsWhatFitsAndCounts) {
  auto cache = BlockCache::Create(1 << 20);
  uint64_t file = cache->NewFileId();
  EXPECT_NE(file, cache->NewFileId());
  EXPECT_EQ(cache->Lookup({file, 0}, kData), nullptr);
  cache->Insert({file, 0}, kData, std::make_shared<TestBlock>(1, 100));
  cache->Insert({file, 8}, kData, std::make_shared<TestBlock>(2, 100));
  EXPECT_EQ(NumberOf(cache->Lookup({file, 0}, kData)), 1u);
  EXPECT_EQ(NumberOf(cache->Lookup({file, 8}, kData)), 2u);
  EXPECT_EQ(cache->Lookup({file + 1, 0}, kData), nullptr);
  auto statistics = cache->statistics();
  EXPECT_EQ(statistics.hits(), 2u);
  EXPECT_EQ(statistics.misses(), 2u);
  EXPECT_GT(statistics.used_bytes(), 200u) << "the overhead must be charged, too";
  EXPECT_EQ(statistics.pinned_bytes, 0u);
  EXPECT_EQ(statistics.capacity_bytes, uint64_t{1} << 20);
}

TEST(BlockCacheTest, PeekFindsAndCountsNothing) {
  auto cache = BlockCache::Create(1 << 20);
  CacheUse use;
  cache->Insert({1, 0}, kData, std::make_shared<TestBlock>(1, 100), &use);
  EXPECT_EQ(NumberOf(cache->Peek({1, 0}, kData)), 1u);
  EXPECT_EQ(cache->Peek({1, 8}, kData), nullptr);
  EXPECT_EQ(cache->statistics().hits() + cache->statistics().misses(), 0u);
  EXPECT_EQ(use.hits + use.misses, 0u);
}

TEST(BlockCacheTest, FirstOfTwoInsertsStays) {
  auto cache = BlockCache::Create(1 << 20);
  cache->Insert({1, 0}, kData, std::make_shared<TestBlock>(1, 100));
  EXPECT_EQ(NumberOf(cache->Insert({1, 0}, kData, std::make_shared<TestBlock>(2, 100))), 1u);
  uint64_t one = cache->statistics().used_bytes();
  cache->Insert({1, 8}, kData, std::make_shared<TestBlock>(3, 100));
  EXPECT_EQ(cache->statistics().used_bytes(), 2 * one);
}

TEST(BlockCacheTest, EvictsToCapacityAndFreesEverything) {
  std::atomic<int> alive{0};
  {
    auto cache = BlockCache::Create(100'000);
    for (uint64_t i = 0; i < 1000; ++i) {
      cache->Insert({1, i}, kData, std::make_shared<TestBlock>(i, 1000, &alive));
      EXPECT_LE(cache->statistics().used_bytes(), 100'000u);
    }
    EXPECT_GT(alive, 50);
    cache->SetCapacity(10'000);
    EXPECT_LE(cache->statistics().used_bytes(), 10'000u);
    EXPECT_LE(alive, 10);
    cache->SetCapacity(0);
    EXPECT_EQ(cache->statistics().used_bytes(), 0u);
    EXPECT_EQ(alive, 0);
    cache->SetCapacity(50'000);
    cache->Insert({2, 0}, kData, std::make_shared<TestBlock>(0, 1000, &alive));
  }
  EXPECT_EQ(alive, 0);
}

TEST(BlockCacheTest, CapacityZeroKeepsNothing) {
  auto cache = BlockCache::Create(0);
  auto ref = cache->Insert({1, 0}, kData, std::make_shared<TestBlock>(1, 100));
  EXPECT_EQ(NumberOf(ref), 1u);
  EXPECT_EQ(cache->Lookup({1, 0}, kData), nullptr);
  EXPECT_EQ(cache->statistics().used_bytes(), 0u);
}

TEST(BlockCacheTest, PinnedBlocksStayAndAreCounted) {
  auto cache = BlockCache::Create(10'000);
  std::vector<BlockCache::Ref> pins;
  for (uint64_t i = 0; i < 9; ++i)
    pins.push_back(cache->Insert({1, i}, kData, std::make_shared<TestBlock>(i, 1000)));
  EXPECT_EQ(cache->statistics().pinned_bytes, cache->statistics().used_bytes());
  auto extra = cache->Insert({1, 100}, kData, std::make_shared<TestBlock>(100, 1000));
  EXPECT_EQ(NumberOf(extra), 100u) << "the block must be usable although the cache did not keep it";
  EXPECT_EQ(cache->Lookup({1, 100}, kData), nullptr);
  EXPECT_NE(cache->Lookup({1, 3}, kData), nullptr);
  pins.clear();
  EXPECT_EQ(cache->statistics().pinned_bytes, 0u);
  cache->Insert({1, 101}, kData, std::make_shared<TestBlock>(101, 1000));
  EXPECT_NE(cache->Lookup({1, 101}, kData), nullptr);
}

// A block with a holder outside the cache.
struct KeptBlock final : CachedBlock {
  size_t charge() const override { return 1000; }
  bool Yield() const override {
    if (std::exchange(used, false)) return false;
    keeper->reset();
    return true;
  }
  long yieldable() const override { return keeper != nullptr && *keeper != nullptr ? 1 : 0; }
  BlockCache::Ref* keeper = nullptr;
  mutable bool used = false;
};

TEST(BlockCacheTest, KeptBlocksAreEvictedWhenTheyWereNotUsed) {
  auto cache = BlockCache::Create(10'000);
  BlockCache::Ref keepers[2];
  for (uint64_t i = 0; i < 2; ++i) {
    auto block = std::make_shared<KeptBlock>();
    block->keeper = &keepers[i];
    keepers[i] = cache->Insert({1, i}, kData, block);
  }
  EXPECT_EQ(cache->statistics().pinned_bytes, 0u)
      << "a kept block that would yield must not count as pinned";
  for (uint64_t i = 0; i < 200; ++i) {
    static_cast<const KeptBlock*>(keepers[0].get())->used = true;
    cache->Insert({2, i}, kData, std::make_shared<TestBlock>(i, 1000));
  }
  EXPECT_EQ(keepers[1], nullptr);
  EXPECT_EQ(cache->Lookup({1, 1}, kData), nullptr);
  ASSERT_NE(keepers[0], nullptr);
  EXPECT_NE(cache->Lookup({1, 0}, kData), nullptr);
  cache->SetCapacity(0);
  EXPECT_EQ(keepers[0], nullptr);
  EXPECT_EQ(cache->statistics().used_bytes(), 0u);
}

TEST(BlockCacheTest, WhatIsBorrowedShrinksIt) {
  MemoryCounter others;
  auto cache = BlockCache::Create(50'000, &others);
  for (uint64_t i = 0; i < 40; ++i)
    cache->Insert({1, i}, kData, std::make_shared<TestBlock>(i, 1000));
  EXPECT_GT(cache->statistics().used_bytes(), 40'000u);
  others.Charge(30'000);
  cache->Trim();
  EXPECT_LE(cache->statistics().used_bytes(), 20'000u);
  EXPECT_EQ(cache->statistics().capacity_bytes, 20'000u);
  others.Charge(30'000);
  cache->Trim();
  EXPECT_EQ(cache->statistics().used_bytes(), 0u);
  EXPECT_EQ(cache->statistics().capacity_bytes, 0u);
  others.Release(60'000);
  cache->Insert({1, 1}, kData, std::make_shared<TestBlock>(1, 1000));
  EXPECT_NE(cache->Lookup({1, 1}, kData), nullptr);
}

// The order of insertions and removals makes entries of the table move.
TEST(BlockCacheTest, FindsWhatItHoldsAmongManyRemovals) {
  auto cache = BlockCache::Create(uint64_t{1} << 30);
  std::map<std::pair<uint64_t, uint64_t>, uint64_t> model;
  uint64_t state = 1;
  for (int round = 0; round < 40; ++round) {
    for (uint64_t i = 0; i < 500; ++i) {
      state = state * 6364136223846793005ull + 1442695040888963407ull;
      const CacheKey key{(state >> 40) % 16, (state >> 33) % 4096 * 4096};
      cache->Insert(key, kData, std::make_shared<TestBlock>(state, 10));
      model.try_emplace({key.file, key.offset}, state);
    }
    const uint64_t dropped = (state >> 50) % 16;
    cache->EraseFile(dropped);
    std::erase_if(model, [&](const auto& entry) { return entry.first.first == dropped; });
    for (uint64_t file = 0; file < 16; ++file) {
      for (uint64_t block = 0; block < 4096; ++block) {
        const auto expected = model.find({file, block * 4096});
        const BlockCache::Ref found = cache->Lookup({file, block * 4096}, kData);
        ASSERT_EQ(found != nullptr, expected != model.end());
        if (found != nullptr) {
          ASSERT_EQ(NumberOf(found), expected->second);
        }
      }
    }
  }
}

TEST(BlockCacheTest, UsedBlocksAndIndexOutliveUnusedData) {
  auto cache = BlockCache::Create(60'000);
  cache->Insert({1, 0}, kIndex, std::make_shared<TestBlock>(1, 1000));
  for (uint64_t i = 0; i < 20; ++i)
    cache->Insert({2, i}, kData, std::make_shared<TestBlock>(i, 1000));
  for (uint64_t i = 0; i < 200; ++i) {
    cache->Insert({3, i}, kData, std::make_shared<TestBlock>(i, 1000));
    for (uint64_t used = 0; used < 5; ++used) cache->Lookup({2, used}, kData);
  }
  EXPECT_NE(cache->Lookup({1, 0}, kIndex), nullptr);
  int kept = 0;
  for (uint64_t used = 0; used < 5; ++used) kept += cache->Lookup({2, used}, kData) != nullptr;
  EXPECT_EQ(kept, 5);
}

// Looks up a block as a reader does. True: the block had to be read.
bool Misses(BlockCache* cache, const CacheKey& key, BlockCache::Segment segment) {
  if (cache->Lookup(key, segment) != nullptr) return false;
  cache->Insert(key, segment, std::make_shared<TestBlock>(key.offset, 1000));
  return true;
}

TEST(BlockCacheTest, AScanPassesUsedBlocksBy) {
  auto cache = BlockCache::Create(1'000'000);
  for (int round = 0; round < 3; ++round)
    for (uint64_t i = 0; i < 400; ++i) Misses(cache.get(), {1, i}, kData);
  for (uint64_t i = 0; i < 20'000; ++i) Misses(cache.get(), {2, i}, kData);
  int missed = 0;
  for (uint64_t i = 0; i < 400; ++i) missed += Misses(cache.get(), {1, i}, kData);
  EXPECT_LT(missed, 40);
}

// The index segment shrinks while data is read repeatedly and the index is read only once; it grows
// again when the index is read repeatedly.
TEST(BlockCacheTest, TheBorderMovesToWhereBytesEarnMore) {
  auto cache = BlockCache::Create(1'000'000);
  uint64_t state = 1, walked = 0;
  const auto random = [&](uint64_t n) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return (state >> 33) % n;
  };
  for (int i = 0; i < 200'000; ++i) {
    Misses(cache.get(), {1, random(900)}, kData);
    if (i % 3 == 0) Misses(cache.get(), {2, walked++}, kIndex);
  }
  EXPECT_LT(cache->statistics().index.used_bytes, 200'000u);
  EXPECT_LE(cache->statistics().used_bytes(), 1'000'000u);
  for (int i = 0; i < 200'000; ++i) {
    Misses(cache.get(), {3, random(700)}, kIndex);
    Misses(cache.get(), {4, random(100'000)}, kData);
  }
  EXPECT_GT(cache->statistics().index.used_bytes, 650'000u);
  EXPECT_GT(cache->statistics().index_bytes_max, 650'000u);
  EXPECT_GT(cache->statistics().data.evictions, 100'000u);
}

TEST(BlockCacheTest, EraseFileDropsOnlyThatFile) {
  std::atomic<int> alive{0};
  auto cache = BlockCache::Create(1 << 20);
  for (uint64_t i = 0; i < 100; ++i) {
    cache->Insert({1, i}, kData, std::make_shared<TestBlock>(i, 100, &alive));
    cache->Insert({2, i}, kData, std::make_shared<TestBlock>(i, 100, &alive));
  }
  BlockCache::Ref pin = cache->Lookup({1, 5}, kData);
  cache->EraseFile(1);
  EXPECT_EQ(alive, 101);
  EXPECT_EQ(NumberOf(pin), 5u);
  EXPECT_EQ(cache->Lookup({1, 5}, kData), nullptr);
  for (uint64_t i = 0; i < 100; ++i) EXPECT_NE(cache->Lookup({2, i}, kData), nullptr);
  cache->EraseFile(2);
  EXPECT_EQ(cache->statistics().used_bytes(), 0u);
}

TEST(BlockCacheTest, EraseDropsOneBlock) {
  std::atomic<int> alive{0};
  CacheUse use;
  auto cache = BlockCache::Create(1 << 20);
  cache->Erase({1, 0}, kData);
  for (uint64_t i = 0; i < 3; ++i)
    cache->Insert({1, i}, kData, std::make_shared<TestBlock>(i, 100, &alive), &use);
  BlockCache::Ref pin = cache->Lookup({1, 1}, kData);
  cache->Erase({1, 1}, kData);
  cache->Erase({1, 2}, kData);
  cache->Erase({1, 2}, kData);
  EXPECT_EQ(alive, 2);
  EXPECT_EQ(NumberOf(pin), 1u);
  EXPECT_EQ(cache->Lookup({1, 1}, kData), nullptr);
  EXPECT_NE(cache->Lookup({1, 0}, kData), nullptr);
  EXPECT_EQ(cache->used_bytes(), use.used_bytes.load());
  EXPECT_EQ(cache->statistics().used_bytes(), cache->used_bytes());
  cache->Erase({1, 0}, kData);
  EXPECT_EQ(cache->used_bytes(), 0u);
}

TEST(BlockCacheTest, ManyThreads) {
  std::atomic<int> alive{0};
  {
    auto cache = BlockCache::Create(64 << 10);
    std::atomic<uint64_t> wrong{0};
    std::vector<std::thread> threads;
    for (uint64_t t = 0; t < 4; ++t) {
      threads.emplace_back([&, t] {
        uint64_t state = t + 1;
        std::vector<BlockCache::Ref> pins(8);
        for (int i = 0; i < 20'000; ++i) {
          state = state * 6364136223846793005ull + 1442695040888963407ull;
          uint64_t number = (state >> 33) % 200;
          CacheKey key{number % 4, number};
          BlockCache::Ref ref = cache->Lookup(key, kData);
          if (ref == nullptr)
            ref = cache->Insert(key, number % 8 == 0 ? kIndex : kData,
                                std::make_shared<TestBlock>(number, 500 + number, &alive));
          if (NumberOf(ref) != number) ++wrong;
          pins[number % 8] = std::move(ref);
          if (i % 5000 == 17) cache->EraseFile(number % 4);
          if (i % 5000 == 99) cache->SetCapacity((16 << 10) + number * 200);
          if (i % 1000 == 0) cache->statistics();
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(wrong, 0u);
    for (uint64_t file = 0; file < 4; ++file) cache->EraseFile(file);
    EXPECT_EQ(cache->statistics().used_bytes(), 0u);
  }
  EXPECT_EQ(alive, 0);
}

}  // namespace
}  // namespace lava
