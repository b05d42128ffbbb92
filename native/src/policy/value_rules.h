#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "lava/options.h"
#include "policy/gc_picker.h"
#include "policy/overlap_depth.h"

namespace lava {

/// A value file that the inputs of a compaction name. Units: raw bytes of values.
struct MergeableFile {
  KeyRange range;           // of its keys, as far as the compaction reaches
  uint32_t level = 0;       // that its values were written to
  uint64_t raw_bytes = 0;   // in the file
  uint64_t records = 0;     // in the file
  uint64_t garbage = 0;     // of these, thought to be
  uint64_t referenced = 0;  // by all key files
  uint64_t reached = 0;     // by the compaction's inputs
  bool busy = false;        // is collected or merged already
  bool in_checkpoint = false;
};
struct ValueMergeOptions {
  uint32_t output_level = 1;
  bool low_enough = true;            // that level is one of the last two
  uint32_t garbage_percent = 25;     // above 100: garbage is left to the collector
  uint32_t checkpoint_percent = 25;  // instead, for what a checkpoint has
  uint32_t sorted_runs_max = 8;      // 0: values are not merged for their order
  uint64_t order_bytes_max = 0;      // may be written anew for order's sake: what scans paid for
  uint32_t upload_cost_percent = 0;  // of a byte that a checkpoint has: the next uploads it again
  uint64_t bytes_max = 0;            // for any
};

/// Why a compaction writes the values of a file anew, or leaves them.
enum class ValueMergeReason : uint8_t {
  kUnreached,   // left: the inputs name none of them
  kBusy,        // left: a job has the file
  kOrdered,     // left: there is nothing to gain
  kCollection,  // left: its garbage costs less to collect, or that is the policy
  kTooHigh,     // left: the level is not one of the last two
  kUnpaid,      // left: it is entangled, but nobody scans enough
  kNoRoom,      // left: one job writes no more
  kDirty,       // merged: its garbage goes with the inputs
  kTangled,     // merged: it overlaps many others
  kMovesDown,   // merged: its keys go to a lower level
};
inline bool IsMerged(ValueMergeReason reason) { return reason >= ValueMergeReason::kDirty; }
const char* NameOf(ValueMergeReason reason);

/// What it costs to write the file's values anew for order's sake, as bytes.
inline uint64_t OrderCost(const MergeableFile& file, uint32_t upload_cost_percent) {
  const uint32_t percent = 100 + (file.in_checkpoint ? upload_cost_percent : 0);
  return file.reached / 100 * percent + file.reached % 100 * percent / 100;
}

/// What one policy decides about values. All of its answers are pure.
/// Threads:    const, any thread.
class ValueRules {
 public:
  virtual ~ValueRules() = default;
  /// For each file that a compaction's inputs name, what becomes of its values.
  virtual std::vector<ValueMergeReason> JudgeMerge(const std::vector<MergeableFile>& files,
                                                   const ValueMergeOptions& options) const = 0;
  /// The files that one collection should take, as PickGarbage().
  virtual std::vector<size_t> PickCollection(const std::vector<GcFile>& files,
                                             const GcOptions& options) const = 0;
};

/// kAutomatic: compactions take along what of small values has garbage_percent garbage or more and
///   is kept alive by their inputs alone, the dirtiest first, and then, the most entangled first,
///   what overlaps at least sorted_runs_max others, as far as scans paid for it (LavaStore 3.2.2,
///   DiffKV 3.4); the rest is collected.
/// kCollect: collections alone.
/// kMerge: compactions into the last two levels take along all whose keys they move down, and of
///   what is there already the entangled and the dirty (DiffKV 3.3, 3.4). Collections are made only
///   while writes are slowed for want of room.
/// kGreedy: collections alone, of the dirtiest file, one in a job.
const ValueRules& RulesOf(ValuePolicy policy);

}  // namespace lava
