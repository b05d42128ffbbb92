// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

namespace lava {

/// Returns freed memory that glibc's malloc has kept to the system, except for a little at the
/// heap's end. Does nothing with other mallocs. The time grows with the number of free pages, and
/// malloc's locks are held meanwhile: call it after much memory was freed, when nothing waits.
/// Threads: any.
void GiveBackFreeHeap();

}  // namespace lava
