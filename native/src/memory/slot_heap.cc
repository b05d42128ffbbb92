// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "memory/slot_heap.h"

#include <bit>
#include <cstdint>
#include <cstring>
#include <new>

#include "base/check.h"
#include "base/mutex.h"
#include "memory/page_pool.h"
#include "memory/span_heap.h"

namespace lava {

SlotHeap& SlotHeap::Process() {
  // operator new may be the first caller, so creating the heap must not call operator new.
  alignas(SlotHeap) static char memory[sizeof(SlotHeap)];
  static SlotHeap* const heap = new (memory) SlotHeap(&PagePool::Process());
  return *heap;
}

SlotHeap::~SlotHeap() {
  for (Class& of : classes_) {
    while (Span* const span = of.with_free_slots.first()) {
      of.with_free_slots.Remove(span);
      pool_->PutSpan(span);
    }
  }
}

void* SlotHeap::Allocate(size_t bytes, bool zeroed) noexcept {
  LAVA_DCHECK(bytes >= kBytesMin);
  char* const memory =
      bytes > kSlotBytesMax ? pool_->AllocateOwned(bytes, zeroed) : AllocateSlot(ClassOf(bytes));
  if (memory != nullptr && zeroed && bytes <= kSlotBytesMax) std::memset(memory, 0, bytes);
  return memory;
}

// Uses the span that was full most recently: it has the fewest free slots, so other spans can
// become empty.
char* SlotHeap::AllocateSlot(size_t n) noexcept {
  Class& of = classes_[n];
  MutexLock lock(&of.mutex);
  Span* span = of.with_free_slots.first();
  if (span == nullptr) {
    span = NewSpan(n);
    if (span == nullptr) return nullptr;
    of.with_free_slots.Push(span);
  }
  const auto slot = static_cast<size_t>(std::countr_zero(span->free_slots));
  span->free_slots = static_cast<uint16_t>(span->free_slots & (span->free_slots - 1));
  if (span->free_slots == 0) of.with_free_slots.Remove(span);
  return SpanHeap::MemoryOf(span) + slot * BytesOfClass(n);
}

Span* SlotHeap::NewSpan(size_t n) noexcept {
  bool is_zero;
  Span* const span = pool_->TakeSpan(PagesOfClass(n), true, &is_zero);
  if (span == nullptr) return nullptr;
  span->slot_class = static_cast<uint8_t>(n);
  span->free_slots = AllSlots(n);
  return span;
}

Span* SlotHeap::SpanOf(const void* memory) {
  Range* const range = Range::Of(memory);
  Span* const span = range->SpanAt(memory);
  return span->state == Span::State::kSlots ? &range->spans[span->first_page] : span;
}

void SlotHeap::Free(void* memory) noexcept {
  char* const freed = static_cast<char*>(memory);
  if (IsMappedByItself(memory)) return pool_->FreeOwned(freed);
  Span* const span = SpanOf(memory);
  if (span->state != Span::State::kSlots) return pool_->PutSpan(span);
  const auto offset = static_cast<size_t>(freed - SpanHeap::MemoryOf(span));
  const size_t bytes = BytesOfClass(span->slot_class);
  LAVA_CHECK(offset % bytes == 0);  // otherwise it was never allocated
  FreeSlot(span, offset / bytes);
}

void SlotHeap::FreeSlot(Span* span, size_t slot) noexcept {
  const auto bit = static_cast<uint16_t>(1u << slot);
  const uint16_t all = AllSlots(span->slot_class);
  Class& of = classes_[span->slot_class];
  {
    MutexLock lock(&of.mutex);
    LAVA_CHECK((span->free_slots & bit) == 0);  // freed twice
    if (span->free_slots == 0) of.with_free_slots.Push(span);
    span->free_slots = static_cast<uint16_t>(span->free_slots | bit);
    // Keep one empty span, for single allocations that come and go.
    const bool is_only = of.with_free_slots.first() == span && span->next == nullptr;
    if (span->free_slots != all || is_only) return;
    of.with_free_slots.Remove(span);
  }
  pool_->PutSpan(span);
}

void SlotHeap::GiveBackFree() noexcept {
  for (size_t n = 0; n < kClasses; ++n) {
    SpanList free;
    {
      Class& of = classes_[n];
      MutexLock lock(&of.mutex);
      for (Span *span = of.with_free_slots.first(), *next = nullptr; span != nullptr; span = next) {
        next = span->next;
        if (span->free_slots != AllSlots(n)) continue;
        of.with_free_slots.Remove(span);
        free.Push(span);
      }
    }
    while (Span* const span = free.first()) {
      free.Remove(span);
      pool_->PutSpan(span);
    }
  }
}

size_t SlotHeap::BytesOf(const void* memory) {
  if (IsMappedByItself(memory)) return OwnedBytes(static_cast<const char*>(memory));
  const Span* const span = SpanOf(memory);
  return span->state == Span::State::kSlots ? BytesOfClass(span->slot_class)
                                            : span->pages * kMemoryPageBytes;
}

}  // namespace lava
