// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <map>
#include <memory>
#include <vector>

#include "job/job_context.h"
#include "memtable/memtable.h"
#include "value_log/value_log_segment.h"

namespace lava {

struct FlushInput {
  std::vector<std::shared_ptr<const MemTable>> runs;  // sealed, adjacent in age, newest first
  /// No file can hold older data: tombstones are left out, and appends become puts.
  bool nothing_older = false;
  std::map<uint64_t, TableOptions> tables;                 // decide which values are separated
  std::vector<std::shared_ptr<ValueLogSegment>> segments;  // that the runs reference
};
struct FlushOutput {
  std::shared_ptr<FileMeta> file;  // with its reader; null: nothing was left to write
  std::vector<std::shared_ptr<ValueFileMeta>> value_files;  // written by this job
  uint64_t bytes_written = 0, value_bytes_written = 0;
};

/// Writes adjacent sealed runs into one L0 file. Does not change the version.
/// Threads:    any one.
/// Durability: the file is synced if context.writer.sync; the caller syncs the directory.
/// Errors:     IOError, NoSpace, Aborted. After an error the job has removed its files.
Status RunFlush(const JobContext& context, const FlushInput& input, FlushOutput* output);

}  // namespace lava
