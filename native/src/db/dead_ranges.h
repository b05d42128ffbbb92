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
/// record, but deletions that scans had to step over. Scans jump over the ranges that are known, so
/// the cost of a scan does not grow with earlier removals.
///
/// A scan finds a range, and a write into the range splits it. Only deletions count: a value that
/// has expired could be shown again by a clock that was set back.
///
/// Threads:    any; writes are told by the writing thread, after readers can see them.
/// Ownership:  the ranges are charged to the counter, which must outlive this object.
/// Memory:     bounded. When the bound is reached, or the budget is short, every second range is
///             forgotten; a scan that needs one finds it again.
class DeadRanges {
 public:
  DeadRanges() = default;
  ~DeadRanges() { Clear(); }
  DeadRanges(const DeadRanges&) = delete;
  DeadRanges& operator=(const DeadRanges&) = delete;

  /// Before the first scan. bytes_max: for all ranges together.
  void Init(MemoryCounter* memory, uint64_t bytes_max) {
    memory_ = memory;
    bytes_max_ = bytes_max;
  }

  /// Whether Wrote() must be called: there are ranges, or scans that look for some.
  bool watches() const { return watches_.load(std::memory_order_relaxed); }
  /// A visible record was written at this key.
  void Wrote(Slice key);

  /// Whether the key lies in a range. *end is then the end of the range.
  bool Find(Slice key, std::string* end) const;
  /// Forgets all ranges.
  void Clear();
  size_t size() const;
  uint64_t bytes() const;

  /// A scan that looks for ranges in [lower, upper) of the newest state. The walk must be made
  /// before the scan takes its view, so that the walk is told of each write that the view may lack.
  /// Threads: one, beside the writer. Ownership: borrows the ranges.
  class Walk {
   public:
    Walk(DeadRanges* ranges, Slice lower, Slice upper);
    ~Walk();
    Walk(const Walk&) = delete;
    Walk& operator=(const Walk&) = delete;
    /// The scan found no visible record in [begin, end). Without memory nothing is remembered.
    void Remember(Slice begin, Slice end);

   private:
    friend class DeadRanges;
    void Take(Slice begin, Slice end) LAVA_REQUIRES(ranges_->mutex_);

    DeadRanges* const ranges_;
    const std::string lower_;
    std::string written_;  // the least key that was written since; none when it is upper
  };

 private:
  struct Range {
    std::string end;
    uint32_t splits = 0;  // writes that cut it
    uint64_t bytes = 0;   // that it is charged with
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

/// Calls Wrote() for a visible record at the end of its own lifetime, when readers can see the
/// record, also if the write then fails for want of memory.
/// Threads:    the writing one.
/// Ownership:  borrows both.
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

/// Counts the records that one scan steps over, lets the scan jump over known ranges, and remembers
/// the ranges that it finds.
/// Threads:    one.
/// Ownership:  borrows the ranges and the bounds.
class DeadSteps final : public SteppedOver {
 public:
  /// Steps after which a scan looks for a range that it is in.
  static constexpr uint32_t kLookSteps = 16;
  /// Steps in a row that are worth a range.
  static constexpr uint32_t kWorthSteps = 64;

  /// ranges: null when the scan is not of the newest state; then it only counts.
  DeadSteps(DeadRanges* ranges, Slice upper) : ranges_(ranges), upper_(upper) {}

  /// Moves *from, where the scan should begin (or behind it, if *exclusive), to the end of a range
  /// that it lies in. False: the scan shows nothing.
  /// Ownership: borrows *from.
  bool Begin(std::string* from, bool* exclusive);
  /// From now on the walk remembers ranges that the scan finds.
  void UseWalk(DeadRanges::Walk* walk) { walk_ = walk; }
  /// The scan has stepped over much and shown nothing yet. It was ended, and must begin again with
  /// a walk that remembers the range.
  bool begins_again() const { return begins_again_; }
  /// Later scans of the table should have a walk.
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
  Slice from_;  // where the scan begins, unless that is in a range
  bool from_exclusive_ = false;
  std::string begin_;   // of the run of dead records that the scan is in
  uint32_t run_ = 0;    // steps in it
  uint32_t jumps_ = 0;  // ranges in it that were known
  std::string target_;
  uint64_t total_ = 0;
  bool shown_ = false, met_many_ = false, begins_again_ = false;
};

}  // namespace lava
