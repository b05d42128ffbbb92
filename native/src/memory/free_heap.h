#pragma once

namespace lava {

/// Gives what the process's malloc keeps of freed memory back to the system, but for a little at
/// the heap's end, as far as that malloc is glibc's; others do so by themselves, or not. Takes as
/// long as there are free pages, and its locks meanwhile: for when much was freed at once and
/// nobody waits.
/// Threads: any.
void GiveBackFreeHeap();

}  // namespace lava
