// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "base/record.h"
#include "lava/options.h"
#include "os/pacer.h"
#include "read/drop_cache.h"
#include "read/merge_run.h"

namespace lava {

/// Data older than the runs of a merge. "May hold" may be wrongly true, but never wrongly false.
class OlderData {
 public:
  virtual ~OlderData() = default;
  virtual bool MayHoldKey(Slice key) const = 0;
  /// [lower, upper); an empty upper bound means no end.
  virtual bool MayHoldRange(Slice lower, Slice upper) const = 0;
};

/// Observer of the records that a walk of the user's view skips, such as deleted ones.
class SteppedOver {
 public:
  enum class Next : uint8_t { kGoOn, kSeek, kEnd };
  virtual ~SteppedOver() = default;
  /// The walk is at a record that is not visible. kSeek: nothing is visible before target(), where
  /// the walk goes on. kEnd: the walk ends.
  virtual Next Step(Slice key) = 0;
  virtual Slice target() const = 0;
  /// The walk has reached a visible record: the first one, or the first one after skipped records.
  virtual void Shown(Slice key) = 0;
  /// The walk has reached the end of the records.
  virtual void Ended() = 0;
};

struct MergeOptions {
  /// false: the user's view of a whole tree: only live records, as kPut or kPutParts with folded
  /// values or as kPutReference.
  /// true: the records of a run that replaces the merged ones: also tombstones and unfinished
  /// lists, unless no older data can exist below. The caller carries the range tombstones over.
  bool compaction = false;
  /// For compaction; must outlive the iterator.
  const OlderData* older = nullptr;
  /// Values are empty in the user's view, except for references.
  bool keys_only = false;
  /// A list that would be folded to more bytes becomes a ListSegment::kTooLong; the merge goes on.
  uint64_t list_bytes_max = kListBytesMax;
  /// Receives the keys whose references to value files the merge drops. May be null; must outlive
  /// the iterator.
  DropCache* drop_cache = nullptr;
  /// The walk ends as Aborted once this is true, also between invisible records. May be null; must
  /// outlive the iterator.
  const std::atomic<bool>* cancelled = nullptr;
  /// Limits the CPU time of a job's walk. May be null; must outlive the iterator.
  os::Pacer* pacer = nullptr;
  /// For the user's view. May be null; must outlive the iterator.
  SteppedOver* stepped_over = nullptr;
  /// For Seek() into the middle of a prefix: the length of the only prefix of the target that may
  /// be deleted. 0: unknown; all prefixes from prefix_bytes_min on are looked up.
  uint32_t prefix_bytes_hint = 0;
  uint32_t prefix_bytes_min = 1;
  /// Targets longer than this are checked for deleted prefixes with seeks, whose number does not
  /// depend on the length of the target.
  size_t long_key_bytes = 512;
};

/// Merges runs, newest first. A newer record shadows older records of its key, a prefix delete or
/// range tombstone hides the records of older runs under it, and lists are folded by concatenation.
/// Threads:    one thread at a time.
/// Ownership:  owns the runs.
std::unique_ptr<RecordIterator> NewMergingIterator(std::vector<std::unique_ptr<MergeRun>> runs,
                                                   const MergeOptions& options);

}  // namespace lava
