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

/// Ranges of a table's internal keys in which the newest state of the instance shows nothing: what
/// was removed there, scans had to step over. Scans jump over the ranges that they know, so that
/// the cost of a scan does not grow with what was removed before it.
///
/// A range is found by a scan, and lost by the first write into it: the write splits it. Only
/// deletions count. A value that has expired could be shown again by a clock that was set back.
///
/// Threads:    any; writes are told by the writing thread, after readers can see them.
/// Ownership:  what is remembered is charged to the counter, which must outlive this object.
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
  /// A record that shows something was written at this key.
  void Wrote(Slice key);

  /// True when the key lies in a range; *end is then where that ends.
  bool Find(Slice key, std::string* end) const;
  /// Forgets all ranges.
  void Clear();
  size_t size() const;
  uint64_t bytes() const;

  /// A scan that looks for ranges in [lower, upper) of the newest state. It must be made before the
  /// scan takes its view: a write that the scan may not see is told to it.
  /// Threads: one, beside the writer. Ownership: borrows the ranges.
  class Walk {
   public:
    Walk(DeadRanges* ranges, Slice lower, Slice upper);
    ~Walk();
    Walk(const Walk&) = delete;
    Walk& operator=(const Walk&) = delete;
    /// The scan has seen that [begin, end) shows nothing. Without memory nothing is remembered.
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

/// Tells the ranges of a record that shows something, once readers can see it: also when the write
/// then fails for want of memory.
/// Threads: the writing one. Ownership: borrows both.
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

/// Counts what one scan steps over, and makes it jump and remember.
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

  /// Where a scan that is to begin at *from (behind it if *exclusive) may begin instead. False: the
  /// scan shows nothing.
  /// Ownership: borrows *from.
  bool Begin(std::string* from, bool* exclusive);
  /// From now on ranges are remembered by this walk.
  void UseWalk(DeadRanges::Walk* walk) { walk_ = walk; }
  /// The scan has shown nothing yet and stepped over much: it was ended, to be begun again with a
  /// walk, so that what it steps over is remembered.
  bool begins_again() const { return begins_again_; }
  /// The table's scans should have a walk.
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
