// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <deque>
#include <memory>
#include <random>

#include "memtable/entry.h"

namespace lava::bench {

/// A skip list with towers in front of its entries, a common design in log-structured stores.
class SkipList {
 public:
  explicit SkipList(Arena* arena) : arena_(*arena) { head_ = NewNode(kHeightMax, 0); }

  MemtableEntry* Insert(Slice key, Slice value) {
    MemtableEntry* before[kHeightMax];
    FindLess(key, before);
    uint32_t height = 1;
    while (height < kHeightMax && random_() % 4 == 0) ++height;
    MemtableEntry* e = NewNode(height, key.size() + value.size());
    e->value_bytes = static_cast<uint32_t>(value.size());
    e->key_word = static_cast<uint32_t>(key.size() << 8) | 1;
    e->prefix_word = 0;
    std::memcpy(e->data(), key.data(), key.size());
    std::memcpy(e->value_area(), value.data(), value.size());
    for (uint32_t i = 0; i < height; ++i) {
      if (i >= height_) before[i] = head_;
      Next(e, i) = Next(before[i], i);
      Next(before[i], i) = e;
    }
    height_ = std::max(height_, height);
    return e;
  }
  MemtableEntry* Find(Slice key) {
    MemtableEntry* e = Seek(key);
    return e != nullptr && e->key() == key ? e : nullptr;
  }
  MemtableEntry* First() { return Next(head_, 0); }
  MemtableEntry* Seek(Slice key) { return FindLess(key, nullptr); }
  static MemtableEntry*& Next(MemtableEntry* e, uint32_t level) {
    return reinterpret_cast<MemtableEntry**>(e)[-1 - static_cast<ptrdiff_t>(level)];
  }

 private:
  static constexpr uint32_t kHeightMax = 12;
  MemtableEntry* NewNode(uint32_t height, size_t bytes) {
    uint8_t slot_class;
    char* slot = arena_.At(arena_.Allocate(
        height * sizeof(MemtableEntry*) + sizeof(MemtableEntry) + bytes, &slot_class));
    std::memset(slot, 0, height * sizeof(MemtableEntry*));
    return reinterpret_cast<MemtableEntry*>(slot + height * sizeof(MemtableEntry*));
  }
  MemtableEntry* FindLess(Slice key, MemtableEntry** before) {
    MemtableEntry* e = head_;
    MemtableEntry* last_bigger = nullptr;
    for (uint32_t level = height_; level-- > 0;) {
      for (;;) {
        MemtableEntry* next = Next(e, level);
        if (next == nullptr || next == last_bigger || next->key() >= key) {
          last_bigger = next;
          break;
        }
        e = next;
      }
      if (before != nullptr) before[level] = e;
    }
    return Next(e, 0);
  }

  Arena& arena_;
  MemtableEntry* head_;
  uint32_t height_ = 1;
  std::minstd_rand random_;
};

}  // namespace lava::bench
