#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "base/check.h"
#include "db/read_view.h"
#include "manifest/version_edit.h"

namespace lava {

/// Adjacent sealed runs that one flush writes into one file.
/// Threads:    guarded by TreeState::mutex(); `runs` does not change while the flush runs.
struct FlushGroup {
  std::vector<std::shared_ptr<SealedRun>> runs;  // newest first
  bool running = false;
  bool done = false;    // its files are written, and it waits to be installed behind older groups
  bool logged = false;  // the manifest has its edit, and readers do not see the files yet
  VersionEdit edit;     // once it is logged
  std::shared_ptr<FileMeta> file;
  std::vector<std::shared_ptr<ValueFileMeta>> value_files;
};

/// The sealed memtables of an instance, and the flushes that turn them into files.
///
/// Invariants:
/// - Runs are numbered in the order in which they are sealed, and leave in that order, whatever
///   order their flushes end in: a run never becomes a file before all older runs have.
/// - Every group covers adjacent runs, the oldest group begins with the oldest run, and no run is
///   in two groups.
/// - No group reaches beyond a run that ends a snapshot, so a snapshot has all runs of a group or
///   none.
/// - At most kGroupsMax groups exist. While they run, newer runs gather and share the file of the
///   next group.
///
/// Threads:    none of its own: its owner's mutex guards it.
/// Errors:     functions that add throw std::bad_alloc without memory, and have changed nothing
///             then.
class SealedMemTables {
 public:
  using Runs = std::vector<std::shared_ptr<SealedRun>>;  // newest first

  const Runs& runs() const { return runs_; }
  bool empty() const { return runs_.empty(); }
  size_t size() const { return runs_.size(); }

  /// The runs with one more; the first half of Seal(), which takes the memory.
  Runs With(const std::shared_ptr<SealedRun>& run) const;
  /// Takes over what With() returned and numbers the new run.
  void Seal(Runs with_new) noexcept;
  /// The number of the newest run that was ever sealed; 0: none was.
  uint64_t sealed_through() const { return sealed_through_; }
  /// The newest run that is in the version, as are all older ones; 0: none is.
  uint64_t installed_through() const { return installed_through_; }
  /// A snapshot was taken of all runs that there are now.
  void EndSnapshot();

  /// The oldest group that is to be started; makes one of the runs that no group covers, if there
  /// may be one more. Null: nothing is to be started. Groups whose flush failed are returned again.
  std::shared_ptr<FlushGroup> NextToStart();
  /// One group of all runs, for a thread that flushes them itself. No group may exist.
  std::shared_ptr<FlushGroup> GroupAll();
  /// The flush of the group has begun, or is queued.
  void Started(FlushGroup* group) {
    LAVA_DCHECK(!group->running && !group->runs.empty());
    group->running = true;
    ++running_;
  }
  /// The flush of the group ended. Returns whether the group is installed; it lets go of its runs
  /// then, which nobody but views may hold any more.
  bool Ended(FlushGroup* group);
  /// A queued flush found its group installed already.
  void EndedEarly() {
    LAVA_DCHECK(running_ > 0);
    --running_;
  }
  uint32_t running() const { return running_; }

  bool IsOldest(const FlushGroup& group) const {
    return !groups_.empty() && groups_.front().get() == &group;
  }
  /// The oldest group if its files are written; null: nothing can be installed now.
  std::shared_ptr<FlushGroup> OldestDone() const;
  /// The oldest group if the manifest has its edit; else null.
  std::shared_ptr<FlushGroup> OldestLogged() const;
  /// The runs without those of the oldest group; the first half of RemoveOldest(), which takes the
  /// memory.
  Runs WithoutOldest() const;
  /// The oldest group is in the version. left: what WithoutOldest() returned.
  void RemoveOldest(Runs left) noexcept;

  /// Lets go of all runs and groups.
  void Clear();

 private:
  // While two flushes run side by side, more would only make smaller files.
  static constexpr size_t kGroupsMax = 2;

  /// Asserts what holds between calls. Returns true, so that LAVA_DCHECK() calls it in debug builds
  /// only.
  bool CheckInvariants() const;
  bool Contains(const FlushGroup* group) const;

  Runs runs_;
  std::deque<std::shared_ptr<FlushGroup>> groups_;  // oldest first
  uint64_t sealed_through_ = 0;
  uint64_t installed_through_ = 0;
  uint32_t running_ = 0;
};

}  // namespace lava
