#pragma once

#include <cstdint>

namespace lava {

/// An instance's knowledge of the time by which records expire. A checkpoint carries it to the
/// instances that are restored from the checkpoint, so that a machine whose clock is ahead does not
/// drop records at once.
/// Threads:    a value.
/// Units:      milliseconds; time_ms since the epoch.
struct TtlTime {
  /// The time of writing is unknown.
  static constexpr int64_t kUnknown = INT64_MIN;

  int64_t time_ms = kUnknown;  // the proven time
  int64_t lead_ms = 0;         // how far the clock was ahead of the proven time; 0: not ahead
  int64_t stood_ms = 0;        // how long this lead has lasted

  /// For data that are united: the time that is proven for both.
  TtlTime With(const TtlTime& other) const {
    return {time_ms < other.time_ms ? time_ms : other.time_ms,
            lead_ms < other.lead_ms ? lead_ms : other.lead_ms,
            stood_ms < other.stood_ms ? stood_ms : other.stood_ms};
  }
  friend bool operator==(const TtlTime&, const TtlTime&) = default;
};

}  // namespace lava
