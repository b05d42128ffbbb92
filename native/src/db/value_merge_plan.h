#pragma once

#include <cstdint>
#include <vector>

#include "compaction/compaction_job.h"
#include "policy/value_rules.h"

namespace lava {

/// The value files that a compaction's inputs reference, and what becomes of each. The three lists
/// have the same length and order.
struct ValueMergePlan {
  std::vector<const ValueFileMeta*> candidates;
  std::vector<MergeableFile> files;
  std::vector<ValueMergeReason> reasons;  // set by the caller
};

/// Finds these files, ascending by id, and measures them. Leaves MergeableFile::busy and
/// in_checkpoint to the caller. The ranges borrow keys of the input, which must outlive the plan.
/// Pure; the time grows with the inputs and the value files.
ValueMergePlan FindMergeable(const CompactionInput& input);
ValueMergePlan FindMergeable(CompactionInput&& input) = delete;

/// The number of value files that a scan of the key file's range reads side by side, at most.
uint32_t ValueOverlapOf(const Version& version, const KeyFileEntry& entry);

/// Whether the level is one of the last two that hold data. Values that are merged there stay for a
/// while (DiffKV 3.4, lazy merge).
bool IsLowEnough(const Version& version, uint32_t output_level);

}  // namespace lava
