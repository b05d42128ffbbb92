// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "memory/page_pool.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <new>

#include "base/check.h"
#include "base/mutex.h"
#include "memory/span_heap.h"

namespace lava {
namespace {

#if defined(__SANITIZE_ADDRESS__)
// Each allocation is separate, so that AddressSanitizer finds out-of-bounds accesses and use after
// free.
constexpr bool kPools = false;
#else
constexpr bool kPools = true;
#endif

}  // namespace

PagePool& PagePool::Process() {
  // operator new may be the first caller, so creating the pool must not call operator new.
  alignas(PagePool) static char memory[sizeof(PagePool)];
  static PagePool* const pool = new (memory) PagePool();
  return *pool;
}

PagePool::~PagePool() { LAVA_CHECK(used_bytes_ == 0); }

PagePool::Kind PagePool::KindOf(size_t rounded) {
  if (!kPools || rounded > SpanHeap::kSpanBytesMax) return Kind::kMapped;
  return rounded == kHugeBytes ? Kind::kHuge : Kind::kSpan;
}

char* PagePool::Map(size_t bytes) {
  char* const memory =
      kPools ? MapMemory(bytes, kPageBytes, true)
             : static_cast<char*>(::operator new (bytes, std::align_val_t{kPageBytes}));
  if (memory == nullptr) throw std::bad_alloc();
  CountMapped(bytes, true);
  return memory;
}

void PagePool::Unmap(char* memory, size_t bytes) {
  if (!kPools) {
    ::operator delete (memory, std::align_val_t{kPageBytes});
  } else if (!UnmapMemory(memory, bytes)) {
    refusals_.fetch_add(1, std::memory_order_relaxed);
    (void)GiveBackMemory(memory, bytes);  // then only the addresses are lost
  }
  CountMapped(bytes, false);
}

void PagePool::CountMapped(uint64_t bytes, bool used) {
  MutexLock lock(&mutex_);
  const uint64_t more = used ? bytes : -bytes;
  used_bytes_ += more;
  mapped_bytes_ += more;
}

char* PagePool::Allocate(size_t bytes, bool zeroed) {
  const size_t rounded = RoundUp(bytes);
  const Kind kind = KindOf(rounded);
  bool is_zero = kPools;
  char* const memory =
      kind == Kind::kMapped ? Map(rounded) : AllocateFromRange(kind, rounded, &is_zero);
  if (zeroed && !is_zero) std::memset(memory, 0, bytes);
  return memory;
}

char* PagePool::AllocateFromRange(Kind kind, size_t rounded, bool* is_zero) {
  Span* span;
  if (kind == Kind::kSpan) {
    span = TakeSpan(static_cast<uint32_t>(rounded / kPageBytes), false, is_zero);
  } else {
    MutexLock lock(&mutex_);
    Span::State state;
    span = spans_.TakeHuge(&state);
    *is_zero = state == Span::State::kReturned;
    if (span != nullptr) {
      if (!*is_zero) kept_bytes_ -= rounded;
      used_bytes_ += rounded;
    }
  }
  if (span == nullptr) throw std::bad_alloc();
  return SpanHeap::MemoryOf(span);
}

Span* PagePool::TakeSpan(uint32_t pages, bool of_slots, bool* is_zero) noexcept {
  Span* span;
  {
    MutexLock lock(&mutex_);
    Span::State state;
    span = spans_.Take(pages, &state);
    *is_zero = state == Span::State::kReturned;
    if (span == nullptr) return nullptr;
    if (of_slots) SpanHeap::MarkSlots(span);
    const uint64_t bytes = uint64_t{pages} * kPageBytes;
    if (!*is_zero) kept_bytes_ -= bytes;
    used_bytes_ += bytes;
  }
  if (*is_zero) Fit();  // no kept span was large enough, and now fewer spans may be kept
  return span;
}

void PagePool::Free(char* memory, size_t bytes) {
  LAVA_CHECK(memory != nullptr);
  const size_t rounded = RoundUp(bytes);
  const Kind kind = KindOf(rounded);
  if (kind == Kind::kMapped) {
    Unmap(memory, rounded);
    return;
  }
  Span* const span = Range::Of(memory)->SpanAt(memory);
  LAVA_CHECK(span->pages * kPageBytes == rounded && span->state == Span::State::kUsed);
  FreeToRange(kind, span);
}

void PagePool::PutSpan(Span* span) noexcept { FreeToRange(Kind::kSpan, span); }

void PagePool::FreeToRange(Kind kind, Span* span) noexcept {
  const uint64_t bytes = uint64_t{span->pages} * kPageBytes;
  const uint64_t kept_max = KeptBytesMax();
  MutexLock lock(&mutex_);
  LAVA_CHECK(used_bytes_ >= bytes);
  Span::State state = Span::State::kResident;
  if (kept_bytes_ + bytes > kept_max) {
    lock.Unlock();
    const bool given = GiveBackMemory(SpanHeap::MemoryOf(span), bytes);
    lock.Lock();
    if (given) {
      state = Span::State::kReturned;
    } else {
      refusals_.fetch_add(1, std::memory_order_relaxed);
    }
  }
  used_bytes_ -= bytes;
  Put(kind, span, state);
}

void PagePool::Put(Kind kind, Span* span, Span::State state) {
  const uint64_t bytes = uint64_t{span->pages} * kPageBytes;
  if (state == Span::State::kResident) {
    kept_bytes_ += bytes;
  } else {
    returned_bytes_ += bytes;
  }
  if (kind == Kind::kHuge) {
    spans_.PutHuge(span, state);
  } else {
    spans_.Put(span, state);
  }
}

char* PagePool::AllocateOwned(size_t bytes, bool zeroed) noexcept {
  if (bytes > PTRDIFF_MAX) return nullptr;  // rounding up could overflow
  const size_t rounded = RoundUp(bytes);
  if (rounded <= SpanHeap::kSpanBytesMax) {
    bool is_zero;
    Span* const span = TakeSpan(static_cast<uint32_t>(rounded / kPageBytes), false, &is_zero);
    if (span == nullptr) return nullptr;
    char* const memory = SpanHeap::MemoryOf(span);
    if (zeroed && !is_zero) std::memset(memory, 0, bytes);
    return memory;
  }
  char* const memory = MapOwned(rounded);
  if (memory != nullptr) CountMapped(rounded, true);
  return memory;
}

void PagePool::FreeOwned(char* memory) noexcept {
  if (!IsMappedByItself(memory)) return PutSpan(Range::Of(memory)->SpanAt(memory));
  const size_t bytes = OwnedBytes(memory);
  UnmapOwned(memory);
  CountMapped(bytes, false);
}

void PagePool::Fit() {
  uint64_t most = KeptBytesMax();
  if (kept_bytes() <= most) return;
  most -= std::min<uint64_t>(most, kFitBytes);
  MutexLock lock(&mutex_);
  while (kept_bytes_ > most) {  // large spans first: few calls to the system
    Kind kind = Kind::kHuge;
    Span* span = spans_.TakeResidentHuge();
    if (span == nullptr) {
      kind = Kind::kSpan;
      const uint64_t pages = (kept_bytes_ - most + kPageBytes - 1) / kPageBytes;
      span = spans_.TakeLargestResident(static_cast<uint32_t>(pages));
    }
    LAVA_CHECK(span != nullptr);
    const uint64_t bytes = uint64_t{span->pages} * kPageBytes;
    kept_bytes_ -= bytes;
    lock.Unlock();
    const bool given = GiveBackMemory(SpanHeap::MemoryOf(span), bytes);
    lock.Lock();
    Put(kind, span, given ? Span::State::kReturned : Span::State::kResident);
    if (!given) {  // the kernel would refuse the next span, too; the next call tries again
      refusals_.fetch_add(1, std::memory_order_relaxed);
      return;
    }
  }
}

uint64_t PagePool::KeptBytesMax() const {
  const KeptPagesLimit* const limit = limit_.load(std::memory_order_acquire);
  return limit == nullptr ? kKeptBytesMin : limit->KeptBytesMax();
}

PagePool::Statistics PagePool::statistics() const {
  MutexLock lock(&mutex_);
  return {.used_bytes = used_bytes_,
          .kept_bytes = kept_bytes_,
          .reserved_bytes = spans_.reserved_bytes() + mapped_bytes_,
          .returned_bytes = returned_bytes_,
          .refusals = refusals_.load(std::memory_order_relaxed)};
}

}  // namespace lava
