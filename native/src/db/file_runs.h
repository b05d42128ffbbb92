// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>
#include <span>

#include "base/record.h"
#include "db/read_view.h"
#include "db/version_search.h"
#include "read/merge_run.h"
#include "read/readers.h"

namespace lava {

/// An estimate of the bytes that a walk will read of a view's files.
/// Threads: a value.
/// entries: the number of entries that the walk will show; 0: unknown.
struct ExpectedEntries {
  uint64_t entries = 0;
  FileTotals totals;
  /// The bytes that the walk will read of a run of run_bytes bytes; 0: unknown. The totals may be
  /// those of an older version, so they only serve for this estimate.
  uint64_t BytesOf(uint64_t run_bytes) const {
    if (entries == 0 || totals.records == 0) return 0;
    if (entries >= totals.records) return run_bytes;
    const double share = static_cast<double>(entries) / static_cast<double>(totals.records);
    return static_cast<uint64_t>(share * static_cast<double>(run_bytes));
  }
};

/// Calls visit(run) for the runs of files that may have keys in [lower, upper), newest first, until
/// visit returns false. visit returns Result<bool>. An empty upper means no end. prefix: if not
/// empty, [lower, upper) is its range, and files whose filters exclude the prefix are skipped.
/// Threads: any.
/// Ownership: the runs borrow the version.
/// Errors: the errors of visit and of reading filters and indexes; NeedsFile for a missing file.
template <typename Visit>
Status ForEachFileRun(const Version& version, Slice lower, Slice upper, Slice prefix,
                      const TableReader::IterateOptions& options, const ExpectedEntries& expected,
                      Visit visit) {
  TableReader::IterateOptions of_run = options;
  const auto any_may_hold = [&](const auto& entries) -> Result<bool> {
    if (prefix.empty()) return true;
    for (const KeyFileEntry& entry : entries) {
      LAVA_ASSIGN_OR_RETURN(const TableReader* const reader, RequireReader(entry));
      LAVA_ASSIGN_OR_RETURN(const bool may, reader->MayHavePrefix(prefix));
      if (may) return true;
    }
    return false;
  };
  for (const KeyFileEntry& entry : version.levels[0]) {
    if (Slice(entry.upper) <= lower || (!upper.empty() && Slice(entry.lower) >= upper)) continue;
    LAVA_ASSIGN_OR_RETURN(const bool may, any_may_hold(std::span(&entry, 1)));
    if (!may) continue;
    of_run.expected_bytes = expected.BytesOf(entry.file->bytes);
    LAVA_ASSIGN_OR_RETURN(std::unique_ptr<MergeRun> run, NewFileRun(entry, of_run));
    LAVA_ASSIGN_OR_RETURN(const bool more, visit(std::move(run)));
    if (!more) return Status::OK();
  }
  for (uint32_t n = 1; n < kLevelCountMax; ++n) {
    const FileRange entries = Overlapping(version.levels[n], lower, upper);
    if (entries.empty()) continue;
    LAVA_ASSIGN_OR_RETURN(const bool may, any_may_hold(entries));
    if (!may) continue;
    of_run.expected_bytes = expected.BytesOf(expected.totals.level_bytes[n]);
    LAVA_ASSIGN_OR_RETURN(const bool more, visit(NewLevelRun(entries, of_run)));
    if (!more) return Status::OK();
  }
  return Status::OK();
}

}  // namespace lava
