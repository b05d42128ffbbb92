// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>

#include "db/counters.h"
#include "db/event_notifier.h"
#include "db/space_controller.h"
#include "policy/write_throttle.h"

namespace lava {

/// The stall of an instance's writes: the time since which the first write waits, and the reports
/// about the stall to listeners and counters. Writer judges the condition and waits. JobScheduler
/// starts the jobs that end the stall.
///
/// A write may return Busy and be repeated. The attempts count as one write until one of them
/// succeeds or fails, so that errors are judged by the time of the first attempt.
///
/// Threads:    guarded by the mutex of Writer. EventNotifier::Deliver() calls the listeners later.
/// Ownership:  borrows the counters and the notifier.
/// Units:      microseconds of the monotonic clock.
class WriteStall {
 public:
  /// The judgement of one attempt of a write.
  struct Judgement {
    StallCondition condition = StallCondition::kNone;
    SpaceState space;
    bool stores = true;  // false: the write frees space, so space limits do not apply
    bool goes_on = false;
    uint32_t memtables = 0, level0_files = 0;  // figures for listeners
  };

  WriteStall(Counters* counters, EventNotifier* notifier)
      : counters_(counters), notifier_(notifier) {}

  /// An attempt of a write begins. Only the first attempt sets since_us().
  void Begin(uint64_t now_us) {
    if (since_us_ == 0) since_us_ = now_us;
  }
  /// The write has succeeded or failed. The next attempt belongs to a new write.
  void End() { since_us_ = space_round_ = 0; }
  /// The begin of the first attempt; 0: no write waits.
  uint64_t since_us() const { return since_us_; }
  /// The round of SpaceController::AwaitProcess().
  uint64_t* space_round() { return &space_round_; }

  /// The cause of the write's stall, if there is one. A write that only space limits slow also
  /// counts as stalled when it continues.
  static std::optional<StallCause> CauseOf(const Judgement& judgement);
  /// Queues an event for listeners if a stall has begun or ended, or if its cause has changed.
  /// status: result of the write. Returns whether an event was queued.
  bool Tell(const Judgement& judgement, const Status& status, uint64_t now_us);
  /// Counts the time of an attempt that has ended. waited_for: the last condition for which the
  /// attempt waited for jobs. for_space: at its end the attempt was slowed or stopped by a space
  /// limit.
  void Count(StallCondition waited_for, bool for_space, uint64_t us);

 private:
  Counters* const counters_;
  EventNotifier* const notifier_;
  uint64_t since_us_ = 0;
  uint64_t space_round_ = 0;  // 0: the write has not found the process's limit reached
};

}  // namespace lava
