// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "policy/compaction_picker.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "lava/slice.h"

namespace lava {

namespace {

using Files = std::vector<PickerFile>;

// Number of files, from the cursor on, that are compared.
constexpr size_t kCandidatesMax = 8;
// See L0Trigger().
constexpr double kOfFiles = 10, kOfValues = 40;
constexpr uint32_t kPatience = 4;

bool EndsBefore(const PickerFile& file, Slice key) {
  return !file.upper.empty() && file.upper <= key;
}

// A range of keys; an empty upper means no upper bound.
struct Bounds {
  Slice lower, upper;
  void Extend(const PickerFile& file) {
    lower = std::min(lower, file.lower);
    if (file.upper.empty() || (!upper.empty() && upper < file.upper)) upper = file.upper;
  }
};

// The files of a deeper level that overlap the bounds.
struct Overlap {
  std::vector<uint32_t> files;
  uint64_t bytes = 0;
  bool busy = false;
};
Overlap FindOverlap(const Files& level, const Bounds& bounds) {
  Overlap overlap;
  const auto first = std::partition_point(
      level.begin(), level.end(), [&](const PickerFile& f) { return EndsBefore(f, bounds.lower); });
  for (auto it = first; it != level.end(); ++it) {
    if (!bounds.upper.empty() && it->lower >= bounds.upper) break;
    overlap.files.push_back(static_cast<uint32_t>(it - level.begin()));
    overlap.bytes += it->bytes;
    overlap.busy |= it->busy;
  }
  return overlap;
}

uint64_t LevelBytes(const Files& level) {
  uint64_t bytes = 0;
  for (const PickerFile& f : level) bytes += f.bytes;
  return bytes;
}

double Score(const PickerView& view, const PickerOptions& options, uint32_t level) {
  if (level == 0)
    return static_cast<double>(view.levels[0].size()) / std::max(1u, L0Trigger(view, options));
  // Inputs of running compactions no longer count.
  uint64_t bytes = 0;
  for (const PickerFile& f : view.levels[level])
    if (!f.busy) bytes += f.bytes;
  return static_cast<double>(bytes) /
         static_cast<double>(std::max<uint64_t>(1, LevelTargetBytes(level, options)));
}

// A single file that overlaps nothing below can move down unchanged. A clipped file is rewritten
// instead, to free its hidden part.
bool CanMove(const Files& level, const std::vector<uint32_t>& files, const Overlap& overlap) {
  return overlap.files.empty() && files.size() == 1 && !level[files[0]].clipped;
}

std::optional<CompactionPlan> PickL0(const PickerView& view) {
  const Files& l0 = view.levels[0];
  if (view.l0_busy || view.levels.size() < 2 || l0.empty()) return std::nullopt;
  if (std::any_of(l0.begin(), l0.end(), [](const PickerFile& f) { return f.busy; }))
    return std::nullopt;
  // Take all of L0: the inputs must be contiguous in age and include the oldest file.
  CompactionPlan plan;
  CompactionPlan::Input input;
  Bounds bounds{l0[0].lower, l0[0].upper};
  for (uint32_t i = 0; i < l0.size(); ++i) {
    input.files.push_back(i);
    bounds.Extend(l0[i]);
  }
  Overlap overlap = FindOverlap(view.levels[1], bounds);
  if (overlap.busy) return std::nullopt;
  plan.trivial_move = CanMove(l0, input.files, overlap);
  plan.inputs.push_back(std::move(input));
  if (!overlap.files.empty()) plan.inputs.push_back({1, std::move(overlap.files)});
  return plan;
}

// Adjacent L0 files are combined if no file is more than kAlike times as large as another.
constexpr uint64_t kAlike = 2;

// Picks the newest row of such files that is long enough, so small files are combined first. A byte
// is then rewritten once each time that L0 grows by a factor of l0_trigger.
std::optional<CompactionPlan> PickL0Combination(const PickerView& view,
                                                const PickerOptions& options) {
  if (view.l0_busy || view.levels.size() < 2) return std::nullopt;
  const Files& l0 = view.levels[0];
  const size_t least = std::max(options.l0_trigger, 2u);
  for (size_t begin = 0; begin + least <= l0.size(); ++begin) {
    uint64_t smallest = UINT64_MAX, largest = 0;
    size_t end = begin;
    for (; end < l0.size() && !l0[end].busy; ++end) {
      const uint64_t small = std::min(smallest, l0[end].bytes);
      const uint64_t large = std::max(largest, l0[end].bytes);
      if (large / kAlike > small) break;
      smallest = small;
      largest = large;
    }
    if (end - begin < least) continue;
    CompactionPlan plan;
    plan.output_level = 0;
    CompactionPlan::Input& input = plan.inputs.emplace_back();
    for (size_t i = begin; i < end; ++i) input.files.push_back(static_cast<uint32_t>(i));
    return plan;
  }
  return std::nullopt;
}

// Takes level[seed] and the files behind it as long as they overlap no further files of the next
// level: the files below are then rewritten once for all of them.
void Grow(const Files& level, const Files& next, const Overlap& overlap, uint64_t bytes_max,
          uint32_t seed, std::vector<uint32_t>* files) {
  files->assign(1, seed);
  if (overlap.files.empty()) return;
  uint64_t bytes = level[seed].bytes;
  for (uint32_t i = seed + 1; i < level.size() && !level[i].busy; ++i) {
    Bounds bounds{level[seed].lower, level[i].upper};
    if (bytes + level[i].bytes > bytes_max) return;
    if (FindOverlap(next, bounds).files.size() > overlap.files.size()) return;
    bytes += level[i].bytes;
    files->push_back(i);
  }
}

std::optional<CompactionPlan> PickLevel(const PickerView& view, const PickerOptions& options,
                                        uint32_t level) {
  const Files& files = view.levels[level];
  const Files& next = view.levels[level + 1];
  if (files.empty()) return std::nullopt;
  Slice cursor;
  if (level < view.cursors.size()) cursor = view.cursors[level];
  const auto start = std::partition_point(files.begin(), files.end(), [&](const PickerFile& f) {
    return !cursor.empty() && EndsBefore(f, cursor);
  });
  const auto offset = static_cast<size_t>(start - files.begin());
  std::optional<uint32_t> best;
  Overlap best_overlap;
  size_t weighed = 0;
  for (size_t n = 0; n < files.size() && weighed < kCandidatesMax; ++n) {
    const auto i = static_cast<uint32_t>((offset + n) % files.size());
    if (files[i].busy) continue;
    Overlap overlap = FindOverlap(next, {files[i].lower, files[i].upper});
    if (overlap.busy) continue;
    ++weighed;
    // Prefer the fewest bytes rewritten below per byte that moves down.
    const bool better =
        !best || static_cast<double>(overlap.bytes) * static_cast<double>(files[*best].bytes) <
                     static_cast<double>(best_overlap.bytes) * static_cast<double>(files[i].bytes);
    if (!better) continue;
    best = i;
    best_overlap = std::move(overlap);
  }
  if (!best) return std::nullopt;
  CompactionPlan plan;
  plan.level = level;
  plan.output_level = level + 1;
  CompactionPlan::Input input;
  input.level = level;
  Grow(files, next, best_overlap, options.target_file_bytes * 4, *best, &input.files);
  plan.trivial_move = CanMove(files, input.files, best_overlap);
  plan.cursor = files[input.files.back()].upper;
  plan.inputs.push_back(std::move(input));
  if (!best_overlap.files.empty())
    plan.inputs.push_back({level + 1, std::move(best_overlap.files)});
  return plan;
}

}  // namespace

uint32_t L0Trigger(const PickerView& view, const PickerOptions& options) {
  if (view.levels.size() < 2) return options.l0_trigger;
  uint64_t bytes = 0, with_values = 0;
  for (const PickerFile& file : view.levels[0]) {
    bytes += file.bytes;
    with_values += file.bytes + file.referenced_bytes;
  }
  const double below = static_cast<double>(LevelBytes(view.levels[1])) *
                       std::sqrt(1 + options.upload_cost_percent / 100.0);
  const bool cheap = below < kOfFiles * static_cast<double>(bytes + 1) ||
                     below <= static_cast<double>(with_values) / kOfValues;
  if (cheap) return options.l0_trigger;
  return std::max(options.l0_trigger,
                  std::min(options.l0_trigger * kPatience, options.l0_trigger_max));
}

uint64_t LevelTargetBytes(uint32_t level, const PickerOptions& options) {
  if (level == 0) return 0;
  uint64_t bytes = std::max<uint64_t>(1, options.level1_bytes);
  for (uint32_t i = 1; i < level; ++i) {
    if (bytes > UINT64_MAX / std::max(1u, options.level_multiplier)) return UINT64_MAX;
    bytes *= std::max(1u, options.level_multiplier);
  }
  return bytes;
}

std::optional<CompactionPlan> PickCompaction(const PickerView& view, const PickerOptions& options) {
  struct Candidate {
    double score;
    uint32_t level;
  };
  std::vector<Candidate> candidates;
  // The last level has no level below it.
  for (uint32_t level = 0; level + 1 < view.levels.size(); ++level) {
    const double score = Score(view, options, level);
    // A deeper level may be exactly full; L0 is due when it reaches its trigger.
    if (level == 0 ? score >= 1 : score > 1) candidates.push_back({score, level});
  }
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const Candidate& a, const Candidate& b) { return a.score > b.score; });
  std::optional<CompactionPlan> best;
  for (const Candidate& c : candidates) {
    std::optional<CompactionPlan> plan =
        c.level == 0 ? PickL0(view) : PickLevel(view, options, c.level);
    if (!plan) continue;
    plan->score = c.score;
    // A move costs nothing and leaves less for other compactions to rewrite.
    if (plan->trivial_move) return plan;
    if (!best) best = std::move(plan);
  }
  if (best || !options.combines_l0 || view.levels.empty() || Score(view, options, 0) >= 1)
    return best;
  return PickL0Combination(view, options);
}

std::optional<CompactionPlan> PickExposing(const PickerView& view, const PickerOptions& options) {
  uint32_t last = 0;
  for (uint32_t level = 0; level < view.levels.size(); ++level)
    if (!view.levels[level].empty()) last = level;
  // Files of L0 hide each other's records, even if there are no files below.
  if (last == 0)
    return view.levels.empty() || view.levels[0].size() < 2 ? std::nullopt : PickL0(view);
  std::vector<std::pair<uint64_t, uint32_t>> levels;
  for (uint32_t level = 0; level < last; ++level) {
    uint64_t bytes = 0;
    for (const PickerFile& f : view.levels[level])
      if (!f.busy) bytes += f.bytes + f.referenced_bytes;
    if (bytes > 0) levels.emplace_back(bytes, level);
  }
  std::sort(levels.rbegin(), levels.rend());
  for (const auto& [bytes, level] : levels) {
    std::optional<CompactionPlan> plan =
        level == 0 ? PickL0(view) : PickLevel(view, options, level);
    if (plan) return plan;
  }
  return std::nullopt;
}

std::optional<CompactionPlan> PickCompactAll(const PickerView& view, bool* wait) {
  *wait = false;
  uint32_t last = 0, levels_used = 0;
  bool any_busy = false, any_clipped = false;
  for (uint32_t level = 0; level < view.levels.size(); ++level) {
    if (view.levels[level].empty()) continue;
    last = level;
    ++levels_used;
    for (const PickerFile& f : view.levels[level]) {
      any_busy |= f.busy;
      any_clipped |= f.clipped;
    }
  }
  if (levels_used == 0) return std::nullopt;
  if (any_busy || view.l0_busy) {
    *wait = true;
    return std::nullopt;
  }
  if (levels_used == 1 && last > 0 && !any_clipped) return std::nullopt;
  CompactionPlan plan;
  plan.output_level = std::max(last, 1u);
  for (uint32_t level = 0; level <= last; ++level) {
    if (view.levels[level].empty()) continue;
    CompactionPlan::Input& input = plan.inputs.emplace_back();
    input.level = level;
    for (uint32_t i = 0; i < view.levels[level].size(); ++i) input.files.push_back(i);
  }
  plan.level = plan.inputs.front().level;
  return plan;
}

uint64_t PendingCompactionBytes(const PickerView& view, const PickerOptions& options) {
  if (view.levels.empty()) return 0;
  uint64_t pending = 0, coming = 0;  // coming: bytes that move into this level from above
  if (view.levels[0].size() >= L0Trigger(view, options)) {
    coming = LevelBytes(view.levels[0]);
    pending += coming;
    if (view.levels.size() > 1) pending += LevelBytes(view.levels[1]);
  }
  for (uint32_t level = 1; level + 1 < view.levels.size(); ++level) {
    const uint64_t bytes = LevelBytes(view.levels[level]) + coming;
    const uint64_t target = LevelTargetBytes(level, options);
    coming = 0;
    if (bytes <= target) continue;
    coming = bytes - target;
    // Each byte that moves down rewrites its share of the next level.
    const uint64_t next = LevelBytes(view.levels[level + 1]);
    const double share = static_cast<double>(next) / static_cast<double>(bytes);
    pending += coming + static_cast<uint64_t>(static_cast<double>(coming) * share);
  }
  return pending;
}

}  // namespace lava
