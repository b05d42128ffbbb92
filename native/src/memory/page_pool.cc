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

void Unmap(char* memory, size_t bytes);

// At a multiple of a huge page's size, so that a piece is one.
char* MapHugePages(size_t bytes) {
  char* const memory = Map(bytes + PagePool::kHugeBytes);
  const size_t before = -reinterpret_cast<uintptr_t>(memory) & (PagePool::kHugeBytes - 1);
  if (before > 0) Unmap(memory, before);
  Unmap(memory + before + bytes, PagePool::kHugeBytes - before);
  (void)madvise(memory + before, bytes, MADV_HUGEPAGE);
  return memory + before;
}

void Unmap(char* memory, size_t bytes) { LAVA_CHECK(munmap(memory, bytes) == 0); }

}  // namespace

PagePool& PagePool::Process() {
  static PagePool* const pool = new PagePool();
  return *pool;
}

PagePool::~PagePool() {
  LAVA_CHECK(used_bytes_ == 0);
  for (char* range : ranges_) Unmap(range, kRangeBytes);
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
  if (kRangeBytes - range.used < bytes) {
    range = {bytes == kHugeBytes ? MapHugePages(kRangeBytes) : MapPages(kRangeBytes, false), 0};
    ranges_.push_back(range.memory);
  }
  char* const memory = range.memory + range.used;
  range.used += bytes;
  return memory;
}

char* PagePool::TakeLarge(size_t bytes) {
  char* const memory =
      kPools ? MapPages(bytes, bytes >= kHugeBytes)
             : static_cast<char*>(::operator new (bytes, std::align_val_t{kPageBytes}));
  std::lock_guard<std::mutex> lock(mutex_);
  used_bytes_ += bytes;
  large_bytes_ += bytes;
  return memory;
}

char* PagePool::Allocate(size_t bytes, bool zeroed) {
  const size_t rounded = RoundUp(bytes);
  if (!kPools || !IsPooled(rounded)) {
    char* const memory = TakeLarge(rounded);
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
  if (large && kPools) Unmap(memory, rounded);
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
  if (kept_bytes_ + rounded <= kept_max) {
    kept_bytes_ += rounded;
    free.resident.push_back(memory);
    return;
  }
  lock.unlock();
  GiveBack(memory, rounded);
  lock.lock();
  free.returned.push_back(memory);
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
      GiveBack(memory, kPageBytes << n);
      lock.lock();
      free.returned.push_back(memory);
    }
  }
}

uint64_t PagePool::KeptBytesMax() const {
  const Room* const room = room_.load(std::memory_order_acquire);
  return std::max<uint64_t>(room == nullptr ? 0 : room->KeptBytesMax(), kKeptBytesMin);
}

void PagePool::GiveBack(char* memory, size_t bytes) {
  LAVA_CHECK(madvise(memory, bytes, MADV_DONTNEED) == 0);
}

PagePool::Statistics PagePool::statistics() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return {.used_bytes = used_bytes_,
          .kept_bytes = kept_bytes_,
          .reserved_bytes = ranges_.size() * kRangeBytes + large_bytes_};
}

}  // namespace lava
