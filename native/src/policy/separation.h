// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

namespace lava {

/// Statistics of one table and of its tree.
struct SeparationInput {
  uint64_t records = 0;          // of the table, in files
  uint64_t key_bytes = 32;       // average size of a key
  double scanned_per_write = 0;  // entries returned by scans, per entry written
  uint64_t tree_bytes = 0;       // keys and values of all tables, as if all were inline
  uint64_t memtable_bytes = 16ull << 20;
  uint64_t level1_bytes = 128ull << 20;
  uint32_t level_multiplier = 10;
  /// How often the collector rewrites a byte of a value file.
  double copied_per_byte = 0.5;
};

inline constexpr uint64_t kSeparationBytesMin = 512, kSeparationBytesMax = 64 << 10;
/// Fewer records are not significant.
inline constexpr uint64_t kSeparationRecordsMin = 10'000;

/// Returns the size from which a value costs less in a value file than in the tree (DiffKV 4.1, by
/// cost instead of by a fixed size). Each compaction rewrites an inline value. For a separated
/// value it rewrites only the reference, but the key is stored twice, and each scan needs another
/// read. A power of two within the limits above; UINT64_MAX if the tree is so small that no size
/// pays; `current` if too little is known or the result is within a factor of two of it. Pure.
uint64_t ChooseSeparation(const SeparationInput& input, uint64_t current);

/// Statistics of one table's values that are large enough to be separated, in an instance with a
/// write-ahead log.
struct LargeInput {
  bool synced = false;           // each write is durable when it returns
  uint64_t records = 0;          // such values that were put
  double died_in_memory = 0;     // share of them that no flush wrote
  double scanned_per_write = 0;  // as above
};

inline constexpr uint64_t kLargeBytesMin = 8 << 10, kLargeBytesMax = 1 << 20;
/// Fewer values are not significant.
inline constexpr uint64_t kLargeRecordsMin = 1000;

/// Returns the size from which a value costs less if it is written to a value log when it is put
/// (DiffKV 4) than if it is written to the write-ahead log and a flush then writes it to a sorted
/// value file. The second way writes a value twice, unless it dies before the flush. The value log
/// may need one more sync, its index stays in memory, and scans read each value separately. A power
/// of two within the limits above; UINT64_MAX if no size pays; `current` if too little is known or
/// the result is within a factor of two of it. Pure.
uint64_t ChooseLarge(const LargeInput& input, uint64_t current);

/// How often a byte of the tree is written until it reaches its final level: by the flush, in level
/// 1 with every fourth flush, and on the way down through the deeper levels. Pure.
double TreeWritesPerByte(const SeparationInput& input);

}  // namespace lava
