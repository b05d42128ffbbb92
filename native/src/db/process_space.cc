#include "db/db_impl.h"

// The instance as a member of the process's limit of space, see host/space_quota.h.
namespace lava {

// Jobs have ended or begun, or obsolete files have gone: other instances may have to free space
// now.
void DBImpl::ReportJobs() {
  if (instance_->quota->limited()) space_.Report(SpaceWorkNow());
}

void DBImpl::RequestSpace() {
  (void)instance_->TrySubmit(os::Priority::kFlush, [this] {
    RemoveObsoleteFiles();
    MutexLock jobs(&jobs_mutex_);
    SpaceVerdict looked_by;
    {
      MutexLock state(&state_mutex_);
      looked_by = space_.Report(SpaceWorkNow());
      // Failed work is repeated once for each write that waits in any instance. Otherwise it would
      // fail again without a pause.
      if (looked_by.writes.stop && looked_by.retry) faults_.RetryAll();
      ScheduleFlushes(false);
    }
    ScheduleGc();
    ScheduleCompactions();  // they expose more garbage when nothing is collected
    MutexLock state(&state_mutex_);
    if (looked_by.writes.stop) UrgeSpace();
    space_.Answer(SpaceWorkNow(), looked_by);
  });
}

void DBImpl::RequestGiveUp(uint64_t snapshot) {
  (void)instance_->TrySubmit(os::Priority::kFlush, [this, snapshot] {
    if (snapshots_->oldest() == snapshot) (void)GiveUpOldestSnapshot();
    RemoveObsoleteFiles();
    MutexLock state(&state_mutex_);
    space_.Answer(SpaceWorkNow(), SpaceVerdict());
  });
}

// Takes no lock: a write that misses the notification looks again when its time is up.
void DBImpl::SpaceFreed() {
  ++changes_;
  changed_.NotifyAll();
}

}  // namespace lava
