#pragma once

#include <cstdint>

#include "lava/slice.h"

namespace lava {

/// CRC32C (Castagnoli) of data, as java.util.zip.CRC32C computes it. Incremental: pass what the
/// bytes before gave as `before`.
/// Threads:    any.
uint32_t Crc32c(Slice data, uint32_t before = 0);

}  // namespace lava
