// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "base/shared_list.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <random>
#include <string>
#include <thread>

#include "base/shared_map.h"

namespace lava {
namespace {

using List = SharedList<std::string, 4>;

std::vector<std::string> ItemsOf(const List& list) { return {list.begin(), list.end()}; }

void ExpectSame(const List& list, const std::vector<std::string>& model) {
  ASSERT_EQ(ItemsOf(list), model);
  ASSERT_EQ(list.size(), model.size());
  ASSERT_EQ(list.empty(), model.empty());
  ASSERT_EQ(list.end() - list.begin(), static_cast<ptrdiff_t>(model.size()));
  for (size_t i = 0; i < model.size(); ++i) {
    ASSERT_EQ(list[i], model[i]);
    ASSERT_EQ(*(list.end() - static_cast<ptrdiff_t>(model.size() - i)), model[i]);
    ASSERT_EQ((list.begin() + static_cast<ptrdiff_t>(i)).index(), i);
  }
  if (model.empty()) return;
  ASSERT_EQ(list.front(), model.front());
  ASSERT_EQ(list.back(), model.back());
  auto at = list.end();
  for (size_t i = model.size(); i-- > 0;) ASSERT_EQ(*--at, model[i]);
  ASSERT_EQ(at, list.begin());
}

TEST(SharedList, IsAVectorThatKeepsItsCopies) {
  std::mt19937 random(1);
  struct Kept {
    List list;
    std::vector<std::string> model;
  };
  std::vector<Kept> kept(1);
  for (int step = 0; step < 20'000; ++step) {
    Kept& now = kept[random() % kept.size()];
    List& list = now.list;
    std::vector<std::string>& model = now.model;
    const size_t at = model.empty() ? 0 : random() % model.size();
    const auto position = list.begin() + static_cast<ptrdiff_t>(at);
    // The list grows for a while, then shrinks.
    const uint32_t kind = random() % 16;
    const bool grows = step / 500 % 2 == 0;
    if (kind == 0) {
      if (kept.size() < 8) kept.push_back(Kept(now));
      continue;
    }
    if (kind == 1 && kept.size() > 1) {
      kept.erase(kept.begin() + static_cast<ptrdiff_t>(random() % kept.size()));
      continue;
    }
    if (model.empty() || kind < (grows ? 11 : 5)) {
      const bool back = kind % 2 == 0;
      const std::string item = std::to_string(step);
      model.insert(back ? model.end() : model.begin() + static_cast<ptrdiff_t>(at), item);
      back ? list.push_back(item) : list.insert(position, item);
    } else if (kind == 15) {
      list.Mutable(position) = model[at] = "changed " + std::to_string(step);
    } else {
      model.erase(model.begin() + static_cast<ptrdiff_t>(at));
      ASSERT_EQ(list.erase(position).index(), at);
    }
    ASSERT_NO_FATAL_FAILURE(ExpectSame(list, model));
    if (step % 100 != 0) continue;
    for (const Kept& one : kept) ASSERT_NO_FATAL_FAILURE(ExpectSame(one.list, one.model));
  }
}

TEST(SharedList, PutAtItsEndItHasFullChunks) {
  List list;
  for (int i = 0; i < 400; ++i) list.push_back(std::to_string(i));
  EXPECT_EQ(list.chunk_count(), 100u);
}

TEST(SharedList, FewItemsDoNotKeepManyChunks) {
  SharedList<int, 16> list;
  for (int i = 0; i < 1600; ++i) list.push_back(i);
  for (size_t i = 1; i < list.size();) {  // every tenth stays
    list.erase(list.begin() + static_cast<ptrdiff_t>(i));
    if (list[i - 1] / 10 != list[std::min(i, list.size() - 1)] / 10) ++i;
  }
  EXPECT_EQ(list.size(), 160u);
  EXPECT_LE(list.chunk_count(), 2 * 160u / 8);
}

TEST(SharedList, PartitionPointFindsWhatAVectorsDoes) {
  for (int size = 0; size < 70; ++size) {
    SharedList<int, 4> list;
    for (int i = 0; i < size; ++i) list.push_back(2 * i);
    for (int wanted = -1; wanted <= 2 * size; ++wanted) {
      const auto found = list.PartitionPoint([wanted](int item) { return item < wanted; });
      EXPECT_EQ(found.index(), static_cast<size_t>((wanted + 1) / 2)) << size << " " << wanted;
    }
  }
}

// One thread reads and destroys a copy while another thread changes the list.
TEST(SharedListConcurrency, CopiesAreReadBesideChanges) {
  SharedList<std::string, 8> list;
  for (int i = 0; i < 200; ++i) list.push_back(std::string(40, 'a'));
  for (int round = 0; round < 200; ++round) {
    auto copy = std::make_unique<SharedList<std::string, 8>>(list);
    std::thread reader([copy = std::move(copy)]() mutable {
      size_t bytes = 0;
      for (const std::string& item : *copy) bytes += item.size();
      EXPECT_EQ(bytes, 200u * 40);
      copy.reset();
    });
    for (size_t i = 0; i < list.size(); i += 9)
      list.Mutable(list.begin() + static_cast<ptrdiff_t>(i)) =
          std::string(40, static_cast<char>('a' + round % 26));
    reader.join();
  }
}

TEST(SharedMap, IsASortedMapThatKeepsItsCopies) {
  std::mt19937 random(2);
  SharedMap<int, std::string> map;
  std::map<int, std::string> model;
  SharedMap<int, std::string> copy;
  std::map<int, std::string> copy_model;
  for (int step = 0; step < 50'000; ++step) {
    const int key = static_cast<int>(random() % 2000);
    switch (random() % 4) {
      case 0:
        map[key] = model[key] = std::to_string(step);
        break;
      case 1: {
        const auto [value, is_new] = map.emplace(key, std::to_string(step));
        ASSERT_EQ(is_new, model.emplace(key, std::to_string(step)).second);
        ASSERT_EQ(*value, model[key]);
        break;
      }
      case 2:
        ASSERT_EQ(map.erase(key), model.erase(key));
        break;
      default: {
        const auto at = map.lower_bound(key);
        const auto expected = model.lower_bound(key);
        ASSERT_EQ(at == map.end(), expected == model.end());
        if (expected != model.end()) {
          ASSERT_EQ(at->first, expected->first);
        }
        ASSERT_EQ(map.contains(key), model.contains(key));
      }
    }
    ASSERT_EQ(map.size(), model.size());
    if (step % 5000 == 0) {
      copy = map;
      copy_model = model;
    }
    if (step % 1000 == 0) {
      ASSERT_EQ((std::map<int, std::string>(map.begin(), map.end())), model);
      ASSERT_EQ((std::map<int, std::string>(copy.begin(), copy.end())), copy_model);
    }
  }
}

// Finds the changes since a copy was made, without a walk over all items.
TEST(SharedMap, VisitsWhatAnEarlierCopyDoesNotShare) {
  SharedMap<int, int> map;
  for (int key = 0; key < 10'000; ++key) map[key] = 0;
  const SharedMap<int, int> before = map;
  const auto visited = [&] {
    std::set<int> keys;
    map.ForEachUnshared(before, [&](const std::pair<int, int>& item) { keys.insert(item.first); });
    return keys;
  };
  EXPECT_TRUE(visited().empty());
  std::mt19937 random(5);
  std::set<int> changed;
  for (int step = 0; step < 20; ++step) {
    const int key = static_cast<int>(random() % 12'000);
    map[key] = step + 1;
    changed.insert(key);
    map.erase(static_cast<int>(random() % 10'000) + 20'000);
    const std::set<int> seen = visited();
    EXPECT_TRUE(std::includes(seen.begin(), seen.end(), changed.begin(), changed.end()));
    EXPECT_LE(seen.size(), 64u * 2 * changed.size()) << "unchanged chunks must not be visited";
  }
  for (int key = 3'000; key < 7'000; ++key) map.erase(key);
  for (const int key : visited()) EXPECT_TRUE(map.contains(key));
  SharedMap<int, int> other;
  other[1] = 1;
  std::set<int> all;
  other.ForEachUnshared(before, [&](const std::pair<int, int>& item) { all.insert(item.first); });
  EXPECT_EQ(all, std::set<int>{1}) << "an independent map shares no items";
}

}  // namespace
}  // namespace lava
