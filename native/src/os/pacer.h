#pragma once

#include <atomic>

namespace lava::os {

/// Slows background jobs down to the CPU time that they may use.
/// Threads:    that of the job.
class Pacer {
 public:
  virtual ~Pacer() = default;
  /// Charges what the thread has used since the last call, and sleeps while the budget is in debt,
  /// in short slices: it ends soon after *cancelled turns true (may be null). The caller holds no
  /// lock. Costs about a microsecond otherwise: call it every few milliseconds of work.
  virtual void Pace(const std::atomic<bool>* cancelled) = 0;
};

}  // namespace lava::os
