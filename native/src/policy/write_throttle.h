// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

namespace lava {

/// Input of JudgeWrite(). Units: bytes, counts.
struct ThrottleInput {
  uint32_t l0_depth = 0, l0_stall_trigger = 24;  // OverlapDepth of the files in L0
  uint32_t sealed_runs = 0, sealed_runs_max = 4;
  /// The active memtable of this instance, and the size at which it is sealed.
  bool active_empty = false;
  uint64_t active_bytes = 0, memtable_bytes_max = 0;
  uint64_t write_bytes = 0;  // estimated memory of the write
  /// The lease: bytes of all its instances' memtables, including sealed ones; the limit; the number
  /// of instances.
  uint64_t lease_used_bytes = 0, lease_bytes = 0;
  uint32_t lease_members = 1;
};
enum class StallCondition : uint8_t { kNone, kSeal, kWaitForFlush, kWaitForCompaction };
/// Whether the write waits for background jobs.
inline bool WaitsForJobs(StallCondition condition) {
  return condition == StallCondition::kWaitForFlush ||
         condition == StallCondition::kWaitForCompaction;
}

/// Whether a write may proceed (kNone), must seal the active memtable first (kSeal), or must wait
/// because background work is behind.
///
/// A lease bounds memtables as follows. Once they exceed the lease, an instance without an
/// unflushed run seals before it writes if its active memtable has at least WorthSealingBytes. An
/// instance with unflushed runs continues until the lease is exceeded by an eighth, then it waits
/// for their flushes: these free more, and sooner, than sealing the newer active memtable, whose
/// small files would fill L0. Instances with little of either may continue. The sum thus stays
/// within 9/8 of the lease plus WorthSealingBytes for each instance. Pure.
StallCondition JudgeWrite(const ThrottleInput& input);

/// Smallest active memtable that is worth sealing for the lease: half of an even share, but at most
/// 1 MiB, which flushes well, and at least 64 KiB, because smaller flushes cost more than they
/// free; never more than half of memtable_bytes_max. Pure.
uint64_t WorthSealingBytes(uint64_t memtable_bytes_max, uint64_t lease_bytes, uint32_t members);

}  // namespace lava
