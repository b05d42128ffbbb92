// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstdint>

#include "manifest/version.h"

namespace lava {

/// The order of the value files of each level (DiffKV 3.1). A value file belongs to the level to
/// which its values were written together with their keys.
/// Threads: a value.
struct ValueOrder {
  struct Level {
    uint32_t groups = 0;   // sorted groups; a file without a known group counts as one
    uint32_t overlap = 0;  // the largest number of files that cover one key
  };
  std::array<Level, kLevelCountMax> levels;
};

/// Computes the order from the version. Pure, so any thread may call it. The time grows with the
/// number of value files.
ValueOrder OrderOf(const Version& version);

}  // namespace lava
