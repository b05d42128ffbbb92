// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

namespace lava {

/// Input of JudgeCollectionEffort().
struct CollectionEffortInput {
  uint32_t garbage_percent = 25;  // garbage at which a file is collected while space is plentiful
  double fullness = 0;            // of the space limit (SpacePressure); 0 without one
  uint32_t allowed_percent = 0;   // garbage that a ratio allows in all files; 0 without one
  uint32_t jobs_max = 1;          // at least 1
  /// Additional cost of rewriting a byte that a checkpoint has, in percent of reading and writing
  /// it: the next incremental checkpoint uploads the byte again. 0: none.
  uint32_t upload_cost_percent = 0;
  /// Only collections can free space, so any garbage is worth collecting.
  bool last_resort = false;
};
/// Fullness from which collections do more (LavaStore Figure 9).
inline constexpr double kSpaceBusyFrom = 0.75;
/// Files with less garbage are not collected as long as compactions can expose more.
inline constexpr uint32_t kGarbagePercentMin = 5;
struct CollectionEffort {
  uint32_t garbage_percent = 25;     // for files that no checkpoint has
  uint32_t checkpoint_percent = 25;  // for files that a checkpoint has
  uint32_t jobs = 1;
  bool last_resort = false;  // copied from the input
};

/// LavaStore 3.3.2, Adaptive GC: one job at a time, and only files with much garbage, until three
/// quarters of the space are used. From there on more jobs and lower thresholds, up to jobs_max
/// jobs and kGarbagePercentMin when the space is full. Pure.
///
/// Collecting a file with a share g of garbage copies (1 - g) to free g. If a copied byte costs c
/// times as much because it is uploaded, the threshold rises to the g at which (1 - g) * c / g, the
/// cost of a freed byte, is the same as without uploads. Files that no checkpoint has yet are
/// uploaded anyway, and are smaller once they were collected.
///
/// A ratio that allows a share a of garbage costs the fewest copies if its quota is used up.
/// Garbage gathers in the oldest files while the newest have none, so collecting files with 1.5 a
/// and more leaves about a in total (uniform overwrites, oldest first, would allow 1.7 a to 1.9 a).
/// The less of the quota is used, the longer a file may wait for more garbage.
CollectionEffort JudgeCollectionEffort(const CollectionEffortInput& input);

}  // namespace lava
