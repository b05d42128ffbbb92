#pragma once

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <string>

#include "base/backtrace.h"
#include "base/mutex.h"
#include "db/event_notifier.h"
#include "db/gate.h"
#include "db/read_view.h"
#include "host/space_quota.h"
#include "lava/db.h"
#include "manifest/version_edit.h"

namespace lava {

class DBImpl;
class SnapshotImpl;

/// The open snapshots of an instance. Shared by it and them, because either may end first. Queues
/// for listeners what becomes of each.
/// Threads: any.
class SnapshotRegistry {
 public:
  SnapshotRegistry(SpaceQuota* quota, std::shared_ptr<EventNotifier> notifier)
      : quota_(quota), notifier_(std::move(notifier)) {}
  void Add(SnapshotImpl* snapshot);
  void Remove(SnapshotImpl* snapshot);
  /// The sealed runs have become the files that edit adds: views name these instead.
  void RunsFlushed(const std::vector<std::shared_ptr<SealedRun>>& runs, const VersionEdit& edit);
  /// The instance closes: every snapshot lets go of its view. Returns DB::LeftOpen()'s text.
  std::string Clear();
  /// Writes need the space that it keeps: the oldest one lets go of its view, and every call to it
  /// says so from now on. False when there is none.
  bool GiveUpOldest();
  size_t size() const;
  /// SpaceReport::kNoSnapshot when there is none.
  uint64_t oldest() const;
  EventNotifier* notifier() const { return notifier_.get(); }

 private:
  void TellEnd(const SnapshotImpl& snapshot, SnapshotEnd end) const;

  SpaceQuota* const quota_;  // numbers the snapshots of all instances by age
  const std::shared_ptr<EventNotifier> notifier_;
  mutable Mutex mutex_;
  std::map<uint64_t, SnapshotImpl*> snapshots_ LAVA_GUARDED_BY(mutex_);  // by age
};

/// See lava/db.h. Its view is replaced as its sealed runs become files, in seal order; at the end
/// the view has no run left and its version is the list of the snapshot's files.
class SnapshotImpl final : public Snapshot {
 public:
  SnapshotImpl(DBImpl* db, std::shared_ptr<Gate> gate, std::shared_ptr<SnapshotRegistry> registry,
               ViewRef view, std::map<uint64_t, TableRegistration> tables, uint64_t failures_seen);
  ~SnapshotImpl() override;

  Status WaitFlushed(uint32_t timeout_ms) override;
  Status Files(std::vector<File>* files, std::string* metadata) override;
  Flushed flushed() const override { return {sealed_bytes_, file_bytes_.load()}; }

  /// The registry of the instance that the snapshot is of.
  const SnapshotRegistry* registry() const { return registry_.get(); }
  /// As of when it was taken.
  SnapshotInfo Info() const;
  /// Closed when the instance is; NoSpace when writes needed what the snapshot kept.
  Result<ViewRef> View() const;

 private:
  void FlushWhatItSealed() const;

  friend class SnapshotRegistry;
  DBImpl* const db_;  // only touched inside the gate
  const std::shared_ptr<Gate> gate_;
  const std::shared_ptr<SnapshotRegistry> registry_;
  const std::chrono::steady_clock::time_point taken_ = std::chrono::steady_clock::now();
  [[no_unique_address]] const Backtrace taken_at_{};
  uint64_t number_ = 0;  // the registry's
  std::atomic<bool> given_up_{false};
  // Until its first use or its end: taking it must not call the system, not even to wake a thread.
  mutable std::atomic<bool> flush_is_due_;
  const uint64_t sealed_bytes_;          // of the runs that the view began with
  const uint64_t version_bytes_;         // of the files that it began with
  std::atomic<uint64_t> file_bytes_{0};  // of what they have become so far
  ViewCell view_;
  const std::map<uint64_t, TableRegistration> tables_;
  std::atomic<uint64_t> failures_seen_;  // the DB's count of failed flushes that was told last
};

}  // namespace lava
