// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/list_parts.h"
#include "base/record.h"
#include "job/value_output.h"
#include "read/version_lookup.h"

namespace lava {

/// Rewrites values of chosen value files during a compaction, in key order and into new blob files
/// (LavaStore 3.2.2, DiffKV 3.3).
/// Threads:    one.
/// Ownership:  version, files and output must outlive this object.
class ValueMerge {
 public:
  /// Limit for joining the newest parts of a list that are in none of the files.
  static constexpr uint64_t kListTailBytesMax = 4 << 20;

  /// Maximum of bytes read ahead from the files at one time.
  static uint64_t AheadBytesOf(const std::set<const ValueFileMeta*>& files);

  ValueMerge(const Version& version, const std::set<const ValueFileMeta*>& files,
             ValueOutput* output);

  /// Moves the value of a reference to the output's files if it is in one of the chosen files, in
  /// its stored form if possible. A value that is to be inline now becomes a put. Other references
  /// stay unchanged, also those whose value is gone, since another record hides them.
  /// In a list, the range from the first to the last part in these files is joined. If the files
  /// hold no part of a list with many parts, its newest parts are joined with older ones that are
  /// not much larger, so a byte is rewritten about as often as its list has doubled.
  /// Keys must ascend. The record's value is valid until the next call of this object or of the
  /// output.
  /// Errors: those of the files' readers and of the output.
  Status Move(Record* record);
  uint64_t bytes_read() const { return bytes_read_; }  // raw bytes of values

 private:
  Status MoveList(Record* record);
  /// Reads the parts that are in the files, into found_. *first and *last are the first and last of
  /// these parts, or the number of parts if there is none.
  Status FindParts(Slice key, size_t* first, size_t* last);
  /// The first part of the tail to be joined in a list of many parts, or the number of parts.
  Result<size_t> FirstOfTail() const;
  Result<bool> PutTogether(Slice key, size_t first, size_t last);

  const Version& version_;
  const std::set<const ValueFileMeta*>& files_;
  ValueScan values_;
  ValueOutput& output_;
  std::vector<ListPart> parts_;
  std::vector<std::optional<std::string>> found_;  // by part: its value if in the files
  std::string list_;
  uint64_t bytes_read_ = 0;
};

}  // namespace lava
