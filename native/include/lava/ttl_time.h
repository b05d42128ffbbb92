// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

namespace lava {

/// The state of an instance's clock for expiry. A checkpoint stores it for the instances that are
/// restored from the checkpoint, so that a machine whose clock is ahead does not drop records at
/// once. "Proven" is a time that both the clock and the machine's steady clock confirm: see
/// DB::SetTime().
/// Threads:    a value.
/// Errors:     none.
/// Units:      milliseconds; time_ms since the epoch.
struct TtlTime {
  /// The time of the data is unknown. It counts as older than any other time.
  static constexpr int64_t kUnknown = INT64_MIN;

  int64_t time_ms = kUnknown;  // the proven time
  int64_t lead_ms = 0;         // how far the clock was ahead of the proven time; 0: not ahead
  int64_t stood_ms = 0;        // how long this lead has lasted

  /// For merged data: the time that is proven for both parts.
  TtlTime With(const TtlTime& other) const {
    return {time_ms < other.time_ms ? time_ms : other.time_ms,
            lead_ms < other.lead_ms ? lead_ms : other.lead_ms,
            stood_ms < other.stood_ms ? stood_ms : other.stood_ms};
  }
  friend bool operator==(const TtlTime&, const TtlTime&) = default;
};

}  // namespace lava
