#include "memory/free_heap.h"

#include <malloc.h>

namespace lava {

void GiveBackFreeHeap() {
#if defined(__GLIBC__)
  (void)malloc_trim(0);
#endif
}

}  // namespace lava
