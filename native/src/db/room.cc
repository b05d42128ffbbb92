#include <chrono>

#include "db/db_impl.h"

namespace lava {

// The common case: a few loads.
Status DBImpl::MakeRoom(uint64_t bytes, Purpose purpose) {
  last_write_table_ = nullptr;  // another comes
  if (!attention_.load(std::memory_order_relaxed) && !quota_->pressing() && !segment_full_ &&
      active_->arena_bytes() + bytes <= memtable_limit_ &&
      lease_->write_buffer_used_bytes() + bytes <= lease_->write_buffer_bytes()) [[likely]]
    return Status::OK();
  return MakeRoomSlow(bytes, purpose);
}

Status DBImpl::MakeRoomSlow(uint64_t bytes, Purpose purpose) {
  const uint64_t started_us = clock_->MonotonicMicros();
  const uint64_t deadline_us = started_us + uint64_t{environment_.wait_ms_max} * 1000;
  Room waited_for = Room::kFree;
  bool may_pass_limit = false;  // there is space again, or nothing more can be given back
  while (true) {
    if (closed_.load()) return Status::Closed("the instance was closed");
    MutexLock state(&state_mutex_);
    if (versions_.failed()) return versions_.status();
    const Room room = JudgeRoom(bytes);
    const bool behind = room == Room::kWaitForFlush || room == Room::kWaitForCompaction;
    if (behind) waited_for = room;
    if (space_.IsVerdictOld()) space_.Report(SpaceWorkNow());
    const bool for_space = !behind && purpose == Purpose::kStore && space_.state().slows_writes();
    if (stalled_since_us_ == 0) stalled_since_us_ = started_us;
    uint64_t until_us = deadline_us;
    bool go_on = !behind, relieve = behind;
    Status hopeless;
    if (for_space) hopeless = AwaitSpace(&until_us, &go_on, &relieve);
    if (relieve && !behind && may_pass_limit) go_on = true;
    if (go_on || !hopeless.ok()) stalled_since_us_ = space_round_ = 0;
    if (notifier_->listening() && TellStall(room, purpose, go_on, hopeless)) {
      state.Unlock();
      MutexUnlock others(&write_mutex_);
      notifier_->Deliver();
      if (hopeless.ok()) continue;  // much may have changed meanwhile
      return hopeless;
    }
    LAVA_RETURN_IF_ERROR(hopeless);
    if (go_on) {
      CountStall(waited_for, for_space, clock_->MonotonicMicros() - started_us);
      if (for_space) space_.Pay(bytes);
      const bool full = segment_full_ || active_->arena_bytes() + bytes > memtable_limit_;
      const FlushCause cause = full ? FlushCause::kMemtableFull : FlushCause::kMemoryShared;
      state.Unlock();
      if (room == Room::kSeal) SealLocked(cause);
      RelieveLease();
      return Status::OK();
    }
    const uint64_t changes = changes_, since_us = stalled_since_us_;
    state.Unlock();
    bool relieved = false, out_of_time = false;
    {
      // Readers of the memtable and other writers go on meanwhile.
      MutexUnlock others(&write_mutex_);
      if (relieve) hopeless = Relieve(room, since_us, &relieved);
      const uint64_t now_us = clock_->MonotonicMicros();
      out_of_time = now_us >= deadline_us;
      if (hopeless.ok() && !relieved && !out_of_time) {
        RelieveLease();
        MutexLock waits(&state_mutex_);
        if (changes_ == changes)
          changed_.WaitFor(&state_mutex_,
                           std::chrono::microseconds(until_us - std::min(until_us, now_us)));
      }
    }
    if (!hopeless.ok()) {
      stalled_since_us_ = space_round_ = 0;
      return StallFailed(room, purpose, hopeless);
    }
    may_pass_limit |= relieved;
    if (relieved || !out_of_time) continue;
    CountStall(waited_for, for_space, clock_->MonotonicMicros() - started_us);
    return Status::Busy();
  }
}

// Tells listeners that a stall ends because what was waited for cannot succeed.
Status DBImpl::StallFailed(Room room, Purpose purpose, const Status& hopeless) {
  if (!notifier_->listening()) return hopeless;
  {
    MutexLock state(&state_mutex_);
    if (!TellStall(room, purpose, /*go_on=*/false, hopeless)) return hopeless;
  }
  MutexUnlock others(&write_mutex_);
  notifier_->Deliver();
  return hopeless;
}

// Whether listeners are to be told of a stall that began or ended.
bool DBImpl::TellStall(Room room, Purpose purpose, bool go_on, const Status& status) {
  const bool waits_for_jobs = room == Room::kWaitForFlush || room == Room::kWaitForCompaction;
  const SpaceState space = space_.state();
  const bool slowed = space.slows_writes();
  // Deletes say nothing of whether others are slowed.
  if (!waits_for_jobs && slowed && purpose == Purpose::kFree) return false;
  std::optional<StallInfo> stall;
  if (status.ok() && (waits_for_jobs || slowed)) {
    stall.emplace();
    if (waits_for_jobs) {
      stall->cause = room == Room::kWaitForFlush ? StallCause::kFlush : StallCause::kLevel0;
    } else if (go_on || (!space.process.writes.stop && !space.own.stop)) {
      stall->cause = StallCause::kSpaceSlowdown;
    } else {
      stall->cause =
          space.process.writes.stop ? StallCause::kSpaceOfProcess : StallCause::kSpaceLimit;
    }
    stall->memtables = static_cast<uint32_t>(sealed_.size());
    stall->level0_files = static_cast<uint32_t>(version_->levels[0].size());
    stall->file_bytes = space.use.file_bytes;
    stall->pinned_bytes = space.use.pinned_bytes;
  }
  const bool told = notifier_->StallIs(stall, status, clock_->MonotonicMicros());
  if (told) UpdateAttention();
  return told;
}

void DBImpl::CountStall(Room waited_for, bool for_space, uint64_t us) {
  Counters::Add(&counters_.stall_us, us);
  if (for_space) {
    Counters::Add(&counters_.space_stall_us, us);
  } else if (waited_for == Room::kWaitForFlush) {
    Counters::Add(&counters_.flush_stall_us, us);
  } else if (waited_for == Room::kWaitForCompaction) {
    Counters::Add(&counters_.compaction_stall_us, us);
  }
}

Room DBImpl::JudgeRoom(uint64_t bytes) const {
  return JudgeWrite({.l0_depth = l0_depth_,
                     .l0_stall_trigger = options_.l0_stall_trigger,
                     .sealed_runs = static_cast<uint32_t>(sealed_.size()),
                     .sealed_runs_max = options_.sealed_runs_max,
                     .active_empty = active_->empty() && !segment_full_,
                     .active_bytes = segment_full_ ? memtable_limit_ : active_->arena_bytes(),
                     .memtable_bytes_max = memtable_limit_,
                     .write_bytes = bytes,
                     .lease_used_bytes = lease_->write_buffer_used_bytes(),
                     .lease_bytes = lease_->write_buffer_bytes(),
                     .lease_members = lease_->member_count()});
}

// Gets the work going that a write waits for, and tells when that work cannot succeed. An attempt
// that began before the write came is made again for the write, which may have been told Busy
// since. So a write only reports errors that happened after the write began, and the first write
// after space has returned goes on.
Status DBImpl::Relieve(Room room, uint64_t since_us, bool* relieved) {
  executor_->Poke();
  if (room == Room::kWaitForFlush) return RelieveMemtables(since_us);
  if (room == Room::kWaitForCompaction) return RelieveLevel0(since_us);
  return MakeSpace(since_us, relieved);
}

Status DBImpl::RelieveMemtables(uint64_t since_us) {
  const auto flush = [&]() LAVA_REQUIRES(state_mutex_) {
    if (sealed_.running() == 0 && !flush_backoff_.status.ok()) {
      if (flush_backoff_.began_us >= since_us) return flush_backoff_.status;
      flush_backoff_.retry_at_us = 0;
    }
    ScheduleFlushes(false);
    executor_->Urge(os::Priority::kFlush);
    return sealed_.running() == 0 ? flush_backoff_.status : Status::OK();
  };
  {
    MutexLock state(&state_mutex_);
    if (!IsDiskFull()) return flush();
  }
  // Garbage may be what fills it.
  MutexLock jobs(&jobs_mutex_);
  ScheduleGc();
  ScheduleCompactions();
  MutexLock state(&state_mutex_);
  UrgeSpace();
  if (running_compactions_ + running_collections_ > 0) return Status::OK();
  return flush();
}

Status DBImpl::RelieveLevel0(uint64_t since_us) {
  MutexLock jobs(&jobs_mutex_);
  {
    MutexLock state(&state_mutex_);
    if (running_compactions_ == 0 && !compaction_backoff_.status.ok()) {
      if (compaction_backoff_.began_us >= since_us) return compaction_backoff_.status;
      compaction_backoff_.retry_at_us = 0;
    }
    ScheduleFlushes(false);
  }
  ScheduleCompactions();
  executor_->Urge(os::Priority::kL0Compaction);
  executor_->Urge(os::Priority::kCompaction);  // one may have what L0 is to be merged with
  MutexLock state(&state_mutex_);
  if (running_compactions_ > 0) return Status::OK();
  return avoided_.empty() ? compaction_backoff_.status : DamageOf(*version_);
}

// A write waits for what makes space, or shows what can.
void DBImpl::UrgeSpace() {
  for (const os::Priority priority :
       {os::Priority::kGc, os::Priority::kL0Compaction, os::Priority::kCompaction})
    executor_->Urge(priority);
}

uint64_t DBImpl::WorthSealing() const {
  return WorthSealingBytes(memtable_limit_, lease_->write_buffer_bytes(), lease_->member_count());
}

// Another instance of the lease may hold most of it and be idle: its memtable is sealed for it.
void DBImpl::RelieveLease() {
  if (lease_->write_buffer_used_bytes() > lease_->write_buffer_bytes())
    lease_->RelievePressure(WorthSealing());
}

void DBImpl::RequestSeal() {
  if (seal_requested_.exchange(true)) return;
  const bool submitted = TrySubmit(os::Priority::kFlush, [this] {
    MutexLock write(&write_mutex_);
    seal_requested_ = false;
    // It may have been sealed for another reason meanwhile.
    if (active_->arena_bytes() < WorthSealing()) return;
    {
      MutexLock state(&state_mutex_);
      if (!sealed_.empty()) return;  // see LeaseMember::active_bytes()
    }
    SealLocked(FlushCause::kMemoryShared);
    executor_->Urge(os::Priority::kFlush);  // for another instance, whose writers wait
  });
  if (!submitted) seal_requested_ = false;
}

// Called where nothing may fail. What was waited for is looked for when another job ends, too.
void DBImpl::MemoryFreed() {
  (void)TrySubmit(os::Priority::kCompaction, [this] {
    MutexLock jobs(&jobs_mutex_);
    ScheduleCompactions();
    ScheduleGc();
  });
}

}  // namespace lava
