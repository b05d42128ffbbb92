#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lava/slice.h"

namespace lava {

/// A file as the picker sees it: one entry of a version. Bounds [lower, upper), an empty upper
/// has no end. Of a clipped entry, bytes may be an estimate.
struct PickerFile {
  uint64_t bytes = 0;
  uint64_t referenced_bytes = 0;  // of values in value files that it names
  Slice lower, upper;
  bool busy = false;     // an input of a running compaction
  bool clipped = false;  // shows less than the file holds
};
/// levels[0] newest first, deeper ones ascending and disjoint.
struct PickerView {
  std::vector<std::vector<PickerFile>> levels;
  /// Per level, where the last pick from it ended; empty: at the start. Kept by the caller, from
  /// CompactionPlan::cursor.
  std::vector<std::string> cursors;
  /// An L0 compaction is running: another may not start.
  bool l0_busy = false;
};
struct PickerOptions {
  /// L0 is due from so many files on, unless rewriting L1 costs much beside what they hold: see
  /// L0Trigger().
  uint32_t l0_trigger = 4;
  uint32_t l0_trigger_max = 16;  // never waited for more, if that is above l0_trigger
  bool combines_l0 = true;       // not while space is short: it frees none
  uint64_t level1_bytes = 128ull << 20;
  uint32_t level_multiplier = 10;
  uint64_t target_file_bytes = 32ull << 20;
  /// What it costs besides to write a byte again, in percent: the next checkpoint uploads it.
  uint32_t upload_cost_percent = 0;
};

/// Which files to compact, as indices into the view's levels.
struct CompactionPlan {
  uint32_t level = 0;         // of the first inputs
  uint32_t output_level = 1;  // level + 1, or more in a step of CompactAll
  struct Input {
    uint32_t level = 0;
    std::vector<uint32_t> files;  // ascending
  };
  std::vector<Input> inputs;  // newest level first
  /// The one input level's files can move to output_level as they are.
  bool trivial_move = false;
  double score = 0;
  std::string cursor;  // for view.cursors[level]; empty: leave it
};

/// The most urgent compaction that can start now, but any move before it; none when the tree is in
/// shape. While L0 waits (L0Trigger) and nothing else is due, files of it that follow each other
/// and are about as large as each other become one, in L0: l0_trigger of them or more (DiffKV 3.4,
/// selective compaction). Reads then find fewer files, and L1 is rewritten less often.
/// L0 counts by files and goes, from any of its files down to the oldest, to L1; a deeper level
/// counts by bytes and gives the file that overlaps least of the next level, looking a few files
/// ahead from the cursor. Files that are busy, or overlap busy ones, are left alone.
std::optional<CompactionPlan> PickCompaction(const PickerView& view, const PickerOptions& options);

/// The compaction that exposes most of what the records of upper levels hide, by the bytes that
/// these and their values have: for when space is short and no level is over its target. None when
/// all is in one sorted run.
std::optional<CompactionPlan> PickExposing(const PickerView& view, const PickerOptions& options);

/// The next step of bringing everything into the last level that holds data (at least L1): one
/// plan over all files. None when it is done (also: every clipped entry rewritten), or must wait
/// for running compactions (*wait).
std::optional<CompactionPlan> PickCompactAll(const PickerView& view, bool* wait);

/// Bytes that compactions must still move until every level is within its target.
uint64_t PendingCompactionBytes(const PickerView& view, const PickerOptions& options);

/// How many files of L0 are waited for: l0_trigger when L1 has at most ten times their bytes, or a
/// fortieth of these with their values in value files; else four times as many, up to
/// l0_trigger_max. References are small, so a few flushes of large values would rewrite a large L1
/// again and again. Each file more makes reads dearer, in proportion, and each fewer the rewriting
/// of L1, so where a byte that is written costs c times as much because it is uploaded, L1 may have
/// sqrt(c) times less beside them.
uint32_t L0Trigger(const PickerView& view, const PickerOptions& options);

/// The bytes that a level should hold; 0 for L0.
uint64_t LevelTargetBytes(uint32_t level, const PickerOptions& options);

}  // namespace lava
