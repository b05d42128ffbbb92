#pragma once

#include <cstdint>

namespace lava {

/// What decides how hard garbage is collected.
struct GcEffortInput {
  uint32_t garbage_percent = 25;  // from which a file is collected while there is space enough
  double fullness = 0;            // of the space limit (SpacePressure); 0 without one
  uint32_t allowed_percent = 0;   // garbage that a ratio allows all files; 0 without one
  uint32_t jobs_max = 1;          // at least 1
  /// What it costs besides to rewrite a byte that a checkpoint has, in percent of its reading and
  /// writing: with incremental ones the next uploads it again. 0: nothing.
  uint32_t upload_cost_percent = 0;
  /// Nothing but collecting can make room: any garbage is worth it.
  bool last_resort = false;
};
/// From which fullness on more is done for space (LavaStore Figure 9).
inline constexpr double kSpaceBusyFrom = 0.75;
/// Less is not copied as long as compactions can show more.
inline constexpr uint32_t kGarbagePercentMin = 5;
struct GcEffort {
  uint32_t garbage_percent = 25;     // for files that no checkpoint has
  uint32_t checkpoint_percent = 25;  // for the others
  uint32_t jobs = 1;
  bool last_resort = false;  // as the input says
};

/// LavaStore 3.3.2, Adaptive GC: one job at a time, and files with much garbage only, until three
/// quarters of the space are used; from there on more jobs and smaller thresholds, up to all jobs
/// and kGarbagePercentMin when it is full. Pure.
///
/// Collecting a file of which g is garbage copies (1 - g) to free g. When a copied byte costs c
/// times as much because it is uploaded, the same cost for a freed byte is reached at a larger g:
/// (1 - g) * c / g is what it was without. What no checkpoint has yet is uploaded anyway, and less
/// of it once it was collected.
///
/// A ratio that allows a share a of garbage is held with the fewest copies when it is used up:
/// garbage gathers in the oldest files while the newest have none, so that when files with 1.5 a
/// and more are collected, about a is left on the whole (uniform overwrites, oldest first, would
/// allow 1.7 a to 1.9 a). The emptier the ratio still is, the longer a file may wait for more.
GcEffort JudgeGcEffort(const GcEffortInput& input);

}  // namespace lava
