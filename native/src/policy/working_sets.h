// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

namespace lava {

/// Properties of a background job that determine its memory. Units: bytes, counts.
struct JobShape {
  uint64_t block_bytes = 4096, index_partition_bytes = 16384;
  uint64_t file_buffer_bytes = 0;  // per file being written
  /// Index of a new file until the cache has it: the limit, and the estimate from the input.
  uint64_t kept_index_bytes_max = 0, index_bytes = 0;
  uint64_t key_file_bytes = 32ull << 20;  // target size of a key file; below, of a value file
  uint64_t value_file_bytes = 64ull << 20;
  bool zstd = false;
  /// Runs or files that are read at the same time.
  uint32_t inputs = 1;
  /// Upper bounds of the input; keys and values are raw.
  uint64_t records = 0, key_bytes = 0, value_bytes = 0;
  /// Whether values may go to value files, and how many are known to do so.
  bool separates = false;
  uint64_t separated_records = 0, separated_bytes = 0;
  uint64_t merged_ahead_bytes = 0;  // read ahead from value files that a compaction merges
  uint64_t together_bytes = 0;      // largest list that a compaction folds
};

/// Memory that a job uses at once, besides blocks in the cache. Upper estimates, checked against
/// measurements of jobs (working_sets_test in native/tests). Pure.
uint64_t FlushWorkingSet(const JobShape& shape);
uint64_t CompactionWorkingSet(const JobShape& shape);
uint64_t CollectionWorkingSet(const JobShape& shape);

/// Memory that a host reserves per thread, so that a flush with usual options finds memory.
inline constexpr uint64_t kFlushJobBytes = 4 << 20;

}  // namespace lava
