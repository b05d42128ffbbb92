#pragma once

#include <cstdint>

namespace lava {

/// Holds background work to so many cores: a bucket that CPU time drips into as time passes, and
/// that what was used is taken from. It holds a quarter of a second's worth, so that over any t
/// seconds no more is used than what t + 0.25 seconds earn and what each thread used since it asked
/// last.
///
/// Work that somebody waits for may overdraw it, at the cost of all other work, which waits until
/// the debt is paid. Such debt is forgiven above a second's worth: when it alone takes more than
/// the budget for long, the budget does not hold, the others stand still, and within a second after
/// it they go on. A pure calculation: time is passed in. Units:      microseconds of CPU time and,
/// as `now_us`, of a clock that never goes back.
class CpuBudget {
 public:
  static constexpr double kBurstUs = 250'000, kForgivenAboveUs = 1'000'000;  // times the cores

  /// 0: no budget. The bucket begins full.
  void SetCores(double cores, uint64_t now_us);
  void Charge(uint64_t used_us, bool may_overdraw, uint64_t now_us);
  /// How long until work may go on; 0: it may.
  uint64_t PaidInUs(uint64_t now_us);
  /// How long it takes to earn so much; 0 without a budget.
  uint64_t EarnedInUs(uint64_t used_us) const;

 private:
  void Refill(uint64_t now_us);

  double cores_ = 0, balance_us_ = 0;
  uint64_t refilled_us_ = 0;
};

}  // namespace lava
