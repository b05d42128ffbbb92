// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

namespace lava {

/// The space that an instance's files use, and how much of it is live. Units: bytes on storage.
struct SpaceUse {
  uint64_t file_bytes = 0;    // of all files that the newest version names
  uint64_t pinned_bytes = 0;  // of files that only snapshots and readers keep
  uint64_t copied_bytes = 0;  // values that running jobs write before their inputs are removed
  uint64_t live_bytes = 0;    // part of file_bytes; estimated, see manifest/space.h
};

/// A ratio and a limit in bytes, each with two values (Scavenger 3.5): above the low one writes are
/// slowed, above the high one they wait. High value 0: no limit. Low value 0: 90 % of the garbage
/// that the ratio allows, or 90 % of the limit in bytes.
struct SpaceLimits {
  uint32_t low_percent = 0, high_percent = 0;  // of live data; of live_bytes_floor if that is more
  uint64_t low_bytes = 0, high_bytes = 0;      // of all files, including pinned ones
  /// Below this size of live data, garbage does not matter even if it is many times as large.
  uint64_t live_bytes_floor = 256ull << 20;
  bool any() const { return high_percent > 0 || high_bytes > 0; }
};

/// How near the limits are.
struct SpacePressure {
  /// Used bytes divided by the high limit in bytes, or garbage divided by the garbage that a ratio
  /// allows; 0 without limits.
  double fullness = 0;
  uint32_t garbage_percent = 0;  // garbage that a ratio allows in all files; 0 if none decides
  uint64_t garbage_bytes = 0;    // the same in bytes
  double slow = 0;               // 0 up to the low limit, 1 from the high limit on
  bool stop = false;             // the high limit is reached: writes wait
  bool bytes = false;  // the limit in bytes decides, because it is nearer or reached; live data
                       // alone can reach it
};

/// Judges the use against both limits. Pure.
SpacePressure JudgeSpace(const SpaceUse& use, const SpaceLimits& limits);

/// Whether compactions should run only to expose hidden garbage, although no level is over its
/// target: from half way between the limits on, if upper levels hide a noticeable amount. Under a
/// ratio, only if they hide at least half of the garbage that it allows, because the collector
/// finds hidden values dead anyway, or if writes wait and no collection runs. Pure.
bool ShouldExpose(const SpacePressure& pressure, uint64_t hidden_bytes, uint64_t live_bytes,
                  bool collecting);

/// Bytes per second that may be written while writes are slowed. At the low limit this is the
/// larger of bytes_per_second_max and twice the rate at which collections free bytes; it falls to a
/// sixteenth just below the high limit. Writes thus settle at the rate of freeing, half way between
/// the limits. 0: unlimited. Pure.
uint64_t SlowedBytesPerSecond(const SpacePressure& pressure, uint64_t bytes_per_second_max,
                              uint64_t freed_bytes_per_second);

}  // namespace lava
