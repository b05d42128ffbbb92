// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

namespace lava::os {

/// Threads: any. Errors: none; the clocks exist on every Linux.
uint64_t MonotonicMicros();  // never goes backwards; for intervals
int64_t WallMillis();        // since the epoch; may jump
uint64_t ThreadCpuMicros();  // CPU time that the calling thread used

}  // namespace lava::os
