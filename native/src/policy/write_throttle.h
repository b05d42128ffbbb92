#pragma once

#include <cstdint>

namespace lava {

/// What a write meets. Units: bytes, counts.
struct ThrottleInput {
  uint32_t l0_depth = 0, l0_stall_trigger = 24;  // OverlapDepth of the files in L0
  uint32_t sealed_runs = 0, sealed_runs_max = 4;
  /// The active memtable of this instance, and when it is sealed.
  bool active_empty = false;
  uint64_t active_bytes = 0, memtable_bytes_max = 0;
  uint64_t write_bytes = 0;  // an estimate of what the write takes
  /// Memtables of all instances of the lease, sealed ones included; what they may have; how many
  /// instances there are.
  uint64_t lease_used_bytes = 0, lease_bytes = 0;
  uint32_t lease_members = 1;
};
enum class Room : uint8_t { kFree, kSeal, kWaitForFlush, kWaitForCompaction };

/// Whether a write may go on, goes on into a fresh memtable (kSeal), or must wait because
/// background work is behind.
///
/// A lease bounds memtables like this: once they pass it, every instance that holds more than half
/// of an even share (WorthSealingBytes) and has no unflushed run seals before it writes. One that
/// has goes on for an eighth, and then waits for them: they give back more, and sooner, than what
/// was begun since, whose small files would fill L0. Those with little of either may go on: so the
/// sum stays within 9/8 of the lease and WorthSealingBytes for each instance.
Room JudgeWrite(const ThrottleInput& input);

/// Sealing an active memtable for the sake of the lease pays from this much on: half of an even
/// share, but not more than 1 MiB, which flushes well, nor less than 64 KiB, where a flush costs
/// more than it frees.
uint64_t WorthSealingBytes(uint64_t memtable_bytes_max, uint64_t lease_bytes, uint32_t members);

}  // namespace lava
