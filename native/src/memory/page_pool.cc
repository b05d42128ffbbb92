#include "memory/page_pool.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>

#include "base/check.h"

namespace lava {
namespace {

#if defined(__SANITIZE_ADDRESS__)
// Each allocation by itself, so that what is written beside it or after its end is seen.
constexpr bool kPools = false;
#else
constexpr bool kPools = true;
#endif

char* Map(size_t bytes) {
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  return static_cast<char*>(memory);
}

// A huge page is resident whole for the sake of its first byte. Best effort.
char* MapPages(size_t bytes, bool huge) {
  char* const memory = Map(bytes);
  (void)madvise(memory, bytes, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
  return memory;
}

// False when the kernel refuses, which it does when the process would have more maps than it may.
bool Unmap(char* memory, size_t bytes) { return munmap(memory, bytes) == 0; }

// At a multiple of a huge page's size, so that a piece is one.
char* MapHugePages(size_t bytes) {
  char* const memory = Map(bytes + PagePool::kHugeBytes);
  const size_t before = -reinterpret_cast<uintptr_t>(memory) & (PagePool::kHugeBytes - 1);
  // What stays are addresses that nobody has touched.
  if (before > 0) (void)Unmap(memory, before);
  (void)Unmap(memory + before + bytes, PagePool::kHugeBytes - before);
  (void)madvise(memory + before, bytes, MADV_HUGEPAGE);
  return memory + before;
}

}  // namespace

PagePool& PagePool::Process() {
  static PagePool* const pool = new PagePool();
  return *pool;
}

PagePool::~PagePool() {
  LAVA_CHECK(used_bytes_ == 0);
  for (char* range : ranges_) (void)Unmap(range, kRangeBytes);
  for (Refused* left = refused_; left != nullptr;) {
    Refused* const next = left->next;
    (void)Unmap(reinterpret_cast<char*>(left), left->bytes);
    left = next;
  }
}

size_t PagePool::RoundUp(size_t bytes) {
  if (bytes <= kPooledBytesMax) return std::bit_ceil(bytes < kPageBytes ? kPageBytes : bytes);
  return (bytes + kPageBytes - 1) & ~(kPageBytes - 1);
}

size_t PagePool::ClassOf(size_t rounded) {
  return static_cast<size_t>(std::countr_zero(rounded) - std::countr_zero(kPageBytes));
}

// Holds the mutex. Classes divide the range, and each other: nothing is left over but at its end.
char* PagePool::Carve(size_t bytes) {
  Range& range = bytes == kHugeBytes ? huge_ : small_;
  // Free() takes no memory: each piece has its place in both lists.
  FreeList& free = free_[ClassOf(bytes)];
  for (std::vector<char*>* list : {&free.resident, &free.returned})
    if (list->capacity() <= free.pieces) list->reserve(std::max<size_t>(16, 2 * list->capacity()));
  if (kRangeBytes - range.used < bytes) {
    ranges_.reserve(ranges_.size() + 1);
    range = {bytes == kHugeBytes ? MapHugePages(kRangeBytes) : MapPages(kRangeBytes, false), 0};
    ranges_.push_back(range.memory);
  }
  ++free.pieces;
  char* const memory = range.memory + range.used;
  range.used += bytes;
  return memory;
}

char* PagePool::TakeLarge(size_t bytes, bool zeroed) {
  char* memory = TakeRefused(bytes, zeroed);
  if (memory == nullptr)
    memory = kPools ? MapPages(bytes, bytes >= kHugeBytes)
                    : static_cast<char*>(::operator new (bytes, std::align_val_t{kPageBytes}));
  std::lock_guard<std::mutex> lock(mutex_);
  used_bytes_ += bytes;
  large_bytes_ += bytes;
  return memory;
}

// What the kernel did not take back is used again; null: there is none of this size.
char* PagePool::TakeRefused(size_t bytes, bool zeroed) {
  if (refused_bytes_.load(std::memory_order_relaxed) == 0) return nullptr;
  char* memory = nullptr;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    for (Refused** at = &refused_; *at != nullptr; at = &(*at)->next) {
      if ((*at)->bytes != bytes) continue;
      memory = reinterpret_cast<char*>(*at);
      *at = (*at)->next;
      refused_bytes_ -= bytes;
      break;
    }
  }
  if (memory != nullptr && zeroed) std::memset(memory, 0, bytes);
  return memory;
}

// Of a large piece. Where the kernel refuses, its pages go back at least, but for the first, and it
// is tried again when others are freed.
void PagePool::FreeLarge(char* memory, size_t bytes) {
  if (!Unmap(memory, bytes)) {
    refusals_.fetch_add(1, std::memory_order_relaxed);
    (void)GiveBack(memory + kPageBytes, bytes - kPageBytes);
    std::lock_guard<std::mutex> lock(mutex_);
    refused_ = new (memory) Refused{refused_, bytes};
    refused_bytes_ += bytes;
    return;
  }
  if (refused_bytes_.load(std::memory_order_relaxed) == 0) return;
  std::lock_guard<std::mutex> lock(mutex_);
  while (refused_ != nullptr) {
    const Refused first = *refused_;
    if (!Unmap(reinterpret_cast<char*>(refused_), first.bytes)) return;
    refused_ = first.next;
    refused_bytes_ -= first.bytes;
  }
}

char* PagePool::Allocate(size_t bytes, bool zeroed) {
  const size_t rounded = RoundUp(bytes);
  if (!kPools || !IsPooled(rounded)) {
    char* const memory = TakeLarge(rounded, zeroed);
    if (zeroed && !kPools) std::memset(memory, 0, bytes);
    return memory;
  }
  char* memory = nullptr;
  bool is_zero = true;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    FreeList& free = free_[ClassOf(rounded)];
    if (!free.resident.empty()) {
      memory = free.resident.back();
      free.resident.pop_back();
      kept_bytes_ -= rounded;
      is_zero = false;
    } else if (!free.returned.empty()) {
      memory = free.returned.back();
      free.returned.pop_back();
    } else {
      memory = Carve(rounded);
    }
    used_bytes_ += rounded;
  }
  if (zeroed && !is_zero) std::memset(memory, 0, bytes);
  return memory;
}

void PagePool::Free(char* memory, size_t bytes) {
  LAVA_CHECK(memory != nullptr);
  const size_t rounded = RoundUp(bytes);
  const bool large = !kPools || !IsPooled(rounded);
  if (large && kPools) FreeLarge(memory, rounded);
  if (large && !kPools) ::operator delete (memory, std::align_val_t{kPageBytes});
  const uint64_t kept_max = KeptBytesMax();
  std::unique_lock<std::mutex> lock(mutex_);
  LAVA_CHECK(used_bytes_ >= rounded);
  used_bytes_ -= rounded;
  if (large) {
    large_bytes_ -= rounded;
    return;
  }
  FreeList& free = free_[ClassOf(rounded)];
  if (kept_bytes_ + rounded > kept_max) {
    lock.unlock();
    const bool returned = GiveBack(memory, rounded);
    lock.lock();
    if (returned) {
      free.returned.push_back(memory);
      return;
    }
  }
  kept_bytes_ += rounded;
  free.resident.push_back(memory);
}

void PagePool::Fit() {
  uint64_t most = KeptBytesMax();
  if (kept_bytes_.load(std::memory_order_relaxed) <= most) return;
  most = std::max<uint64_t>(most - kFitBytes, kKeptBytesMin);
  std::unique_lock<std::mutex> lock(mutex_);
  for (size_t n = kClasses; n-- > 0;) {  // few large pieces rather than many small ones
    FreeList& free = free_[n];
    while (!free.resident.empty() && kept_bytes_ > most) {
      char* const memory = free.resident.back();
      free.resident.pop_back();
      kept_bytes_ -= kPageBytes << n;
      lock.unlock();
      const bool returned = GiveBack(memory, kPageBytes << n);
      lock.lock();
      if (!returned) {
        // The next call tries again.
        kept_bytes_ += kPageBytes << n;
        free.resident.push_back(memory);
        return;
      }
      free.returned.push_back(memory);
    }
  }
}

uint64_t PagePool::KeptBytesMax() const {
  const Room* const room = room_.load(std::memory_order_acquire);
  return std::max<uint64_t>(room == nullptr ? 0 : room->KeptBytesMax(), kKeptBytesMin);
}

// False when the kernel refuses: then the pages stay resident.
bool PagePool::GiveBack(char* memory, size_t bytes) {
  if (madvise(memory, bytes, MADV_DONTNEED) == 0) return true;
  refusals_.fetch_add(1, std::memory_order_relaxed);
  return false;
}

PagePool::Statistics PagePool::statistics() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return {.used_bytes = used_bytes_,
          .kept_bytes = kept_bytes_,
          .reserved_bytes = ranges_.size() * kRangeBytes + large_bytes_ + refused_bytes_,
          .refusals = refusals_.load(std::memory_order_relaxed)};
}

}  // namespace lava
