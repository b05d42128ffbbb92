// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "policy/collection_effort.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace lava {
namespace {

constexpr double kOfAllowed = 1.5;
constexpr double kGarbagePercentPatient = 90;

// Returns the garbage share, in percent, at which a freed byte costs with uploads as much as it
// costs at `percent` without uploads.
double WithUploads(double percent, uint32_t upload_cost_percent) {
  if (percent <= 0) return 0;
  const double cost = 1 + upload_cost_percent / 100.0;
  const double copied_for_freed = (100 - percent) / percent;
  return 100 * cost / (cost + copied_for_freed);
}

}  // namespace

CollectionEffort JudgeCollectionEffort(const CollectionEffortInput& input) {
  CollectionEffort effort;
  effort.garbage_percent = effort.checkpoint_percent = input.garbage_percent;
  effort.last_resort = input.last_resort;
  if (input.garbage_percent > 100) return effort;  // never collected
  const double allowed = std::min(kOfAllowed * input.allowed_percent, kGarbagePercentPatient);
  const double urgency =
      std::clamp((input.fullness - kSpaceBusyFrom) / (1 - kSpaceBusyFrom), 0.0, 1.0);
  const uint32_t jobs_max = std::max(input.jobs_max, 1u);
  effort.jobs = 1 + static_cast<uint32_t>(std::floor(urgency * (jobs_max - 1)));
  // 1 while a ratio's quota of garbage is unused, 0 from kSpaceBusyFrom on.
  const double patience =
      input.allowed_percent > 0 ? std::clamp(1 - input.fullness / kSpaceBusyFrom, 0.0, 1.0) : 0;
  const auto percent = [&](double calm) {
    if (input.last_resort) return 0u;
    const double least = std::min<double>(calm, kGarbagePercentMin);
    const double patient = std::max(calm, kGarbagePercentPatient);
    const double between = calm + (least - calm) * urgency + (patient - calm) * patience;
    return static_cast<uint32_t>(std::lround(between));
  };
  const double calm = std::max<double>(input.garbage_percent, allowed);
  effort.garbage_percent = percent(calm);
  effort.checkpoint_percent = percent(WithUploads(calm, input.upload_cost_percent));
  return effort;
}

}  // namespace lava
