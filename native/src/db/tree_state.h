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

/// The tree of an instance as readers and planners see it now: the active memtable, the sealed ones
/// and the installed version. Publishes views of it, and turns what the manifest has into what
/// readers have.
///
/// Invariants:
/// - newest_view() has exactly the active memtable, the sealed memtables and the version of this
///   moment, whenever nobody holds mutex().
/// - The installed version is the manifest's newest, except while there is no memory for a view of
///   it. Nothing is planned meanwhile, and AdoptLeft() makes up for it.
/// - A view that a reader took keeps its memtables and files: nothing of a view changes.
///
/// Threads:    any; functions that need mutex() say so. mutex() is taken after the mutexes of
///             VersionStore (installs), Writer and JobScheduler, see docs/locks.md.
/// Ownership:  borrows what the constructor takes. Owns all memtables and versions.
/// Errors:     functions that prepare something throw std::bad_alloc without memory, and have
///             changed nothing then.
class TreeState {
 public:
  /// Components whose figures belong to the state. All must outlive it.
  struct Neighbours {
    BackgroundFaults* faults = nullptr;
    const MissingFiles* missing_files = nullptr;
    SnapshotRegistry* snapshots = nullptr;
  };
  TreeState(InstanceContext* instance, const Neighbours& neighbours);

  /// Guards what this class says is guarded. Notifies Wait...() of each change.
  Mutex* mutex() const LAVA_RETURN_CAPABILITY(mutex_) { return &mutex_; }

  /// At the opening: readers get the manifest's version and an empty memtable.
  void Begin(std::shared_ptr<MemTable> active) LAVA_REQUIRES(mutex_);
  /// The instance is being closed: readers find no view from now on.
  void HideView() LAVA_REQUIRES(mutex_) { view_.Set(ViewRef()); }
  /// Lets go of all memtables and files. Comes after HideView().
  void Clear() LAVA_REQUIRES(mutex_);

  const ViewCell* newest_view() const { return &view_; }
  /// Null once the instance is closed.
  ViewRef view() const { return view_.Get(); }
  /// The installed version.
  const std::shared_ptr<const Version>& version() const LAVA_REQUIRES(mutex_) { return version_; }
  SealedMemTables& sealed() LAVA_REQUIRES(mutex_) { return sealed_; }
  const SealedMemTables& sealed() const LAVA_REQUIRES(mutex_) { return sealed_; }
  /// Of the version; exact only from the stall's trigger on, otherwise no less.
  uint32_t l0_depth() const LAVA_REQUIRES(mutex_) { return l0_depth_; }

  /// Whether runs older than the active memtable hold anything; may be true too long.
  bool has_older() const { return has_older_.load(std::memory_order_relaxed); }
  /// Whether sealed memtables are not in files yet.
  bool is_flushing() const { return flushing_.load(std::memory_order_relaxed); }
  /// Whether writes must take the slow path: the instance is closed, writes wait or are slowed, or
  /// the manifest is read-only.
  bool slow_path() const { return slow_path_.load(std::memory_order_relaxed); }
  void UpdateSlowPath() LAVA_REQUIRES(mutex_);

  /// The memory that a seal needs. The caller fills in the run between PrepareSeal() and Seal().
  struct PreparedSeal {
    SealedMemTables::Runs sealed;
    std::shared_ptr<MemTable> next;
    std::unique_ptr<ReadView> view;
  };
  PreparedSeal PrepareSeal(const std::shared_ptr<SealedRun>& run, std::shared_ptr<MemTable> next)
      LAVA_REQUIRES(mutex_);
  /// The run is sealed, and next is the active memtable.
  void Seal(PreparedSeal prepared) noexcept LAVA_REQUIRES(mutex_);
  /// A view of the sealed memtables and the version, for a snapshot.
  ViewRef SnapshotView() LAVA_REQUIRES(mutex_);

  /// Writes an edit to the manifest; readers do not have it yet. group: the flush that the edit is
  /// of, or null. Errors: of VersionStore::Log().
  Status Log(const VersionEdit& edit, FlushGroup* group = nullptr)
      LAVA_REQUIRES(versions.install_mutex()) LAVA_EXCLUDES(mutex_);
  /// Readers get what the manifest has: publishes a view with the newest version. Reads that have a
  /// view already keep it. A caller that holds view() for longer than the mutex destroys the
  /// replaced version without the mutex.
  void Adopt() LAVA_REQUIRES(mutex_);
  /// Does so if there was no memory for it when the edit was logged. Comes before each plan and
  /// each edit.
  void AdoptLeft() LAVA_REQUIRES(mutex_) {
    if (adoption_due_) Adopt();
  }
  /// As Adopt(), for the oldest flush, which is logged or wrote nothing to log. Does nothing if the
  /// flush was adopted already. views: of SnapshotRegistry::PrepareFlushed(), or empty; the caller
  /// destroys them after giving back the mutex.
  void AdoptFlush(const std::shared_ptr<FlushGroup>& group, FlushedViews* views)
      LAVA_REQUIRES(mutex_);

  /// Wakes all who wait for a change of what mutex() guards: writes that are stalled
  /// (Writer::WaitOrSeal()) and threads that wait for a flush (FlushScheduler::WaitUntil()). Comes
  /// with each new view, with the end of each job, and when the instance is closed.
  void NotifyChanged() LAVA_REQUIRES(mutex_) {
    ++changes_;
    changed_.NotifyAll();
  }
  /// Does so without the mutex: a thread that is about to wait may miss it, and looks again when
  /// its time is up.
  void NotifyUnlocked() {
    ++changes_;
    changed_.NotifyAll();
  }
  uint64_t changes() const LAVA_REQUIRES(mutex_) { return changes_; }
  /// Waits for a change after the first `changes`.
  void WaitForChange(uint64_t changes, std::chrono::microseconds at_most) LAVA_REQUIRES(mutex_) {
    if (changes_ == changes) changed_.WaitFor(&mutex_, at_most);
  }
  /// False: the deadline has passed.
  bool WaitUntil(std::chrono::steady_clock::time_point deadline) LAVA_REQUIRES(mutex_) {
    return changed_.WaitUntil(&mutex_, deadline);
  }

  /// What the use of space depends on besides the version.
  SpaceWork SpaceWorkNow() const LAVA_REQUIRES(mutex_);
  /// Jobs have ended or begun, or obsolete files have gone: other instances may have to free space
  /// now.
  void ReportJobs() LAVA_REQUIRES(mutex_);
  const JobCounts& job_counts() const { return job_counts_; }
  JobCounts* mutable_job_counts() { return &job_counts_; }
  /// A job is queued. Its end, or the failure to queue it, is told to JobEnded().
  void JobBegan() { ++job_counts_.in_flight; }
  /// The job has ended, and what follows from its end is planned. Does not throw.
  void JobEnded() LAVA_EXCLUDES(mutex_);
  /// As InstanceContext's, with names for new files.
  JobContext MakeJobContext(uint32_t output_level);
  /// Adds the state's part of a plan's inputs.
  void AddTo(PlanInputs* inputs) const LAVA_REQUIRES(mutex_);
  /// A checkpoint takes the version's files. Later collections know that the next checkpoint
  /// uploads again what they copy of these files.
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
  CondVar changed_;                   // of anything guarded by mutex_
  std::atomic<uint64_t> changes_{0};  // so often changed_ was notified
  std::shared_ptr<MemTable> active_ LAVA_GUARDED_BY(mutex_);
  SealedMemTables sealed_ LAVA_GUARDED_BY(mutex_);
  std::shared_ptr<const Version> version_ LAVA_GUARDED_BY(mutex_) = std::make_shared<Version>();
  // The newest version is not version_ because there was no memory for that.
  bool adoption_due_ LAVA_GUARDED_BY(mutex_) = false;
  uint64_t metadata_bytes_ LAVA_GUARDED_BY(mutex_) = 0;  // charged for version_
  uint32_t l0_depth_ LAVA_GUARDED_BY(mutex_) = 0;
  bool takes_checkpoints_ LAVA_GUARDED_BY(mutex_) = false;
  // Value files of this origin by number; others all are.
  uint64_t in_checkpoint_below_ LAVA_GUARDED_BY(mutex_) = 0;
};

}  // namespace lava
