// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "policy/space_limits.h"

namespace lava {

/// An instance that shares a space limit with others. Units: bytes.
struct SpaceShare {
  uint64_t file_bytes = 0, garbage_bytes = 0;
  uint32_t spent_step = 0;  // last step at which the instance had nothing to collect
};

/// Urgency of space, in steps. A higher step asks instances again that had nothing to collect.
/// 0: not urgent; kSpaceStepFull: writes wait. Pure.
inline constexpr uint32_t kSpaceStepFull = 6;
uint32_t SpaceStep(const SpacePressure& pressure);

/// Picks the instances that should collect garbage for the whole process; returns their positions.
/// Instances with at least half as much garbage as the one with the most are picked; instances that
/// had nothing to collect at this step do not count. The others follow as the most shrinks. Before
/// writes wait, an instance is only picked if its garbage is worth copying (kGarbagePercentMin of
/// its files). Pure.
std::vector<uint32_t> PickCollectors(std::span<const SpaceShare> shares, uint32_t step);

/// The process's pressure as it applies to the collections of one instance: in full for the
/// instance with the most garbage, less for instances with less; in full for all once writes wait.
/// Pure.
SpacePressure PressureOfShare(const SpacePressure& process, uint64_t garbage_bytes,
                              uint64_t garbage_bytes_most);

/// The pressure of the process's limit if that is nearer or reached, otherwise the instance's own.
/// Pure.
SpacePressure Stronger(const SpacePressure& own, const SpacePressure& process);

/// SlowedBytesPerSecond() divided equally among the writing instances. Pure.
uint64_t SlowedShare(const SpacePressure& process, uint64_t bytes_per_second_max,
                     uint64_t freed_bytes_per_second, uint32_t writers);

}  // namespace lava
