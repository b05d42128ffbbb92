// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "db/value_decisions.h"

#include <string>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "compaction/compaction_job.h"
#include "db/counters.h"
#include "manifest/version.h"
#include "policy/value_rules.h"

namespace lava {

void ValueDecisions::Note(const CompactionInput& input, const ValueFileMeta& file,
                          const MergeableFile& judged, ValueMergeReason reason) {
  if (reason == ValueMergeReason::kDirty)
    Counters::Add(&counters_->merged_for_garbage_bytes, judged.reached);
  if (reason == ValueMergeReason::kOverlapping)
    Counters::Add(&counters_->merged_for_order_bytes, judged.reached);
  if (reason == ValueMergeReason::kMovesDown)
    Counters::Add(&counters_->merged_down_bytes, judged.reached);
  if (kept_max_ == 0) return;
  std::string text = "compaction of L" + std::to_string(input.inputs.front().level) + " to L" +
                     std::to_string(input.output_level) + ", " + file.id.ValueFileName() + " of L" +
                     std::to_string(file.level) + ": of " + std::to_string(judged.raw_bytes) +
                     " bytes " + std::to_string(judged.garbage) + " are garbage, " +
                     std::to_string(judged.reached) + " are reached: " + NameOf(reason);
  MutexLock lock(&mutex_);
  if (kept_.size() >= kept_max_) kept_.pop_front();
  kept_.push_back(std::move(text));
}

std::vector<std::string> ValueDecisions::Take() {
  MutexLock lock(&mutex_);
  std::vector<std::string> taken(kept_.begin(), kept_.end());
  kept_.clear();
  return taken;
}

}  // namespace lava
