// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>
#include <vector>

#include "base/range_tombstones.h"
#include "base/record.h"
#include "manifest/version.h"
#include "memtable/memtable.h"
#include "table/table_reader.h"

namespace lava {

/// One run of a merge: its records, and the tombstones that hide records of older runs.
/// Threads:    one thread at a time.
/// Ownership:  keeps the memtable alive; borrows entries, which keep the files' readers open.
class MergeRun {
 public:
  virtual ~MergeRun() = default;
  virtual RecordIterator& records() = 0;
  /// The range tombstone that covers the key; null if there is none. Valid as long as the run.
  virtual const RangeTombstone* Covering(Slice key) const = 0;
  /// Adds all range tombstones to *set.
  virtual void AddRangeTombstones(RangeTombstoneSet* set) const = 0;
  virtual bool has_range_tombstones() const = 0;
  virtual bool has_prefix_deletes() const = 0;
  /// Whether there is a prefix delete of exactly this prefix.
  virtual Result<bool> HasPrefixDelete(Slice prefix) const = 0;
};

std::unique_ptr<MergeRun> NewMemTableRun(std::shared_ptr<const MemTable> table, bool keys_only);
/// A run of one file (of L0). Records and tombstones outside the entry's bounds are not visible.
/// Bounds never cut a deletable prefix. The entry must outlive the run.
/// Errors:     NeedsFile if the file is missing.
Result<std::unique_ptr<MergeRun>> NewFileRun(const KeyFileEntry& entry,
                                             const TableReader::IterateOptions& options);
/// A run of the files of one deeper level, ascending and disjoint. Opens the iterator of a file
/// when the walk reaches it. If the file is missing then, the walk fails with NeedsFile, and goes
/// on failing after the file has arrived. The entries are not copied and must outlive the run.
std::unique_ptr<MergeRun> NewLevelRun(const FileRange& entries,
                                      const TableReader::IterateOptions& options);

/// Whether [a_lower, a_upper) and [b_lower, b_upper) overlap; an empty upper bound means no end.
inline bool RangesOverlap(Slice a_lower, Slice a_upper, Slice b_lower, Slice b_upper) {
  return (b_upper.empty() || a_lower < b_upper) && (a_upper.empty() || b_lower < a_upper);
}

}  // namespace lava
