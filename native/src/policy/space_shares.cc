// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "policy/space_shares.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "policy/collection_effort.h"
#include "policy/space_limits.h"

namespace lava {
namespace {

constexpr double kStepWidth = 0.05;
constexpr uint64_t kOfMost = 2;  // instances with 1/kOfMost of the most garbage collect, too

bool MayHave(const SpaceShare& share, uint32_t step) {
  if (share.garbage_bytes == 0 || share.spent_step >= step) return false;
  return step >= kSpaceStepFull ||
         share.garbage_bytes >= share.file_bytes / 100 * kGarbagePercentMin;
}

}  // namespace

uint32_t SpaceStep(const SpacePressure& pressure) {
  if (pressure.stop) return kSpaceStepFull;
  if (pressure.fullness < kSpaceBusyFrom) return 0;
  const auto step = 1 + static_cast<uint32_t>((pressure.fullness - kSpaceBusyFrom) / kStepWidth);
  return std::min(step, kSpaceStepFull - 1);
}

std::vector<uint32_t> PickCollectors(std::span<const SpaceShare> shares, uint32_t step) {
  std::vector<uint32_t> picked;
  if (step == 0) return picked;
  uint64_t most = 0;
  for (const SpaceShare& share : shares)
    if (MayHave(share, step)) most = std::max(most, share.garbage_bytes);
  for (uint32_t i = 0; i < shares.size(); ++i)
    if (MayHave(shares[i], step) && shares[i].garbage_bytes >= most / kOfMost) picked.push_back(i);
  return picked;
}

SpacePressure PressureOfShare(const SpacePressure& process, uint64_t garbage_bytes,
                              uint64_t garbage_bytes_most) {
  SpacePressure mine = process;
  if (process.stop || process.fullness <= kSpaceBusyFrom) return mine;
  const double part = std::min(1.0, static_cast<double>(garbage_bytes) /
                                        std::max(1.0, static_cast<double>(garbage_bytes_most)));
  mine.fullness = kSpaceBusyFrom + (process.fullness - kSpaceBusyFrom) * part;
  return mine;
}

SpacePressure Stronger(const SpacePressure& own, const SpacePressure& process) {
  const bool nearer = process.fullness > 0 && process.fullness >= own.fullness;
  return process.stop || nearer ? process : own;
}

uint64_t SlowedShare(const SpacePressure& process, uint64_t bytes_per_second_max,
                     uint64_t freed_bytes_per_second, uint32_t writers) {
  const uint64_t rate = SlowedBytesPerSecond(process, bytes_per_second_max, freed_bytes_per_second);
  return rate == 0 ? 0 : std::max<uint64_t>(1, rate / std::max(writers, 1u));
}

}  // namespace lava
