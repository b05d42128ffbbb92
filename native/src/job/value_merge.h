#pragma once

#include <set>

#include "base/record.h"
#include "job/version_lookup.h"

namespace lava {

/// Brings the values of chosen value files back into a compaction's records, so that they are
/// written anew in key order, under names of their own (LavaStore 3.2.2).
/// Threads:    one.
/// Ownership:  version and files must outlive it.
class ValueMerge {
 public:
  ValueMerge(const Version& version, const std::set<const ValueFileMeta*>& files)
      : files_(files), values_(version) {}

  /// Turns a reference whose value is in one of the files into a put; others stay as they are, and
  /// so does one whose value is gone: another record hides it. Keys ascend. The record's value is
  /// valid until the next call.
  /// Errors: those of the files' readers.
  Status BringIn(Record* record);
  uint64_t bytes_read() const { return bytes_read_; }  // of values, raw

 private:
  const std::set<const ValueFileMeta*>& files_;
  ValueScan values_;
  uint64_t bytes_read_ = 0;
};

}  // namespace lava
