// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "base/mutex.h"
#include "memory/page_pool.h"

namespace lava {

/// Allocates memory of 2 KiB and more from a page pool and, like malloc, frees it by address alone.
/// Up to 32 KiB come from slots, with eight slot sizes per doubling; a span of slots returns to the
/// pool as a whole. Larger allocations are whole pages.
/// Threads:    any.
/// Ownership:  the caller frees, before the heap is destroyed.
/// Errors:     null if the system has no memory left.
class SlotHeap {
 public:
  static constexpr size_t kBytesMin = 2048, kSlotBytesMax = size_t{32} << 10;

  explicit SlotHeap(PagePool* pool) : pool_(pool) {}
  ~SlotHeap();
  SlotHeap(const SlotHeap&) = delete;
  SlotHeap& operator=(const SlotHeap&) = delete;
  /// The process's heap. Never destroyed; created without malloc.
  static SlotHeap& Process();

  /// Returns at least this many bytes, aligned to 256. bytes must not be less than kBytesMin.
  void* Allocate(size_t bytes, bool zeroed = false) noexcept;
  void Free(void* memory) noexcept;
  /// Returns all spans without a used slot to the pool. Free() keeps one such span per size.
  void GiveBackFree() noexcept;
  /// Usable bytes of an allocation.
  static size_t BytesOf(const void* memory);
  /// Bytes that Allocate(bytes) takes from the pool, without the rest of a span of slots.
  static constexpr size_t RoundUp(size_t bytes) {
    return bytes > kSlotBytesMax ? PagePool::RoundUp(bytes) : BytesOfClass(ClassOf(bytes));
  }

 private:
  // Sizes in (2^s, 2^(s+1)] have eight classes. A span has 9 to 16 pages.
  static constexpr size_t kShiftMin = 10, kClasses = 5 * 8;
  static constexpr size_t ClassOf(size_t bytes) {
    const size_t shift = static_cast<size_t>(std::bit_width(bytes - 1)) - 1;
    const size_t step = size_t{1} << (shift - 3);
    return (shift - kShiftMin) * 8 + (bytes - (size_t{1} << shift) + step - 1) / step - 1;
  }
  static constexpr size_t BytesOfClass(size_t n) { return (9 + n % 8) << (n / 8 + kShiftMin - 3); }
  static constexpr uint32_t PagesOfClass(size_t n) { return static_cast<uint32_t>(9 + n % 8); }
  static constexpr uint32_t SlotsOfClass(size_t n) {
    return static_cast<uint32_t>(PagesOfClass(n) * kMemoryPageBytes / BytesOfClass(n));
  }
  struct Class {
    Mutex mutex;  // taken before the pool's
    SpanList with_free_slots LAVA_GUARDED_BY(mutex);
  };

  char* AllocateSlot(size_t n) noexcept;
  void FreeSlot(Span* span, size_t slot) noexcept;
  Span* NewSpan(size_t n) noexcept;
  static uint16_t AllSlots(size_t n) { return static_cast<uint16_t>((1u << SlotsOfClass(n)) - 1); }
  static Span* SpanOf(const void* memory);

  PagePool* const pool_;
  std::array<Class, kClasses> classes_;
};

}  // namespace lava
