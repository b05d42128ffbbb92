// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

namespace lava::os {

struct Random128 {
  uint64_t high = 0;
  uint64_t low = 0;
  friend bool operator==(const Random128&, const Random128&) = default;
};

/// 128 bits from the kernel's generator, for names that must be unique across all processes.
/// Threads:    any.
/// Errors:     none: aborts if the kernel has no generator.
Random128 RandomBits128();

}  // namespace lava::os
