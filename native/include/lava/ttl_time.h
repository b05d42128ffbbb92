#pragma once

#include <cstdint>

namespace lava {

/// What an instance knows of the time by which records expire; a checkpoint carries it to the
/// instances that are restored from that, so that a machine whose clock is ahead drops nothing at
/// once.
/// Units:      milliseconds; time_ms since the epoch.
struct TtlTime {
  /// Nobody knows when the data were written.
  static constexpr int64_t kUnknown = INT64_MIN;

  int64_t time_ms = kUnknown;  // what is proven
  int64_t lead_ms = 0;         // by so much the clock was ahead of that; 0: it was not
  int64_t stood_ms = 0;        // for so long

  /// Of data that come together: what is proven for all.
  TtlTime With(const TtlTime& other) const {
    return {time_ms < other.time_ms ? time_ms : other.time_ms,
            lead_ms < other.lead_ms ? lead_ms : other.lead_ms,
            stood_ms < other.stood_ms ? stood_ms : other.stood_ms};
  }
  friend bool operator==(const TtlTime&, const TtlTime&) = default;
};

}  // namespace lava
