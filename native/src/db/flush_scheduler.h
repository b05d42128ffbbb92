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

/// Turns sealed memtables into files: starts flushes, runs them on the executor, and installs their
/// files oldest first.
///
/// A flush that fails is tried again, by time or when somebody waits for it. Its memtables stay
/// sealed, so no write is lost.
///
/// Threads:    any. Schedule() and Relieve() take the tree's mutex alone, so callers may hold the
///             mutex of the writers or of the job scheduler. A flush, and so FlushAllHere(), also
///             takes the mutex of installs, which comes before these two. WaitUntil() waits, so its
///             callers hold no mutex.
/// Ownership:  borrows what the constructor takes. A queued flush keeps no memtable alive.
/// Errors:     of a flush: background faults. Functions that start flushes throw std::bad_alloc
///             without memory.
class FlushScheduler {
 public:
  /// What a flush needs beside the instance and its tree.
  struct Neighbours {
    TableRegistry* tables = nullptr;
    SeparationTuner* separation_tuner = nullptr;
    BackgroundFaults* faults = nullptr;
    SnapshotRegistry* snapshots = nullptr;
    WriteAheadLog* wal = nullptr;
    FileRemover* remover = nullptr;
  };
  /// plan_jobs: plans what follows from the end of a flush. It is called without a mutex.
  FlushScheduler(InstanceContext* instance, TreeState* tree, const Neighbours& neighbours,
                 std::function<void()> plan_jobs)
      : instance_(instance), tree_(tree), with_(neighbours), plan_jobs_(std::move(plan_jobs)) {}

  /// Starts flushes of what is sealed. force: failed flushes are tried again at once.
  void Schedule(bool force = false) LAVA_EXCLUDES(tree_->mutex());
  /// Flushes all that is sealed in this thread. No other flush may exist. Returns once it is done
  /// or has failed.
  Status FlushAllHere() LAVA_EXCLUDES(tree_->mutex());
  /// Waits until flushed(), which is called under the tree's mutex, and forces failed flushes.
  /// *failures_seen: the number of failed flushes that the caller was told of; a new failure is
  /// returned. Errors: Busy after timeout_ms or the instance's longest wait; Closed.
  Status WaitUntil(const std::function<bool()>& flushed, uint32_t timeout_ms,
                   std::atomic<uint64_t>* failures_seen) LAVA_EXCLUDES(tree_->mutex());
  /// Starts flushes for a write that waits since since_us. Errors: no flush can succeed.
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
  void TuneSeparation(const std::vector<Flushed>& installed) LAVA_EXCLUDES(tree_->mutex());

  InstanceContext* const instance_;
  TreeState* const tree_;
  const Neighbours with_;
  const std::function<void()> plan_jobs_;
};

}  // namespace lava
