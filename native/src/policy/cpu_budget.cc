// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "policy/cpu_budget.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "base/check.h"

namespace lava {

void CpuBudget::SetCores(double cores, uint64_t now_us) {
  LAVA_CHECK(std::isfinite(cores) && cores >= 0);
  if (cores == cores_) return;  // setting the same value again must not grant another burst
  cores_ = cores;
  balance_us_ = cores * kBurstUs;
  refilled_us_ = now_us;
}

void CpuBudget::Refill(uint64_t now_us) {
  if (now_us <= refilled_us_) return;
  const double earned_us = cores_ * static_cast<double>(now_us - refilled_us_);
  balance_us_ = std::min(balance_us_ + earned_us, cores_ * kBurstUs);
  refilled_us_ = now_us;
}

void CpuBudget::Charge(uint64_t used_us, bool may_overdraw, uint64_t now_us) {
  if (cores_ == 0) return;
  Refill(now_us);
  const double least_us = std::min(balance_us_, -cores_ * kForgivenAboveUs);
  balance_us_ -= static_cast<double>(used_us);
  if (may_overdraw) balance_us_ = std::max(balance_us_, least_us);
}

uint64_t CpuBudget::PaidInUs(uint64_t now_us) {
  if (cores_ == 0) return 0;
  Refill(now_us);
  return balance_us_ >= 0 ? 0 : static_cast<uint64_t>(std::ceil(-balance_us_ / cores_));
}

uint64_t CpuBudget::EarnedInUs(uint64_t used_us) const {
  return cores_ == 0 ? 0 : static_cast<uint64_t>(std::ceil(static_cast<double>(used_us) / cores_));
}

}  // namespace lava
