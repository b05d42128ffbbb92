#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "policy/space_limits.h"

namespace lava {

/// What an instance of several that share a limit of space has, and whether it was looked at.
struct SpaceShare {
  uint64_t file_bytes = 0, garbage_bytes = 0;
  uint32_t spent_step = 0;  // the step at which it was found to have nothing to collect
};

/// How urgent space is, in steps: at each an instance that had nothing to collect is asked again.
/// 0: not at all; kSpaceStepFull: writes wait. Pure.
inline constexpr uint32_t kSpaceStepFull = 6;
uint32_t SpaceStep(const SpacePressure& pressure);

/// Which instances collect for the sake of all, as positions: those with at least half as much
/// garbage as the one that has most, of those that this step did not find without any. So the
/// others follow as that shrinks. Before writes wait nobody is asked for less garbage than is worth
/// copying (kGarbagePercentMin of its files). Pure.
std::vector<uint32_t> PickCollectors(std::span<const SpaceShare> shares, uint32_t step);

/// What the pressure of all means for the jobs of one that collects: as hard as it says for who has
/// most garbage, the less hard the less it has; all the same once writes wait. Pure.
SpacePressure PressureOfShare(const SpacePressure& process, uint64_t garbage_bytes,
                              uint64_t garbage_bytes_most);

/// The one of an instance's own limits, or the process's where that is nearer or full. Pure.
SpacePressure Stronger(const SpacePressure& own, const SpacePressure& process);

/// SlowedBytesPerSecond() for one of several that write: all have the same. Pure.
uint64_t SlowedShare(const SpacePressure& process, uint64_t bytes_per_second_max,
                     uint64_t freed_bytes_per_second, uint32_t writers);

}  // namespace lava
