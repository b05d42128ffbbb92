// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "memtable/tree_index.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <map>
#include <random>
#include <vector>

#include "memtable/entry_for_test.h"

namespace lava {
namespace {

// A key and its kind: 0 for a prefix delete, which comes first.
using Key = std::pair<std::string, int>;

class TreeIndexTest : public ::testing::Test {
 protected:
  void Insert(const Key& key) {
    const Arena::Ref ref = NewTestEntry(&entries_, key.first, key.second == 0);
    model_[key] = ref;
    tree_.Insert(ref);
  }
  void Erase(const Key& key) {
    const auto it = model_.find(key);
    tree_.Erase(it->second);
    model_.erase(it);
  }
  void CheckAll() {
    auto it = model_.begin();
    for (auto p = tree_.First(); p.valid(); p = tree_.Next(p), ++it) {
      ASSERT_NE(it, model_.end());
      ASSERT_EQ(tree_.At(p), it->second);
    }
    ASSERT_EQ(it, model_.end());
  }
  void CheckSeek(const Key& key) {
    const auto it = model_.lower_bound(key);
    const auto p = tree_.Seek({key.first, key.second == 0});
    ASSERT_EQ(p.valid(), it != model_.end());
    if (p.valid()) {
      ASSERT_EQ(tree_.At(p), it->second);
    }
  }
  MemoryCounter counter_;
  Arena entries_{&counter_}, nodes_{&counter_};
  TreeIndex tree_{&entries_, &nodes_};
  std::map<Key, Arena::Ref> model_;
};

Key RandomKey(std::mt19937& random, uint32_t spread) {
  std::string key(1, static_cast<char>(random() % 4));
  key += "table";
  for (uint64_t n = random() % spread; n != 0; n /= 3) key += "\0b\xff"[n % 3];
  return {key, static_cast<int>(random() % 3 != 0)};
}

TEST_F(TreeIndexTest, SameAsMap) {
  std::mt19937 random(1);
  // Grows, shrinks to nothing, and grows again.
  for (const uint32_t erase_percent : {10u, 45u, 90u, 30u, 95u}) {
    for (int i = 0; i < 15000; ++i) {
      const Key key = RandomKey(random, 60000);
      if (random() % 100 < erase_percent) {
        const auto it = model_.lower_bound(key);
        if (it != model_.end()) Erase(it->first);
      } else if (!model_.contains(key)) {
        Insert(key);
      }
      if (i % 10 == 0) CheckSeek(RandomKey(random, 60000));
      if (HasFatalFailure()) return;
    }
    CheckAll();
  }
}

TEST_F(TreeIndexTest, InOrderAndBackwards) {
  char text[16];
  for (int i = 0; i < 20000; ++i) {
    std::snprintf(text, sizeof(text), "up%08d", i);
    Insert({text, 1});
  }
  for (int i = 20000; i > 0; --i) {
    std::snprintf(text, sizeof(text), "down%08d", i);
    Insert({text, 1});
  }
  CheckAll();
  // Entries in ascending order fill their leaves: eight bytes each. In descending order they half
  // fill them.
  EXPECT_LT(nodes_.charged_bytes(), 40000u * 30);
  while (!model_.empty()) Erase(model_.begin()->first);
  EXPECT_FALSE(tree_.First().valid());
  Insert({"again", 1});
  CheckAll();
}

TEST_F(TreeIndexTest, NodesAreReused) {
  for (int round = 0; round < 20; ++round) {
    for (int i = 0; i < 5000; ++i) Insert({std::to_string(round * 5000 + i + 1000000), 1});
    while (!model_.empty()) Erase(std::prev(model_.end())->first);
  }
  EXPECT_LT(nodes_.charged_bytes(), 5000u * 30);
}

}  // namespace
}  // namespace lava
