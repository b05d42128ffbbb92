// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <vector>

#include "lava/slice.h"

namespace lava {

/// [lower, upper); an empty upper means no upper bound.
struct KeyRange {
  Slice lower, upper;
};

/// The largest number of ranges that cover the same key. For the files of L0 this is the cost of a
/// read: after a wide scale-in L0 may have many files with disjoint keys. Pure.
uint32_t OverlapDepth(const std::vector<KeyRange>& ranges);

/// For each range, the number of other ranges that it overlaps. Pure.
std::vector<uint32_t> OverlapCounts(const std::vector<KeyRange>& ranges);

}  // namespace lava
