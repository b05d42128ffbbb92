#pragma once

#include <cstdint>
#include <vector>

#include "lava/slice.h"

namespace lava {

/// [lower, upper); an empty upper has no end.
struct KeyRange {
  Slice lower, upper;
};

/// How many of the ranges cover one key, where they are most. Of files in L0 that is what a read
/// pays; after a wide scale-in there may be many files, each with keys of its own.
uint32_t OverlapDepth(const std::vector<KeyRange>& ranges);

/// How many of the other ranges each one meets.
std::vector<uint32_t> OverlapCounts(const std::vector<KeyRange>& ranges);

}  // namespace lava
