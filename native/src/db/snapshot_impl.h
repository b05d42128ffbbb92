// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <string>

#include "base/backtrace.h"
#include "base/mutex.h"
#include "db/close_guard.h"
#include "db/event_notifier.h"
#include "db/read_view.h"
#include "host/space_quota.h"
#include "lava/db.h"
#include "manifest/version_edit.h"

namespace lava {

class DBImpl;
class SnapshotImpl;

/// The open snapshots of an instance, by age. Also queues the events of snapshots for listeners.
/// Threads:    any. Views of registered snapshots are replaced under the registry's mutex.
/// Ownership:  shared by the instance and its snapshots, because either may be destroyed first.
///             Borrows the snapshots, which remove themselves.
class SnapshotRegistry {
 public:
  SnapshotRegistry(SpaceQuota* quota, std::shared_ptr<EventNotifier> notifier)
      : quota_(quota), notifier_(std::move(notifier)) {}
  /// Adds the snapshot, and numbers it uniquely among all snapshots under the same quota.
  void Add(SnapshotImpl* snapshot);
  /// Does nothing if the snapshot was given up or the instance closed.
  void Remove(SnapshotImpl* snapshot);
  /// A flush has written the runs to the files that the edit adds. Returns new views for the
  /// snapshots that have the runs: the files take the place of the runs. The work grows with the
  /// blob files that the edit references, so it is done before writes are locked out.
  /// Errors: throws std::bad_alloc.
  FlushedViews PrepareFlushed(const std::vector<std::shared_ptr<SealedRun>>& runs,
                              const VersionEdit& edit) const;
  /// Gives the snapshots these views, and those that were taken since PrepareFlushed() views of
  /// their own. The caller destroys *views, and with it the memtables and files of the views
  /// before, after giving back the mutexes that writes need.
  /// Errors: throws std::bad_alloc, and has changed no view then.
  void RunsFlushed(const std::vector<std::shared_ptr<SealedRun>>& runs, const VersionEdit& edit,
                   FlushedViews* views);
  /// The instance is being closed: drops the view of every snapshot. Returns the text of
  /// DB::LeftOpen().
  std::string Clear();
  /// Drops the view of the oldest snapshot, because writes need the space of its files. All later
  /// calls to the snapshot fail with NoSpace. False: no snapshot is open.
  bool GiveUpOldest();
  size_t size() const;
  /// The number of the oldest snapshot; SpaceReport::kNoSnapshot if no snapshot is open.
  uint64_t oldest() const;
  EventNotifier* notifier() const { return notifier_.get(); }

 private:
  void TellEnd(const SnapshotImpl& snapshot, SnapshotEnd end) const;

  SpaceQuota* const quota_;  // numbers the snapshots of all its instances by age
  const std::shared_ptr<EventNotifier> notifier_;
  mutable Mutex mutex_;
  std::map<uint64_t, SnapshotImpl*> snapshots_ LAVA_GUARDED_BY(mutex_);  // by age
};

/// See lava/db.h. The view has no active memtable. Flushes replace the view's sealed runs by files,
/// oldest run first, until no run is left. The view's version then has exactly the files of the
/// snapshot.
/// Threads:    any.
/// Ownership:  borrows the instance, and uses it only inside its close guard.
class SnapshotImpl final : public Snapshot {
 public:
  SnapshotImpl(DBImpl* db, std::shared_ptr<CloseGuard> close_guard,
               std::shared_ptr<SnapshotRegistry> registry, ViewRef view,
               std::map<uint64_t, TableRegistration> tables, uint64_t failures_seen);
  ~SnapshotImpl() override;

  Status WaitFlushed(uint32_t timeout_ms) override;
  Status Files(std::vector<File>* files, std::string* metadata) override;
  Flushed flushed() const override { return {sealed_bytes_, file_bytes_.load()}; }

  /// The registry of the instance to which the snapshot belongs.
  const SnapshotRegistry* registry() const { return registry_.get(); }
  /// The state of the snapshot when it was taken.
  SnapshotInfo Info() const;
  /// Errors: Closed once the instance is closed; NoSpace once the snapshot was given up.
  Result<ViewRef> View() const;

 private:
  void FlushWhatItSealed() const;

  friend class SnapshotRegistry;
  DBImpl* const db_;  // used only inside the guard
  const std::shared_ptr<CloseGuard> close_guard_;
  const std::shared_ptr<SnapshotRegistry> registry_;
  const std::chrono::steady_clock::time_point taken_ = std::chrono::steady_clock::now();
  [[no_unique_address]] const Backtrace taken_at_{};
  uint64_t number_ = 0;  // set by the registry
  std::atomic<bool> given_up_{false};
  // Whether the flush of the memtable that this snapshot sealed must still be scheduled. The
  // snapshot's first use or its end schedules the flush, because taking a snapshot must make no
  // system call, not even to wake a thread.
  mutable std::atomic<bool> flush_is_due_;
  const uint64_t sealed_bytes_;          // of the runs in the first view
  const uint64_t version_bytes_;         // of the files in the first view
  std::atomic<uint64_t> file_bytes_{0};  // size of the files written from the runs
  ViewCell view_;
  const std::map<uint64_t, TableRegistration> tables_;
  // BackgroundFaults::flush_failures() at the last failure that WaitFlushed() returned.
  std::atomic<uint64_t> failures_seen_;
};

}  // namespace lava
