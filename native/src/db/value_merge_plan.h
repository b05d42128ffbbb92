// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <vector>

#include "compaction/compaction_job.h"
#include "policy/value_rules.h"

namespace lava {

/// The value files that a compaction's inputs reference, and the decision about each of them. The
/// three lists have the same length and order.
/// Threads: a value. Ownership: borrows the files of the input's version.
struct ValueMergePlan {
  std::vector<const ValueFileMeta*> candidates;
  std::vector<MergeableFile> files;
  std::vector<ValueMergeReason> reasons;  // set by the caller
};

/// Finds the value files of a ValueMergePlan, ascending by id, and measures them. The caller sets
/// MergeableFile::busy, in_checkpoint and the reasons. The ranges borrow keys of the input, which
/// must outlive the plan. Pure. The time grows with the number of inputs and value files.
ValueMergePlan FindMergeable(const CompactionInput& input);
ValueMergePlan FindMergeable(CompactionInput&& input) = delete;

/// The maximum number of value files that a scan of the key file's range reads concurrently.
uint32_t ValueOverlapOf(const Version& version, const KeyFileEntry& entry);

/// Whether the level is one of the last two levels with data. Values that are merged there are not
/// merged again soon (DiffKV 3.4, lazy merge).
bool IsLowEnough(const Version& version, uint32_t output_level);

}  // namespace lava
