// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>

namespace lava::os {

/// Slows background jobs down to their CPU budget.
/// Threads:    the thread of the job.
class Pacer {
 public:
  virtual ~Pacer() = default;
  /// Charges the thread's CPU time since the last call, and sleeps while the budget is in debt. The
  /// sleep ends soon after *cancelled turns true (may be null). The caller must hold no lock. A
  /// call without a sleep costs about a microsecond: call it every few milliseconds of work.
  virtual void Pace(const std::atomic<bool>* cancelled) = 0;
};

}  // namespace lava::os
