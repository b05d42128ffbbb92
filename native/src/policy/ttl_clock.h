#pragma once

#include <cstdint>

#include "lava/ttl_time.h"

namespace lava {

/// By which time a record may be dropped as expired. Two times: while a jump of the clock is not
/// believed yet, records of before the jump are judged by the time that is proven, and records that
/// were written since are judged by the clock as it is now.
struct DropTime {
  int64_t older_ms = 0;                // at most recent_ms
  int64_t recent_ms = 0;               // for timestamps from recent_from_ms on
  int64_t recent_from_ms = INT64_MAX;  // no jump is waiting: all are judged by older_ms

  int64_t For(int64_t written_ms) const {
    return written_ms < recent_from_ms ? older_ms : recent_ms;
  }
};

/// The latest expiries of the records that a job dropped.
struct DroppedExpiries {
  int64_t older_ms = INT64_MIN;   // of those that were judged by older_ms
  int64_t recent_ms = INT64_MIN;  // and by recent_ms
};

/// Whether what a job dropped by one time may still be dropped by a later one. The answer is no
/// when the clock went back meanwhile.
bool MayStillDrop(const DroppedExpiries& dropped, const DropTime& by, const DropTime& now);

/// Follows a clock that may jump, beside one that does not, and says what both prove.
///
/// The clock's steps back are believed at once. The time runs on with the steady clock, never
/// beyond what the other clock says. When the other clock is ahead of that by some lead, the lead
/// is believed after it has stood for as long as it is itself, at most kLeadMsMax, by the steady
/// clock.
/// Threads:    one, or the caller's lock. A pure calculation: time is passed in.
/// Units:      milliseconds since the epoch; microseconds of the steady clock.
class TtlClock {
 public:
  /// The longest that a jump ahead waits until it is believed.
  static constexpr int64_t kLeadMsMax = 24ll * 60 * 60 * 1000;

  /// What the clock says now. Of a clock that says something for the first time, without data from
  /// before (Continue), all is believed.
  void Tell(int64_t now_ms, uint64_t steady_us);
  /// The same, and whoever calls knows that it is so: a jump is believed at once.
  void Believe(int64_t now_ms, uint64_t steady_us);
  /// There are data from before, of which this was the time. Before the first Tell().
  void Continue(const TtlTime& before);
  /// What a checkpoint is to carry: as of the last Tell().
  TtlTime time() const;
  /// wall_ms: what this process's own clock says; nothing is dropped by a later time.
  DropTime drop_time(int64_t wall_ms) const;
  bool told() const { return told_; }

 private:
  int64_t Proven(uint64_t steady_us) const;
  void Follow(int64_t now_ms, uint64_t steady_us);
  void MeetLead(int64_t now_ms, int64_t lead_ms, uint64_t steady_us);
  void BeginLead(int64_t now_ms, int64_t lead_ms, uint64_t steady_us);

  bool told_ = false, continues_ = false;
  // Proven: older_ms_ as of the last Tell(), from a base that the steady clock runs on from.
  int64_t older_ms_ = TtlTime::kUnknown, base_ms_ = TtlTime::kUnknown;
  uint64_t base_us_ = 0;
  // While lead_ms_ > 0.
  int64_t lead_ms_ = 0, stood_before_ms_ = 0, stood_ms_ = 0;
  uint64_t lead_since_us_ = 0;
  int64_t recent_from_ms_ = INT64_MAX, recent_ms_ = 0, recent_base_ms_ = 0;
  uint64_t recent_base_us_ = 0;
};

}  // namespace lava
