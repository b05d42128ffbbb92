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
  while (true) {
    if (closed_.load()) return Status::Closed("the instance was closed");
    MutexLock state(&state_mutex_);
    if (!manifest_status_.ok()) return manifest_status_;
    const Room room = JudgeRoom(bytes);
    bool go_on = room == Room::kFree || room == Room::kSeal;
    LookAtProcess();
    const bool slowed = space_.slow > 0 || process_.writes.slow > 0;
    const bool for_space = go_on && slowed && purpose == Purpose::kStore;
    if (!go_on) waited_for = room;
    if (stalled_since_us_ == 0) stalled_since_us_ = started_us;
    uint64_t until_us = deadline_us;
    const Status hopeless = !go_on      ? StalledStatus(room)
                            : for_space ? AwaitSpace(&until_us, &go_on)
                                        : Status::OK();
    if (go_on || !hopeless.ok()) stalled_since_us_ = space_round_ = 0;
    LAVA_RETURN_IF_ERROR(hopeless);
    const uint64_t now_us = clock_->MonotonicMicros();
    if (go_on || now_us >= deadline_us) CountStall(waited_for, for_space, now_us - started_us);
    if (go_on) {
      if (for_space) PayForSpace(bytes);
      state.Unlock();
      if (room == Room::kSeal) SealLocked();
      RelieveLease();
      return Status::OK();
    }
    if (now_us >= deadline_us) return Status::Busy();
    // Readers of the memtable and other writers go on while this one waits.
    MutexUnlock others(&write_mutex_);
    RelieveLease();
    changed_.WaitFor(&state_mutex_,
                     std::chrono::microseconds(until_us - std::min(until_us, now_us)));
    state.Unlock();
  }
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

// Gets the work going that the writer waits for, and tells when it cannot succeed. An attempt
// that began before this write came first (it may have been told Busy since) is made again for
// it: so an error is never older than the write that is told it, and the first write after space
// has returned goes on.
Status DBImpl::StalledStatus(Room room) {
  const bool flush = room == Room::kWaitForFlush;
  const uint32_t& running = flush ? running_flushes_ : running_compactions_;
  Backoff& backoff = flush ? flush_backoff_ : compaction_backoff_;
  executor_->Poke();
  if (flush && IsDiskFull()) {
    // Garbage may be what fills it.
    ScheduleGc();
    ScheduleCompactions();
    UrgeSpace();
    if (running_compactions_ > 0 || !collections_.empty()) return Status::OK();
  }
  if (running == 0 && !backoff.status.ok()) {
    if (backoff.began_us >= stalled_since_us_) return backoff.status;
    backoff.retry_at_us = 0;
  }
  ScheduleFlushes(false);
  if (flush) {
    executor_->Urge(os::Priority::kFlush);
  } else {
    ScheduleCompactions();
    executor_->Urge(os::Priority::kL0Compaction);
    executor_->Urge(os::Priority::kCompaction);  // one may have what L0 is to be merged with
  }
  if (!flush && running == 0 && !avoided_.empty()) return DamageOf(*version_);
  return running == 0 ? backoff.status : Status::OK();
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
    SealLocked();
    executor_->Urge(os::Priority::kFlush);  // for another instance, whose writers wait
  });
  if (!submitted) seal_requested_ = false;
}

// Called where nothing may fail. What was waited for is looked for when another job ends, too.
void DBImpl::MemoryFreed() {
  (void)TrySubmit(os::Priority::kCompaction, [this] {
    MutexLock state(&state_mutex_);
    ScheduleCompactions();
    ScheduleGc();
  });
}

}  // namespace lava
