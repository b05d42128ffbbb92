// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "policy/space_limits.h"

#include <algorithm>
#include <cstdint>

namespace lava {
namespace {

constexpr double kLowShare = 0.9;       // of the garbage that a ratio allows
constexpr double kLowBytesShare = 0.9;  // of a limit in bytes
constexpr double kExposeFrom = 0.5;     // of the way between the limits
constexpr uint64_t kHidesOfLive = 100;  // fewer hidden bytes than this part of live are ignored
constexpr uint64_t kHidesOfGarbage = 2;

struct Limit {
  double used = 0, low = 0, high = 0;
};

SpacePressure Judge(const Limit& limit) {
  SpacePressure pressure;
  pressure.fullness = limit.used / std::max(1.0, limit.high);
  pressure.stop = limit.used >= limit.high;
  if (limit.used > limit.low)
    pressure.slow = std::min(1.0, (limit.used - limit.low) / std::max(1.0, limit.high - limit.low));
  return pressure;
}

}  // namespace

SpacePressure JudgeSpace(const SpaceUse& use, const SpaceLimits& limits) {
  SpacePressure pressure;
  if (limits.high_percent > 0) {
    const auto live = static_cast<double>(std::max(use.live_bytes, limits.live_bytes_floor));
    const double high = live * std::max(limits.high_percent, 100u) / 100;
    const double low =
        limits.low_percent > 0 ? live * limits.low_percent / 100 : live + (high - live) * kLowShare;
    const auto used = static_cast<double>(use.file_bytes + use.copied_bytes);
    pressure = Judge({used, std::min(low, high), high});
    pressure.fullness = std::max(0.0, used - live) / std::max(1.0, high - live);
    pressure.garbage_percent = static_cast<uint32_t>(100 * (high - live) / high);
    pressure.garbage_bytes = static_cast<uint64_t>(high - live);
  }
  if (limits.high_bytes > 0) {
    const auto high = static_cast<double>(limits.high_bytes);
    const double low =
        limits.low_bytes > 0 ? static_cast<double>(limits.low_bytes) : high * kLowBytesShare;
    SpacePressure bytes =
        Judge({static_cast<double>(use.file_bytes + use.pinned_bytes + use.copied_bytes),
               std::min(low, high), high});
    // A ratio may be ignored for a while, so it must not mask that the limit in bytes is reached.
    if (bytes.stop || bytes.fullness >= pressure.fullness) {
      pressure = bytes;
      pressure.bytes = true;
    }
  }
  return pressure;
}

bool ShouldExpose(const SpacePressure& pressure, uint64_t hidden_bytes, uint64_t live_bytes,
                  bool collecting) {
  if (pressure.slow < kExposeFrom || hidden_bytes < live_bytes / kHidesOfLive) return false;
  if (pressure.bytes || hidden_bytes >= pressure.garbage_bytes / kHidesOfGarbage) return true;
  return pressure.stop && !collecting;
}

uint64_t SlowedBytesPerSecond(const SpacePressure& pressure, uint64_t bytes_per_second_max,
                              uint64_t freed_bytes_per_second) {
  if (pressure.slow <= 0) return 0;
  const auto most = static_cast<double>(std::max(bytes_per_second_max, 2 * freed_bytes_per_second));
  const double share = std::max(1.0 - pressure.slow, 1.0 / 16);
  return std::max<uint64_t>(1, static_cast<uint64_t>(most * share));
}

}  // namespace lava
