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
  /// What the plan was made on: tells where something older can exist.
  std::shared_ptr<const Version> version;
  std::map<uint64_t, TableOptions> tables;  // registered ones only: others are never filtered
  DropTime drop_time;
  uint64_t target_file_bytes = 32ull << 20;
  /// Value files, of the version, whose values are written anew as far as the inputs name them.
  std::set<const ValueFileMeta*> merged_values;
  /// An output ends when it overlaps more than this of the level below it; 0: no bound.
  uint64_t overlap_bytes_max = 0;
};
struct CompactionOutput {
  std::vector<std::shared_ptr<FileMeta>> files;  // ascending and disjoint, with their readers
  std::vector<std::shared_ptr<ValueFileMeta>> value_files;  // born here
  uint64_t bytes_read = 0, bytes_written = 0, value_bytes_written = 0;
  uint64_t merged_value_bytes = 0;  // raw, of values that were brought in
  uint64_t records_expired = 0;
  DroppedExpiries dropped;  // of these
};

/// Merges the inputs into new files. Installs and removes nothing of the version's.
/// Threads:    any one.
/// Durability: files are synced if context.writer.sync; directory entries are the caller's.
/// Errors:     Corruption (names the input), IOError, NoSpace, Aborted; what was written is
///             removed again.
Status RunCompaction(const JobContext& context, const CompactionInput& input,
                     CompactionOutput* output);

}  // namespace lava
