// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/mutex.h"
#include "memory/span_heap.h"

namespace lava {

/// Allocates memory in whole pages for bulk data: chunks of memtables, buffers of jobs, blocks,
/// values. The pool reserves large address ranges and returns pages to the system one by one,
/// independently of the process's malloc. Resident memory thus follows used memory with any malloc,
/// and small allocations in between cannot pin freed memory.
///
/// Sizes are rounded up to pages. An allocation of exactly 2 MiB is one huge page, if the system
/// has huge pages. Allocations above SpanHeap::kSpanBytesMax get a mapping of their own. Freed
/// pages stay resident for later allocations, up to a limit. The pool returns all others to
/// the system and keeps only their addresses. Returning pages and faulting them in again costs more
/// than using them, especially in small pieces.
/// Threads:    any.
/// Ownership:  the caller frees with the size that it allocated.
/// Errors:     Allocate() throws std::bad_alloc if the system has no memory or addresses left.
///             Free() needs no memory and does not fail. Pages of a span that the kernel does not
///             take back are kept, counted and used again. If the kernel refuses to unmap a mapping
///             because the process has too many, its pages are still returned and only its
///             addresses are lost.
class PagePool {
 public:
  static constexpr size_t kPageBytes = kMemoryPageBytes;
  static constexpr size_t kHugeBytes = kHugePageBytes;
  static constexpr size_t kKeptBytesMin = size_t{8} << 20;
  static constexpr size_t kFitBytes = size_t{1} << 20;

  /// Decides how many freed bytes may stay resident. Called by any thread, at each call that frees.
  class KeptPagesLimit {
   public:
    virtual ~KeptPagesLimit() = default;
    virtual uint64_t KeptBytesMax() const = 0;
  };

  /// limit: may be null, then kKeptBytesMin may stay resident; must outlive the pool.
  explicit PagePool(const KeptPagesLimit* limit = nullptr) : limit_(limit) {}
  ~PagePool();
  PagePool(const PagePool&) = delete;
  PagePool& operator=(const PagePool&) = delete;
  /// The process's pool. Never destroyed; created without malloc.
  static PagePool& Process();

  /// Returns at least this many bytes, page-aligned. Contents are undefined unless zeroed.
  char* Allocate(size_t bytes, bool zeroed = false) LAVA_EXCLUDES(mutex_);
  void Free(char* memory, size_t bytes) LAVA_EXCLUDES(mutex_);
  /// Like Allocate(), but always of small pages. IsOwnedMemory() is true for the result, and
  /// FreeOwned() needs no size. Null if the system has no memory left.
  char* AllocateOwned(size_t bytes, bool zeroed = false) noexcept LAVA_EXCLUDES(mutex_);
  void FreeOwned(char* memory) noexcept LAVA_EXCLUDES(mutex_);
  /// Takes a span of owned memory; of_slots: marks it as cut into slots. *is_zero: whether the
  /// memory is all zero. Null if the system has no memory left.
  Span* TakeSpan(uint32_t pages, bool of_slots, bool* is_zero) noexcept LAVA_EXCLUDES(mutex_);
  void PutSpan(Span* span) noexcept LAVA_EXCLUDES(mutex_);

  /// limit must outlive the pool.
  void SetKeptPagesLimit(const KeptPagesLimit* limit) {
    limit_.store(limit, std::memory_order_release);
  }
  /// Returns kept pages that exceed the limit, and kFitBytes more, to the system. Call it when the
  /// limit may be lower now; cheap if it has not.
  void Fit() LAVA_EXCLUDES(mutex_);
  /// Bytes that Allocate(bytes) takes from the pool.
  static constexpr size_t RoundUp(size_t bytes) {
    return bytes == 0 ? kPageBytes : (bytes + kPageBytes - 1) & ~(kPageBytes - 1);
  }

  struct Statistics {
    uint64_t used_bytes = 0;      // allocated now
    uint64_t kept_bytes = 0;      // freed but still resident
    uint64_t reserved_bytes = 0;  // reserved addresses
    uint64_t returned_bytes = 0;  // returned to the system so far
    uint64_t refusals = 0;        // times that the kernel refused to take pages back
  };
  Statistics statistics() const LAVA_EXCLUDES(mutex_);
  // Atomic: readers need no mutex.
  uint64_t used_bytes() const LAVA_NO_THREAD_SAFETY_ANALYSIS {
    return used_bytes_.load(std::memory_order_relaxed);
  }

 private:
  enum class Kind : uint8_t { kSpan, kHuge, kMapped };
  static Kind KindOf(size_t rounded);
  char* AllocateFromRange(Kind kind, size_t rounded, bool* is_zero) LAVA_EXCLUDES(mutex_);
  void FreeToRange(Kind kind, Span* span) noexcept LAVA_EXCLUDES(mutex_);
  void Put(Kind kind, Span* span, Span::State state) LAVA_REQUIRES(mutex_);
  char* Map(size_t bytes) LAVA_EXCLUDES(mutex_);
  void Unmap(char* memory, size_t bytes) LAVA_EXCLUDES(mutex_);
  void CountMapped(uint64_t bytes, bool used) LAVA_EXCLUDES(mutex_);
  // Atomic: readers need no mutex.
  uint64_t kept_bytes() const LAVA_NO_THREAD_SAFETY_ANALYSIS {
    return kept_bytes_.load(std::memory_order_relaxed);
  }
  uint64_t KeptBytesMax() const LAVA_EXCLUDES(mutex_);

  mutable Mutex mutex_;
  SpanHeap spans_ LAVA_GUARDED_BY(mutex_);
  std::atomic<uint64_t> used_bytes_ LAVA_GUARDED_BY(mutex_){0};
  std::atomic<uint64_t> kept_bytes_ LAVA_GUARDED_BY(mutex_){0};
  uint64_t mapped_bytes_ LAVA_GUARDED_BY(mutex_) = 0, returned_bytes_ LAVA_GUARDED_BY(mutex_) = 0;
  std::atomic<uint64_t> refusals_{0};
  std::atomic<const KeptPagesLimit*> limit_;
};

/// A zero-initialised array from the process's pool, or from the heap if it is smaller than a page.
/// T must need neither construction nor destruction. Threads: a value.
template <typename T>
class PageArray {
 public:
  PageArray() = default;
  explicit PageArray(size_t count) : count_(count) {
    if (bytes() >= PagePool::kPageBytes) {
      memory_ = reinterpret_cast<T*>(PagePool::Process().Allocate(bytes(), true));
    } else if (count > 0) {
      memory_ = new T[count]();
    }
  }
  ~PageArray() { Clear(); }
  PageArray(PageArray&& from) noexcept : memory_(from.memory_), count_(from.count_) {
    from.memory_ = nullptr;
    from.count_ = 0;
  }
  PageArray& operator=(PageArray&& from) noexcept {
    if (this == &from) return *this;
    Clear();
    std::swap(memory_, from.memory_);
    std::swap(count_, from.count_);
    return *this;
  }

  T* get() const { return memory_; }
  size_t count() const { return count_; }
  T& operator[](size_t i) const { return memory_[i]; }

 private:
  size_t bytes() const { return count_ * sizeof(T); }
  void Clear() {
    if (bytes() >= PagePool::kPageBytes) {
      PagePool::Process().Free(reinterpret_cast<char*>(memory_), bytes());
    } else {
      delete[] memory_;
    }
    memory_ = nullptr;
    count_ = 0;
  }
  T* memory_ = nullptr;
  size_t count_ = 0;
};

}  // namespace lava
