#pragma once

#include <cstdint>

namespace lava {

/// What an instance's files take, and what of it would be left if nothing was garbage. Bytes on
/// storage.
struct SpaceUse {
  uint64_t file_bytes = 0;    // of all files that the newest version names
  uint64_t pinned_bytes = 0;  // of files that only snapshots and readers keep
  uint64_t copied_bytes = 0;  // that running jobs write of values before their inputs go
  uint64_t live_bytes = 0;    // of file_bytes; see manifest/space.h for how it is known
};

/// Two limits each (Scavenger 3.5): past the low one writes are slowed, past the high one they
/// wait. 0: none. A low limit that is missing lies where nine tenths of the garbage are there that
/// the high one allows, and at nine tenths of a limit in bytes.
struct SpaceLimits {
  uint32_t low_percent = 0, high_percent = 0;  // of live data; of live_bytes_floor if that is more
  uint64_t low_bytes = 0, high_bytes = 0;      // of all files, pinned ones too
  /// A small instance has garbage of many times its live data before that is worth a thought.
  uint64_t live_bytes_floor = 256ull << 20;
  bool any() const { return high_percent > 0 || high_bytes > 0; }
};

/// How near the limits are.
struct SpacePressure {
  /// What is used over the high limit in bytes, or the garbage over what a ratio allows of it; 0
  /// without limits.
  double fullness = 0;
  uint32_t garbage_percent = 0;  // of all files that a ratio allows; 0 where none decides
  uint64_t garbage_bytes = 0;    // the same in bytes
  double slow = 0;               // 0 up to the low limit, 1 from the high one on
  bool stop = false;             // past the high limit: writes wait
  bool bytes = false;  // by the limit in bytes, which what lives can reach, too: it is the nearer
                       // one, or full
};

/// Pure.
SpacePressure JudgeSpace(const SpaceUse& use, const SpaceLimits& limits);

/// Whether compactions should be made for what they expose, which the limit's own would not yet:
/// half way between the limits and further, when upper levels hide something. Under a ratio only
/// when they hide a good part of the garbage that it allows, since the collector finds what is
/// hidden in its files dead anyhow, or when writes wait and nothing is collected. Pure.
bool ShouldExpose(const SpacePressure& pressure, uint64_t hidden_bytes, uint64_t live_bytes,
                  bool collecting);

/// How many bytes a second may be written while writes are slowed: bytes_per_second_max, or twice
/// what collections free if that is more, at the low limit; a sixteenth of it just below the high
/// one. So writes settle at what is freed, half way between. 0: as many as come. Pure.
uint64_t SlowedBytesPerSecond(const SpacePressure& pressure, uint64_t bytes_per_second_max,
                              uint64_t freed_bytes_per_second);

}  // namespace lava
