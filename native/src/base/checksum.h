// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

#include "lava/slice.h"

namespace lava {

/// CRC32C (Castagnoli) of data, equal to java.util.zip.CRC32C. Incremental: `before` is the
/// checksum of the preceding bytes.
/// Threads:    any.
uint32_t Crc32c(Slice data, uint32_t before = 0);

}  // namespace lava
