// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>

#include "base/mutex.h"
#include "db/background_faults.h"
#include "db/instance_context.h"
#include "db/job_plans.h"
#include "db/missing_files.h"
#include "db/read_view.h"
#include "db/running_jobs.h"
#include "db/sealed_memtables.h"
#include "db/snapshot_impl.h"
#include "db/space_controller.h"
#include "db/version_store.h"

namespace lava {

/// The tree of an instance as readers and planners see it now: the active memtable, the sealed
/// memtables and the installed version. Publishes views of the tree, and installs new versions of
/// the manifest for readers.
///
/// Invariants:
/// - While no thread holds mutex(), newest_view() has exactly the current active memtable, sealed
///   memtables and version.
/// - The installed version is the manifest's newest version, except while memory for a view of it
///   is refused. In the meantime nothing is planned. AdoptLeft() tries again.
/// - Views do not change. A reader's view keeps its memtables and files.
///
/// Threads:    any; functions that need mutex() say so. mutex() is taken after the mutexes of
///             VersionStore (installs), Writer and JobScheduler, see docs/locks.md.
/// Ownership:  borrows the constructor's arguments. Owns all memtables and versions.
/// Errors:     functions that prepare a change throw std::bad_alloc and then have changed nothing.
class TreeState {
 public:
  /// Other components that belong to the state. All must outlive this object.
  struct Neighbours {
    BackgroundFaults* faults = nullptr;
    const MissingFiles* missing_files = nullptr;
    SnapshotRegistry* snapshots = nullptr;
  };
  TreeState(InstanceContext* instance, const Neighbours& neighbours);

  /// Guards the state, as annotated. Wait...() returns after changes of this state.
  Mutex* mutex() const LAVA_RETURN_CAPABILITY(mutex_) { return &mutex_; }

  /// Called at the opening. Readers get the manifest's version and an empty memtable.
  void Begin(std::shared_ptr<MemTable> active) LAVA_REQUIRES(mutex_);
  /// The instance is being closed: readers find no view afterwards.
  void HideView() LAVA_REQUIRES(mutex_) { view_.Set(ViewRef()); }
  /// Drops all memtables and files. Called after HideView().
  void Clear() LAVA_REQUIRES(mutex_);

  const ViewCell* newest_view() const { return &view_; }
  /// Null once the instance is closed.
  ViewRef view() const { return view_.Get(); }
  /// The installed version.
  const std::shared_ptr<const Version>& version() const LAVA_REQUIRES(mutex_) { return version_; }
  SealedMemTables& sealed() LAVA_REQUIRES(mutex_) { return sealed_; }
  const SealedMemTables& sealed() const LAVA_REQUIRES(mutex_) { return sealed_; }
  /// The number of the version's L0 files that overlap at one key. Below the stall trigger only an
  /// upper bound.
  uint32_t l0_depth() const LAVA_REQUIRES(mutex_) { return l0_depth_; }

  /// Whether runs older than the active memtable have records. May be true for longer than
  /// necessary.
  bool has_older() const { return has_older_.load(std::memory_order_relaxed); }
  /// Whether there are sealed memtables that are not in files yet.
  bool is_flushing() const { return flushing_.load(std::memory_order_relaxed); }
  /// Whether writes must take the slow path: the instance is closed, writes wait or are slowed, or
  /// the manifest is read-only.
  bool slow_path() const { return slow_path_.load(std::memory_order_relaxed); }
  void UpdateSlowPath() LAVA_REQUIRES(mutex_);

  /// The memory for a seal. The caller fills in the run between PrepareSeal() and Seal().
  struct PreparedSeal {
    SealedMemTables::Runs sealed;
    std::shared_ptr<MemTable> next;
    std::unique_ptr<ReadView> view;
  };
  PreparedSeal PrepareSeal(const std::shared_ptr<SealedRun>& run, std::shared_ptr<MemTable> next)
      LAVA_REQUIRES(mutex_);
  /// Adds the sealed run, and makes `next` the active memtable.
  void Seal(PreparedSeal prepared) noexcept LAVA_REQUIRES(mutex_);
  /// Makes a view of the sealed memtables and the version, for a snapshot.
  ViewRef SnapshotView() LAVA_REQUIRES(mutex_);

  /// Writes an edit to the manifest. Readers do not see its effect yet. group: the flush that made
  /// the edit, or null. Errors: those of VersionStore::Log().
  Status Log(const VersionEdit& edit, FlushGroup* group = nullptr)
      LAVA_REQUIRES(versions.install_mutex()) LAVA_EXCLUDES(mutex_);
  /// Publishes a view with the manifest's newest version. Reads that already have a view keep it. A
  /// caller that holds view() for longer than the mutex destroys the replaced version without it.
  void Adopt() LAVA_REQUIRES(mutex_);
  /// Adopts the newest version if memory was refused when its edit was logged. Called before each
  /// plan and each edit.
  void AdoptLeft() LAVA_REQUIRES(mutex_) {
    if (adoption_due_) Adopt();
  }
  /// As Adopt(), for the oldest flush. The flush is logged, or has nothing to log. Does nothing if
  /// the flush was adopted already. views: of SnapshotRegistry::PrepareFlushed(), or empty; the
  /// caller destroys them after giving back the mutex.
  void AdoptFlush(const std::shared_ptr<FlushGroup>& group, FlushedViews* views)
      LAVA_REQUIRES(mutex_);

  /// Wakes all threads that wait for a change of the state under mutex(): stalled writes
  /// (Writer::WaitOrSeal()), and threads that wait for a flush (FlushScheduler::WaitUntil()).
  /// Called with each new view, at the end of each job, and when the instance is closed.
  void NotifyChanged() LAVA_REQUIRES(mutex_) {
    ++changes_;
    changed_.NotifyAll();
  }
  /// As NotifyChanged(), without the mutex. A thread that is about to wait may miss the
  /// notification, and then checks again when its wait times out.
  void NotifyUnlocked() {
    ++changes_;
    changed_.NotifyAll();
  }
  uint64_t changes() const LAVA_REQUIRES(mutex_) { return changes_; }
  /// Waits for a change, unless changes() has changed already.
  void WaitForChange(uint64_t changes, std::chrono::microseconds at_most) LAVA_REQUIRES(mutex_) {
    if (changes_ == changes) changed_.WaitFor(&mutex_, at_most);
  }
  /// False: the deadline has passed.
  bool WaitUntil(std::chrono::steady_clock::time_point deadline) LAVA_REQUIRES(mutex_) {
    return changed_.WaitUntil(&mutex_, deadline);
  }

  /// The parts of the state on which the use of space depends, besides the version.
  SpaceWork SpaceWorkNow() const LAVA_REQUIRES(mutex_);
  /// Jobs have ended or begun, or obsolete files were removed. Other instances may have to free
  /// space now, so this reports to the quota.
  void ReportJobs() LAVA_REQUIRES(mutex_);
  const JobCounts& job_counts() const { return job_counts_; }
  JobCounts* mutable_job_counts() { return &job_counts_; }
  /// A job is queued. JobEnded() is called when the job has ended, or when queuing it has failed.
  void JobBegan() { ++job_counts_.in_flight; }
  /// The job has ended, and its successors are planned. Does not throw.
  void JobEnded() LAVA_EXCLUDES(mutex_);
  /// As InstanceContext::MakeJobContext(), with names for new files.
  JobContext MakeJobContext(uint32_t output_level);
  /// Fills in the state's part of a plan's inputs.
  void AddTo(PlanInputs* inputs) const LAVA_REQUIRES(mutex_);
  /// A checkpoint has taken the version's files. Later collections count the upload of values that
  /// they copy from these files.
  void GoesIntoCheckpoint(const Version& version) LAVA_EXCLUDES(mutex_);

  // Components with locks of their own.
  VersionStore versions;
  SpaceController space;

 private:
  std::unique_ptr<ReadView> NewView(std::shared_ptr<MemTable> active,
                                    const SealedMemTables::Runs& sealed,
                                    std::shared_ptr<const Version> version) const
      LAVA_REQUIRES(mutex_);
  void Publish(std::unique_ptr<ReadView> view) LAVA_REQUIRES(mutex_);
  void AdoptVersion(std::shared_ptr<const Version> version) LAVA_REQUIRES(mutex_);
  void CommitFlush(const std::shared_ptr<FlushGroup>& group, FlushedViews* views)
      LAVA_REQUIRES(mutex_);
  uint32_t L0Depth() const LAVA_REQUIRES(mutex_);

  InstanceContext* const instance_;
  const Neighbours neighbours_;
  ViewCell view_;
  JobCounts job_counts_;
  std::atomic<bool> has_older_{false}, flushing_{false}, slow_path_{false};

  mutable Mutex mutex_ LAVA_ACQUIRED_AFTER(versions.install_mutex());
  CondVar changed_;                   // a change of the guarded state
  std::atomic<uint64_t> changes_{0};  // the number of notifications of changed_
  std::shared_ptr<MemTable> active_ LAVA_GUARDED_BY(mutex_);
  SealedMemTables sealed_ LAVA_GUARDED_BY(mutex_);
  std::shared_ptr<const Version> version_ LAVA_GUARDED_BY(mutex_) = std::make_shared<Version>();
  // version_ is not the newest version, because memory was refused.
  bool adoption_due_ LAVA_GUARDED_BY(mutex_) = false;
  uint64_t metadata_bytes_ LAVA_GUARDED_BY(mutex_) = 0;  // charge for version_
  uint32_t l0_depth_ LAVA_GUARDED_BY(mutex_) = 0;
  bool takes_checkpoints_ LAVA_GUARDED_BY(mutex_) = false;
  // Value files of this origin below this number are in a checkpoint, as are all value files of
  // other origins.
  uint64_t in_checkpoint_below_ LAVA_GUARDED_BY(mutex_) = 0;
};

}  // namespace lava
