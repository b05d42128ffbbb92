#include "policy/write_throttle.h"

namespace lava {

ThrottleDecision DecideWrite(const ThrottleInput& input) {
  if (input.l0_files >= input.l0_stall_trigger) return {true, ThrottleReason::kL0Files};
  if (!input.memtable_has_room && input.sealed_runs >= input.sealed_runs_max)
    return {true, ThrottleReason::kSealedRuns};
  return {};
}

}  // namespace lava
