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

/// Records what compactions decide about the values of value files: counts the bytes by the reason,
/// and keeps the last decisions as text if they are asked for.
/// Threads:    any. The own mutex is a leaf and may be taken under those of the instance.
/// Ownership:  borrows the counters.
class ValueDecisions {
 public:
  /// kept_max: number of decisions that are kept as text; 0: none.
  ValueDecisions(Counters* counters, size_t kept_max) : counters_(counters), kept_max_(kept_max) {}

  /// A compaction of the input merges the values of the file, or leaves them, for the reason.
  void Note(const CompactionInput& input, const ValueFileMeta& file, const MergeableFile& judged,
            ValueMergeReason reason);
  /// The decisions since the last call, oldest first.
  std::vector<std::string> Take();

 private:
  Counters* const counters_;
  const size_t kept_max_;

  Mutex mutex_;
  std::deque<std::string> kept_ LAVA_GUARDED_BY(mutex_);
};

}  // namespace lava
