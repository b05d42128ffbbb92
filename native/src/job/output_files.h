#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/range_tombstones.h"
#include "job/job_context.h"

namespace lava {

/// Where a job's output is cut into files. 0: never.
struct OutputLimits {
  uint64_t file_bytes = 0;
  uint64_t overlap_bytes = 0;  // of the level below
  FileRange below;
};

/// Writes a job's records, which come in order, into one or more files: ascending, disjoint, never
/// cut inside the keys under a prefix delete that a file carries. Range tombstones are cut at the
/// files' borders.
/// Threads:    one thread.
/// Ownership:  files that were not handed out by Finish() are removed on destruction.
class OutputFiles {
 public:
  OutputFiles(const JobContext& context, const OutputLimits& limits, RangeTombstoneSet tombstones);
  ~OutputFiles();
  OutputFiles(const OutputFiles&) = delete;
  OutputFiles& operator=(const OutputFiles&) = delete;

  Status Add(const Record& record);
  /// Errors: after one, destroy it.
  Status Finish(std::vector<std::shared_ptr<FileMeta>>* files);
  uint64_t bytes_written() const { return bytes_written_; }

 private:
  Status OpenFile();
  /// Ends the current file; the next one begins at `border` (empty: there is none).
  Status EndFile(Slice border);
  bool MustEnd(Slice key);
  void CountOverlap(Slice key);

  const JobContext& context_;
  const OutputLimits limits_;
  const RangeTombstoneSet tombstones_;
  std::unique_ptr<TableWriter> writer_;
  FileId id_;
  std::string begin_;           // where the current file's keys begin; empty: at the start
  std::string carried_prefix_;  // of the last prefix delete written, the outermost
  FileList::const_iterator below_ = limits_.below.begin();
  uint64_t overlap_bytes_ = 0;
  uint64_t bytes_written_ = 0;
  std::vector<std::shared_ptr<FileMeta>> files_;
  std::vector<std::string> created_;  // paths to remove if the job fails
};

}  // namespace lava
