#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/list_parts.h"
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
  /// Of the newest parts of a list, more is not put together unless it is in the files.
  static constexpr uint64_t kListTailBytesMax = 4 << 20;

  /// What is read ahead of the files at once, at most.
  static uint64_t AheadBytesOf(const std::set<const ValueFileMeta*>& files);

  ValueMerge(const Version& version, const std::set<const ValueFileMeta*>& files,
             ValueOutput* output);

  /// Moves a reference's value, if it is in one of the files, to the output's files, as it is
  /// stored there where that can be; one that is to stand inline now becomes a put. Other
  /// references stay as they are, and so does one whose value is gone: another record hides it.
  /// Of a list, what stands from the first of its parts in these files to the last is put together
  /// again. One of many parts is so though none is there: of its end the newest parts, and older
  /// ones that are not much larger; so a byte is written again as often as its list has doubled.
  /// Keys ascend. The record's value is valid until the next call of this and of the
  /// output.
  /// Errors: those of the files' readers and of the output.
  Status Move(Record* record);
  uint64_t bytes_read() const { return bytes_read_; }  // of values, raw

 private:
  Status MoveList(Record* record);
  /// What the files have of the parts, and where they begin and end: *first is the parts' number if
  /// there is nothing.
  Status FindParts(Slice key, size_t* first, size_t* last);
  /// Where the end of a list of many parts begins that is to be put together; else their number.
  Result<size_t> FirstOfTail() const;
  Result<bool> PutTogether(Slice key, size_t first, size_t last);

  const Version& version_;
  const std::set<const ValueFileMeta*>& files_;
  ValueScan values_;
  ValueOutput& output_;
  std::vector<ListPart> parts_;
  std::vector<std::optional<std::string>> found_;  // by part, what the files have
  std::string list_;
  uint64_t bytes_read_ = 0;
};

}  // namespace lava
