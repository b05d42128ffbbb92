#pragma once

#include <cstdint>
#include <optional>

#include "db/counters.h"
#include "db/event_notifier.h"
#include "db/space_controller.h"
#include "policy/write_throttle.h"

namespace lava {

/// The stall of an instance's writes: since when the write at the head waits, and what listeners
/// and counters are told of that. Writer judges what a write waits for and lets the write wait;
/// JobScheduler starts what ends the stall.
///
/// A write may be told Busy and come again. It counts as the same write until one goes on or fails,
/// so that errors are judged by the time at which the write came first.
///
/// Threads:    none of its own: the mutex of Writer guards it. Listeners are called later, by
///             EventNotifier::Deliver().
/// Ownership:  borrows the counters and the notifier.
/// Units:      microseconds of the monotonic clock.
class WriteStall {
 public:
  /// What an attempt of a write has met.
  struct Judgement {
    StallCondition condition = StallCondition::kNone;
    SpaceState space;
    bool stores = true;  // false: the write frees space, so limits of space let it pass
    bool goes_on = false;
    uint32_t memtables = 0, level0_files = 0;  // for listeners
  };

  WriteStall(Counters* counters, EventNotifier* notifier)
      : counters_(counters), notifier_(notifier) {}

  /// An attempt of a write begins to wait, unless it has done so before.
  void Begin(uint64_t now_us) {
    if (since_us_ == 0) since_us_ = now_us;
  }
  /// The write goes on, or fails: the next one is another.
  void End() { since_us_ = space_round_ = 0; }
  /// When the first attempt began; 0: no write waits.
  uint64_t since_us() const { return since_us_; }
  /// The round of SpaceController::AwaitProcess().
  uint64_t* space_round() { return &space_round_; }

  /// What stalls the write, if anything does. A write that only space slows is stalled, too, when
  /// it goes on.
  static std::optional<StallCause> CauseOf(const Judgement& judgement);
  /// Queues an event for listeners if a stall began or ended, or has another cause now. status: of
  /// the write. Returns whether an event was queued.
  bool Tell(const Judgement& judgement, const Status& status, uint64_t now_us);
  /// Counts the time of an attempt that has ended. waited_for: the last condition that waits for
  /// jobs. for_space: the attempt ended slowed or stopped by a limit of space.
  void Count(StallCondition waited_for, bool for_space, uint64_t us);

 private:
  Counters* const counters_;
  EventNotifier* const notifier_;
  uint64_t since_us_ = 0;
  uint64_t space_round_ = 0;  // 0: the write has not found the process's limit reached
};

}  // namespace lava
