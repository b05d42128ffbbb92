// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

// This library's own operator new: large allocations come from the page pool (large_memory.h), all
// others from malloc. Its symbols are hidden in the shared library, so other libraries keep theirs.

#include <cstdlib>
#include <new>

#include "memory/large_memory.h"
#include "memory/slot_heap.h"
#include "memory/span_heap.h"

// The original malloc. The wrapper in wrapped_malloc.cc would check the size a second time.
extern "C" {
void* __real_malloc(size_t bytes);
void __real_free(void* memory);
}

namespace {

using lava::IsLarge;
using lava::SlotHeap;

void* TryAllocate(size_t bytes) {
  return IsLarge(bytes) ? SlotHeap::Process().Allocate(bytes) : __real_malloc(bytes);
}

void* TryAllocate(size_t bytes, size_t alignment) {
  if (!IsLarge(bytes) || alignment > lava::kMemoryPageBytes) {
    return std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  }
  // Slots are aligned to 256 bytes; pages suffice for all alignments up to kMemoryPageBytes.
  if (alignment > 256 && bytes <= SlotHeap::kSlotBytesMax) bytes = SlotHeap::kSlotBytesMax + 1;
  return SlotHeap::Process().Allocate(bytes);
}

// Required by the standard: the new-handler frees memory or throws, then the allocation is retried.
template <typename... Arguments>
[[gnu::noinline]] void* AllocateAgain(Arguments... arguments) {
  for (;;) {
    const std::new_handler handler = std::get_new_handler();
    if (handler == nullptr) throw std::bad_alloc();
    handler();
    if (void* const memory = TryAllocate(arguments...); memory != nullptr) return memory;
  }
}

void Release(void* memory) noexcept {
  if (lava::IsOwnedMemory(memory)) [[unlikely]] {
    SlotHeap::Process().Free(memory);
  } else {
    __real_free(memory);
  }
}

}  // namespace

void* operator new(size_t bytes) {
  if (bytes == 0) bytes = 1;
  void* const memory = TryAllocate(bytes);
  return memory != nullptr ? memory : AllocateAgain(bytes);
}

void* operator new(size_t bytes, std::align_val_t alignment) {
  if (bytes == 0) bytes = 1;
  const auto align = static_cast<size_t>(alignment);
  void* const memory = TryAllocate(bytes, align);
  return memory != nullptr ? memory : AllocateAgain(bytes, align);
}

void operator delete(void* memory) noexcept { Release(memory); }
void operator delete(void* memory, size_t bytes) noexcept {
  if (bytes < SlotHeap::kBytesMin) {
    __real_free(memory);
  } else {
    Release(memory);
  }
}
void operator delete(void* memory, std::align_val_t) noexcept { Release(memory); }
void operator delete(void* memory, size_t, std::align_val_t) noexcept { Release(memory); }
