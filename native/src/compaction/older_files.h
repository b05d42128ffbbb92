// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <span>
#include <vector>

#include "compaction/compaction_job.h"
#include "read/merging_iterator.h"

namespace lava {

/// The data below a compaction's inputs in the version that it was planned on. Memtables are newer
/// than every file, so only files matter.
/// Threads:    any thread.
/// Ownership:  input must outlive this object.
class OlderFiles final : public OlderData {
 public:
  explicit OlderFiles(const CompactionInput& input);
  bool MayHoldKey(Slice key) const override;
  bool MayHoldRange(Slice lower, Slice upper) const override;

 private:
  std::vector<const KeyFileEntry*> overlapping_;          // of L0
  std::vector<std::vector<const KeyFileEntry*>> levels_;  // deeper, each ascending and disjoint
};

}  // namespace lava
