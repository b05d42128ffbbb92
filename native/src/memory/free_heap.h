#pragma once

#include <atomic>

namespace lava {

/// Gives what the process's malloc keeps of freed memory back to the system, as far as that malloc
/// is glibc's; others do so by themselves, or not. Takes as long as there are free pages, and its
/// locks meanwhile: for when much was freed at once and nobody waits.
/// Threads: any.
void GiveBackFreeHeap();

/// Off: GiveBackFreeHeap() does nothing. For tests of what one thread calls: malloc may make it
/// wait for a thread that gives heap back.
inline std::atomic<bool> gives_back_free_heap{true};

}  // namespace lava
