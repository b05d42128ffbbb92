// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "base/mutex.h"
#include "db/background_faults.h"
#include "db/collection_planner.h"
#include "db/collection_runner.h"
#include "db/compaction_planner.h"
#include "db/compaction_runner.h"
#include "db/file_remover.h"
#include "db/flush_scheduler.h"
#include "db/instance_context.h"
#include "db/manual_compactions.h"
#include "db/missing_files.h"
#include "db/order_budget.h"
#include "db/running_jobs.h"
#include "db/snapshot_impl.h"
#include "db/table_registry.h"
#include "db/tree_state.h"
#include "db/value_decisions.h"
#include "db/write_stall.h"

namespace lava {

/// Decides which compactions and collections run, starts them on the executor, runs them, and plans
/// their successors. Also starts jobs for stalled writes, for CompactAll(), and for other instances
/// that need space.
///
/// Compactions and collections have one scheduler, because neither may use files that the other
/// uses: each plan checks the running jobs of both kinds under one mutex.
///
/// Threads:    any. A caller holds neither Writer's mutex nor the tree's, because a plan looks at
///             all files. MakeSpaceJobsUrgent() may be called under both.
/// Ownership:  borrows the constructor's arguments. Keeps the tasks of jobs, and thereby their
///             files.
/// Errors:     errors of a job become background faults. Functions that plan throw std::bad_alloc
///             if memory is refused, unless their comment says otherwise.
class JobScheduler {
 public:
  /// Other components that jobs use. All must outlive the scheduler.
  struct Neighbours {
    TableRegistry* tables = nullptr;
    BackgroundFaults* faults = nullptr;
    MissingFiles* missing_files = nullptr;
    SnapshotRegistry* snapshots = nullptr;
    FlushScheduler* flushes = nullptr;
    FileRemover* remover = nullptr;
    MemoryWaiter* memory_waiter = nullptr;  // called when postponed jobs may get memory
  };
  JobScheduler(InstanceContext* instance, TreeState* tree, const Neighbours& neighbours);

  /// Starts all jobs that are due. Does not throw. Jobs for which memory is refused are planned
  /// when another job ends, or when a write waits for them.
  void Schedule() LAVA_EXCLUDES(mutex_, tree_->mutex());
  void ScheduleCompactions() LAVA_EXCLUDES(mutex_, tree_->mutex());
  void ScheduleCollections() LAVA_EXCLUDES(mutex_, tree_->mutex());
  /// Jobs that wait for memory may get some now: plans again. Does not throw.
  void MemoryFreed();
  /// Called after each scan. Requests a plan if scans have earned enough credit since the last
  /// request.
  void LookForOrdering();
  void SetValuePolicy(ValuePolicy policy) LAVA_EXCLUDES(mutex_, tree_->mutex());

  /// See DB::CompactAll(). sealed_through: the last sealed memtable that a new request includes.
  Status CompactAll(uint64_t sealed_through, uint32_t timeout_ms, uint64_t* ticket)
      LAVA_EXCLUDES(mutex_, tree_->mutex());
  ManualCompactions* manual_compactions() { return &manual_compactions_; }
  ValueDecisions* value_decisions() { return &value_decisions_; }
  uint64_t PendingCompactionBytes() const LAVA_EXCLUDES(mutex_, tree_->mutex());

  /// Starts the jobs that a write waits for. *relieved: the write may continue.
  /// Errors:     these jobs cannot succeed. A write reports only failures of jobs that began after
  ///             since_us, the begin of the write's first attempt; jobs that failed earlier are
  ///             retried. The first write after space was freed therefore succeeds.
  Status Relieve(StallCondition condition, uint64_t since_us, bool* relieved)
      LAVA_EXCLUDES(mutex_, tree_->mutex());
  /// A write waits for space: makes the jobs urgent that free space or expose garbage.
  void MakeSpaceJobsUrgent();
  // As in SpaceMember; run on the executor. Do not throw.
  void RequestSpace();
  void RequestGiveUp(uint64_t snapshot);

  /// Drops all tasks and findings. No job may run any more.
  void Clear() LAVA_EXCLUDES(mutex_);

 private:
  // job_scheduler.cc
  PlanInputs TakePlanInputs() const LAVA_REQUIRES(mutex_) LAVA_EXCLUDES(tree_->mutex());
  void PlanAll() LAVA_REQUIRES(mutex_) LAVA_EXCLUDES(tree_->mutex());
  void PlanCompactions() LAVA_REQUIRES(mutex_) LAVA_EXCLUDES(tree_->mutex());
  std::optional<Status> PlanManual(const ManualCompactions::Current& manual) LAVA_REQUIRES(mutex_);
  bool IsFlushed(uint64_t sequence, std::optional<Status>* answer) LAVA_REQUIRES(mutex_);
  void PlanCollections() LAVA_REQUIRES(mutex_) LAVA_EXCLUDES(tree_->mutex());
  void StartCompaction(CompactionTask task) LAVA_REQUIRES(mutex_);
  void EndCompaction(const std::shared_ptr<CompactionTask>& task) LAVA_REQUIRES(mutex_);
  bool StartCollection(const std::shared_ptr<CollectionTask>& task) LAVA_REQUIRES(mutex_);
  // run_jobs.cc
  void RunCompactionJob(std::shared_ptr<CompactionTask> task);
  void PutOff(std::shared_ptr<CompactionTask> task);
  void RunCollectionJob(std::shared_ptr<CollectionTask> task);
  void AwaitMemory();
  // relieve.cc
  Status RelieveMemtables(uint64_t since_us) LAVA_EXCLUDES(mutex_, tree_->mutex());
  Status RelieveLevel0(uint64_t since_us) LAVA_EXCLUDES(mutex_, tree_->mutex());
  Status MakeSpace(uint64_t since_us, bool* go_on) LAVA_EXCLUDES(mutex_, tree_->mutex());
  bool GiveUpOldestSnapshot();
  void RetryOnceSpaceIsMade();

  InstanceContext* const instance_;
  TreeState* const tree_;
  const Neighbours with_;
  CompactionRunner compaction_runner_{instance_, tree_};
  CollectionRunner collection_runner_{instance_, tree_};
  ManualCompactions manual_compactions_;
  OrderBudget order_budget_;
  ValueDecisions value_decisions_;

  // Guards plans and running jobs. Held from the begin of a plan until its jobs are in
  // running_jobs_.
  mutable Mutex mutex_ LAVA_ACQUIRED_BEFORE(tree_->mutex());
  RunningJobs running_jobs_ LAVA_GUARDED_BY(mutex_){tree_->mutable_job_counts()};
  CompactionPlanner compaction_planner_ LAVA_GUARDED_BY(mutex_);
  CollectionPlanner collection_planner_ LAVA_GUARDED_BY(mutex_);
  ValuePolicy value_policy_ LAVA_GUARDED_BY(mutex_);
};

}  // namespace lava
