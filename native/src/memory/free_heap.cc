#include "memory/free_heap.h"

#include <malloc.h>

#include <cstddef>

namespace lava {
namespace {

// At the heap's end, for the next small allocations: none of them calls the system at once.
constexpr size_t kKeptBytes = 256 << 10;

}  // namespace

void GiveBackFreeHeap() {
#if defined(__GLIBC__)
  (void)malloc_trim(kKeptBytes);
#endif
}

}  // namespace lava
