// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

// For programs that also have RocksDB's shared library. RocksDB allocates with this program's
// operator new, which takes large blocks from the page pool (memory/large_memory.h), and then asks
// malloc for their usable size. malloc would read memory in front of a block that is not its own.
// Visible, unlike other symbols of a program: RocksDB's library has to find it.

#include <dlfcn.h>
#include <malloc.h>

#include "memory/large_memory.h"

extern "C" [[gnu::visibility("default")]] size_t malloc_usable_size(void* memory) noexcept {
  using Function = size_t (*)(void*);
  static const auto original = reinterpret_cast<Function>(dlsym(RTLD_NEXT, "malloc_usable_size"));
  return lava::IsOwnedMemory(memory) ? lava::SlotHeap::BytesOf(memory) : original(memory);
}
