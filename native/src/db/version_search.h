// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>

#include "manifest/version.h"
#include "read/readers.h"

namespace lava {

/// The entries of a level >= 1 that overlap [lower, upper). An empty upper means no end.
/// Threads: any. Ownership: borrows the level.
inline FileRange Overlapping(const FileList& level, Slice lower, Slice upper) {
  const auto begin = level.PartitionPoint(
      [lower](const KeyFileEntry& entry) { return Slice(entry.upper) <= lower; });
  auto end = begin;
  while (end != level.end() && (upper.empty() || end->lower < upper)) ++end;
  return {begin, end};
}

/// Calls visit(entry) for every entry that overlaps [lower, upper), newest first, until it returns
/// false. An empty upper means no end.
/// Threads: any.
template <typename Visit>
void ForEachEntryIn(const Version& version, Slice lower, Slice upper, Visit visit) {
  const auto begins_before_upper = [&](const KeyFileEntry& entry) {
    return upper.empty() || Slice(entry.lower) < upper;
  };
  for (const KeyFileEntry& entry : version.levels[0]) {
    if (Slice(entry.upper) <= lower || !begins_before_upper(entry)) continue;
    if (!visit(entry)) return;
  }
  for (uint32_t n = 1; n < kLevelCountMax; ++n) {
    for (const KeyFileEntry& entry : Overlapping(version.levels[n], lower, upper))
      if (!visit(entry)) return;
  }
}

inline bool HasFiles(const Version& version) {
  return std::any_of(version.levels.begin(), version.levels.end(),
                     [](const auto& level) { return !level.empty(); });
}

}  // namespace lava
