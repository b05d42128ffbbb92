#pragma once

#include <cstdint>
#include <optional>

#include "base/mutex.h"
#include "db/environment.h"
#include "lava/ttl_time.h"
#include "policy/ttl_clock.h"

namespace lava {

/// The time by which an instance's records expire: the time that the layer above told last, or the
/// system's clock until that layer tells one.
///
/// Jobs drop records by the time of their start. Each job compares what it dropped with the time
/// again when its output is installed, because that is the moment at which the records go.
/// Threads:    any.
/// Ownership:  borrows the clock.
/// Units:      milliseconds since the epoch.
class ExpiryTime {
 public:
  explicit ExpiryTime(Clock* clock) : clock_(clock) {}

  /// The time by the clock of the layer above. The first call replaces the system's clock for good.
  void Tell(int64_t now_ms);
  /// As Tell(), but a jump is accepted at once, because the layer above knows that it is right.
  void Accept(int64_t now_ms);
  /// The instance was restored from a checkpoint of this time. Without effect after the first
  /// Tell() or Accept().
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
