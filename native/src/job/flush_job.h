#pragma once

#include <map>
#include <memory>
#include <vector>

#include "job/job_context.h"
#include "job/log_segment.h"
#include "memtable/memtable.h"

namespace lava {

struct FlushInput {
  std::vector<std::shared_ptr<const MemTable>> runs;  // sealed, adjacent in age, newest first
  /// No file can hold anything older: tombstones are left out, appends become puts.
  bool nothing_older = false;
  std::map<uint64_t, TableOptions> tables;            // that tell which values are moved out
  std::vector<std::shared_ptr<LogSegment>> segments;  // that the runs refer to
};
struct FlushOutput {
  std::shared_ptr<FileMeta> file;  // with its reader; null: nothing was left to write
  std::vector<std::shared_ptr<ValueFileMeta>> value_files;  // born here
  uint64_t bytes_written = 0, value_bytes_written = 0;
};

/// Writes adjacent sealed runs into one L0 file. Installs nothing.
/// Threads:    any one.
/// Durability: the file is synced if context.writer.sync; its directory entry is the caller's.
/// Errors:     IOError, NoSpace, Aborted; what was written is removed again.
Status RunFlush(const JobContext& context, const FlushInput& input, FlushOutput* output);

}  // namespace lava
