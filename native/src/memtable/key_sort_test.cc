// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "memtable/key_sort.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "memtable/entry_for_test.h"

namespace lava {
namespace {

TEST(SortEntries, SameAsComparingWholeKeys) {
  std::mt19937 random(11);
  for (int round = 0; round < 60; ++round) {
    MemoryCounter counter;
    Arena arena(&counter);
    std::set<std::pair<std::string, bool>> taken;
    std::vector<Arena::Ref> entries;
    // Few different bytes, including zeros, so that words tie and keys are prefixes of others.
    const std::string alphabet(
        "\0\1\xff"
        "a",
        4);
    for (int i = 0; i < 500; ++i) {
      std::string key(static_cast<size_t>(round % 20), 'p');
      for (size_t n = random() % 12; n > 0; --n) key += alphabet[random() % alphabet.size()];
      const bool prefix = random() % 3 == 0;
      if (taken.emplace(key, prefix).second) entries.push_back(NewTestEntry(&arena, key, prefix));
    }
    std::shuffle(entries.begin(), entries.end(), random);
    SortEntries(arena, &entries);
    for (size_t i = 1; i < entries.size(); ++i) {
      ASSERT_LT(Compare(SortKeyOf(*EntryAt(arena, entries[i - 1])),
                        SortKeyOf(*EntryAt(arena, entries[i]))),
                0);
    }
  }
}

TEST(SortEntries, NoneAndOne) {
  MemoryCounter counter;
  Arena arena(&counter);
  std::vector<Arena::Ref> entries;
  SortEntries(arena, &entries);
  EXPECT_TRUE(entries.empty());
  entries.push_back(NewTestEntry(&arena, "", false));
  SortEntries(arena, &entries);
  EXPECT_EQ(entries.size(), 1u);
}

}  // namespace
}  // namespace lava
