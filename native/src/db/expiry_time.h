// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>

#include "base/mutex.h"
#include "db/environment.h"
#include "lava/ttl_time.h"
#include "policy/ttl_clock.h"

namespace lava {

/// The time by which an instance's records expire: the last time that the layer above reported, or
/// the system's clock before the first report.
///
/// Jobs drop records by the time of the job's start. When a job installs its output, it checks the
/// dropped records against the time again, because only this step removes them.
/// Threads:    any.
/// Ownership:  borrows the clock.
/// Units:      milliseconds since the epoch.
class ExpiryTime {
 public:
  explicit ExpiryTime(Clock* clock) : clock_(clock) {}

  /// Reports the time of the layer above. The first call replaces the system's clock for good.
  void Tell(int64_t now_ms);
  /// As Tell(), but a jump is accepted at once, because the layer above knows that the time is
  /// right.
  void Accept(int64_t now_ms);
  /// The instance was restored from a checkpoint with this time. Ignored after the first Tell() or
  /// Accept().
  void Continue(const TtlTime& before);
  /// The time that a checkpoint carries: see DB::time().
  TtlTime time() const;
  /// The time by which records may be dropped now.
  DropTime Now();

 private:
  Clock* const clock_;
  mutable Mutex mutex_;
  TtlClock ttl_clock_ LAVA_GUARDED_BY(mutex_);
  std::optional<TtlTime> before_ LAVA_GUARDED_BY(mutex_);
  bool told_ LAVA_GUARDED_BY(mutex_) = false;
};

}  // namespace lava
