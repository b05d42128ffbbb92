#pragma once

#include <cstdint>

namespace lava {

/// A background job, as far as it matters for its memory. Units: bytes, counts.
struct JobShape {
  uint64_t block_bytes = 4096, index_partition_bytes = 16384;
  uint64_t file_buffer_bytes = 0;  // of a file that is written
  /// Of a new file's index until the cache has it: at most, and by what comes in.
  uint64_t kept_index_bytes_max = 0, index_bytes = 0;
  uint64_t key_file_bytes = 32ull << 20;  // where a file of keys ends, and one of values
  uint64_t value_file_bytes = 64ull << 20;
  bool zstd = false;
  /// Runs or files that are read beside each other.
  uint32_t inputs = 1;
  /// What comes in, at most; keys and values are raw.
  uint64_t records = 0, key_bytes = 0, value_bytes = 0;
  /// Whether values may go to value files, and how much is known to.
  bool separates = false;
  uint64_t separated_records = 0, separated_bytes = 0;
  uint64_t merged_ahead_bytes = 0;  // read of value files that a compaction takes along
  uint64_t together_bytes = 0;      // of a list that a compaction puts together, at most
};

/// What a job keeps in memory at once beside the blocks that the cache has: upper estimates, held
/// against what jobs were seen to take (working_sets_test in native/tests).
uint64_t FlushWorkingSet(const JobShape& shape);
uint64_t CompactionWorkingSet(const JobShape& shape);
uint64_t CollectionWorkingSet(const JobShape& shape);

/// What a host keeps back for each of its threads, so that a flush of usual options finds memory.
inline constexpr uint64_t kFlushJobBytes = 4 << 20;

}  // namespace lava
