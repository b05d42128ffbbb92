#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/mutex.h"
#include "memory/span_heap.h"

namespace lava {

/// Memory in whole pages for what comes and goes in bulk: chunks of memtables, buffers of jobs,
/// blocks, values. It comes from large reserved ranges and goes back to the system page by page,
/// apart from the process's malloc: so what is resident follows what is used, whichever malloc that
/// is, and no small allocation in between keeps freed memory.
///
/// Sizes are rounded up to pages. Of 2 MiB each piece is one huge page, where the system has them;
/// what is larger than SpanHeap::kSpanBytesMax is mapped by itself. What was freed stays resident
/// for the next as long as there is room; the rest is given back, only its addresses are kept. To
/// give back and to fault in again costs more than to use, the more so in small pieces.
/// Threads:    any.
/// Ownership:  whoever allocated frees, with the same size.
/// Errors:     std::bad_alloc of Allocate() when the system has no memory or addresses left. Free()
///             takes no memory and does not fail. Pages of a span that the kernel does not take
///             back are kept, counted and used again. A map of its own that the kernel does not
///             take back, because the process has as many maps as it may, gives its pages back and
///             loses only its addresses.
class PagePool {
 public:
  static constexpr size_t kPageBytes = kMemoryPageBytes;
  static constexpr size_t kHugeBytes = kHugePageBytes;
  static constexpr size_t kKeptBytesMin = size_t{8} << 20;
  static constexpr size_t kFitBytes = size_t{1} << 20;

  /// Says how much of what was freed may stay resident now; any thread, at each call that frees.
  class Room {
   public:
    virtual ~Room() = default;
    virtual uint64_t KeptBytesMax() const = 0;
  };

  /// room may be null: then kKeptBytesMin may stay resident.
  explicit PagePool(const Room* room = nullptr) : room_(room) {}
  ~PagePool();
  PagePool(const PagePool&) = delete;
  PagePool& operator=(const PagePool&) = delete;
  /// The process's. Never destroyed, and made without malloc.
  static PagePool& Process();

  /// At least this many bytes, page-aligned, of any content; zeroed: all zero.
  char* Allocate(size_t bytes, bool zeroed = false) LAVA_EXCLUDES(mutex_);
  void Free(char* memory, size_t bytes) LAVA_EXCLUDES(mutex_);
  /// The same, but small pages whatever the size, memory that IsOwnedMemory(), and freed without a
  /// size. Null when the system has none left.
  char* AllocateOwned(size_t bytes, bool zeroed = false) noexcept LAVA_EXCLUDES(mutex_);
  void FreeOwned(char* memory) noexcept LAVA_EXCLUDES(mutex_);
  /// A span, which is owned memory, too, and maybe one that is cut into slots; null when the system
  /// has none left.
  Span* TakeSpan(uint32_t pages, bool of_slots, bool* is_zero) noexcept LAVA_EXCLUDES(mutex_);
  void PutSpan(Span* span) noexcept LAVA_EXCLUDES(mutex_);

  /// room must outlive the pool.
  void SetRoom(const Room* room) { room_.store(room, std::memory_order_release); }
  /// Gives back what no longer has room, and kFitBytes more. To be called when the room may have
  /// shrunk: cheap while it has not.
  void Fit() LAVA_EXCLUDES(mutex_);
  /// What Allocate() takes for so many bytes.
  static constexpr size_t RoundUp(size_t bytes) {
    return bytes == 0 ? kPageBytes : (bytes + kPageBytes - 1) & ~(kPageBytes - 1);
  }

  struct Statistics {
    uint64_t used_bytes = 0;      // allocated now
    uint64_t kept_bytes = 0;      // freed, and resident
    uint64_t reserved_bytes = 0;  // of addresses
    uint64_t returned_bytes = 0;  // given back to the system so far
    uint64_t refusals = 0;        // times that the kernel did not take pages back
  };
  Statistics statistics() const LAVA_EXCLUDES(mutex_);
  // Atomic: whoever reads it needs no mutex.
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
  // Atomic: whoever reads it needs no mutex.
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
  std::atomic<const Room*> room_;
};

/// An array of zeroes from the process's pool, or from the heap while it is less than a page. T
/// needs neither construction nor destruction. Threads: a value.
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
