// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "db/write_stall.h"

#include <cstdint>
#include <optional>

#include "db/counters.h"
#include "db/space_controller.h"
#include "lava/event_listener.h"
#include "lava/status.h"
#include "policy/write_throttle.h"

namespace lava {

std::optional<StallCause> WriteStall::CauseOf(const Judgement& judgement) {
  if (judgement.condition == StallCondition::kWaitForFlush) return StallCause::kFlush;
  if (judgement.condition == StallCondition::kWaitForCompaction) return StallCause::kLevel0;
  const SpaceState& space = judgement.space;
  if (!space.slows_writes()) return std::nullopt;
  if (judgement.goes_on) return StallCause::kSpaceSlowdown;
  if (space.process.writes.stop) return StallCause::kSpaceOfProcess;
  return space.own.stop ? StallCause::kSpaceLimit : StallCause::kSpaceSlowdown;
}

bool WriteStall::Tell(const Judgement& judgement, const Status& status, uint64_t now_us) {
  // A write to which the limits do not apply does not show whether the limits stall other writes.
  if (!WaitsForJobs(judgement.condition) && !judgement.stores && judgement.space.slows_writes())
    return false;
  std::optional<StallInfo> stall;
  if (const std::optional<StallCause> cause = CauseOf(judgement); cause && status.ok()) {
    stall.emplace();
    stall->cause = *cause;
    stall->memtables = judgement.memtables;
    stall->level0_files = judgement.level0_files;
    stall->file_bytes = judgement.space.use.file_bytes;
    stall->pinned_bytes = judgement.space.use.pinned_bytes;
  }
  return notifier_->StallIs(stall, status, now_us);
}

void WriteStall::Count(StallCondition waited_for, bool for_space, uint64_t us) {
  Counters::Add(&counters_->stall_us, us);
  if (for_space) {
    Counters::Add(&counters_->space_stall_us, us);
  } else if (waited_for == StallCondition::kWaitForFlush) {
    Counters::Add(&counters_->flush_stall_us, us);
  } else if (waited_for == StallCondition::kWaitForCompaction) {
    Counters::Add(&counters_->compaction_stall_us, us);
  }
}

}  // namespace lava
