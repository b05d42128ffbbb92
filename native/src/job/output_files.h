// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/range_tombstones.h"
#include "job/job_context.h"

namespace lava {

/// Limits at which a job's output is cut into files. 0: no limit.
struct OutputLimits {
  uint64_t file_bytes = 0;
  uint64_t overlap_bytes = 0;  // overlapped in the level below
  FileRange below;
};

/// Writes a job's records, which must come in order, into one or more files. The files ascend and
/// are disjoint. A file that carries a prefix delete also holds all records under that prefix.
/// Range tombstones are cut at the files' borders.
/// Threads:    one thread.
/// Ownership:  the destructor removes files that Finish() has not handed out.
class OutputFiles {
 public:
  OutputFiles(const JobContext& context, const OutputLimits& limits, RangeTombstoneSet tombstones);
  ~OutputFiles();
  OutputFiles(const OutputFiles&) = delete;
  OutputFiles& operator=(const OutputFiles&) = delete;

  Status Add(const Record& record);
  /// Errors: after an error, destroy the object.
  Status Finish(std::vector<std::shared_ptr<FileMeta>>* files);
  uint64_t bytes_written() const { return bytes_written_; }

 private:
  Status OpenFile();
  /// Ends the current file. The next one begins at `border`; empty: there is no next one.
  Status EndFile(Slice border);
  bool MustEnd(Slice key);
  void CountOverlap(Slice key);

  const JobContext& context_;
  const OutputLimits limits_;
  const RangeTombstoneSet tombstones_;
  std::unique_ptr<TableWriter> writer_;
  FileId id_;
  std::string begin_;           // where the current file's key range begins; empty: at the start
  std::string carried_prefix_;  // of the last prefix delete written that is in no other
  FileList::const_iterator below_ = limits_.below.begin();
  uint64_t overlap_bytes_ = 0;
  uint64_t bytes_written_ = 0;
  std::vector<std::shared_ptr<FileMeta>> files_;
  std::vector<std::string> created_;  // paths to remove if the job fails
};

}  // namespace lava
