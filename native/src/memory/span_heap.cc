// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "memory/span_heap.h"

#include <sys/mman.h>

#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <cstring>

#include "base/check.h"

namespace lava {
namespace {

constexpr uint32_t kFirstPage =
    static_cast<uint32_t>((sizeof(Range) + kMemoryPageBytes - 1) / kMemoryPageBytes);
constexpr uint32_t kHugePages = kHugePageBytes / kMemoryPageBytes;
static_assert(SpanHeap::kSpanPagesMax <= Range::kPages - kFirstPage);
static_assert(kFirstPage > 1, "a range's first span is not where a map of its own begins");

// One bit per multiple of a range's size: whether a range or a separate mapping begins there.
// Covers the addresses that processes get unless they ask for higher ones.
constexpr uint64_t kAddressBits = 47;
constexpr uint64_t kPageCount = (uint64_t{1} << kAddressBits) / Range::kBytes;
constinit std::array<std::atomic<uint64_t>, kPageCount / 64> owned{};

uint64_t PageOf(const void* memory) { return reinterpret_cast<uintptr_t>(memory) / Range::kBytes; }

bool SetOwned(const void* memory, bool is_owned) {
  const uint64_t page = PageOf(memory);
  if (page >= kPageCount) return false;
  const uint64_t bit = uint64_t{1} << (page % 64);
  if (is_owned) {
    owned[page / 64].fetch_or(bit, std::memory_order_relaxed);
  } else {
    owned[page / 64].fetch_and(~bit, std::memory_order_relaxed);
  }
  return true;
}

}  // namespace

bool IsOwnedMemory(const void* memory) {
  const uint64_t page = PageOf(memory);
  if (page >= kPageCount) return false;
  return (owned[page / 64].load(std::memory_order_relaxed) >> (page % 64) & 1) != 0;
}

bool UnmapMemory(char* memory, size_t bytes) { return munmap(memory, bytes) == 0; }

bool GiveBackMemory(char* memory, size_t bytes) {
  return madvise(memory, bytes, MADV_DONTNEED) == 0;
}

char* MapMemory(size_t bytes, size_t alignment, bool huge) {
  const size_t more = alignment > kMemoryPageBytes ? alignment : 0;
  void* const mapped = mmap(nullptr, bytes + more, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) return nullptr;
  char* memory = static_cast<char*>(mapped);
  if (more > 0) {
    const size_t before = -reinterpret_cast<uintptr_t>(memory) & (alignment - 1);
    if (before > 0) (void)UnmapMemory(memory, before);  // a failure loses only addresses
    memory += before;
    if (more > before) (void)UnmapMemory(memory + bytes, more - before);
  }
  // Small pages by default: one touched byte makes a whole huge page resident. Best effort.
  (void)madvise(memory, bytes, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
  return memory;
}

char* MapOwned(size_t bytes) {
  bytes = (bytes + kMemoryPageBytes - 1) / kMemoryPageBytes * kMemoryPageBytes;
  char* const map = MapMemory(bytes + kMemoryPageBytes, Range::kBytes, false);
  if (map == nullptr) return nullptr;
  if (!SetOwned(map, true)) {
    (void)UnmapMemory(map, bytes + kMemoryPageBytes);
    return nullptr;
  }
  std::memcpy(map, &bytes, sizeof(bytes));
  return map + kMemoryPageBytes;
}

size_t OwnedBytes(const char* memory) {
  size_t bytes;
  std::memcpy(&bytes, memory - kMemoryPageBytes, sizeof(bytes));
  return bytes;
}

void UnmapOwned(char* memory) {
  char* const map = memory - kMemoryPageBytes;
  const size_t bytes = OwnedBytes(memory) + kMemoryPageBytes;
  SetOwned(map, false);
  if (!UnmapMemory(map, bytes)) (void)GiveBackMemory(map, bytes);  // loses only the addresses
}

void SpanList::Push(Span* span) {
  span->previous = nullptr;
  span->next = first_;
  if (first_ != nullptr) first_->previous = span;
  first_ = span;
}

void SpanList::Remove(Span* span) {
  if (span->previous != nullptr) span->previous->next = span->next;
  if (span->next != nullptr) span->next->previous = span->previous;
  if (first_ == span) first_ = span->next;
  span->previous = span->next = nullptr;
}

// One bin per length up to kExactBins pages, then four bins per doubling.
size_t SpanHeap::FreeSpans::BinOf(uint32_t pages) {
  if (pages <= kExactBins) return pages - 1;
  const auto shift = static_cast<uint32_t>(std::bit_width(pages)) - 1;
  return kExactBins + size_t{shift - 6} * 4 + (pages >> (shift - 2) & 3);
}

void SpanHeap::FreeSpans::Insert(Span* span) {
  const size_t bin = BinOf(span->pages);
  bins_[bin].Push(span);
  filled_[bin / 64] |= uint64_t{1} << (bin % 64);
}

void SpanHeap::FreeSpans::Remove(Span* span) {
  const size_t bin = BinOf(span->pages);
  bins_[bin].Remove(span);
  if (bins_[bin].empty()) filled_[bin / 64] &= ~(uint64_t{1} << (bin % 64));
}

Span* SpanHeap::FreeSpans::Find(uint32_t pages) const {
  size_t bin = BinOf(pages);
  int looked_at = 0;
  for (Span* span = bins_[bin].first(); span != nullptr && looked_at < kLookedAtMax;
       span = span->next, ++looked_at) {
    if (span->pages >= pages) return span;
  }
  for (++bin; bin < kBins; bin = (bin / 64 + 1) * 64) {
    const uint64_t filled = filled_[bin / 64] >> (bin % 64);
    if (filled != 0) return bins_[bin + static_cast<size_t>(std::countr_zero(filled))].first();
  }
  return nullptr;
}

Span* SpanHeap::FreeSpans::Largest() const {
  for (size_t word = filled_.size(); word-- > 0;) {
    if (filled_[word] == 0) continue;
    return bins_[word * 64 + static_cast<size_t>(std::bit_width(filled_[word])) - 1].first();
  }
  return nullptr;
}

SpanHeap::~SpanHeap() {
  while (ranges_ != nullptr) {
    Range* const range = ranges_;
    ranges_ = range->next;
    SetOwned(range, false);
    (void)UnmapMemory(reinterpret_cast<char*>(range), Range::kBytes);
  }
}

void SpanHeap::Own(Range* range) {
  range->next = ranges_;
  ranges_ = range;
  ++ranges_count_;
}

bool SpanHeap::AddRange() {
  char* const memory = MapMemory(Range::kBytes, Range::kBytes, false);
  if (memory == nullptr) return false;
  if (!SetOwned(memory, true)) return UnmapMemory(memory, Range::kBytes) && false;
  auto* const range = reinterpret_cast<Range*>(memory);  // a Range is initially all zero
  Own(range);
  range->spans[kFirstPage - 1].state = Span::State::kUsed;  // no neighbour to join with
  Span* const all = &range->spans[kFirstPage];
  Mark(all, Range::kPages - kFirstPage, Span::State::kReturned);
  returned_.Insert(all);
  return true;
}

// The first huge page's place holds the Range itself, in small pages.
bool SpanHeap::AddHugeRange() {
  char* const memory = MapMemory(Range::kBytes, Range::kBytes, true);
  if (memory == nullptr) return false;
  if (!SetOwned(memory, true)) return UnmapMemory(memory, Range::kBytes) && false;
  (void)madvise(memory, kHugePageBytes, MADV_NOHUGEPAGE);
  auto* const range = reinterpret_cast<Range*>(memory);
  Own(range);
  for (size_t page = Range::kPages; (page -= kHugePages) > 0;) {
    Span* const span = &range->spans[page];
    span->pages = kHugePages;
    PutHuge(span, Span::State::kReturned);
  }
  return true;
}

void SpanHeap::Mark(Span* span, uint32_t pages, Span::State state) {
  Span* const last = span + (pages - 1);
  span->pages = last->pages = pages;
  span->state = last->state = state;
}

Span* SpanHeap::Take(uint32_t pages, Span::State* state) {
  LAVA_DCHECK(pages > 0 && pages <= kSpanPagesMax);
  *state = Span::State::kResident;
  Span* span = resident_.Find(pages);
  if (span == nullptr) {
    *state = Span::State::kReturned;
    span = returned_.Find(pages);
    if (span == nullptr && AddRange()) span = returned_.Find(pages);
    if (span == nullptr) return nullptr;
  }
  FreeOf(*state)->Remove(span);
  if (const uint32_t rest = span->pages - pages; rest > 0) {
    Mark(span + pages, rest, *state);
    FreeOf(*state)->Insert(span + pages);
  }
  Mark(span, pages, Span::State::kUsed);
  return span;
}

void SpanHeap::MarkSlots(Span* span) {
  const auto first_page = static_cast<uint32_t>(span - Range::Of(span)->spans.data());
  for (uint32_t page = 0; page < span->pages; ++page) {
    span[page].state = Span::State::kSlots;
    span[page].first_page = first_page;
  }
}

void SpanHeap::Put(Span* span, Span::State state) {
  Range* const range = Range::Of(span);
  uint32_t pages = span->pages;
  FreeSpans* const free = FreeOf(state);
  if (Span* const behind = span + pages;
      behind < range->spans.data() + Range::kPages && behind->state == state) {
    free->Remove(behind);
    pages += behind->pages;
  }
  if ((span - 1)->state == state) {
    const uint32_t before = (span - 1)->pages;
    span -= before;
    free->Remove(span);
    pages += before;
  }
  Mark(span, pages, state);
  free->Insert(span);
}

Span* SpanHeap::TakeLargestResident(uint32_t pages_max) {
  Span* span = resident_.Largest();
  if (span == nullptr) return nullptr;
  resident_.Remove(span);
  if (span->pages > pages_max) {
    const uint32_t stay = span->pages - pages_max;
    Mark(span, stay, Span::State::kResident);
    resident_.Insert(span);
    span += stay;
    span->pages = pages_max;
  }
  Mark(span, span->pages, Span::State::kUsed);
  return span;
}

Span* SpanHeap::TakeHuge(Span::State* state) {
  Span* span = TakeResidentHuge();
  *state = span != nullptr ? Span::State::kResident : Span::State::kReturned;
  if (span != nullptr) return span;
  if (huge_returned_.empty() && !AddHugeRange()) return nullptr;
  span = huge_returned_.first();
  huge_returned_.Remove(span);
  span->state = Span::State::kUsed;
  return span;
}

void SpanHeap::PutHuge(Span* span, Span::State state) {
  span->state = state;
  (state == Span::State::kResident ? huge_resident_ : huge_returned_).Push(span);
}

Span* SpanHeap::TakeResidentHuge() {
  Span* const span = huge_resident_.first();
  if (span == nullptr) return nullptr;
  huge_resident_.Remove(span);
  span->state = Span::State::kUsed;
  return span;
}

}  // namespace lava
