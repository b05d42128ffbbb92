#pragma once

#include <string>

#include "base/mutex.h"
#include "db/background_faults.h"
#include "db/instance_context.h"
#include "db/tree_state.h"
#include "value_log/changelog_log.h"
#include "wal/write_ahead_log.h"

namespace lava {

/// Removes the files of an instance that nobody needs any more, and tells listeners of each.
///
/// A file that cannot be removed stays: the next opening removes it, and the failure becomes a
/// background event.
///
/// Threads:    any. Removing waits for the disk, so a thread that calls RemoveObsolete() holds no
///             mutex of a component. RemoveReplayed() is called under the mutex of installs.
/// Ownership:  borrows what the constructor takes.
class FileRemover {
 public:
  FileRemover(InstanceContext* instance, TreeState* tree, ChangelogLog* changelog,
              BackgroundFaults* faults)
      : instance_(instance), tree_(tree), changelog_(changelog), faults_(faults) {}

  /// Removes obsolete files that no version, view or job holds. Jobs and checkpoints call this at
  /// their end. A read that was the last to hold a file leaves the file to them, because a read
  /// must not wait for the disk. Does not throw: the next call removes what there is no memory for
  /// now.
  void RemoveObsolete() LAVA_EXCLUDES(mutex_);
  void Remove(const std::string& name);
  /// Tells listeners how the removal of a file ended.
  void TellRemoved(const std::string& name, const Status& status);

  // Log segments of earlier openings, which records of the write-ahead log may refer to.
  /// Keeps log segments that are added until the record `last` is in files.
  void SetReplayedThrough(uint64_t last) LAVA_EXCLUDES(mutex_);
  void AddReplayed(const std::string& name) LAVA_EXCLUDES(mutex_);
  /// Removes them once all records that the log had at the opening are in files. flushed: the last
  /// record that is.
  void RemoveReplayed(uint64_t flushed) LAVA_EXCLUDES(mutex_);
  /// Lets go of changelog segments that the layer above has released. Segments of this opening are
  /// removed with the other obsolete files, once the version has left them. A segment of an earlier
  /// opening that never became a value file is kept as a replayed one. version: the installed one;
  /// the caller holds the mutex of installs, so that the version stays.
  void DropReleased(const Version& version) LAVA_EXCLUDES(mutex_);

 private:
  InstanceContext* const instance_;
  TreeState* const tree_;
  ChangelogLog* const changelog_;
  BackgroundFaults* const faults_;
  Mutex mutex_;
  ReplayedLogSegments replayed_ LAVA_GUARDED_BY(mutex_);
};

}  // namespace lava
