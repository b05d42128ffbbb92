// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "compaction/compaction_job.h"
#include "db/counters.h"
#include "policy/value_rules.h"

namespace lava {

/// Records the decisions of compactions about the values of value files: counts the bytes by
/// reason, and keeps the last decisions as text if kept_max is not 0.
/// Threads:    any. The mutex of this class is a leaf and may be taken under the mutexes of the
///             instance.
/// Ownership:  borrows the counters.
class ValueDecisions {
 public:
  /// kept_max: the maximum number of decisions that are kept as text; 0: none.
  ValueDecisions(Counters* counters, size_t kept_max) : counters_(counters), kept_max_(kept_max) {}

  /// Records that a compaction of the input rewrites the values of the file or leaves them, for
  /// this reason.
  void Note(const CompactionInput& input, const ValueFileMeta& file, const MergeableFile& judged,
            ValueMergeReason reason);
  /// Returns the decisions since the last call, oldest first.
  std::vector<std::string> Take();

 private:
  Counters* const counters_;
  const size_t kept_max_;

  Mutex mutex_;
  std::deque<std::string> kept_ LAVA_GUARDED_BY(mutex_);
};

}  // namespace lava
