// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include <random>

#include "compaction/tree_for_test.h"
#include "read/readers.h"

// Random trees compared with a plain map: the user's view stays the same whenever runs are sealed,
// flushed and compacted.
namespace lava {
namespace {

enum Table : uint64_t { kValues = 10, kMaps = 20, kLists = 30 };

class TreeModel {
 public:
  explicit TreeModel(uint64_t seed) : random_(seed) { tree_.target_file_bytes = 600; }

  void Run(int steps) {
    for (int step = 0; step < steps && !::testing::Test::HasFatalFailure(); ++step) {
      const uint64_t op = random_() % 100;
      if (op < 80) {
        Write();
      } else if (op < 88) {
        tree_.Seal();
      } else if (op < 93) {
        if (tree_.sealed_count() > 0) tree_.Flush(1 + random_() % tree_.sealed_count());
      } else {
        Compact();
      }
      if (step % 7 == 0) CheckSome();
      if (step % 50 == 0) {
        ASSERT_EQ(tree_.Scan(), tree_.model()) << "step " << step;
      }
    }
    while (tree_.sealed_count() > 0) tree_.Flush();
    ASSERT_EQ(tree_.Scan(), tree_.model());
    tree_.Compact(tree_.PlanLevels(0, 4));
    ASSERT_EQ(tree_.Scan(), tree_.model());
    tree_.SealAndFlush();
    tree_.Compact(tree_.PlanLevels(0, 4));
    CheckBottomIsClean();
  }

 private:
  std::string StateKey() {
    return std::string(1, static_cast<char>('a' + random_() % 4)) +
           static_cast<char>('a' + random_() % 3);
  }
  std::string MapKey() {
    std::string rest = StateKey();
    for (uint64_t n = random_() % 3; n > 0; --n) rest += static_cast<char>('k' + random_() % 6);
    return TreeForTest::Key(static_cast<uint8_t>(random_() % 3), kMaps, rest);
  }
  std::string OtherKey(Table table) {
    return TreeForTest::Key(static_cast<uint8_t>(random_() % 3), table, StateKey());
  }

  void Write() {
    const std::string value = "v" + std::to_string(random_() % 1000);
    const std::string map_key = MapKey();
    constexpr uint32_t kPrefix = TreeForTest::kPrefixBytes;
    switch (random_() % 14) {
      case 0:
      case 1:
        return tree_.Put(OtherKey(kValues), value);
      case 2:
        return tree_.Delete(OtherKey(kValues));
      case 3:
      case 4:
      case 5:
        return tree_.Put(map_key, value, kPrefix);
      case 6:
        return tree_.Delete(map_key, kPrefix);
      case 7:
        return tree_.DeletePrefix(map_key.substr(0, kPrefix));
      case 8:
      case 9:
      case 10:
        return tree_.Append(OtherKey(kLists), TreeForTest::Segment(value));
      case 11:
        return tree_.Delete(OtherKey(kLists));
      case 12:
        return tree_.Put(OtherKey(kLists), TreeForTest::Segment(value));
      default: {
        if (random_() % 4 != 0) return;
        std::string a = TreeForTest::Key(static_cast<uint8_t>(random_() % 3),
                                         10 * (1 + random_() % 3), StateKey());
        std::string b = a.substr(0, 6) + StateKey();
        if (random_() % 4 == 0) b = TreeForTest::Key(static_cast<uint8_t>(a[0]), 21, "");
        tree_.DeleteRange(std::min(a, b), std::max(a, b));
      }
    }
  }

  void Compact() {
    const auto& levels = tree_.version()->levels;
    const auto level = static_cast<uint32_t>(random_() % 4);
    if (levels[level].empty()) return;
    std::map<uint32_t, std::vector<size_t>> files;
    if (level == 0) {
      const size_t first = random_() % levels[0].size();
      if (random_() % 3 == 0) {  // within L0: any adjacent entries
        const size_t last = first + random_() % (levels[0].size() - first);
        for (size_t i = first; i <= last; ++i) files[0].push_back(i);
        tree_.Compact(tree_.Plan(files, 0));
        return;
      }
      for (size_t i = first; i < levels[0].size(); ++i) files[0].push_back(i);
    } else {
      files[level].push_back(random_() % levels[level].size());
    }
    AddOverlapping(level, &files);
    tree_.Compact(tree_.Plan(files, level + 1));
  }
  void AddOverlapping(uint32_t level, std::map<uint32_t, std::vector<size_t>>* files) {
    const auto& levels = tree_.version()->levels;
    std::string lower(20, '\xff'), upper;
    for (const size_t i : (*files)[level]) {
      lower = std::min(lower, levels[level][i].lower);
      upper = std::max(upper, levels[level][i].upper);
    }
    for (size_t i = 0; i < levels[level + 1].size(); ++i) {
      const KeyFileEntry& e = levels[level + 1][i];
      if (RangesOverlap(lower, upper, e.lower, e.upper)) (*files)[level + 1].push_back(i);
    }
  }

  void CheckSome() {
    for (int i = 0; i < 5; ++i) {
      const std::string map_key = MapKey();
      CheckGet(map_key, TreeForTest::kPrefixBytes);
      CheckGet(OtherKey(kValues), 0);
      CheckGet(OtherKey(kLists), 0);
    }
    const std::string from = MapKey();
    std::map<std::string, std::string> want(tree_.model().lower_bound(from), tree_.model().end());
    ASSERT_EQ(tree_.Scan(from), want);
    ASSERT_EQ(tree_.Scan(from, TreeForTest::kPrefixBytes), want);
  }
  void CheckGet(const std::string& key, uint32_t prefix) {
    const auto got = tree_.Get(key, prefix);
    const auto want = tree_.model().find(key);
    ASSERT_EQ(got != nullptr, want != tree_.model().end());
    if (got != nullptr) {
      ASSERT_EQ(*got, want->second);
    }
  }
  void CheckBottomIsClean() {
    for (const auto& level : tree_.version()->levels) {
      for (const KeyFileEntry& e : level) {
        EXPECT_EQ(e.file->deletes + e.file->prefix_deletes + e.file->range_tombstones, 0u);
        EXPECT_EQ(ReaderOf(*e.file)->properties().appends, 0u);
      }
    }
    ASSERT_EQ(tree_.Scan(), tree_.model());
  }

  std::mt19937_64 random_;
  TreeForTest tree_;
};

TEST(TreeModel, SameAsMap) {
  for (uint64_t seed = 1; seed <= 12 && !HasFatalFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    TreeModel(seed).Run(700);
  }
}

}  // namespace
}  // namespace lava
