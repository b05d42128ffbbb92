// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "cache/block_queue.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <vector>

#include "cache/block_for_test.h"

namespace lava {
namespace {

BlockQueue::Entry EntryOf(uint64_t file, uint64_t offset) {
  return {{file, offset}, std::make_shared<TestBlock>(offset, 100)};
}

// Evicts all blocks; returns their offsets in order of eviction.
std::vector<uint64_t> Drain(BlockQueue* queue) {
  std::vector<uint64_t> order;
  while (queue->count() > 0) {
    uint32_t i;
    if (!queue->Advance(&i)) continue;
    order.push_back(queue->at(i).key.offset);
    queue->Remove(i);
  }
  return order;
}

TEST(BlockQueueTest, UnusedBlocksOnTrialGoFirstAndTheOldestOfThem) {
  BlockQueue queue;
  queue.Add(EntryOf(1, 0), 100, nullptr, true);
  for (uint64_t n = 1; n < 6; ++n) {
    const uint32_t i = queue.Add(EntryOf(1, n), 100, nullptr, false);
    if (n == 2) queue.CountUse(i);
  }
  EXPECT_EQ(queue.bytes(), 600u);
  const std::vector<uint64_t> order = Drain(&queue);
  EXPECT_EQ(std::vector(order.begin(), order.begin() + 4), (std::vector<uint64_t>{1, 3, 4, 5}));
  EXPECT_EQ(queue.bytes(), 0u);
}

TEST(BlockQueueTest, TheHandTakesUsesRoundByRound) {
  BlockQueue queue;
  queue.Add(EntryOf(1, 0), 100, nullptr, true);
  queue.CountUse(queue.Add(EntryOf(1, 1), 100, nullptr, true));
  const uint32_t often = queue.Add(EntryOf(1, 2), 100, nullptr, true);
  for (int i = 0; i < 9; ++i) queue.CountUse(often);
  queue.CountUses(queue.Add(EntryOf(1, 3), 100, nullptr, true));
  EXPECT_EQ(Drain(&queue), (std::vector<uint64_t>{0, 1, 2, 3}));
}

TEST(BlockQueueTest, TrialsKeepTheirShare) {
  BlockQueue queue;
  for (uint64_t n = 0; n < 95; ++n) queue.Add(EntryOf(1, n), 100, nullptr, true);
  for (uint64_t n = 95; n < 100; ++n) queue.Add(EntryOf(1, n), 100, nullptr, false);
  uint32_t i;
  ASSERT_TRUE(queue.Advance(&i));
  EXPECT_LT(queue.at(i).key.offset, 95u) << "the blocks on trial use only half of their share";
  for (uint64_t n = 100; n < 110; ++n) queue.Add(EntryOf(1, n), 100, nullptr, false);
  ASSERT_TRUE(queue.Advance(&i));
  EXPECT_EQ(queue.at(i).key.offset, 95u);
}

// If the caller keeps each offered block because it is pinned, Advance() offers all other blocks.
TEST(BlockQueueTest, WhatIsLeftIsAskedAgainAfterTheOthers) {
  for (const bool known : {false, true}) {
    BlockQueue queue;
    for (uint64_t n = 0; n < 200; ++n) queue.Add(EntryOf(1, n), 100, nullptr, known);
    std::set<uint64_t> seen;
    for (uint64_t n = 0; n < 200; ++n) {
      uint32_t i;
      ASSERT_TRUE(queue.Advance(&i));
      seen.insert(queue.at(i).key.offset);
    }
    EXPECT_EQ(seen.size(), 200u);
  }
}

TEST(BlockQueueTest, FindsTheBlocksOfAFile) {
  BlockQueue queue;
  std::map<uint64_t, std::set<uint32_t>> model;
  EXPECT_EQ(queue.FindOf(1), BlockQueue::kNone);
  uint64_t state = 1;
  for (uint64_t n = 0; n < 3000; ++n) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    const uint64_t file = (state >> 40) % 50;
    if ((state >> 60) % 4 == 0) {
      if (const uint32_t i = queue.FindOf(file); i != BlockQueue::kNone) {
        EXPECT_EQ(model[file].erase(i), 1u);
        queue.Remove(i);
      }
    } else {
      model[file].insert(queue.Add(EntryOf(file, n), 100, nullptr, n % 3 == 0));
    }
  }
  for (auto& [file, indexes] : model) {
    for (; !indexes.empty(); queue.Remove(*indexes.begin()), indexes.erase(indexes.begin())) {
      const uint32_t i = queue.FindOf(file);
      ASSERT_TRUE(indexes.contains(i));
    }
    EXPECT_EQ(queue.FindOf(file), BlockQueue::kNone);
  }
  EXPECT_EQ(queue.count(), 0u);
}

}  // namespace
}  // namespace lava
