// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/history/shrink.h"

namespace lava::testing {

std::vector<size_t> Shrink(size_t operations,
                           const std::function<bool(const std::vector<size_t>&)>& fails,
                           size_t attempts_max) {
  std::vector<size_t> kept;
  for (size_t i = 0; i < operations; ++i) kept.push_back(i);
  size_t attempts = 0;
  for (size_t piece = (operations + 1) / 2; piece > 0;) {
    bool shorter = false;
    // From the end, because later operations depend on earlier ones.
    for (size_t end = kept.size(); end > 0 && attempts < attempts_max;) {
      const size_t begin = end > piece ? end - piece : 0;
      std::vector<size_t> without(kept.begin(), kept.begin() + static_cast<ptrdiff_t>(begin));
      without.insert(without.end(), kept.begin() + static_cast<ptrdiff_t>(end), kept.end());
      ++attempts;
      if (fails(without)) {
        kept = std::move(without);
        shorter = true;
      }
      end = begin;
    }
    if (attempts >= attempts_max || (piece == 1 && !shorter)) break;
    piece = piece == 1 ? 1 : (piece + 1) / 2;
  }
  return kept;
}

std::string RangesOf(const std::vector<size_t>& indexes) {
  std::string out;
  for (size_t i = 0; i < indexes.size();) {
    size_t end = i + 1;
    while (end < indexes.size() && indexes[end] == indexes[end - 1] + 1) ++end;
    if (!out.empty()) out += ',';
    out += std::to_string(indexes[i]);
    if (end > i + 1) out += '-' + std::to_string(indexes[end - 1]);
    i = end;
  }
  return out;
}

std::vector<size_t> IndexesOf(const std::string& ranges) {
  std::vector<size_t> indexes;
  for (size_t at = 0; at < ranges.size();) {
    size_t end = ranges.find(',', at);
    if (end == std::string::npos) end = ranges.size();
    const std::string range = ranges.substr(at, end - at);
    const size_t dash = range.find('-');
    const size_t first = std::stoull(range);
    const size_t last = dash == std::string::npos ? first : std::stoull(range.substr(dash + 1));
    for (size_t i = first; i <= last; ++i) indexes.push_back(i);
    at = end + 1;
  }
  return indexes;
}

History Keep(const History& history, const std::vector<size_t>& indexes) {
  History kept;
  for (const size_t i : indexes)
    if (i < history.size()) kept.push_back(history[i]);
  return kept;
}

}  // namespace lava::testing
