// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

namespace lava {

/// Limits background work to a number of cores with a token bucket of CPU time. The bucket fills as
/// time passes, holds at most a quarter of a second's worth, and pays for the CPU time used. Over
/// any t seconds, work thus uses at most the CPU time that t + 0.25 seconds earn, plus the time
/// that each thread used since it last asked.
///
/// Work that must not wait may overdraw the bucket, at the expense of all other work, which waits
/// until the debt is paid. Such debt above one second's worth is forgiven. If this work alone
/// exceeds the budget for long, the budget does not hold and other work stands still, but other
/// work resumes within a second after the excess ends. A pure calculation: time is passed in.
/// Threads:    one, or the caller's lock.
/// Units:      microseconds of CPU time; now_us: microseconds of a clock that never goes backwards.
class CpuBudget {
 public:
  static constexpr double kBurstUs = 250'000, kForgivenAboveUs = 1'000'000;  // times the cores

  /// 0: no budget. A new value begins with a full bucket.
  void SetCores(double cores, uint64_t now_us);
  void Charge(uint64_t used_us, bool may_overdraw, uint64_t now_us);
  /// Time until the debt is paid; 0: work may continue.
  uint64_t PaidInUs(uint64_t now_us);
  /// Time in which used_us is earned; 0 without a budget.
  uint64_t EarnedInUs(uint64_t used_us) const;

 private:
  void Refill(uint64_t now_us);

  double cores_ = 0, balance_us_ = 0;
  uint64_t refilled_us_ = 0;
};

}  // namespace lava
