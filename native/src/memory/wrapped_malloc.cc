// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

// Replaces malloc (linker option --wrap) in statically linked libraries. zstd's contexts,
// dictionaries and training buffers are large and thus come from the page pool, like the engine's
// own allocations.

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>

#include "memory/large_memory.h"
#include "memory/span_heap.h"

extern "C" {

void* __real_malloc(size_t bytes);
void* __real_calloc(size_t count, size_t bytes);
void* __real_realloc(void* memory, size_t bytes);
void __real_free(void* memory);
size_t __real_malloc_usable_size(void* memory);

void* __wrap_malloc(size_t bytes) {
  if (!lava::IsLarge(bytes)) return __real_malloc(bytes);
  void* const memory = lava::SlotHeap::Process().Allocate(bytes);
  if (memory == nullptr) errno = ENOMEM;
  return memory;
}

void* __wrap_calloc(size_t count, size_t bytes) {
  size_t all;
  if (__builtin_mul_overflow(count, bytes, &all) || !lava::IsLarge(all))
    return __real_calloc(count, bytes);
  void* const memory = lava::SlotHeap::Process().Allocate(all, /*zeroed=*/true);
  if (memory == nullptr) errno = ENOMEM;
  return memory;
}

void __wrap_free(void* memory) {
  if (lava::IsOwnedMemory(memory)) {
    lava::SlotHeap::Process().Free(memory);
  } else {
    __real_free(memory);
  }
}

size_t __wrap_malloc_usable_size(void* memory) {
  return lava::IsOwnedMemory(memory) ? lava::SlotHeap::BytesOf(memory)
                                     : __real_malloc_usable_size(memory);
}

void* __wrap_realloc(void* memory, size_t bytes) {
  const bool is_owned = lava::IsOwnedMemory(memory);
  if (memory == nullptr) return __wrap_malloc(bytes);
  if (!is_owned && !lava::IsLarge(bytes)) return __real_realloc(memory, bytes);
  if (bytes == 0) {
    __wrap_free(memory);
    return nullptr;
  }
  const size_t had = __wrap_malloc_usable_size(memory);
  void* const moved = __wrap_malloc(bytes);
  if (moved == nullptr) return nullptr;
  std::memcpy(moved, memory, std::min(had, bytes));
  __wrap_free(memory);
  return moved;
}

}  // extern "C"
