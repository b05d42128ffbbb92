// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

#include "lava/ttl_time.h"

namespace lava {

/// The time by which records may be dropped as expired. While a jump of the clock is not yet
/// accepted, there are two times: records from before the jump are judged by the proven time, and
/// records written since are judged by the clock's current time.
struct DropTime {
  int64_t older_ms = 0;                // at most recent_ms
  int64_t recent_ms = 0;               // for timestamps from recent_from_ms on
  int64_t recent_from_ms = INT64_MAX;  // INT64_MAX: no jump is pending, older_ms judges all records

  int64_t For(int64_t written_ms) const {
    return written_ms < recent_from_ms ? older_ms : recent_ms;
  }
};

/// The latest expiries of the records that a job dropped.
struct DroppedExpiries {
  int64_t older_ms = INT64_MIN;   // of records that were judged by older_ms
  int64_t recent_ms = INT64_MIN;  // of records that were judged by recent_ms
};

/// Whether records that a job dropped by the time `by` may also be dropped by the time `now`. False
/// if, for example, the clock went back meanwhile. Pure.
bool MayStillDrop(const DroppedExpiries& dropped, const DropTime& by, const DropTime& now);

/// Combines a clock that may jump with a steady clock into a time that both prove.
///
/// Steps back of the clock are accepted at once. Otherwise the time advances with the steady clock,
/// but never past the clock that may jump. If that clock is ahead, its lead is accepted once it has
/// stood, by the steady clock, for as long as the lead itself, at most for kLeadMsMax.
/// Threads:    one, or the caller's lock. A pure calculation: time is passed in.
/// Units:      milliseconds since the epoch; microseconds of the steady clock.
class TtlClock {
 public:
  /// The longest that a jump ahead waits until it is accepted.
  static constexpr int64_t kLeadMsMax = 24ll * 60 * 60 * 1000;

  /// Reports the clock's current time. Without Continue() the first time is accepted as it is.
  void Tell(int64_t now_ms, uint64_t steady_us);
  /// Tell() for a time that the caller knows to be right: a jump is accepted at once.
  void Accept(int64_t now_ms, uint64_t steady_us);
  /// Continues from existing data with the time `before`. To be called before the first Tell().
  void Continue(const TtlTime& before);
  /// The time that a checkpoint stores, as of the last Tell().
  TtlTime time() const;
  /// wall_ms: the time of this process's own clock; records are never dropped by a later time.
  DropTime drop_time(int64_t wall_ms) const;
  bool told() const { return told_; }

 private:
  int64_t Proven(uint64_t steady_us) const;
  void Follow(int64_t now_ms, uint64_t steady_us);
  void MeetLead(int64_t now_ms, int64_t lead_ms, uint64_t steady_us);
  void BeginLead(int64_t now_ms, int64_t lead_ms, uint64_t steady_us);

  bool told_ = false, continues_ = false;
  // Proven time: older_ms_ at the last Tell(); base_ms_ at base_us_ of the steady clock.
  int64_t older_ms_ = TtlTime::kUnknown, base_ms_ = TtlTime::kUnknown;
  uint64_t base_us_ = 0;
  // Only used while lead_ms_ > 0.
  int64_t lead_ms_ = 0, stood_before_ms_ = 0, stood_ms_ = 0;
  uint64_t lead_since_us_ = 0;
  int64_t recent_from_ms_ = INT64_MAX, recent_ms_ = 0, recent_base_ms_ = 0;
  uint64_t recent_base_us_ = 0;
};

}  // namespace lava
