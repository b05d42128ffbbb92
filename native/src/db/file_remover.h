// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>

#include "base/mutex.h"
#include "db/background_faults.h"
#include "db/instance_context.h"
#include "db/tree_state.h"
#include "value_log/changelog_log.h"
#include "wal/write_ahead_log.h"

namespace lava {

/// Removes the files that an instance no longer needs, and reports each removal to listeners.
///
/// A file that cannot be removed stays until the next opening removes it. The failure becomes a
/// background event.
///
/// Threads:    any. A thread that calls RemoveObsolete() holds no mutex of a component, because
///             removing waits for the disk. RemoveReplayed() is called under the mutex of installs.
/// Ownership:  borrows the constructor's arguments.
class FileRemover {
 public:
  FileRemover(InstanceContext* instance, TreeState* tree, ChangelogLog* changelog,
              BackgroundFaults* faults)
      : instance_(instance), tree_(tree), changelog_(changelog), faults_(faults) {}

  /// Removes obsolete files that no version, view or job holds. Jobs and checkpoints call this at
  /// their end. Reads do not call it, even if they were the last to hold a file, because a read
  /// must not wait for the disk. Does not throw: if memory is refused, the next call removes the
  /// remaining files.
  void RemoveObsolete() LAVA_EXCLUDES(mutex_);
  void Remove(const std::string& name);
  /// Reports the result of a file's removal to listeners.
  void TellRemoved(const std::string& name, const Status& status);

  // Log segments of earlier openings. Records of the write-ahead log may refer to them.
  /// Keeps the log segments of AddReplayed() until all records up to `last` are in files.
  void SetReplayedThrough(uint64_t last) LAVA_EXCLUDES(mutex_);
  void AddReplayed(const std::string& name) LAVA_EXCLUDES(mutex_);
  /// Removes these log segments once all records that the log had at the opening are in files.
  /// flushed: the last record that is in files.
  void RemoveReplayed(uint64_t flushed) LAVA_EXCLUDES(mutex_);
  /// Drops the changelog segments that the layer above has released. Segments of this opening are
  /// removed with the other obsolete files, once no version has them. A segment of an earlier
  /// opening that never became a value file is kept until RemoveReplayed() removes it. version: the
  /// installed version. The caller holds the mutex of installs, so that the version does not
  /// change.
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
