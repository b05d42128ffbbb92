#include <algorithm>

#include "db/db_impl.h"

// What an instance does for the process's limit of space, see host/space_quota.h.
namespace lava {

SpaceReport DBImpl::MakeSpaceReport() const {
  SpaceReport report;
  report.use = space_use_;
  // It is busy, too, as long as jobs wait for files that have not arrived.
  report.busy = jobs_in_flight_ > 0 || late_files_.any_key_file();
  if (running_collections_ > 0) report.freed_bytes_per_second = FreedBytesPerSecond();
  if (space_use_.pinned_bytes > 0) report.oldest_snapshot = snapshots_->oldest();
  for (const Backoff* backoff : {&gc_backoff_, &compaction_backoff_, &flush_backoff_})
    if (!backoff->status.ok()) report.failure = backoff->status.ToString();
  return report;
}

void DBImpl::ReportSpace() { process_ = quota_->Update(&space_place_, MakeSpaceReport()); }

// After jobs: what they were for may be to be had elsewhere now.
void DBImpl::ReportJobs() {
  if (!quota_->limited()) return;
  CountSpace();
  ReportSpace();
}

// Others may have changed what the process's limit says.
void DBImpl::LookAtProcess() {
  if (quota_->epoch() != process_.epoch) ReportSpace();
}

void DBImpl::RequestSpace() {
  (void)TrySubmit(os::Priority::kFlush, [this] {
    RemoveObsoleteFiles();
    MutexLock jobs(&jobs_mutex_);
    SpaceVerdict looked_by;
    {
      MutexLock state(&state_mutex_);
      CountSpace();
      ReportSpace();
      looked_by = process_;
      // Once for each write that waits, in whatever instance: else it would fail without a pause.
      if (looked_by.writes.stop && looked_by.retry)
        for (Backoff* backoff : {&flush_backoff_, &compaction_backoff_, &gc_backoff_})
          backoff->retry_at_us = 0;
      ScheduleFlushes(false);
    }
    ScheduleGc();
    ScheduleCompactions();  // which expose more when nothing is collected
    MutexLock state(&state_mutex_);
    if (looked_by.writes.stop) UrgeSpace();
    process_ = quota_->Answer(&space_place_, MakeSpaceReport(), looked_by);
  });
}

void DBImpl::RequestGiveUp(uint64_t snapshot) {
  (void)TrySubmit(os::Priority::kFlush, [this, snapshot] {
    if (snapshots_->oldest() == snapshot) (void)GiveUpOldestSnapshot();
    RemoveObsoleteFiles();
    MutexLock state(&state_mutex_);
    CountSpace();
    process_ = quota_->Answer(&space_place_, MakeSpaceReport(), SpaceVerdict());
  });
}

// Without a lock: a write that misses it looks again when its time is up.
void DBImpl::SpaceFreed() {
  ++changes_;
  changed_.NotifyAll();
}

// The process's limit is full: others may have to make room, and this instance when it is its
// turn.
Status DBImpl::AwaitProcess(bool* go_on) {
  CountSpace();
  ReportSpace();
  *go_on = !process_.writes.stop;
  if (*go_on) return Status::OK();
  executor_->Poke();
  if (space_round_ == 0) space_round_ = quota_->NextRound();
  if (process_.collects) UrgeSpace();
  return quota_->Await(&space_place_, space_round_, clock_->MonotonicMicros() - stalled_since_us_,
                       kPinnedWaitUs);
}

}  // namespace lava
