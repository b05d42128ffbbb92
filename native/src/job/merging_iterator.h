#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "base/record.h"
#include "job/drop_cache.h"
#include "job/merge_run.h"
#include "lava/options.h"
#include "os/pacer.h"

namespace lava {

/// Tells what can exist below the runs of a merge. True may be wrong, false never.
class OlderData {
 public:
  virtual ~OlderData() = default;
  virtual bool MayHoldKey(Slice key) const = 0;
  /// [lower, upper); an empty upper has no end.
  virtual bool MayHoldRange(Slice lower, Slice upper) const = 0;
};

/// Told of the records that a walk of the user's view does not show.
class SteppedOver {
 public:
  enum class Next : uint8_t { kGoOn, kSeek, kEnd };
  virtual ~SteppedOver() = default;
  /// The walk stands at a record that shows nothing. kSeek: nothing is shown up to target(), where
  /// the walk goes on. kEnd: the walk ends.
  virtual Next Step(Slice key) = 0;
  virtual Slice target() const = 0;
  /// The walk has come to a record that it shows: the first one, or one behind steps.
  virtual void Shown(Slice key) = 0;
  /// No further record is there.
  virtual void Ended() = 0;
};

struct MergeOptions {
  /// false: the user's view of a whole tree: live records only, as kPut or kPutParts with folded
  /// values or as kPutReference.
  /// true: a run that takes the place of the merged ones: tombstones and unfinished lists too,
  /// unless nothing older can exist below. Range tombstones are the caller's to carry on.
  bool compaction = false;
  /// For compaction; must outlive the iterator.
  const OlderData* older = nullptr;
  /// Values are left empty (user view), but for references.
  bool keys_only = false;
  /// A list that would be folded to more becomes a ListSegment::kTooLong: no merge fails over it.
  uint64_t list_bytes_max = kListBytesMax;
  /// Told the keys whose references to value files the merge drops. May be null; must outlive the
  /// iterator.
  DropCache* drop_cache = nullptr;
  /// The walk ends as Aborted when it is true, also amid records that are not shown. May be null;
  /// must outlive the iterator.
  const std::atomic<bool>* cancelled = nullptr;
  /// Asked as the walk goes on, for a job. May be null; must outlive the iterator.
  os::Pacer* pacer = nullptr;
  /// Of the user's view. May be null; must outlive the iterator.
  SteppedOver* stepped_over = nullptr;
  /// How Seek() into the middle of a prefix learns that it is deleted: the length of the only
  /// prefix of the target that can be (0: not known, then all from prefix_bytes_min are asked).
  uint32_t prefix_bytes_hint = 0;
  uint32_t prefix_bytes_min = 1;
  /// From this length of a target on, the runs are searched for such prefixes with seeks, whose
  /// number does not depend on the length.
  size_t long_key_bytes = 512;
};

/// Merges runs, newest first: newer records shadow older ones of their key, a prefix delete or
/// range tombstone hides what older runs hold under it, lists are folded by concatenation.
/// Ownership:  owns the runs.
std::unique_ptr<RecordIterator> NewMergingIterator(std::vector<std::unique_ptr<MergeRun>> runs,
                                                   const MergeOptions& options);

}  // namespace lava
