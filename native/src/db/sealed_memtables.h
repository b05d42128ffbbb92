// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "base/check.h"
#include "db/read_view.h"
#include "manifest/version_edit.h"

namespace lava {

/// Adjacent sealed runs that one flush writes to one file.
/// Threads:    guarded by TreeState::mutex(); `runs` does not change while the flush runs.
struct FlushGroup {
  std::vector<std::shared_ptr<SealedRun>> runs;  // newest first
  bool running = false;
  bool done = false;    // its files are written; it is installed after older groups
  bool logged = false;  // the manifest has its edit, but readers do not see the files yet
  VersionEdit edit;     // set when it is logged
  std::shared_ptr<FileMeta> file;
  std::vector<std::shared_ptr<ValueFileMeta>> value_files;
};

/// The sealed memtables of an instance, and the flushes that write them to files.
///
/// Invariants:
/// - Runs are numbered in the order in which they are sealed. They leave in this order, even if
///   their flushes end in another order: a run never becomes a file before all older runs have.
/// - Every group consists of adjacent runs, the oldest group begins with the oldest run, and no run
///   is in two groups.
/// - No group has both a run that ends a snapshot and newer runs, so a snapshot has all runs of a
///   group or none.
/// - At most kGroupsMax groups exist. Runs that are sealed while these run will share the file of
///   the next group.
///
/// Threads:    guarded by the owner's mutex.
/// Errors:     functions that add throw std::bad_alloc and then have changed nothing.
class SealedMemTables {
 public:
  using Runs = std::vector<std::shared_ptr<SealedRun>>;  // newest first

  const Runs& runs() const { return runs_; }
  bool empty() const { return runs_.empty(); }
  size_t size() const { return runs_.size(); }

  /// Returns the runs with one more. This is the first half of Seal(), which allocates the memory.
  Runs With(const std::shared_ptr<SealedRun>& run) const;
  /// Takes over the result of With(), and numbers the new run.
  void Seal(Runs with_new) noexcept;
  /// The number of the newest run that was sealed; 0: no run was sealed.
  uint64_t sealed_through() const { return sealed_through_; }
  /// All runs up to this number are in the version; 0: no run is.
  uint64_t installed_through() const { return installed_through_; }
  /// A snapshot was taken that has all current runs.
  void EndSnapshot();

  /// Returns the oldest group that must be started. Groups whose flush failed are returned again.
  /// If no group must be started and another one is allowed, makes one of the runs that are in no
  /// group. Null: nothing must be started.
  std::shared_ptr<FlushGroup> NextToStart();
  /// Makes one group of all runs, for a thread that flushes them itself. No group may exist.
  std::shared_ptr<FlushGroup> GroupAll();
  /// The flush of the group is queued or has begun.
  void Started(FlushGroup* group) {
    LAVA_DCHECK(!group->running && !group->runs.empty());
    group->running = true;
    ++running_;
  }
  /// The flush of the group has ended. Returns whether the group is installed. An installed group
  /// gives up its runs to *installed, so that only views hold them. The caller destroys *installed
  /// without the mutex, because freeing a memtable takes long.
  bool Ended(FlushGroup* group, Runs* installed);
  /// A queued flush found its group already installed.
  void EndedEarly() {
    LAVA_DCHECK(running_ > 0);
    --running_;
  }
  uint32_t running() const { return running_; }

  bool IsOldest(const FlushGroup& group) const {
    return !groups_.empty() && groups_.front().get() == &group;
  }
  /// The oldest group if its files are written. Null: nothing can be installed now.
  std::shared_ptr<FlushGroup> OldestDone() const;
  /// The oldest group if the manifest has its edit; otherwise null.
  std::shared_ptr<FlushGroup> OldestLogged() const;
  /// Returns the runs without those of the oldest group. This is the first half of RemoveOldest(),
  /// which allocates the memory.
  Runs WithoutOldest() const;
  /// The oldest group is in the version: removes it. left: the result of WithoutOldest().
  void RemoveOldest(Runs left) noexcept;

  /// Drops all runs and groups.
  void Clear();

 private:
  // Two flushes run concurrently. More would only make smaller files.
  static constexpr size_t kGroupsMax = 2;

  /// Asserts the invariants. Returns true, so that LAVA_DCHECK() calls it in debug builds only.
  bool CheckInvariants() const;
  bool Contains(const FlushGroup* group) const;

  Runs runs_;
  std::deque<std::shared_ptr<FlushGroup>> groups_;  // oldest first
  uint64_t sealed_through_ = 0;
  uint64_t installed_through_ = 0;
  uint32_t running_ = 0;
};

}  // namespace lava
