// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

// The part of JobScheduler that frees memory and space for waiting writes and for other instances.

#include <cstdint>
#include <memory>
#include <optional>

#include "base/mutex.h"
#include "db/counters.h"
#include "db/job_scheduler.h"
#include "db/running_jobs.h"
#include "host/space_quota.h"
#include "lava/status.h"
#include "manifest/version.h"
#include "os/executor.h"
#include "policy/write_throttle.h"

namespace lava {

// See the header. The functions below report a failure only if its job began after since_us, the
// begin of the write's first attempt. Jobs that failed earlier are retried.
Status JobScheduler::Relieve(StallCondition condition, uint64_t since_us, bool* relieved) {
  instance_->RetryThreads();
  if (condition == StallCondition::kWaitForFlush) return RelieveMemtables(since_us);
  if (condition == StallCondition::kWaitForCompaction) return RelieveLevel0(since_us);
  return MakeSpace(since_us, relieved);
}

Status JobScheduler::RelieveMemtables(uint64_t since_us) {
  if (!with_.faults->is_disk_full()) return with_.flushes->Relieve(since_us);
  // The disk may be full of garbage, so garbage is collected before the flush is retried.
  MutexLock jobs(&mutex_);
  PlanCollections();
  PlanCompactions();
  MakeSpaceJobsUrgent();
  const JobCounts& jobs_now = tree_->job_counts();
  if (jobs_now.compactions + jobs_now.collections > 0) return Status::OK();
  return with_.flushes->Relieve(since_us);
}

Status JobScheduler::RelieveLevel0(uint64_t since_us) {
  MutexLock jobs(&mutex_);
  {
    MutexLock state(tree_->mutex());
    if (tree_->job_counts().compactions == 0)
      LAVA_RETURN_IF_ERROR(with_.faults->RetryNow(BackgroundFaults::Work::kCompaction, since_us));
  }
  with_.flushes->Schedule();
  PlanCompactions();
  instance_->MakeUrgent(os::Priority::kL0Compaction);
  // Such a job may use files with which L0 must be merged.
  instance_->MakeUrgent(os::Priority::kCompaction);
  MutexLock state(tree_->mutex());
  if (tree_->job_counts().compactions > 0) return Status::OK();
  if (with_.faults->avoids_any()) return with_.faults->DamageOf(*tree_->version());
  return with_.faults->StatusOf(BackgroundFaults::Work::kCompaction);
}

// A write waits for space: makes the jobs urgent that free space or expose garbage.
void JobScheduler::MakeSpaceJobsUrgent() {
  for (const os::Priority priority :
       {os::Priority::kCollection, os::Priority::kL0Compaction, os::Priority::kCompaction})
    instance_->MakeUrgent(priority);
}

// Starts jobs that free space. Errors: no job can free space. Holds mutex_ from the plan to the
// answer. Otherwise a job could end in between, before its successors are planned.
Status JobScheduler::MakeSpace(uint64_t since_us, bool* go_on) {
  with_.remover->RemoveObsolete();  // readers of obsolete files may have ended
  MutexLock jobs(&mutex_);
  std::shared_ptr<const Version> version;
  bool flushing = false;
  {
    MutexLock state(tree_->mutex());
    tree_->space.Update(tree_->SpaceWorkNow());
    *go_on = !tree_->space.state().own.stop;
    if (*go_on) return Status::OK();
  }
  with_.flushes->Schedule();
  {
    MutexLock state(tree_->mutex());
    version = tree_->version();
    flushing = tree_->sealed().running() > 0;
  }
  PlanCollections();
  PlanCompactions();  // they expose more garbage if nothing is collected
  MakeSpaceJobsUrgent();
  MutexLock state(tree_->mutex());
  if (tree_->job_counts().compactions + tree_->job_counts().collections > 0) return Status::OK();
  // The files of a running or recent flush are not in the plan yet.
  if (flushing || tree_->sealed().running() > 0 || version != tree_->version()) return Status::OK();
  // Garbage may be freed once the missing files have arrived.
  if (with_.missing_files->AnyOf(*tree_->version())) return Status::OK();
  if (with_.faults->avoids_any()) return with_.faults->DamageOf(*tree_->version());
  if (std::optional<Status> failure = with_.faults->RetryFirst(since_us)) return *failure;
  using Remedy = SpaceController::Remedy;
  switch (tree_->space.FindRemedy(instance_->clock->MonotonicMicros() - since_us)) {
    case Remedy::kIgnoreRatio:
      *go_on = true;
      tree_->UpdateSlowPath();
      return Status::OK();
    case Remedy::kAwaitSnapshots:
      return Status::OK();
    case Remedy::kGiveUpSnapshot:
      // Giving up a snapshot costs one checkpoint, which can be repeated. A failed write would make
      // the Flink job restart from a checkpoint.
      if (GiveUpOldestSnapshot()) {
        instance_->Submit(os::Priority::kFlush, [this] { with_.remover->RemoveObsolete(); });
        return Status::OK();
      }
      break;
    case Remedy::kNone:
      break;
  }
  return tree_->space.Full();
}

bool JobScheduler::GiveUpOldestSnapshot() {
  if (!with_.snapshots->GiveUpOldest()) return false;
  Counters::Add(&instance_->counters.snapshots_given_up, 1);
  return true;
}

// A job has removed files. Retries flushes that found no space, before a write reports their error.
void JobScheduler::RetryOnceSpaceIsMade() {
  bool retry;
  {
    MutexLock state(tree_->mutex());
    retry = with_.faults->RetryFlushOnSpace();
  }
  if (retry) with_.flushes->Schedule();
}

void JobScheduler::RequestSpace() {
  (void)instance_->TrySubmit(os::Priority::kFlush, [this] {
    with_.remover->RemoveObsolete();
    MutexLock jobs(&mutex_);
    SpaceVerdict looked_by;
    {
      MutexLock state(tree_->mutex());
      looked_by = tree_->space.Report(tree_->SpaceWorkNow());
      // Failed work is retried once for each write that waits in any instance. Otherwise the work
      // could fail repeatedly without a pause.
      if (looked_by.writes.stop && looked_by.retry) with_.faults->RetryAll();
    }
    with_.flushes->Schedule();
    PlanCollections();
    PlanCompactions();  // they expose more garbage if nothing is collected
    MutexLock state(tree_->mutex());
    if (looked_by.writes.stop) MakeSpaceJobsUrgent();
    tree_->space.Answer(tree_->SpaceWorkNow(), looked_by);
  });
}

void JobScheduler::RequestGiveUp(uint64_t snapshot) {
  (void)instance_->TrySubmit(os::Priority::kFlush, [this, snapshot] {
    if (with_.snapshots->oldest() == snapshot) (void)GiveUpOldestSnapshot();
    with_.remover->RemoveObsolete();
    MutexLock state(tree_->mutex());
    tree_->space.Answer(tree_->SpaceWorkNow(), SpaceVerdict());
  });
}

}  // namespace lava
