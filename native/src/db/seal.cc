#include <utility>

#include "db/db_impl.h"

// Seals the active memtable. Flushes turn the sealed ones into files.
namespace lava {

void DBImpl::SealLocked(FlushCause cause) {
  {
    MutexLock state(tree_->mutex());
    SealBothLocked(cause);
  }
  flushes_->Schedule();
}

// The write mutex is given back meanwhile.
Status DBImpl::FlushHere() {
  {
    MutexLock state(tree_->mutex());
    SealBothLocked(FlushCause::kReplay);
  }
  MutexUnlock others(&write_mutex_);
  return flushes_->FlushAllHere();
}

// The flush is left to be scheduled.
void DBImpl::SealBothLocked(FlushCause cause) {
  // Also when all of it has died: its log is to be trimmed.
  const bool logged = wal_.HasUnsealed();
  const bool nothing = active_->empty() && dropped_in_active_.empty() && segments_.empty();
  if (instance_->closed.load() || (nothing && !logged)) return;
  // All memory is taken before anything changes.
  auto run = std::make_shared<SealedRun>();
  std::shared_ptr<MemTable> next =
      MemTable::Create(instance_->budget.counter(MemoryPurpose::kMemtables));
  TreeState::PreparedSeal prepared = tree_->PrepareSeal(run, std::move(next));
  run->separated_puts = separation_tuner_.TakeSeparatedPuts();
  active_->Seal();
  Counters::Add(&instance_->counters.memtable_killed_bytes, active_->killed_bytes());
  run->memtable = std::move(active_);
  run->segments = segments_.Seal();
  changelog_.EndSegment();
  run->cause = cause;
  run->wal_last = wal_.Seal();
  run->dropped_tables = std::exchange(dropped_in_active_, {});
  active_ = prepared.next;
  active_bytes_ = 0;
  tree_->Seal(std::move(prepared));
}

Status DBImpl::Flush(uint32_t timeout_ms) {
  uint64_t sequence;
  {
    MutexLock write(&write_mutex_);
    if (instance_->closed.load()) return Status::Closed("the instance was closed");
    SealLocked(FlushCause::kRequested);
    MutexLock state(tree_->mutex());
    sequence = tree_->sealed().sealed_through();
  }
  const Status status = flushes_->WaitUntil(
      [this, sequence] {
        tree_->mutex()->AssertHeld();
        return tree_->sealed().installed_through() >= sequence;
      },
      timeout_ms, faults_.seen_by_flush());
  remover_->RemoveObsolete();
  instance_->notifier->Deliver();
  return status;
}

Status DBImpl::CompactAll(uint32_t timeout_ms, uint64_t* ticket) {
  uint64_t sealed_through = 0;
  if (*ticket == 0) {
    {
      MutexLock write(&write_mutex_);
      if (instance_->closed.load()) return Status::Closed("the instance was closed");
      SealLocked(FlushCause::kCompactAll);
      MutexLock state(tree_->mutex());
      sealed_through = tree_->sealed().sealed_through();
    }
    flushes_->Schedule(/*force=*/true);
  }
  const Status status = jobs_->CompactAll(sealed_through, timeout_ms, ticket);
  instance_->notifier->Deliver();
  return status;
}

}  // namespace lava
