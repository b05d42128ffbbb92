#pragma once

#include <cstdint>

namespace lava {

/// What is known of one table and of the tree that it stands in.
struct SeparationInput {
  uint64_t records = 0;          // of the table, in files
  uint64_t key_bytes = 32;       // of one, on average
  double scanned_per_write = 0;  // entries that scans showed, for each that was written
  uint64_t tree_bytes = 0;       // keys and values of all tables, as if all were inline
  uint64_t memtable_bytes = 16ull << 20;
  uint64_t level1_bytes = 128ull << 20;
  uint32_t level_multiplier = 10;
  /// How often the collector writes a byte of a value file again.
  double copied_per_byte = 0.5;
};

inline constexpr uint64_t kSeparationBytesMin = 512, kSeparationBytesMax = 64 << 10;
/// Fewer records say too little.
inline constexpr uint64_t kSeparationRecordsMin = 10'000;

/// From which size on a value costs less in a value file than in the tree (DiffKV 4.1, by cost
/// instead of by a fixed size): in the tree it is written again with each compaction, apart its
/// reference is, its key stands twice, and each scan that shows it reads elsewhere. A power of two
/// within the limits above, or UINT64_MAX where the tree is so small that no size pays; current
/// when too little is known, or when less than a factor of two lies between. Pure.
uint64_t ChooseSeparation(const SeparationInput& input, uint64_t current);

/// What is known of one table's values that are large enough to stand apart, in an instance with a
/// write-ahead log.
struct LargeInput {
  bool synced = false;           // each write is durable when it returns
  uint64_t records = 0;          // such values that were put
  double died_in_memory = 0;     // share of them that no flush wrote
  double scanned_per_write = 0;  // as above
};

inline constexpr uint64_t kLargeBytesMin = 8 << 10, kLargeBytesMax = 1 << 20;
/// Fewer values say too little.
inline constexpr uint64_t kLargeRecordsMin = 1000;

/// From which size on a value costs less in a value log, which it reaches as it is put (DiffKV 4),
/// than in the write-ahead log and then, by a flush, in a sorted value file: there it is written
/// twice, unless it dies before; in the log it may cost a sync more, its index stays in memory, and
/// each scan that shows it reads it by itself. A power of two within the limits above, or
/// UINT64_MAX where no size pays; current when too little is known, or it is nearly the same. Pure.
uint64_t ChooseLarge(const LargeInput& input, uint64_t current);

/// How often a byte in the tree is written until it has come to rest: by the flush, in level 1 with
/// every fourth flush, and on the way down through the deeper levels.
double TreeWritesPerByte(const SeparationInput& input);

}  // namespace lava
