// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "memory/free_heap.h"

#include <malloc.h>

#include <cstddef>

namespace lava {
namespace {

// Kept at the heap's end, so that the next small allocations need no system call.
constexpr size_t kKeptBytes = 256 << 10;

}  // namespace

void GiveBackFreeHeap() {
#if defined(__GLIBC__)
  (void)malloc_trim(kKeptBytes);
#endif
}

}  // namespace lava
