// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "policy/write_throttle.h"

#include <algorithm>
#include <cstdint>

namespace lava {

uint64_t WorthSealingBytes(uint64_t memtable_bytes_max, uint64_t lease_bytes, uint32_t members) {
  constexpr uint64_t kLeast = 64 << 10, kMost = 1 << 20;
  const uint64_t half_share = lease_bytes / (2 * uint64_t{std::max(members, 1u)});
  return std::min({kMost, memtable_bytes_max / 2, std::max(kLeast, half_share)});
}

StallCondition JudgeWrite(const ThrottleInput& input) {
  if (input.l0_depth >= input.l0_stall_trigger) return StallCondition::kWaitForCompaction;
  if (!input.active_empty && input.active_bytes + input.write_bytes > input.memtable_bytes_max)
    return input.sealed_runs < input.sealed_runs_max ? StallCondition::kSeal
                                                     : StallCondition::kWaitForFlush;
  const uint64_t used = input.lease_used_bytes + input.write_bytes;
  if (used <= input.lease_bytes) return StallCondition::kNone;
  const bool far_over = used > input.lease_bytes + input.lease_bytes / 8;
  if (input.sealed_runs > 0)
    return far_over ? StallCondition::kWaitForFlush : StallCondition::kNone;
  const uint64_t worth =
      WorthSealingBytes(input.memtable_bytes_max, input.lease_bytes, input.lease_members);
  if (!input.active_empty && input.active_bytes >= worth) return StallCondition::kSeal;
  return StallCondition::kNone;
}

}  // namespace lava
