// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace lava {

inline constexpr size_t kMemoryPageBytes = 4096;
inline constexpr size_t kHugePageBytes = size_t{2} << 20;

/// A run of pages in a range that is allocated or free as a unit. The Span of its first page
/// describes it; the Span of its last page repeats pages and state for the neighbour behind.
struct Span {
  enum class State : uint8_t {
    kNone,  // a page inside a span
    kUsed,
    kSlots,     // used, and cut into slots (SlotHeap)
    kResident,  // free, its pages are resident
    kReturned,  // free, its pages were returned to the system and read as zero
  };
  Span* previous = nullptr;  // in a list
  Span* next = nullptr;
  uint32_t pages = 0;
  uint32_t first_page = 0;  // for pages of kSlots: index of the span's first page in the range
  uint16_t free_slots = 0;  // bit set: the slot is free
  uint8_t slot_class = 0;
  State state = State::kNone;
};

/// An intrusive list of spans. Threads: the caller holds a lock.
class SpanList {
 public:
  bool empty() const { return first_ == nullptr; }
  Span* first() const { return first_; }
  void Push(Span* span);
  void Remove(Span* span);

 private:
  Span* first_ = nullptr;
};

/// kBytes of addresses, aligned to kBytes, that are cut into spans; the Span of each page is stored
/// at the beginning. A range has either small pages or huge pages; a huge page is one span.
struct Range {
  static constexpr size_t kBytes = size_t{64} << 20;
  static constexpr size_t kPages = kBytes / kMemoryPageBytes;

  static Range* Of(const void* memory) {
    return reinterpret_cast<Range*>(reinterpret_cast<uintptr_t>(memory) & ~uintptr_t{kBytes - 1});
  }
  Span* SpanAt(const void* memory) {
    return &spans[(reinterpret_cast<uintptr_t>(memory) & (kBytes - 1)) / kMemoryPageBytes];
  }
  char* MemoryOf(const Span* span) {
    return reinterpret_cast<char*>(this) +
           static_cast<size_t>(span - spans.data()) * kMemoryPageBytes;
  }

  Range* next;  // in the heap's list
  std::array<Span, kPages> spans;
};

/// Allocates and frees spans of pages from ranges that it reserves; free neighbours are joined. The
/// heap does not return pages to the system itself. Allocations prefer resident spans to returned
/// ones, and small spans to large ones.
/// Threads:    the caller holds a lock. Never calls malloc.
/// Ownership:  owns all ranges until destruction.
class SpanHeap {
 public:
  /// Largest span. PagePool maps larger allocations separately.
  static constexpr size_t kSpanBytesMax = size_t{16} << 20;
  static constexpr uint32_t kSpanPagesMax = kSpanBytesMax / kMemoryPageBytes;

  constexpr SpanHeap() = default;
  ~SpanHeap();
  SpanHeap(const SpanHeap&) = delete;
  SpanHeap& operator=(const SpanHeap&) = delete;

  /// Allocates a span. *state: its state before. Null if the system has no addresses left.
  Span* Take(uint32_t pages, Span::State* state);
  /// Marks every page of a used span as part of a span of slots. Needs the caller's lock, because
  /// neighbours read the span's first and last page.
  static void MarkSlots(Span* span);
  /// Frees a span and joins it with its neighbours of the same state.
  void Put(Span* span, Span::State state);
  /// Allocates the largest resident span, or pages_max pages of it; null if there is none.
  Span* TakeLargestResident(uint32_t pages_max);

  /// The same for huge pages, each aligned to its size.
  Span* TakeHuge(Span::State* state);
  void PutHuge(Span* span, Span::State state);
  Span* TakeResidentHuge();

  static char* MemoryOf(Span* span) { return Range::Of(span)->MemoryOf(span); }
  uint64_t reserved_bytes() const { return ranges_count_ * Range::kBytes; }

 private:
  static constexpr size_t kExactBins = 64, kBins = kExactBins + 32;
  static constexpr int kLookedAtMax = 16;
  class FreeSpans {
   public:
    void Insert(Span* span);
    void Remove(Span* span);
    Span* Find(uint32_t pages) const;
    Span* Largest() const;

   private:
    static size_t BinOf(uint32_t pages);
    std::array<SpanList, kBins> bins_{};
    std::array<uint64_t, 2> filled_{};  // bit set: the bin is not empty
  };

  FreeSpans* FreeOf(Span::State state) {
    return state == Span::State::kResident ? &resident_ : &returned_;
  }
  static void Mark(Span* span, uint32_t pages, Span::State state);
  bool AddRange();
  bool AddHugeRange();
  void Own(Range* range);

  FreeSpans resident_, returned_;
  SpanList huge_resident_, huge_returned_;
  Range* ranges_ = nullptr;
  uint64_t ranges_count_ = 0;
};

/// Whether memory lies in a range of any heap, or was mapped by MapOwned().
bool IsOwnedMemory(const void* memory);
/// Allocates a separate mapping, page-aligned; null if the system has no memory or addresses left.
char* MapOwned(size_t bytes);
/// Size of an allocation of MapOwned(), in bytes, rounded up to whole pages.
size_t OwnedBytes(const char* memory);
void UnmapOwned(char* memory);
/// Whether owned memory is an allocation of MapOwned() rather than a span.
inline bool IsMappedByItself(const void* memory) {
  const auto offset = reinterpret_cast<uintptr_t>(memory) & (Range::kBytes - 1);
  return offset == kMemoryPageBytes;  // a range has its array of Spans there
}

/// A zeroed mapping; null if the system has no memory or addresses left. alignment: the size of a
/// page, a huge page or a range. huge: asks for huge pages; otherwise declines them.
char* MapMemory(size_t bytes, size_t alignment, bool huge);
/// Unmaps memory, or returns its pages to the system and keeps its addresses. False: the system
/// refused, for example because the process has too many mappings, and nothing has changed.
bool UnmapMemory(char* memory, size_t bytes);
bool GiveBackMemory(char* memory, size_t bytes);

}  // namespace lava
