#include "db/db_impl.h"

// The instance as a member of the process's limit of space, see host/space_quota.h.
namespace lava {

void DBImpl::RequestSpace() {
  (void)instance_->TrySubmit(os::Priority::kFlush, [this] {
    RemoveObsoleteFiles();
    MutexLock jobs(&jobs_mutex_);
    SpaceVerdict looked_by;
    {
      MutexLock state(tree_->mutex());
      looked_by = tree_->space.Report(tree_->SpaceWorkNow());
      // Failed work is repeated once for each write that waits in any instance. Otherwise it would
      // fail again without a pause.
      if (looked_by.writes.stop && looked_by.retry) faults_.RetryAll();
      ScheduleFlushes(false);
    }
    ScheduleGc();
    ScheduleCompactions();  // they expose more garbage when nothing is collected
    MutexLock state(tree_->mutex());
    if (looked_by.writes.stop) UrgeSpace();
    tree_->space.Answer(tree_->SpaceWorkNow(), looked_by);
  });
}

void DBImpl::RequestGiveUp(uint64_t snapshot) {
  (void)instance_->TrySubmit(os::Priority::kFlush, [this, snapshot] {
    if (snapshots_->oldest() == snapshot) (void)GiveUpOldestSnapshot();
    RemoveObsoleteFiles();
    MutexLock state(tree_->mutex());
    tree_->space.Answer(tree_->SpaceWorkNow(), SpaceVerdict());
  });
}

void DBImpl::SpaceFreed() { tree_->NotifyUnlocked(); }

}  // namespace lava
