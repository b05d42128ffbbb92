// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <cstddef>

#include "memory/slot_heap.h"

namespace lava {

/// Source of this library's large allocations. The library's operator new (operator_new.cc) and the
/// malloc that its statically linked libraries call (wrapped_malloc.cc) take allocations of
/// SlotHeap::kBytesMin bytes or more from the page pool. Resident memory thus follows used memory,
/// whatever the process's malloc would keep. Sanitizer builds have neither, because sanitizers need
/// their own allocator.
///
/// Smallest allocation, in bytes, that comes from the pool. A benchmark sets it to SIZE_MAX before
/// it allocates for another engine, so that only Lava uses the pool.
inline constinit std::atomic<size_t> large_bytes_min{SlotHeap::kBytesMin};

inline bool IsLarge(size_t bytes) {
  return bytes >= large_bytes_min.load(std::memory_order_relaxed);
}

/// Approximate memory that an allocation takes, for charges to a budget.
constexpr size_t AllocatedBytes(size_t bytes) {
  if (bytes >= SlotHeap::kBytesMin) return SlotHeap::RoundUp(bytes);
  return bytes <= 24 ? 32 : (bytes + 8 + 15) / 16 * 16;  // as glibc's malloc rounds
}

}  // namespace lava
