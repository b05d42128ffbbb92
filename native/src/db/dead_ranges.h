// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "lava/slice.h"
#include "memory/memory_counter.h"
#include "read/merging_iterator.h"

namespace lava {

/// Ranges of a table's internal keys in which the newest state of the instance has no visible
/// record, but deletions that scans had to skip. Scans jump over known ranges, so the cost of a
/// scan does not grow with earlier removals.
///
/// A scan finds a range, and a write into the range splits it. A range contains deletions only,
/// because expired values can become visible again if the clock is set back.
///
/// Threads:    any. The writing thread reports each write after readers can see the write.
/// Ownership:  borrows the counter to which the ranges are charged.
/// Memory:     bounded. At the bound, or when the budget is short, every second range is dropped. A
///             scan that needs a dropped range finds it again.
class DeadRanges {
 public:
  DeadRanges() = default;
  ~DeadRanges() { Clear(); }
  DeadRanges(const DeadRanges&) = delete;
  DeadRanges& operator=(const DeadRanges&) = delete;

  /// Called once, before the first scan. bytes_max: limit of all ranges together.
  void Init(MemoryCounter* memory, uint64_t bytes_max) {
    memory_ = memory;
    bytes_max_ = bytes_max;
  }

  /// Whether writes must call Wrote(): ranges exist, or scans look for ranges.
  bool watches() const { return watches_.load(std::memory_order_relaxed); }
  /// A visible record was written at this key.
  void Wrote(Slice key);

  /// Whether the key lies in a range. If so, *end is the end of the range.
  bool Find(Slice key, std::string* end) const;
  /// Drops all ranges.
  void Clear();
  size_t size() const;
  uint64_t bytes() const;

  /// A scan that looks for ranges in [lower, upper) of the newest state. The walk must be created
  /// before the scan takes its view, so that the walk notices each write that the view may lack.
  /// Threads: one, concurrently with the writer. Ownership: borrows the ranges.
  class Walk {
   public:
    Walk(DeadRanges* ranges, Slice lower, Slice upper);
    ~Walk();
    Walk(const Walk&) = delete;
    Walk& operator=(const Walk&) = delete;
    /// The scan found no visible record in [begin, end). If memory is refused, parts of the range
    /// may be missing.
    void Remember(Slice begin, Slice end);

   private:
    friend class DeadRanges;
    void Take(Slice begin, Slice end) LAVA_REQUIRES(ranges_->mutex_);

    DeadRanges* const ranges_;
    const std::string lower_;
    std::string written_;  // the smallest key written since; upper: none
  };

 private:
  struct Range {
    std::string end;
    uint32_t splits = 0;  // the number of writes that split the range
    uint64_t bytes = 0;   // the charge for the range
  };
  using Ranges = std::map<std::string, Range, std::less<>>;

  static uint64_t BytesOf(const std::string& begin, const Range& range);
  Ranges::iterator At(Slice key) LAVA_REQUIRES(mutex_);
  void Insert(std::string begin, Range range) LAVA_REQUIRES(mutex_);
  void Erase(Ranges::iterator range) LAVA_REQUIRES(mutex_);
  void Split(Ranges::iterator range, Slice key) LAVA_REQUIRES(mutex_);
  void ForgetHalf() LAVA_REQUIRES(mutex_);
  void SetWatches() LAVA_REQUIRES(mutex_) {
    watches_.store(!ranges_.empty() || !walks_.empty(), std::memory_order_seq_cst);
  }

  MemoryCounter* memory_ = nullptr;
  uint64_t bytes_max_ = 0;
  std::atomic<bool> watches_{false};
  mutable Mutex mutex_;
  Ranges ranges_ LAVA_GUARDED_BY(mutex_);  // by their first key; disjoint
  uint64_t bytes_ LAVA_GUARDED_BY(mutex_) = 0;
  std::vector<Walk*> walks_ LAVA_GUARDED_BY(mutex_);
};

/// Calls Wrote() for a visible record at the end of its own lifetime. Readers can see the record by
/// then, even if the write fails afterwards because memory is refused.
/// Threads:    the writing thread.
/// Ownership:  borrows the ranges and the key.
class LiveNote {
 public:
  LiveNote(DeadRanges& ranges, Slice key) : ranges_(ranges), key_(key) {}
  ~LiveNote() {
    if (ranges_.watches()) [[unlikely]]
      ranges_.Wrote(key_);
  }
  LiveNote(const LiveNote&) = delete;
  LiveNote& operator=(const LiveNote&) = delete;

 private:
  DeadRanges& ranges_;
  const Slice key_;
};

/// Counts the records that one scan skips, lets the scan jump over known ranges, and remembers the
/// ranges that the scan finds.
/// Threads:    one.
/// Ownership:  borrows the ranges and the bounds.
class DeadSteps final : public SteppedOver {
 public:
  /// Each time that a scan has skipped this many records in a row, it checks whether it is in a
  /// known range.
  static constexpr uint32_t kLookSteps = 16;
  /// A run of at least this many skipped records is remembered as a range.
  static constexpr uint32_t kWorthSteps = 64;

  /// ranges: null if the scan does not read the newest state; the object then only counts.
  DeadSteps(DeadRanges* ranges, Slice upper) : ranges_(ranges), upper_(upper) {}

  /// If the begin of the scan lies in a known range, moves the begin to the end of that range.
  /// *from: the begin; *exclusive: the scan begins behind *from. False: the scan has nothing to
  /// show.
  /// Ownership: borrows *from.
  bool Begin(std::string* from, bool* exclusive);
  /// From now on, ranges that the scan finds are remembered by the walk.
  void UseWalk(DeadRanges::Walk* walk) { walk_ = walk; }
  /// The scan has skipped many records and shown none. It was ended, and must start again with a
  /// walk that remembers the range.
  bool begins_again() const { return begins_again_; }
  /// Whether later scans of the table should have a walk.
  bool met_many() const { return met_many_; }
  uint64_t total() const { return total_; }

  Next Step(Slice key) override;
  Slice target() const override { return target_; }
  void Shown(Slice key) override {
    shown_ = true;
    if (run_ != 0 || jumps_ != 0) EndRun(key);
  }
  void Ended() override {
    if ((run_ != 0 || jumps_ != 0) && !begins_again_) EndRun(upper_);
  }

 private:
  void BeginRun(Slice key);
  void EndRun(Slice end);
  Next JumpTo();

  DeadRanges* const ranges_;
  const Slice upper_;
  DeadRanges::Walk* walk_ = nullptr;
  Slice from_;  // the begin of the scan; unset if a range contains it
  bool from_exclusive_ = false;
  std::string begin_;   // first key of the current run of dead records
  uint32_t run_ = 0;    // skipped records in the run
  uint32_t jumps_ = 0;  // known ranges in the run
  std::string target_;
  uint64_t total_ = 0;
  bool shown_ = false, met_many_ = false, begins_again_ = false;
};

}  // namespace lava
