// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "memtable/key_sort.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "lava/slice.h"
#include "memtable/arena.h"
#include "memtable/entry.h"

namespace lava {

namespace {

struct Item {
  uint64_t word;  // eight key bytes at the depth, big endian, zero padded
  Arena::Ref ref;
};

// Items [begin, end) whose keys are equal below depth.
struct Range {
  size_t begin, end, depth;
};

uint64_t WordAt(Slice key, size_t depth) {
  char bytes[8] = {};
  if (depth < key.size())
    std::memcpy(bytes, key.data() + depth, std::min<size_t>(8, key.size() - depth));
  uint64_t word;
  std::memcpy(&word, bytes, 8);
  return __builtin_bswap64(word);
}

class Sorter {
 public:
  Sorter(const Arena& arena, std::vector<Item>* items) : arena_(arena), items_(*items) {}

  // Keys may share a megabyte, so ranges wait on a stack of the heap.
  void Sort() {
    work_.push_back({0, items_.size(), 0});
    while (!work_.empty()) {
      const Range range = work_.back();
      work_.pop_back();
      Split(range);
    }
  }

 private:
  void SortWhole(size_t begin, size_t end) {
    std::sort(items_.begin() + begin, items_.begin() + end, [this](const Item& a, const Item& b) {
      return Compare(SortKeyOf(*EntryAt(arena_, a.ref)), SortKeyOf(*EntryAt(arena_, b.ref))) < 0;
    });
  }

  void Split(const Range& range) {
    for (size_t i = range.begin; i < range.end; ++i)
      items_[i].word = WordAt(EntryAt(arena_, items_[i].ref)->key(), range.depth);
    std::sort(items_.begin() + range.begin, items_.begin() + range.end,
              [](const Item& a, const Item& b) { return a.word < b.word; });
    for (size_t begin = range.begin; begin < range.end;) {
      size_t end = begin + 1;
      while (end < range.end && items_[end].word == items_[begin].word) ++end;
      if (end - begin > 1) SplitEqual({begin, end, range.depth});
      begin = end;
    }
  }

  // The words at depth are equal, too. Keys that end within them are prefixes of the others, so
  // they come first. There are few of them, since no two entries are equal.
  void SplitEqual(const Range& range) {
    if (range.end - range.begin <= 4) return SortWhole(range.begin, range.end);
    const auto longer = std::partition(
        items_.begin() + range.begin, items_.begin() + range.end, [&](const Item& item) {
          return EntryAt(arena_, item.ref)->key_bytes() <= range.depth + 8;
        });
    const size_t middle = static_cast<size_t>(longer - items_.begin());
    SortWhole(range.begin, middle);
    if (range.end - middle > 1) work_.push_back({middle, range.end, range.depth + 8});
  }

  const Arena& arena_;
  std::vector<Item>& items_;
  std::vector<Range> work_;
};

}  // namespace

void SortEntries(const Arena& arena, std::vector<Arena::Ref>* entries) {
  std::vector<Item> items;
  items.reserve(entries->size());
  for (const Arena::Ref ref : *entries) items.push_back({0, ref});
  Sorter(arena, &items).Sort();
  for (size_t i = 0; i < items.size(); ++i) (*entries)[i] = items[i].ref;
}

}  // namespace lava
