#include <algorithm>
#include <chrono>

#include "db/db_impl.h"

namespace lava {
namespace {

// Sealing for the sake of the lease pays from this much on; below, a flush would cost more than
// it frees.
constexpr uint64_t kWorthSealingBytes = 1 << 20;

}  // namespace

// Holds write. The common case: a few loads.
Status DBImpl::MakeRoom(WriteLock* lock, uint64_t bytes) {
  if (!attention_.load(std::memory_order_relaxed) &&
      active_->arena_bytes() + bytes <= memtable_limit_ &&
      lease_->write_buffer_used_bytes() + bytes <= lease_->write_buffer_bytes()) [[likely]]
    return Status::OK();
  return MakeRoomSlow(lock, bytes);
}

Status DBImpl::MakeRoomSlow(WriteLock* lock, uint64_t bytes) {
  const uint64_t started_us = clock_->MonotonicMicros();
  const uint64_t deadline_us = started_us + uint64_t{environment_.wait_ms_max} * 1000;
  while (true) {
    if (closed_.load()) return Status::Closed("the instance was closed");
    StateLock state(state_mutex_);
    if (!manifest_status_.ok()) return manifest_status_;
    const Room room = JudgeRoom(bytes);
    if (room == Room::kFree || room == Room::kSeal) {
      state.unlock();
      if (room == Room::kSeal) {
        SealLocked();
      } else {
        RelieveLease();
      }
      return Status::OK();
    }
    const Status hopeless = StalledStatus(room);
    if (!hopeless.ok()) return hopeless;
    const uint64_t now_us = clock_->MonotonicMicros();
    if (now_us >= deadline_us) {
      Counters::Add(&counters_.stall_us, now_us - started_us);
      return Status::Busy();
    }
    // Readers of the memtable and other writers go on while this one waits.
    lock->unlock();
    changed_.wait_for(state, std::chrono::microseconds(deadline_us - now_us));
    state.unlock();
    lock->lock();
  }
}

// Holds write and state.
DBImpl::Room DBImpl::JudgeRoom(uint64_t bytes) const {
  if (version_->levels[0].size() >= options_.l0_stall_trigger) return Room::kWaitForCompaction;
  const uint64_t arena = active_->arena_bytes();
  const bool full = !active_->empty() && arena + bytes > memtable_limit_;
  const bool may_seal = sealed_.size() < options_.sealed_runs_max;
  if (full) return may_seal ? Room::kSeal : Room::kWaitForFlush;
  const uint64_t used = lease_->write_buffer_used_bytes() + bytes;
  const uint64_t share = lease_->write_buffer_bytes();
  if (used <= share) return Room::kFree;
  if (may_seal && !active_->empty() && arena >= std::min(kWorthSealingBytes, memtable_limit_ / 2))
    return Room::kSeal;
  // Far over the lease: wait for our own flushes, if there are any to wait for.
  if (used > share + share / 2 && !sealed_.empty()) return Room::kWaitForFlush;
  return Room::kFree;
}

// Holds state. Gets the work going that the writer waits for, and tells when it cannot succeed.
Status DBImpl::StalledStatus(Room room) {
  ScheduleFlushes(false);
  if (room == Room::kWaitForFlush)
    return running_flushes_ == 0 ? flush_backoff_.status : Status::OK();
  ScheduleCompactions();
  return running_compactions_ == 0 ? compaction_backoff_.status : Status::OK();
}

// Another instance of the lease may hold most of it and be idle: its memtable is sealed for it.
void DBImpl::RelieveLease() {
  if (lease_->write_buffer_used_bytes() > lease_->write_buffer_bytes())
    lease_->RelievePressure(std::min(kWorthSealingBytes, memtable_limit_ / 2));
}

void DBImpl::RequestSeal() {
  if (seal_requested_.exchange(true)) return;
  Submit(os::Priority::kFlush, [this] {
    std::lock_guard<std::mutex> write(write_mutex_);
    seal_requested_ = false;
    {
      std::lock_guard<std::mutex> state(state_mutex_);
      if (sealed_.size() >= options_.sealed_runs_max) return;
    }
    SealLocked();
  });
}

}  // namespace lava
