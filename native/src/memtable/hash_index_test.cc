// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "memtable/hash_index.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "memtable/entry_for_test.h"

namespace lava {
namespace {

TEST(HashIndex, FindsWhatIsThereAfterErasures) {
  MemoryCounter counter;
  Arena arena(&counter);
  {
    HashIndex index(&counter);
    std::map<std::pair<std::string, bool>, Arena::Ref> model;
    std::mt19937 random(5);
    for (int i = 0; i < 30000; ++i) {
      const std::string key = "key" + std::to_string(random() % 2000);
      const bool prefix = random() % 4 == 0;
      const uint32_t hash = HashIndex::HashOf(key, prefix);
      const auto it = model.find({key, prefix});
      ASSERT_EQ(index.Find(arena, hash, key, prefix),
                it == model.end() ? Arena::kNull : it->second);
      if (it == model.end()) {
        const Arena::Ref ref = NewTestEntry(&arena, key, prefix);
        index.Insert(hash, ref);
        model[{key, prefix}] = ref;
      } else if (random() % 2 == 0) {
        index.Erase(hash, it->second);
        model.erase(it);
      }
    }
    EXPECT_EQ(index.count(), model.size());
    EXPECT_EQ(counter.used(), arena.charged_bytes() + index.charged_bytes());
  }
  EXPECT_EQ(counter.used(), arena.charged_bytes());
}

// Equal hashes, also at the end of the table, where probing wraps around.
TEST(HashIndex, CollidingHashes) {
  MemoryCounter counter;
  Arena arena(&counter);
  HashIndex index(&counter);
  std::vector<std::pair<std::string, Arena::Ref>> entries;
  const uint32_t hash = 0xffffffff;
  for (int i = 0; i < 20; ++i) {
    const std::string key = std::to_string(i);
    entries.emplace_back(key, NewTestEntry(&arena, key, false));
    index.Insert(hash, entries.back().second);
  }
  for (size_t gone = 0; gone < entries.size(); gone += 3) {
    index.Erase(hash, entries[gone].second);
    entries[gone].second = Arena::kNull;
  }
  for (const auto& [key, ref] : entries) EXPECT_EQ(index.Find(arena, hash, key, false), ref);
}

}  // namespace
}  // namespace lava
