#pragma once

#include <atomic>
#include <cstddef>

#include "memory/slot_heap.h"

namespace lava {

/// Where this library's larger allocations come from: its operator new (operator_new.cc), and
/// malloc as the libraries see it that are linked in (wrapped_malloc.cc), take what has
/// SlotHeap::kBytesMin bytes or more from the page pool, so that what is resident follows what is
/// used, whatever the process's malloc would keep. Sanitizers have an allocator of their own: built
/// with them, the library has neither.
///
/// From how many bytes on. A program that measures another engine in this process sets it to
/// SIZE_MAX, before it allocates for that engine, so that only Lava has the pool.
inline constinit std::atomic<size_t> large_bytes_min{SlotHeap::kBytesMin};

inline bool IsLarge(size_t bytes) {
  return bytes >= large_bytes_min.load(std::memory_order_relaxed);
}

/// What an allocation of so many bytes takes, about: what a charge should count.
constexpr size_t AllocatedBytes(size_t bytes) {
  if (bytes >= SlotHeap::kBytesMin) return SlotHeap::RoundUp(bytes);
  return bytes <= 24 ? 32 : (bytes + 8 + 15) / 16 * 16;  // of glibc's malloc
}

}  // namespace lava
