#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "policy/overlap_depth.h"

namespace lava {

/// A value file that the inputs of a compaction name. Units: raw bytes of values.
struct MergeableFile {
  KeyRange range;           // of its keys, as far as the compaction reaches
  uint64_t raw_bytes = 0;   // in the file
  uint64_t records = 0;     // in the file
  uint64_t garbage = 0;     // of these, thought to be
  uint64_t referenced = 0;  // by all key files
  uint64_t reached = 0;     // by the compaction's inputs
  bool busy = false;        // is collected or merged already
  bool in_checkpoint = false;
};
struct ValueMergeOptions {
  uint32_t garbage_percent = 25;     // above 100: garbage is left to the collector
  uint32_t checkpoint_percent = 25;  // instead, for what a checkpoint has
  uint32_t sorted_runs_max = 8;      // 0: values are not merged for their order
  uint64_t order_bytes_max = 0;      // may be written anew for order's sake
  uint64_t bytes_max = 0;            // for any
};

/// The value files whose values a compaction should write anew (LavaStore 3.2.2, DiffKV 3.4): those
/// of small values with garbage_percent garbage or more that the compaction's inputs alone keep
/// alive, so that they go with it, the dirtiest first, and then, the most entangled first, those
/// that overlap at least sorted_runs_max others, which scans pay for. Ascending indices. Pure.
std::vector<size_t> PickValueMerge(const std::vector<MergeableFile>& files,
                                   const ValueMergeOptions& options);

}  // namespace lava
