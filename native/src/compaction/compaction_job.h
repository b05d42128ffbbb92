// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <map>
#include <memory>
#include <set>
#include <vector>

#include "job/job_context.h"
#include "policy/ttl_clock.h"

namespace lava {

struct CompactionInput {
  struct Level {
    uint32_t level = 0;
    FileList entries;  // in the version's order
  };
  std::vector<Level> inputs;  // newest first: L0, then deeper
  uint32_t output_level = 0;  // 0: within L0
  /// The version that the plan was made on. It tells where older data can exist.
  std::shared_ptr<const Version> version;
  std::map<uint64_t, TableOptions> tables;  // registered ones; records of others never expire
  DropTime drop_time;
  uint64_t target_file_bytes = 32ull << 20;
  /// Value files of the version. Values in them that the inputs reference are rewritten.
  std::set<const ValueFileMeta*> merged_values;
  /// An output ends when it overlaps more bytes than this of the level below it; 0: no limit.
  uint64_t overlap_bytes_max = 0;
};
struct CompactionOutput {
  std::vector<std::shared_ptr<FileMeta>> files;  // ascending and disjoint, with their readers
  std::vector<std::shared_ptr<ValueFileMeta>> value_files;  // written by this job
  uint64_t bytes_read = 0, bytes_written = 0, value_bytes_written = 0;
  uint64_t merged_value_bytes = 0;  // raw bytes of the rewritten values
  uint64_t records_expired = 0;
  DroppedExpiries dropped;  // latest expiries of these records
};

/// Merges the inputs into new files. Does not change the version and removes none of its files.
/// Threads:    any one.
/// Durability: files are synced if context.writer.sync; the caller syncs the directory.
/// Errors:     Corruption (names the input), IOError, NoSpace, Aborted. After an error the job has
///             removed its files.
Status RunCompaction(const JobContext& context, const CompactionInput& input,
                     CompactionOutput* output);

}  // namespace lava
