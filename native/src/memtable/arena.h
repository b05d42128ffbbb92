// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "memory/memory_counter.h"

namespace lava {

/// Slot sizes: multiples of 8 up to 128, then four for each doubling.
inline constexpr size_t kArenaClassCount = 56;
constexpr std::array<uint32_t, kArenaClassCount> MakeArenaClassBytes() {
  std::array<uint32_t, kArenaClassCount> bytes{};
  size_t n = 0;
  for (uint32_t b = 8; b <= 128; b += 8) bytes[n++] = b;
  for (uint32_t base = 128; n < kArenaClassCount; base *= 2)
    for (uint32_t quarter = 1; quarter <= 4; ++quarter) bytes[n++] = base + base / 4 * quarter;
  return bytes;
}

/// The memory of one memtable. Slots are named by 32-bit references, half the size of a pointer,
/// which keeps the indexes over them small. Freed slots are reused by size class.
/// Threads:    one thread; or several that call only At() and SlotBytes() while no thread
///             allocates.
/// Ownership:  owns all memory until destruction. Memory is charged to the counter before it is
///             taken.
/// Units:      bytes.
class Arena {
 public:
  using Ref = uint32_t;
  static constexpr Ref kNull = 0;

  explicit Arena(MemoryCounter* counter) : counter_(counter) {}
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  /// A slot of at least this many bytes, 8-byte aligned, uninitialized. *slot_class is needed to
  /// free the slot. Errors: std::bad_alloc; nothing has changed then.
  Ref Allocate(size_t bytes, uint8_t* slot_class);
  void Free(Ref ref, uint8_t slot_class);
  /// Bytes of a slot of this class; for a slot that is a chunk of its own, the bytes requested.
  size_t SlotBytes(Ref ref, uint8_t slot_class) const {
    return slot_class == kOwnChunk ? chunks_[ref >> kOffsetBits].bytes : kClassBytes[slot_class];
  }

  char* At(Ref ref) { return bases_[ref >> kOffsetBits] + (size_t{ref & kOffsetMask} << 3); }
  const char* At(Ref ref) const {
    return bases_[ref >> kOffsetBits] + (size_t{ref & kOffsetMask} << 3);
  }

  uint64_t charged_bytes() const { return charged_bytes_; }

  static constexpr size_t kChunkBytesMin = 4096;
  static constexpr size_t kChunkBytesMax = size_t{2} << 20;  // a huge page
  /// Larger slots are chunks of their own, which go back to the system when freed.
  static constexpr size_t kSlotBytesMax = size_t{128} << 10;
  static constexpr uint8_t kOwnChunk = 63;

 private:
  static constexpr uint32_t kOffsetBits = 18;  // of a chunk's 8-byte units
  static constexpr uint32_t kOffsetMask = (1u << kOffsetBits) - 1;
  static constexpr size_t kClassCount = kArenaClassCount;
  static constexpr std::array<uint32_t, kClassCount> kClassBytes = MakeArenaClassBytes();
  static_assert(kClassBytes.back() == kSlotBytesMax);
  static_assert(kClassCount <= kOwnChunk);

  struct Chunk {
    char* base = nullptr;
    size_t bytes = 0;
  };
  static uint8_t ClassOf(size_t bytes);
  uint32_t NewChunk(size_t bytes);

  MemoryCounter* const counter_;
  uint64_t charged_bytes_ = 0;
  std::vector<Chunk> chunks_;
  std::vector<char*> bases_;  // chunks_[i].base, separate so that At() touches few cache lines
  std::vector<uint32_t> free_chunks_;
  uint32_t current_ = 0;
  size_t used_ = 0;  // of the current chunk
  std::array<Ref, kClassCount> free_{};
};

}  // namespace lava
