// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#ifndef XXH_INLINE_ALL
#define XXH_INLINE_ALL
#endif
#include <xxhash.h>

#include <cstdint>

#include "lava/slice.h"

namespace lava {

/// The 64-bit hash (XXH3) of filters, block checksums and table ids. Hashes are stored on disk, so
/// the function must never change.
/// Threads:    any.
inline uint64_t Hash64(Slice data) { return XXH3_64bits(data.data(), data.size()); }
inline uint64_t Hash64(Slice data, uint64_t seed) {
  return XXH3_64bits_withSeed(data.data(), data.size(), seed);
}

}  // namespace lava
