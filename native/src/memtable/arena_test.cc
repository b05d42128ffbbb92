// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "memtable/arena.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

namespace lava {
namespace {

TEST(Arena, SlotsHoldWhatWasAskedAndNeverOverlap) {
  MemoryCounter counter;
  {
    Arena arena(&counter);
    std::mt19937 random(3);
    struct Slot {
      Arena::Ref ref;
      uint8_t slot_class;
      size_t bytes;
      char fill;
    };
    std::vector<Slot> slots;
    for (int i = 0; i < 20000; ++i) {
      if (!slots.empty() && random() % 3 == 0) {
        std::swap(slots[random() % slots.size()], slots.back());
        const Slot& s = slots.back();
        const std::string want(s.bytes, s.fill);
        ASSERT_EQ(std::memcmp(arena.At(s.ref), want.data(), s.bytes), 0);
        arena.Free(s.ref, s.slot_class);
        slots.pop_back();
        continue;
      }
      const size_t bytes = random() % 50 == 0 ? random() % 400000 : random() % 300;
      Slot s{0, 0, bytes, static_cast<char>(i)};
      s.ref = arena.Allocate(bytes, &s.slot_class);
      ASSERT_NE(s.ref, Arena::kNull);
      ASSERT_GE(arena.SlotBytes(s.ref, s.slot_class), bytes);
      ASSERT_EQ(reinterpret_cast<uintptr_t>(arena.At(s.ref)) % 8, 0u);
      std::memset(arena.At(s.ref), s.fill, bytes);
      slots.push_back(s);
    }
    EXPECT_EQ(counter.used(), arena.charged_bytes());
  }
  EXPECT_EQ(counter.used(), 0u);
}

TEST(Arena, ClassesWasteAtMostAQuarter) {
  MemoryCounter counter;
  Arena arena(&counter);
  for (size_t bytes = 1; bytes <= Arena::kSlotBytesMax; bytes += 1 + bytes / 50) {
    uint8_t slot_class;
    const Arena::Ref ref = arena.Allocate(bytes, &slot_class);
    const size_t slot = arena.SlotBytes(ref, slot_class);
    ASSERT_GE(slot, bytes);
    ASSERT_LE(slot, std::max(bytes + 7, bytes * 5 / 4 + 1)) << bytes;
    arena.Free(ref, slot_class);
  }
}

TEST(Arena, GrowsFromSmallChunks) {
  MemoryCounter counter;
  Arena arena(&counter);
  EXPECT_EQ(counter.used(), 0u);
  uint8_t slot_class;
  arena.Allocate(100, &slot_class);
  EXPECT_EQ(counter.used(), Arena::kChunkBytesMin);
  while (counter.used() < (8u << 20)) {
    const uint64_t before = counter.used();
    arena.Allocate(100, &slot_class);
    ASSERT_LE(counter.used() - before, Arena::kChunkBytesMax);
  }
}

TEST(Arena, LargeSlotsGoBackAtOnce) {
  MemoryCounter counter;
  Arena arena(&counter);
  uint8_t slot_class;
  arena.Allocate(8, &slot_class);
  const uint64_t before = counter.used();
  const Arena::Ref ref = arena.Allocate(3 << 20, &slot_class);
  EXPECT_EQ(counter.used(), before + (3 << 20));
  arena.Free(ref, slot_class);
  EXPECT_EQ(counter.used(), before);
}

}  // namespace
}  // namespace lava
