#pragma once

#include <array>
#include <cstdint>

#include "manifest/version.h"

namespace lava {

/// How well value files are sorted, by the level that their values were written to (DiffKV 3.1).
struct ValueOrder {
  struct Level {
    uint32_t groups = 0;   // sorted groups; files of which none is known are one each
    uint32_t overlap = 0;  // files that cover one key, where they are most
  };
  std::array<Level, kLevelCountMax> levels;
};

/// Its time grows with the number of value files.
ValueOrder OrderOf(const Version& version);

}  // namespace lava
