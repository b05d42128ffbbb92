// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "read/drop_cache.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace lava {
namespace {

std::string KeyOf(int i) { return "key " + std::to_string(i); }

TEST(DropCache, KnowsWhatWasDroppedAndTakesNoMemoryBefore) {
  MemoryCounter counter;
  {
    DropCache cache(&counter, 1024);
    EXPECT_FALSE(cache.IsHot(KeyOf(1)));
    EXPECT_EQ(counter.used(), 0u);
    cache.Dropped(KeyOf(1));
    EXPECT_TRUE(cache.IsHot(KeyOf(1)));
    EXPECT_FALSE(cache.IsHot(KeyOf(2)));
    EXPECT_EQ(counter.used(), 1024u * 4);
  }
  EXPECT_EQ(counter.used(), 0u);
}

TEST(DropCache, TakesNoMoreThanTheOwnerCanSpareButABucket) {
  for (const auto& [bytes_max, taken] : std::vector<std::pair<uint64_t, uint64_t>>{
           {0, 64}, {64, 64}, {1000, 512}, {1 << 20, 4096}}) {
    MemoryCounter counter;
    DropCache cache(&counter, 1024);
    cache.SetBytesMax(bytes_max);
    cache.Dropped(KeyOf(1));
    EXPECT_EQ(counter.used(), taken);
    EXPECT_TRUE(cache.IsHot(KeyOf(1)));
    cache.SetBytesMax(64);
    cache.Dropped(KeyOf(2));
    EXPECT_EQ(counter.used(), taken) << "a later limit must not change the memory in use";
    EXPECT_TRUE(cache.IsHot(KeyOf(2)));
  }
}

TEST(DropCache, ForgetsWhatWasDroppedLongestAgo) {
  DropCache cache(nullptr, 1024);
  for (int i = 0; i < 10'000; ++i) {
    cache.Dropped(KeyOf(-1));  // dropped again and again
    cache.Dropped(KeyOf(i));
  }
  EXPECT_TRUE(cache.IsHot(KeyOf(-1)));
  int recent = 0, old = 0;
  for (int i = 9'800; i < 10'000; ++i) recent += cache.IsHot(KeyOf(i));
  for (int i = 0; i < 5'000; ++i) old += cache.IsHot(KeyOf(i));
  EXPECT_GT(recent, 195);
  EXPECT_LT(old, 5);
}

TEST(DropCache, HoldsAsManyAsItHasEntriesAboutAndSeldomTakesOneForAnother) {
  DropCache cache(nullptr, 4096);
  for (int i = 0; i < 2048; ++i) cache.Dropped(KeyOf(i));
  int known = 0, wrong = 0;
  for (int i = 0; i < 2048; ++i) known += cache.IsHot(KeyOf(i));
  for (int i = 10'000; i < 110'000; ++i) wrong += cache.IsHot(KeyOf(i));
  EXPECT_GT(known, 2000);
  EXPECT_LE(wrong, 1);
}

}  // namespace
}  // namespace lava
