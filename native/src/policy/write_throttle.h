#pragma once

#include <cstdint>

namespace lava {

struct ThrottleInput {
  uint32_t l0_files = 0, l0_stall_trigger = 24;
  uint32_t sealed_runs = 0, sealed_runs_max = 4;
  /// The active memtable takes this write without being sealed.
  bool memtable_has_room = true;
};
enum class ThrottleReason : uint8_t { kNone = 0, kL0Files = 1, kSealedRuns = 2 };
struct ThrottleDecision {
  bool busy = false;
  ThrottleReason reason = ThrottleReason::kNone;
};

/// Whether a write may go on, or must answer Busy because background work is behind. A write that
/// fits into the active memtable is never held for sealed runs: they wait only for the next seal.
ThrottleDecision DecideWrite(const ThrottleInput& input);

}  // namespace lava
