#pragma once

#include <set>

#include "base/record.h"
#include "job/value_output.h"
#include "job/version_lookup.h"

namespace lava {

/// Takes the values of chosen value files along with a compaction's records, so that they are
/// written anew in key order, under names of their own (LavaStore 3.2.2, DiffKV 3.3).
/// Threads:    one.
/// Ownership:  version, files and output must outlive it.
class ValueMerge {
 public:
  ValueMerge(const Version& version, const std::set<const ValueFileMeta*>& files,
             ValueOutput* output)
      : files_(files), values_(version), output_(*output) {}

  /// Moves a reference's value, if it is in one of the files, to the output's files, as it is
  /// stored there where that can be; one that is to stand inline now becomes a put. Other
  /// references stay as they are, and so does one whose value is gone: another record hides it.
  /// Keys ascend. The record's value is valid until the next call of this and of the output.
  /// Errors: those of the files' readers and of the output.
  Status Move(Record* record);
  uint64_t bytes_read() const { return bytes_read_; }  // of values, raw

 private:
  const std::set<const ValueFileMeta*>& files_;
  ValueScan values_;
  ValueOutput& output_;
  uint64_t bytes_read_ = 0;
};

}  // namespace lava
