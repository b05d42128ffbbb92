// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <cstdint>
#include <map>

#include "base/mutex.h"
#include "db/job_plans.h"
#include "db/table_registry.h"
#include "lava/options.h"
#include "manifest/version.h"

namespace lava {

/// Finds two sizes for each table from statistics of flushes and scans:
/// - the bound of separation, from which a flush writes a value to a value file instead of the
///   tree (kSeparationAutomatic);
/// - the bound of large values, from which a put writes a value to a value log instead of the
///   write-ahead log (kLargeAutomatic). Only an instance with both logs has this bound.
/// policy/separation.h has the formulas. This class keeps the counts for the formulas, and sets the
/// results in the handles of the tables. Both bounds are hints: no reader depends on them, and a
/// changed bound moves no value.
///
/// Threads:    any. Callers of CountPut() and TakeSeparatedPuts() hold the mutex of Writer.
///             Functions that answer for one table take no lock.
/// Ownership:  borrows the registry, which must outlive this object.
/// Units:      bytes.
class SeparationTuner {
 public:
  /// Figures of the instance on which the bound of separation depends, besides the flushes.
  struct Instance {
    uint64_t memtable_bytes = 0;
    uint64_t value_bytes_written = 0;  // to value files, by flushes and compactions
    uint64_t value_bytes_copied = 0;   // to value files, by collections
  };

  SeparationTuner(const DBOptions& options, const TableRegistry* tables);

  /// The bound of large values with which a table begins.
  static uint64_t FirstLargeBytes(const DBOptions& options);

  /// Whether a put writes a value of this size to the value log.
  bool IsLarge(const TableImpl& table, uint64_t bytes) const {
    return has_value_log_ && table.Separates(bytes) && bytes >= LargeBytesOf(table);
  }
  /// The current size from which a put writes a value to the value log; UINT64_MAX: never.
  uint64_t LargeBytesNow(const TableImpl& table) const {
    const uint64_t separated = table.separation_now();
    if (!has_value_log_ || separated == 0 || table.kind() == TableKind::kList) return UINT64_MAX;
    return std::max(LargeBytesOf(table), separated);
  }

  /// A value of this size is put into the active memtable. The caller holds the mutex of Writer.
  void CountPut(TableImpl* table, uint64_t bytes) const {
    if (has_value_log_ && table->Separates(bytes)) [[unlikely]]
      table->CountSeparatedPut();
  }
  /// The active memtable is sealed. Returns the number of values that were put into it and are
  /// large enough to be separated, by table, and resets the counts. The caller holds the mutex of
  /// Writer.
  /// Errors: throws std::bad_alloc and then has changed nothing.
  std::map<uint64_t, uint64_t> TakeSeparatedPuts() const;

  /// A flush was installed. version: a version with the flush's files. Visits all key files of the
  /// version if the flush has records of a table with kSeparationAutomatic, so the caller should
  /// hold no mutex.
  void FlushInstalled(const Flushed& flushed, const Version& version, const Instance& instance)
      LAVA_EXCLUDES(mutex_);

 private:
  // At these numbers of records and values the counts of a table are halved, so that older ones
  // count less.
  static constexpr uint64_t kWritesRemembered = 1 << 20, kPutsRemembered = 1 << 16;

  struct Counts {
    uint64_t written = 0;  // records written by flushes
    // Values large enough to be separated: all that were put, and those that a flush wrote.
    uint64_t separated_puts = 0, separated_written = 0;

    double scanned_per_write(const TableImpl& table) const;
    double died_in_memory() const;
  };

  uint64_t LargeBytesOf(const TableImpl& table) const {
    return large_value_bytes_ == kLargeAutomatic ? table.chosen_large() : large_value_bytes_;
  }
  void FindSeparation(const Flushed& flushed, const Version& version, const Instance& instance)
      LAVA_EXCLUDES(mutex_);
  void FindLarge(const Flushed& flushed) LAVA_EXCLUDES(mutex_);

  const TableRegistry* const tables_;
  const bool has_value_log_;
  const bool synced_;  // each write is durable when the call returns
  const uint64_t large_value_bytes_;
  const uint64_t level1_bytes_;
  const uint32_t level_multiplier_;
  Mutex mutex_;
  // By handle and not by id, so that a table that is created again begins without counts.
  std::map<const TableImpl*, Counts> counts_ LAVA_GUARDED_BY(mutex_);
};

}  // namespace lava
