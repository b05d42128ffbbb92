// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <vector>

#include "db/file_remover.h"
#include "db/instance_context.h"
#include "db/separation_tuner.h"
#include "db/table_registry.h"
#include "db/tree_state.h"
#include "wal/write_ahead_log.h"

namespace lava {

/// Writes sealed memtables to files: starts flushes, runs them on the executor, and installs their
/// files, oldest first.
///
/// A failed flush is retried after a delay, or at once if a thread waits for it. Its memtables stay
/// sealed, so no write is lost.
///
/// Threads:    any. Schedule() and Relieve() take only the tree's mutex, so callers may hold the
///             mutex of Writer or of JobScheduler. A flush also takes the mutex of installs, which
///             is taken before these two; the same holds for FlushAllHere(). Callers of WaitUntil()
///             hold no mutex, because the call waits.
/// Ownership:  borrows the constructor's arguments. A queued flush keeps no memtable alive.
/// Errors:     errors of a flush become background faults. Functions that start flushes throw
///             std::bad_alloc if memory is refused.
class FlushScheduler {
 public:
  /// Other components that flushes use.
  struct Neighbours {
    TableRegistry* tables = nullptr;
    SeparationTuner* separation_tuner = nullptr;
    BackgroundFaults* faults = nullptr;
    SnapshotRegistry* snapshots = nullptr;
    WriteAheadLog* wal = nullptr;
    FileRemover* remover = nullptr;
  };
  /// plan_jobs: plans the jobs that follow a flush. Called without a mutex.
  FlushScheduler(InstanceContext* instance, TreeState* tree, const Neighbours& neighbours,
                 std::function<void()> plan_jobs)
      : instance_(instance), tree_(tree), with_(neighbours), plan_jobs_(std::move(plan_jobs)) {}

  /// Starts flushes of the sealed memtables. force: failed flushes are retried at once.
  void Schedule(bool force = false) LAVA_EXCLUDES(tree_->mutex());
  /// Flushes all sealed memtables in this thread. No other flush may exist. Returns when the flush
  /// is done or has failed.
  Status FlushAllHere() LAVA_EXCLUDES(tree_->mutex());
  /// Waits until flushed() returns true, and retries failed flushes at once. flushed() is called
  /// under the tree's mutex. *failures_seen: the number of failed flushes that the caller knows; a
  /// new failure is returned. Errors: Busy after timeout_ms or the instance's longest wait; Closed.
  Status WaitUntil(const std::function<bool()>& flushed, uint32_t timeout_ms,
                   std::atomic<uint64_t>* failures_seen) LAVA_EXCLUDES(tree_->mutex());
  /// Starts flushes for a write that has waited since since_us. Errors: the failure of the last
  /// flush if no flush runs now.
  Status Relieve(uint64_t since_us) LAVA_EXCLUDES(tree_->mutex());

 private:
  void ScheduleLocked(bool force) LAVA_REQUIRES(tree_->mutex());
  void Start(const std::shared_ptr<FlushGroup>& group) LAVA_REQUIRES(tree_->mutex());
  void Run(const std::shared_ptr<FlushGroup>& group) LAVA_EXCLUDES(tree_->mutex());
  Status Flush(FlushGroup* group, FlushInfo* told, std::vector<Flushed>* installed)
      LAVA_EXCLUDES(tree_->mutex());
  Status Install(std::vector<Flushed>* installed);
  Status InstallGroup(const std::shared_ptr<FlushGroup>& group, std::vector<Flushed>* installed)
      LAVA_REQUIRES(tree_->versions.install_mutex());
  Status LogGroup(FlushGroup* group) LAVA_REQUIRES(tree_->versions.install_mutex());
  /// New views for the snapshots that have the group's runs. Empty if a plan has adopted the group.
  FlushedViews PrepareViews(const FlushGroup& group) const LAVA_EXCLUDES(tree_->mutex());
  void TuneSeparation(const std::vector<Flushed>& installed) LAVA_EXCLUDES(tree_->mutex());

  InstanceContext* const instance_;
  TreeState* const tree_;
  const Neighbours with_;
  const std::function<void()> plan_jobs_;
};

}  // namespace lava
