// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lava/slice.h"

namespace lava {

/// A file as the picker sees it: one entry of a version. Bounds are [lower, upper); an empty upper
/// means no upper bound. The bytes of a clipped entry may be an estimate.
struct PickerFile {
  uint64_t bytes = 0;
  uint64_t referenced_bytes = 0;  // bytes of values in value files that the file references
  Slice lower, upper;
  bool busy = false;     // an input of a running compaction
  bool clipped = false;  // the entry shows only a part of the file
};
/// levels[0] is ordered newest first; files of deeper levels are ascending and disjoint.
struct PickerView {
  std::vector<std::vector<PickerFile>> levels;
  /// Per level, the key at which the last pick ended; empty: start of the level. The caller keeps
  /// it, from CompactionPlan::cursor.
  std::vector<std::string> cursors;
  /// An L0 compaction is running; no other may start.
  bool l0_busy = false;
};
struct PickerOptions {
  /// Number of files at which L0 is compacted, unless rewriting L1 is dear compared with the size
  /// of L0: see L0Trigger().
  uint32_t l0_trigger = 4;
  uint32_t l0_trigger_max = 16;  // upper bound of L0Trigger(), unless l0_trigger is larger
  bool combines_l0 = true;       // false while space is short: combining files frees none
  uint64_t level1_bytes = 128ull << 20;
  uint32_t level_multiplier = 10;
  uint64_t target_file_bytes = 32ull << 20;
  /// Additional cost of rewriting a byte, in percent, because the next checkpoint uploads it.
  uint32_t upload_cost_percent = 0;
};

/// The files to compact, as indices into the view's levels.
struct CompactionPlan {
  uint32_t level = 0;         // of the first inputs
  uint32_t output_level = 1;  // level + 1; more in PickCompactAll(); 0 if L0 files are combined
  struct Input {
    uint32_t level = 0;
    std::vector<uint32_t> files;  // ascending
  };
  std::vector<Input> inputs;  // newest level first
  /// The input file can move to output_level unchanged.
  bool trivial_move = false;
  double score = 0;
  std::string cursor;  // new value of view.cursors[level]; empty: unchanged
};

/// Picks the most urgent compaction that can start now; moves go first. None if no level is due.
/// While L0 waits (L0Trigger) and nothing else is due, l0_trigger or more adjacent L0 files of
/// similar size are combined into one L0 file (DiffKV 3.4, selective compaction). Reads then find
/// fewer files, and L1 is rewritten less often.
/// L0 is due by its number of files and is compacted as a whole into L1. A deeper level is due by
/// its bytes; of a few files from the cursor on, the file with the least overlap in the next level
/// is picked. Files that are busy, or overlap busy ones, are left alone. Pure.
std::optional<CompactionPlan> PickCompaction(const PickerView& view, const PickerOptions& options);

/// Picks a compaction that exposes hidden garbage, for when space is short but no level is over its
/// target. Takes the level whose records, with their values, have the most bytes. None if all data
/// is in one sorted run. Pure.
std::optional<CompactionPlan> PickExposing(const PickerView& view, const PickerOptions& options);

/// The next step of moving all data to the last level that holds data (at least L1): one plan over
/// all files. None if this is done, with every clipped entry rewritten, or if it must wait for
/// running compactions (*wait). Pure.
std::optional<CompactionPlan> PickCompactAll(const PickerView& view, bool* wait);

/// Bytes that compactions must still move until every level is within its target.
uint64_t PendingCompactionBytes(const PickerView& view, const PickerOptions& options);

/// Number of files at which L0 is due: l0_trigger if L1 has at most ten times the bytes of L0, or a
/// fortieth of the bytes of L0 including its values in value files. Otherwise four times
/// l0_trigger, up to l0_trigger_max: references are small, so a few flushes of large values would
/// rewrite a large L1 again and again. The cost of reads grows with the number of files, and the
/// cost of rewriting L1 with its inverse. If written bytes cost c times as much because they are
/// uploaded, the bounds on L1 are therefore lower by a factor of sqrt(c).
uint32_t L0Trigger(const PickerView& view, const PickerOptions& options);

/// Target size of a level in bytes; 0 for L0.
uint64_t LevelTargetBytes(uint32_t level, const PickerOptions& options);

}  // namespace lava
