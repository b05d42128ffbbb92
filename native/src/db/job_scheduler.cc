// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "db/job_scheduler.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <utility>

#include "base/check.h"
#include "base/guarded.h"
#include "base/mutex.h"
#include "base/thread_annotations.h"
#include "db/collection_planner.h"
#include "db/instance_context.h"
#include "db/job_plans.h"
#include "db/tree_state.h"
#include "lava/event_listener.h"
#include "lava/options.h"
#include "lava/status.h"
#include "os/executor.h"

namespace lava {

JobScheduler::JobScheduler(InstanceContext* instance, TreeState* tree, const Neighbours& neighbours)
    : instance_(instance),
      tree_(tree),
      with_(neighbours),
      order_budget_(&instance->counters.scan_value_bytes,
                    instance->options.value_merge_scan_percent, instance->options.value_file_bytes),
      value_decisions_(&instance->counters, instance->options.value_decisions_max),
      compaction_planner_(&instance->options, neighbours.missing_files, &order_budget_,
                          &value_decisions_),
      collection_planner_(&instance->options, neighbours.missing_files),
      value_policy_(instance->options.value_policy) {}

void JobScheduler::Schedule() {
  MutexLock lock(&mutex_);
  PlanAll();
}

void JobScheduler::ScheduleCompactions() {
  MutexLock lock(&mutex_);
  PlanCompactions();
}

void JobScheduler::ScheduleCollections() {
  MutexLock lock(&mutex_);
  PlanCollections();
}

void JobScheduler::Clear() {
  MutexLock lock(&mutex_);
  running_jobs_.Clear();
  (void)collection_planner_.TakeFindings();
}

uint64_t JobScheduler::PendingCompactionBytes() const {
  MutexLock lock(&mutex_);
  return compaction_planner_.PendingBytes(TakePlanInputs(), running_jobs_);
}

// Called at a job's end. Jobs for which memory is refused are planned when another job ends, or
// when a write waits for them.
void JobScheduler::PlanAll() {
  (void)Tried([this] {
    mutex_.AssertHeld();
    PlanCompactions();
  });
  (void)Tried([this] {
    mutex_.AssertHeld();
    PlanCollections();
  });
}

PlanInputs JobScheduler::TakePlanInputs() const {
  PlanInputs inputs;
  MutexLock state(tree_->mutex());
  tree_->AddTo(&inputs);
  // Read after the version, so that no record is newer than the options.
  inputs.tables = with_.tables->Options();
  inputs.avoided = with_.faults->avoided();
  inputs.disk_full = with_.faults->is_disk_full();
  inputs.value_policy = value_policy_;
  inputs.collection_jobs_max = instance_->options.collection_jobs_max > 0
                                   ? instance_->options.collection_jobs_max
                                   : std::max(instance_->ThreadCount(), 2u) - 1;
  return inputs;
}

// Each plan uses the version that is current at its begin. Files that leave this version during the
// plan are busy until the job that removes them ends. Files that are added during the plan are left
// to the next call.
void JobScheduler::PlanCompactions() {
  if (instance_->closed.load()) return;
  Status manifest_status;
  {
    MutexLock state(tree_->mutex());
    tree_->AdoptLeft();
    manifest_status = tree_->versions.status();
    if (manifest_status.ok() && !with_.faults->MayStart(BackgroundFaults::Work::kCompaction))
      return;
  }
  if (!manifest_status.ok()) {
    manual_compactions_.FinishAll(manifest_status);
    return;
  }
  while (const auto manual = manual_compactions_.current()) {
    const std::optional<Status> done = PlanManual(*manual);
    if (!done) return;
    manual_compactions_.Finish(*done);
  }
  // If there are several threads, one is left to flushes.
  const uint32_t running_max = std::max(instance_->ThreadCount(), 2u) - 1;
  while (running_jobs_.compactions() < running_max) {
    const PlanInputs inputs = TakePlanInputs();
    std::optional<CompactionTask> task = compaction_planner_.PlanNext(inputs, running_jobs_);
    if (!task) break;
    const bool for_order = task->cause == CompactionCause::kOrder;
    StartCompaction(std::move(*task));
    LAVA_DCHECK(!for_order || running_jobs_.compactions() == 1);
    if (for_order) return;  // a compaction for order runs alone
  }
  if (running_jobs_.compactions() > 0) return;
  // Nothing is left to do, so earlier failures are over.
  MutexLock state(tree_->mutex());
  with_.faults->Worked(BackgroundFaults::Work::kCompaction);
}

// Moves all data that was sealed before CompactAll() to the last level, in one compaction that runs
// alone. Newer files are left to the next request, because otherwise this request might never end.
// Returns the request's status once the request is done.
std::optional<Status> JobScheduler::PlanManual(const ManualCompactions::Current& manual) {
  if (running_jobs_.compactions() > 0 || with_.missing_files->any_key_file()) return std::nullopt;
  std::optional<Status> failed;
  if (!IsFlushed(manual.sequence, &failed)) return failed;
  if (manual.compacted) return Status::OK();
  const PlanInputs inputs = TakePlanInputs();
  if (!inputs.avoided.empty()) return with_.faults->DamageOf(*inputs.version);
  bool wait = false;
  std::optional<CompactionTask> task = compaction_planner_.PlanAll(inputs, running_jobs_, &wait);
  if (wait) return std::nullopt;
  if (!task) return Status::OK();
  StartCompaction(std::move(*task));
  LAVA_DCHECK(running_jobs_.compactions() == 1);  // the manual compaction runs alone
  manual_compactions_.SetCompacted(true);
  return std::nullopt;
}

// Whether all memtables sealed before the request are in files. If not, starts flushes, and *answer
// is the result for PlanManual().
bool JobScheduler::IsFlushed(uint64_t sequence, std::optional<Status>* answer) {
  const auto flushed = [&]() LAVA_REQUIRES(tree_->mutex()) {
    return tree_->sealed().installed_through() >= sequence;
  };
  answer->reset();
  {
    MutexLock state(tree_->mutex());
    if (flushed()) return true;
  }
  with_.flushes->Schedule();  // memory may have been refused earlier
  MutexLock state(tree_->mutex());
  if (flushed()) return true;
  if (tree_->sealed().running() > 0) return false;
  Status failed = with_.faults->StatusOf(BackgroundFaults::Work::kFlush);
  if (!failed.ok()) *answer = std::move(failed);
  return false;
}

// While there is enough space, one collection runs at a time: it competes with compactions for the
// disk, and each end of a collection improves the choice of the next one.
void JobScheduler::PlanCollections() {
  // If nothing is planned, the findings end here, and with them the files that they keep.
  std::unique_ptr<CollectionFindings> findings = collection_planner_.TakeFindings();
  if (instance_->closed.load()) return;
  {
    MutexLock state(tree_->mutex());
    if (tree_->versions.failed()) return;
    tree_->AdoptLeft();
    // All key files together decide which values live, so collections wait until no key file is
    // missing or damaged.
    if (with_.missing_files->any_key_file() || with_.faults->IsKeyFileDamaged(*tree_->version()) ||
        !with_.faults->MayStart(BackgroundFaults::Work::kCollection))
      return;
  }
  const PlanInputs inputs = TakePlanInputs();
  if (inputs.version->value_files.empty() || instance_->options.collection_garbage_percent > 100)
    return;
  const uint32_t jobs_max =
      EffortOf(instance_->options, inputs, running_jobs_.compactions() > 0).jobs;
  if (running_jobs_.collections() >= jobs_max) return;
  const int64_t now_ms = instance_->expiry_time.Now().older_ms;
  while (running_jobs_.collections() < jobs_max) {
    std::shared_ptr<CollectionTask> task =
        collection_planner_.Plan(inputs, running_jobs_, now_ms, std::exchange(findings, nullptr));
    if (task == nullptr || !StartCollection(task)) break;
  }
  if (running_jobs_.collections() > 0) return;
  // Nothing is left to do, so earlier failures are over.
  MutexLock state(tree_->mutex());
  with_.faults->Worked(BackgroundFaults::Work::kCollection);
}

void JobScheduler::StartCompaction(CompactionTask task) {
  LAVA_DCHECK(!task.input.inputs.empty() && task.input.version != nullptr);
  const os::Priority priority = task.priority;
  auto shared = std::make_shared<CompactionTask>(std::move(task));
  running_jobs_.Insert(shared);
  try {
    instance_->Submit(priority, [this, weak = std::weak_ptr<CompactionTask>(shared)] {
      if (std::shared_ptr<CompactionTask> queued = weak.lock()) RunCompactionJob(std::move(queued));
    });
  } catch (const std::bad_alloc&) {
    running_jobs_.Remove(shared);
    throw;
  }
  order_budget_.Spend(shared->order_bytes);
  tree_->space.AddCopied(shared->copied_bytes);
  tree_->JobBegan();
}

// The job is neither queued nor running any more. The caller subtracts the job from the jobs in
// flight once the successors are planned.
void JobScheduler::EndCompaction(const std::shared_ptr<CompactionTask>& task) {
  running_jobs_.Remove(task);
  tree_->space.RemoveCopied(task->copied_bytes);
}

bool JobScheduler::StartCollection(const std::shared_ptr<CollectionTask>& task) {
  LAVA_DCHECK(!task->input.files.empty() || !task->input.expired.empty());
  LAVA_DCHECK(task->input.version != nullptr);
  running_jobs_.Insert(task);
  const bool submitted = instance_->TrySubmit(
      os::Priority::kCollection, [this, weak = std::weak_ptr<CollectionTask>(task)] {
        if (std::shared_ptr<CollectionTask> queued = weak.lock())
          RunCollectionJob(std::move(queued));
      });
  if (!submitted) {
    running_jobs_.Remove(task);
    return false;
  }
  tree_->space.AddCopied(task->copied_bytes);
  tree_->JobBegan();
  return true;
}

// Called after each scan. Requests a plan if scans have earned enough credit since the last
// request.
void JobScheduler::LookForOrdering() {
  if (!order_budget_.IsLookDue()) return;
  instance_->Submit(os::Priority::kCompaction, [this] {
    MutexLock jobs(&mutex_);
    PlanCompactions();
  });
}

void JobScheduler::SetValuePolicy(ValuePolicy policy) {
  MutexLock jobs(&mutex_);
  value_policy_ = policy;
  PlanCompactions();
  PlanCollections();
}

Status JobScheduler::CompactAll(uint64_t sealed_through, uint32_t timeout_ms, uint64_t* ticket) {
  const auto deadline =
      std::chrono::steady_clock::now() +
      std::chrono::milliseconds(std::min(timeout_ms, instance_->environment.wait_ms_max));
  if (*ticket == 0) *ticket = manual_compactions_.Request(sealed_through);
  if (!manual_compactions_.IsKnown(*ticket))
    return Status::InvalidArgument("compact all: no earlier call returned this ticket");
  {
    // Plans on every call, because failed work may be due again.
    MutexLock jobs(&mutex_);
    instance_->RetryThreads();
    PlanCompactions();
  }
  const Status status = manual_compactions_.Await(*ticket, deadline);
  // Waits for the job that finished the request: it holds this mutex until its successors are
  // planned, and keeps files of the earlier version until then.
  MutexLock jobs(&mutex_);
  return status;
}

// Callers need a function that cannot fail. If the job cannot be submitted, the end of another job
// plans the jobs that wait for memory.
void JobScheduler::MemoryFreed() {
  (void)instance_->TrySubmit(os::Priority::kCompaction, [this] {
    MutexLock jobs(&mutex_);
    PlanCompactions();
    PlanCollections();
  });
}

}  // namespace lava
