// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "lava/options.h"
#include "policy/collection_picker.h"
#include "policy/overlap_depth.h"

namespace lava {

/// A value file that a compaction's inputs reference. Units: raw bytes of values.
struct MergeableFile {
  KeyRange range;           // of its keys, as far as the compaction reaches
  uint32_t level = 0;       // level to which its values were written
  uint64_t raw_bytes = 0;   // in the file
  uint64_t records = 0;     // in the file
  uint64_t garbage = 0;     // part of raw_bytes; estimated
  uint64_t referenced = 0;  // by all key files
  uint64_t reached = 0;     // by the compaction's inputs
  bool busy = false;        // is being collected or merged
  bool in_checkpoint = false;
};
struct ValueMergeOptions {
  uint32_t output_level = 1;
  bool low_enough = true;            // output_level is one of the last two levels
  uint32_t garbage_percent = 25;     // threshold; above 100: garbage is left to the collector
  uint32_t checkpoint_percent = 25;  // the threshold for files that a checkpoint has
  uint32_t sorted_runs_max = 8;      // 0: values are not merged for their order
  uint64_t order_bytes_max = 0;      // bytes that may be rewritten for order: scans paid for them
  uint32_t upload_cost_percent = 0;  // added cost of bytes that the next checkpoint uploads again
  uint64_t bytes_max = 0;            // bytes that may be rewritten for any reason
};

/// Why a compaction rewrites the values of a file, or leaves them.
enum class ValueMergeReason : uint8_t {
  kUnreached,    // left: the inputs reference no value of the file
  kBusy,         // left: a job has the file
  kOrdered,      // left: there is nothing to gain
  kCollection,   // left: a collection is cheaper for its garbage, or is the policy
  kTooHigh,      // left: the level is not one of the last two
  kUnpaid,       // left: it overlaps many files, but too few bytes were scanned
  kJobFull,      // left: the job rewrites enough already
  kDirty,        // merged: its garbage goes with the inputs
  kOverlapping,  // merged: it overlaps many files
  kMovesDown,    // merged: its keys move to a lower level
};
inline bool IsMerged(ValueMergeReason reason) { return reason >= ValueMergeReason::kDirty; }
const char* NameOf(ValueMergeReason reason);

/// Cost of rewriting the file's values for order, in bytes.
inline uint64_t OrderCost(const MergeableFile& file, uint32_t upload_cost_percent) {
  const uint32_t percent = 100 + (file.in_checkpoint ? upload_cost_percent : 0);
  return file.reached / 100 * percent + file.reached % 100 * percent / 100;
}

/// The decisions of one policy about values. All functions are pure.
/// Threads:    any thread.
class ValueRules {
 public:
  virtual ~ValueRules() = default;
  /// Decides for each file that a compaction's inputs reference whether its values are merged.
  virtual std::vector<ValueMergeReason> JudgeMerge(const std::vector<MergeableFile>& files,
                                                   const ValueMergeOptions& options) const = 0;
  /// Picks the files that one collection should take; see PickGarbage().
  virtual std::vector<size_t> PickCollection(const std::vector<CollectableFile>& files,
                                             const CollectionOptions& options) const = 0;
};

/// kAutomatic: compactions first merge, dirtiest first, files of small values that have at least
///   garbage_percent garbage and are referenced almost only by the inputs. They then merge, most
///   overlapping first, files that overlap at least sorted_runs_max others, as far as scans paid
///   for it (LavaStore 3.2.2, DiffKV 3.4). Other garbage is collected.
/// kCollect: only collections.
/// kMerge: compactions into the last two levels merge all files whose keys they move down, and of
///   the files already there the dirty ones and those with many overlaps (DiffKV 3.3, 3.4).
///   Collections run only as a last resort, while writes are slowed or wait for space.
/// kGreedy: only collections, each of the single dirtiest file.
const ValueRules& RulesOf(ValuePolicy policy);

}  // namespace lava
