// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "memory/slot_heap.h"

#include <gtest/gtest.h>

#include <cstring>
#include <iterator>
#include <map>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

namespace lava {
namespace {

TEST(SlotHeap, RoundsByAnEighthAtMostAndAboveSlotsToPages) {
  size_t last = 0;
  for (size_t bytes = SlotHeap::kBytesMin; bytes <= SlotHeap::kSlotBytesMax; ++bytes) {
    const size_t rounded = SlotHeap::RoundUp(bytes);
    ASSERT_GE(rounded, bytes);
    ASSERT_LE(rounded - bytes, bytes / 8);
    ASSERT_EQ(rounded % 256, 0u);
    ASSERT_GE(rounded, last);
    last = rounded;
  }
  EXPECT_EQ(SlotHeap::RoundUp(SlotHeap::kBytesMin), SlotHeap::kBytesMin);
  EXPECT_EQ(SlotHeap::RoundUp(SlotHeap::kSlotBytesMax), SlotHeap::kSlotBytesMax);
  EXPECT_EQ(SlotHeap::RoundUp(SlotHeap::kSlotBytesMax + 1),
            SlotHeap::kSlotBytesMax + kMemoryPageBytes);
}

#if !defined(__SANITIZE_ADDRESS__)
// One memcmp compares each byte with the next: a loop takes minutes under ThreadSanitizer.
bool IsFilledWith(char mark, const char* memory, size_t bytes) {
  return memory[0] == mark && std::memcmp(memory, memory + 1, bytes - 1) == 0;
}

TEST(SlotHeap, AllocationsDoNotOverlapAndKeepTheirContents) {
  PagePool pool;
  SlotHeap heap(&pool);
  std::mt19937 random(1);
  std::map<char*, std::pair<size_t, char>> held;
  for (int i = 0; i < 20'000; ++i) {
    if (held.size() > 300 || (!held.empty() && random() % 3 == 0)) {
      auto it = std::next(held.begin(), static_cast<long>(random() % held.size()));
      const auto [bytes, mark] = it->second;
      ASSERT_TRUE(IsFilledWith(mark, it->first, bytes));
      heap.Free(it->first);
      held.erase(it);
      continue;
    }
    const size_t most = random() % 8 == 0 ? 200 << 10 : 40 << 10;
    const size_t bytes = SlotHeap::kBytesMin + random() % (most - SlotHeap::kBytesMin);
    const bool zeroed = random() % 2 == 0;
    char* const memory = static_cast<char*>(heap.Allocate(bytes, zeroed));
    ASSERT_EQ(reinterpret_cast<uintptr_t>(memory) % 256, 0u);
    ASSERT_TRUE(IsOwnedMemory(memory));
    ASSERT_EQ(SlotHeap::BytesOf(memory), SlotHeap::RoundUp(bytes));
    if (zeroed) {
      ASSERT_TRUE(IsFilledWith(0, memory, bytes));
    }
    const auto behind = held.lower_bound(memory);
    ASSERT_TRUE(behind == held.end() || memory + bytes <= behind->first);
    ASSERT_TRUE(behind == held.begin() ||
                std::prev(behind)->first + std::prev(behind)->second.first <= memory);
    const char mark = static_cast<char>(1 + random() % 100);
    std::memset(memory, mark, bytes);
    held[memory] = {bytes, mark};
  }
  for (const auto& [memory, what] : held) heap.Free(memory);
  // Each of 33 sizes may keep a span of at most 16 pages.
  EXPECT_LE(pool.statistics().used_bytes, 33 * 16 * kMemoryPageBytes);
  heap.GiveBackFree();
  EXPECT_EQ(pool.statistics().used_bytes, 0u);
}

TEST(SlotHeap, WhatPassesASpanIsMappedByItselfAndGoesBack) {
  PagePool pool;
  SlotHeap heap(&pool);
  constexpr size_t kBytes = SpanHeap::kSpanBytesMax + 1;
  char* const memory = static_cast<char*>(heap.Allocate(kBytes));
  std::memset(memory, 7, kBytes);
  EXPECT_TRUE(IsOwnedMemory(memory));
  EXPECT_EQ(SlotHeap::BytesOf(memory), kBytes - 1 + kMemoryPageBytes);
  EXPECT_EQ(pool.statistics().used_bytes, kBytes - 1 + kMemoryPageBytes);
  heap.Free(memory);
  EXPECT_FALSE(IsOwnedMemory(memory));
  EXPECT_EQ(pool.statistics().used_bytes, 0u);
}

TEST(SlotHeap, OtherMemoryIsNotOwned) {
  const int on_stack = 0;
  static int in_data = 0;
  const auto on_heap = std::make_unique<int>(0);
  for (const void* memory :
       {static_cast<const void*>(&on_stack), static_cast<const void*>(&in_data),
        static_cast<const void*>(on_heap.get()), static_cast<const void*>(nullptr),
        reinterpret_cast<const void*>(UINTPTR_MAX)})
    EXPECT_FALSE(IsOwnedMemory(memory));
}
#endif

TEST(SlotHeap, ThreadsFreeWhatOthersAllocated) {
  PagePool pool;
  SlotHeap heap(&pool);
  std::mutex mutex;
  std::vector<char*> shared;
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      std::mt19937 random(t);
      for (int i = 0; i < 3000; ++i) {
        const size_t bytes = SlotHeap::kBytesMin + random() % (64 << 10);
        char* memory = static_cast<char*>(heap.Allocate(bytes));
        memory[0] = memory[bytes - 1] = 'x';
        std::lock_guard lock(mutex);
        shared.push_back(memory);
        std::swap(shared[random() % shared.size()], shared.back());
        if (shared.size() < 50) continue;
        EXPECT_EQ(shared.back()[0], 'x');
        heap.Free(shared.back());
        shared.pop_back();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (char* memory : shared) heap.Free(memory);
  EXPECT_LE(pool.statistics().used_bytes, 33 * 16 * kMemoryPageBytes);
  heap.GiveBackFree();
  EXPECT_EQ(pool.statistics().used_bytes, 0u);
}

}  // namespace
}  // namespace lava
