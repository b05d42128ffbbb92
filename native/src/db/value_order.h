#pragma once

#include <array>
#include <cstdint>

#include "manifest/version.h"

namespace lava {

/// How well the value files of each level are sorted (DiffKV 3.1). A value file belongs to the
/// level that its values were written to with their keys.
struct ValueOrder {
  struct Level {
    uint32_t groups = 0;   // sorted groups; a file without a known group counts as one
    uint32_t overlap = 0;  // the largest number of files that cover one key
  };
  std::array<Level, kLevelCountMax> levels;
};

/// Pure. The time grows with the number of value files.
ValueOrder OrderOf(const Version& version);

}  // namespace lava
