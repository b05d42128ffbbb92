// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "base/mutex.h"
#include "db/writer.h"
#include "lava/event_listener.h"
#include "lava/status.h"
#include "os/executor.h"
#include "policy/write_throttle.h"

namespace lava {

bool Writer::HasRoomFor(uint64_t bytes) const {
  return active_->arena_bytes() + bytes <= instance_->memtable_bytes_max &&
         instance_->lease->write_buffer_used_bytes() + bytes <=
             instance_->lease->write_buffer_bytes();
}

// The common case costs a few loads.
Status Writer::WaitIfStalled(uint64_t bytes, Purpose purpose) {
  last_write_.Forget();
  if (!tree_->slow_path() && !instance_->quota->pressing() && !segments_.full() &&
      HasRoomFor(bytes)) [[likely]]
    return Status::OK();
  return WaitOrSeal(bytes, purpose);
}

Status Writer::WaitOrSeal(uint64_t bytes, Purpose purpose) {
  const uint64_t started_us = instance_->clock->MonotonicMicros();
  const uint64_t deadline_us = started_us + uint64_t{instance_->environment.wait_ms_max} * 1000;
  StallCondition waited_for = StallCondition::kNone;
  bool may_pass_limit = false;  // Relieve() has let the write continue
  while (true) {
    if (instance_->closed.load()) return Status::Closed("the instance was closed");
    MutexLock state(tree_->mutex());
    if (tree_->versions.failed()) return tree_->versions.status();
    const StallCondition condition = JudgeStall(bytes);
    const bool behind = WaitsForJobs(condition);
    if (behind) waited_for = condition;
    if (tree_->space.IsVerdictOld()) tree_->space.Report(tree_->SpaceWorkNow());
    const bool for_space =
        !behind && purpose == Purpose::kStore && tree_->space.state().slows_writes();
    write_stall_.Begin(started_us);
    uint64_t until_us = deadline_us;
    bool go_on = !behind, relieve = behind;
    Status failure;
    if (for_space) failure = AwaitSpace(&until_us, &go_on, &relieve);
    if (relieve && !behind && may_pass_limit) go_on = true;
    if (go_on || !failure.ok()) write_stall_.End();
    if (instance_->notifier->listening() && TellStall(condition, purpose, go_on, failure)) {
      state.Unlock();
      MutexUnlock others(&mutex_);
      instance_->notifier->Deliver();
      if (failure.ok()) continue;  // the state may have changed in the meantime
      return failure;
    }
    LAVA_RETURN_IF_ERROR(failure);
    if (go_on) {
      write_stall_.Count(waited_for, for_space, instance_->clock->MonotonicMicros() - started_us);
      if (for_space) tree_->space.Pay(bytes);
      const bool full =
          segments_.full() || active_->arena_bytes() + bytes > instance_->memtable_bytes_max;
      const FlushCause cause = full ? FlushCause::kMemtableFull : FlushCause::kMemoryShared;
      state.Unlock();
      if (condition == StallCondition::kSeal) SealLocked(cause);
      RelieveLease();
      return Status::OK();
    }
    const uint64_t changes = tree_->changes(), since_us = write_stall_.since_us();
    state.Unlock();
    bool relieved = false, out_of_time = false;
    {
      // Other writers continue in the meantime.
      MutexUnlock others(&mutex_);
      if (relieve) failure = jobs_->Relieve(condition, since_us, &relieved);
      const uint64_t now_us = instance_->clock->MonotonicMicros();
      out_of_time = now_us >= deadline_us;
      if (failure.ok() && !relieved && !out_of_time) {
        RelieveLease();
        MutexLock waits(tree_->mutex());
        tree_->WaitForChange(changes,
                             std::chrono::microseconds(until_us - std::min(until_us, now_us)));
      }
    }
    if (!failure.ok()) {
      write_stall_.End();
      return StallFailed(condition, purpose, failure);
    }
    may_pass_limit |= relieved;
    if (relieved || !out_of_time) continue;
    write_stall_.Count(waited_for, for_space, instance_->clock->MonotonicMicros() - started_us);
    return Status::Busy();
  }
}

// *go_on: the write continues. Otherwise the write waits: for jobs of this instance if *relieve,
// for other instances if the process's limit is reached, or else until *until_us.
Status Writer::AwaitSpace(uint64_t* until_us, bool* go_on, bool* relieve) {
  using Answer = SpaceController::WriteAnswer;
  *go_on = *relieve = false;
  if (tree_->space.AnswerWrite() == Answer::kProcessFull)
    tree_->space.Report(tree_->SpaceWorkNow());
  switch (tree_->space.AnswerWrite()) {
    case Answer::kGoOn:
      *go_on = true;
      break;
    case Answer::kSlowed:
      *until_us = std::min(*until_us, tree_->space.slowed_until_us());
      break;
    case Answer::kInstanceFull:
      *relieve = true;
      break;
    case Answer::kProcessFull:
      instance_->RetryThreads();
      if (tree_->space.state().process.collects) jobs_->MakeSpaceJobsUrgent();
      return tree_->space.AwaitProcess(
          write_stall_.space_round(),
          instance_->clock->MonotonicMicros() - write_stall_.since_us());
  }
  return Status::OK();
}

// Reports to listeners that the stall ends with an error, because the jobs that the write waits for
// cannot succeed.
Status Writer::StallFailed(StallCondition condition, Purpose purpose, const Status& failure) {
  if (!instance_->notifier->listening()) return failure;
  {
    MutexLock state(tree_->mutex());
    if (!TellStall(condition, purpose, /*go_on=*/false, failure)) return failure;
  }
  MutexUnlock others(&mutex_);
  instance_->notifier->Deliver();
  return failure;
}

bool Writer::TellStall(StallCondition condition, Purpose purpose, bool go_on,
                       const Status& status) {
  const bool told =
      write_stall_.Tell({.condition = condition,
                         .space = tree_->space.state(),
                         .stores = purpose == Purpose::kStore,
                         .goes_on = go_on,
                         .memtables = static_cast<uint32_t>(tree_->sealed().size()),
                         .level0_files = static_cast<uint32_t>(tree_->version()->levels[0].size())},
                        status, instance_->clock->MonotonicMicros());
  if (told) tree_->UpdateSlowPath();
  return told;
}

StallCondition Writer::JudgeStall(uint64_t bytes) const {
  return JudgeWrite(
      {.l0_depth = tree_->l0_depth(),
       .l0_stall_trigger = instance_->options.l0_stall_trigger,
       .sealed_runs = static_cast<uint32_t>(tree_->sealed().size()),
       .sealed_runs_max = instance_->options.sealed_runs_max,
       .active_empty = active_->empty() && !segments_.full(),
       .active_bytes = segments_.full() ? instance_->memtable_bytes_max : active_->arena_bytes(),
       .memtable_bytes_max = instance_->memtable_bytes_max,
       .write_bytes = bytes,
       .lease_used_bytes = instance_->lease->write_buffer_used_bytes(),
       .lease_bytes = instance_->lease->write_buffer_bytes(),
       .lease_members = instance_->lease->member_count()});
}

uint64_t Writer::WorthSealing() const {
  return WorthSealingBytes(instance_->memtable_bytes_max, instance_->lease->write_buffer_bytes(),
                           instance_->lease->member_count());
}

// If the memtables of the lease are over their limit, the lease asks its members to seal: an idle
// instance may have the largest memtable.
void Writer::RelieveLease() {
  if (instance_->lease->write_buffer_used_bytes() > instance_->lease->write_buffer_bytes())
    instance_->lease->RelievePressure(WorthSealing());
}

void Writer::RequestSeal() {
  if (seal_requested_.exchange(true)) return;
  const bool submitted = instance_->TrySubmit(os::Priority::kFlush, [this] {
    MutexLock write(&mutex_);
    seal_requested_ = false;
    // The memtable may have been sealed for another reason in the meantime.
    if (active_->arena_bytes() < WorthSealing()) return;
    {
      MutexLock state(tree_->mutex());
      if (!tree_->sealed().empty()) return;  // see LeaseMember::active_bytes()
    }
    SealLocked(FlushCause::kMemoryShared);
    instance_->MakeUrgent(os::Priority::kFlush);  // writers of another instance wait
  });
  if (!submitted) seal_requested_ = false;
}

}  // namespace lava
