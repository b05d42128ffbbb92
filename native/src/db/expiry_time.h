#pragma once

#include <cstdint>
#include <optional>

#include "base/mutex.h"
#include "db/environment.h"
#include "lava/ttl_time.h"
#include "policy/ttl_clock.h"

namespace lava {

/// The time by which an instance's records expire: what the layer above told, or the system's clock
/// until that layer tells one.
///
/// Jobs drop records by the time of their start. Each job compares what it dropped with the time
/// again when its output is installed, because that is the moment at which the records go.
/// Threads:    any.
/// Ownership:  borrows the clock.
/// Units:      milliseconds since the epoch.
class ExpiryTime {
 public:
  explicit ExpiryTime(Clock* clock) : clock_(clock) {}

  /// What the layer above's clock says now. The first call replaces the system's clock for good.
  void Tell(int64_t now_ms);
  /// The same, and the layer above knows that it is so: a jump is believed at once.
  void Believe(int64_t now_ms);
  /// The instance has data of before, from a checkpoint of this time. Without effect after the
  /// first Tell() or Believe().
  void Continue(const TtlTime& before);
  /// What a checkpoint carries.
  TtlTime time() const;
  /// By which time records may be dropped now.
  DropTime Now();

 private:
  Clock* const clock_;
  mutable Mutex mutex_;
  TtlClock ttl_clock_ LAVA_GUARDED_BY(mutex_);
  std::optional<TtlTime> before_ LAVA_GUARDED_BY(mutex_);
  bool told_ LAVA_GUARDED_BY(mutex_) = false;
};

}  // namespace lava
