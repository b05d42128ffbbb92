// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "policy/cache_border.h"

#include <algorithm>

namespace lava {
namespace {

constexpr double kStep = 1.0 / 256;
constexpr double kGains = 4;
constexpr double kHysteresis = 1.25;

constexpr double kOutShareMin = 1.0 / 4096;
constexpr double kMemory = 0.95;

}  // namespace

double SmoothCacheWorth(double before, const CachePeriod& period) {
  const double out = std::max(period.out_bytes, kOutShareMin * period.capacity_bytes);
  return kMemory * before + (1 - kMemory) * period.missed_cost / std::max(out, 1.0);
}

double MoveCacheBorder(const CacheBorderInput& input) {
  double border = input.border;
  if (input.index_worth > 0 && input.index_worth >= input.data_worth)
    border += kGains * kStep;
  else if (input.data_worth > kHysteresis * input.index_worth)
    border = std::min(border, input.index_used + kStep) - kStep;
  return std::clamp(border, kCacheFloorShare, 1 - kCacheFloorShare);
}

}  // namespace lava
