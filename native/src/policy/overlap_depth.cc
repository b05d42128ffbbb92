// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "policy/overlap_depth.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "lava/slice.h"

namespace lava {
namespace {

// The begins and the ends of all ranges, each ascending. Ranges without an upper bound have no end.
struct Borders {
  std::vector<Slice> begins, ends;

  explicit Borders(const std::vector<KeyRange>& ranges) {
    for (const KeyRange& range : ranges) {
      begins.push_back(range.lower);
      if (!range.upper.empty()) ends.push_back(range.upper);
    }
    std::sort(begins.begin(), begins.end());
    std::sort(ends.begin(), ends.end());
  }
};

}  // namespace

uint32_t OverlapDepth(const std::vector<KeyRange>& ranges) {
  const Borders borders(ranges);
  const auto& [begins, ends] = borders;
  size_t ended = 0, deepest = 0;
  for (size_t begun = 1; begun <= begins.size(); ++begun) {
    while (ended < ends.size() && ends[ended] <= begins[begun - 1]) ++ended;
    deepest = std::max(deepest, begun - ended);
  }
  return static_cast<uint32_t>(deepest);
}

std::vector<uint32_t> OverlapCounts(const std::vector<KeyRange>& ranges) {
  const Borders borders(ranges);
  const auto& [begins, ends] = borders;
  std::vector<uint32_t> counts;
  for (const KeyRange& range : ranges) {
    const auto begun = range.upper.empty()
                           ? begins.end()
                           : std::lower_bound(begins.begin(), begins.end(), range.upper);
    const auto ended = std::upper_bound(ends.begin(), ends.end(), range.lower);
    // Ranges that begin before its end, less ranges that end before its begin, less itself.
    counts.push_back(static_cast<uint32_t>((begun - begins.begin()) - (ended - ends.begin()) - 1));
  }
  return counts;
}

}  // namespace lava
