#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace lava {

/// Memory in whole pages for what comes and goes in bulk: chunks of memtables, buffers of jobs. It
/// comes from large reserved ranges and goes back to the system page by page, apart from the
/// process's malloc: so what is resident follows what is used, whichever malloc that is, and no
/// small allocation in between keeps freed memory.
///
/// Sizes are rounded up to powers of two below 1 MiB, and to pages above. Of 2 MiB each piece is
/// one huge page, where the system has them. What was freed stays resident for the next as long as
/// there is room; the rest is given back, only its addresses are kept. To give back and to fault in
/// again costs more than to use, the more so in small pieces.
/// Threads:    any.
/// Ownership:  whoever allocated frees, with the same size.
/// Errors:     std::bad_alloc of Allocate() when the system has no memory or addresses left. Free()
///             takes no memory and does not fail: pages that the kernel does not take back, because
///             the process has as many maps as it may, are kept, counted and used again.
class PagePool {
 public:
  static constexpr size_t kPageBytes = 4096;
  static constexpr size_t kPooledBytesMax = size_t{1} << 20;
  static constexpr size_t kHugeBytes = size_t{2} << 20;
  static constexpr size_t kKeptBytesMin = size_t{8} << 20;
  static constexpr size_t kFitBytes = size_t{1} << 20;

  /// Says how much of what was freed may stay resident now; any thread, at each call that frees.
  class Room {
   public:
    virtual ~Room() = default;
    virtual uint64_t KeptBytesMax() const = 0;
  };

  /// room may be null: kKeptBytesMin, which is kept anyway.
  explicit PagePool(const Room* room = nullptr) : room_(room) {}
  ~PagePool();
  PagePool(const PagePool&) = delete;
  PagePool& operator=(const PagePool&) = delete;
  /// The process's. Never destroyed.
  static PagePool& Process();

  /// At least this many bytes, page-aligned, of any content; zeroed: all zero.
  char* Allocate(size_t bytes, bool zeroed = false);
  void Free(char* memory, size_t bytes);
  /// room must outlive the pool.
  void SetRoom(const Room* room) { room_.store(room, std::memory_order_release); }
  /// Gives back what no longer has room, and kFitBytes more. To be called when the room may have
  /// shrunk: cheap while it has not.
  void Fit();
  /// What Allocate() takes for so many bytes.
  static size_t RoundUp(size_t bytes);

  struct Statistics {
    uint64_t used_bytes = 0;      // allocated now
    uint64_t kept_bytes = 0;      // freed, and resident
    uint64_t reserved_bytes = 0;  // of addresses
    uint64_t refusals = 0;        // times that the kernel did not take pages back
  };
  Statistics statistics() const;

 private:
  static constexpr size_t kRangeBytes = size_t{64} << 20;
  static constexpr size_t kClasses = 10;  // 4 KiB to 1 MiB, and kHugeBytes
  struct Range {
    char* memory = nullptr;
    size_t used = kRangeBytes;
  };
  struct FreeList {
    std::vector<char*> resident, returned;  // the latter read as zero
    size_t pieces = 0;                      // that were ever made
  };
  // At the front of a large piece that the kernel did not take back.
  struct Refused {
    Refused* next;
    size_t bytes;
  };

  static size_t ClassOf(size_t rounded);
  static bool IsPooled(size_t rounded) {
    return rounded <= kPooledBytesMax || rounded == kHugeBytes;
  }
  char* Carve(size_t bytes);
  char* TakeLarge(size_t bytes, bool zeroed);
  char* TakeRefused(size_t bytes, bool zeroed);
  void FreeLarge(char* memory, size_t bytes);
  uint64_t KeptBytesMax() const;
  bool GiveBack(char* memory, size_t bytes);

  mutable std::mutex mutex_;
  std::array<FreeList, kClasses> free_;
  std::vector<char*> ranges_;
  Range small_, huge_;  // the last ranges of each kind
  uint64_t used_bytes_ = 0, large_bytes_ = 0;
  std::atomic<uint64_t> kept_bytes_{0};  // written under the mutex
  Refused* refused_ = nullptr;
  std::atomic<uint64_t> refused_bytes_{0};  // written under the mutex
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
