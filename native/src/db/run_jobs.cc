// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

// The part of JobScheduler that runs jobs.
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "base/file_id.h"
#include "base/guarded.h"
#include "base/mutex.h"
#include "db/background_faults.h"
#include "db/collection_runner.h"
#include "db/compaction_runner.h"
#include "db/job_plans.h"
#include "db/job_scheduler.h"
#include "db/job_working_sets.h"
#include "db/search_damage.h"
#include "host/job_memory.h"
#include "lava/event_listener.h"
#include "lava/status.h"
#include "memory/memory_counter.h"

namespace lava {

void JobScheduler::RunCompactionJob(std::shared_ptr<CompactionTask> task) {
  const uint64_t began_us = instance_->clock->MonotonicMicros();
  CompactionInfo told;
  std::optional<JobMemory::Grant> memory;
  const Status status = Guarded("compaction in", instance_->path, [&] {
    std::optional<JobMemory::Grant> granted = instance_->lease->job_memory()->TryBegin(
        instance_->budget.counter(MemoryPurpose::kCompactions),
        task->trivial_move ? 0 : WorkingSetOf(*instance_, task->input));
    if (!granted) return Status::OK();
    memory.emplace(std::move(*granted));
    task->input.drop_time = instance_->expiry_time.Now();
    CompactionRunner::Describe(*task, &told);
    instance_->notifier->BeginJob(&EventListener::OnCompactionBegin, &told);
    Status compacted = compaction_runner_.Run(*task, &told);
    // Retries once, because a read error may be temporary. A damaged file fails again.
    if (compacted.IsCorruption() && !instance_->cancelled)
      compacted = compaction_runner_.Run(*task, &told);
    return compacted;
  });
  if (!memory && status.ok()) return PutOff(std::move(task));
  const DamageSearch damage = SearchDamage(tree_, *with_.tables, status);
  {
    MutexLock jobs(&mutex_);
    EndCompaction(task);
    if (status.ok() || !instance_->cancelled) {
      MutexLock state(tree_->mutex());
      if (status.ok()) {
        with_.faults->Worked(BackgroundFaults::Work::kCompaction);
      } else {
        with_.faults->AvoidInputs(task->input, damage, *tree_->version());
        with_.faults->Failed(BackgroundFaults::Work::kCompaction, status, began_us, damage,
                             *tree_->version());
      }
    }
    if (status.ok() ? !told.installed : !instance_->cancelled) {
      // The same work will be planned again.
      order_budget_.GiveBack(task->order_bytes);
      if (task->manual && status.ok()) manual_compactions_.SetCompacted(false);
      if (task->manual && !status.ok()) manual_compactions_.Finish(status);
    }
    PlanAll();
  }
  tree_->JobEnded();
  // The task may be the last owner of the inputs. Their readers are then closed without a lock.
  task.reset();
  memory.reset();
  with_.remover->RemoveObsolete();
  instance_->notifier->EndJob(&EventListener::OnCompactionEnd, &told, status,
                              instance_->clock->MonotonicMicros() - began_us);
  if (status.ok()) RetryOnceSpaceIsMade();
}

// Memory for the job was refused. The same work is planned again when other jobs have ended.
void JobScheduler::PutOff(std::shared_ptr<CompactionTask> task) {
  {
    MutexLock jobs(&mutex_);
    EndCompaction(task);
    if (task->manual) manual_compactions_.SetCompacted(false);
    order_budget_.GiveBack(task->order_bytes);
  }
  tree_->JobEnded();
  task.reset();
  AwaitMemory();
}

void JobScheduler::AwaitMemory() {
  if (!instance_->lease->job_memory()->Await(with_.memory_waiter)) MemoryFreed();
}

void JobScheduler::RunCollectionJob(std::shared_ptr<CollectionTask> task) {
  const uint64_t began_us = task->began_us = instance_->clock->MonotonicMicros();
  CollectionInfo told;
  const CollectionRunner::NoteOutput note = [this](const FileId& file, uint64_t referenced) {
    (void)Tried([&] {
      MutexLock lock(&mutex_);
      collection_planner_.NoteOutput(file, referenced);
    });
  };
  std::optional<JobMemory::Grant> memory;
  const Status status = Guarded("collection in", instance_->path, [&] {
    // Tables that were registered after the job was queued may also have expired values.
    task->input.tables = with_.tables->Options();
    task->input.now_ms = instance_->expiry_time.Now().older_ms;
    std::optional<JobMemory::Grant> granted = instance_->lease->job_memory()->TryBegin(
        instance_->budget.counter(MemoryPurpose::kCollections),
        WorkingSetOf(*instance_, task->input));
    if (!granted) return Status::OK();
    memory.emplace(std::move(*granted));
    CollectionRunner::Describe(*task, &told);
    instance_->notifier->BeginJob(&EventListener::OnCollectionBegin, &told);
    Status collected = collection_runner_.Run(*task, note, &told);
    // See RunCompactionJob().
    if (collected.IsCorruption() && !instance_->cancelled)
      collected = collection_runner_.Run(*task, note, &told);
    return collected;
  });
  const bool put_off = !memory && status.ok();
  const DamageSearch damage = SearchDamage(tree_, *with_.tables, status);
  {
    MutexLock jobs(&mutex_);
    running_jobs_.Remove(task);
    tree_->space.RemoveCopied(task->copied_bytes);
    {
      MutexLock state(tree_->mutex());
      if (!put_off && status.ok()) with_.faults->Worked(BackgroundFaults::Work::kCollection);
      if (!status.ok() && !instance_->cancelled)
        with_.faults->Failed(BackgroundFaults::Work::kCollection, status, began_us, damage,
                             *tree_->version());
    }
    // If nothing is left to collect, compactions may expose more garbage.
    if (!put_off) PlanAll();
  }
  tree_->JobEnded();
  // The task may be the last owner of the inputs. Their readers are then closed without a lock.
  task.reset();
  if (put_off) return AwaitMemory();
  memory.reset();
  with_.remover->RemoveObsolete();
  instance_->notifier->EndJob(&EventListener::OnCollectionEnd, &told, status,
                              instance_->clock->MonotonicMicros() - began_us);
  if (status.ok()) RetryOnceSpaceIsMade();
}

}  // namespace lava
