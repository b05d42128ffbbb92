// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "manifest/version_edit.h"
#include "value_log/value_log_segment.h"

namespace lava {

/// The files of an instance that the current version does not name any more, and log segments whose
/// values are in files. A file may be removed once no version, view or job holds its StoredFile.
/// There is one such object per name, so nothing names the file afterwards.
/// Threads:    any. A walk over all files holds the mutex for a few files at a time, so that
///             waiting for the mutex does not take longer with more files.
/// Errors:     functions that add throw std::bad_alloc and then have changed nothing.
class ObsoleteFiles {
 public:
  struct File {
    std::weak_ptr<StoredFile> file;
    uint64_t bytes = 0;
  };
  using Files = std::map<std::string, File>;
  using LogSegments = std::map<std::string, std::weak_ptr<const ValueLogSegment>>;
  /// Files and log segments that may be removed from storage, by file name.
  struct Unused {
    Files files;
    LogSegments log_segments;
  };

  /// The file left the current version, or was never in a version.
  void Add(const std::string& name, const std::weak_ptr<StoredFile>& file);
  /// Writing the edit failed, but the manifest may contain it. The edit's outputs stay until
  /// another edit is safe.
  void AddFailed(const VersionEdit& edit);
  /// The edit is safe in the manifest, so that earlier failed edits cannot take effect: their
  /// outputs are obsolete. Outputs that this edit adds, as a retry of a failed one, are not.
  void EditIsSafe(const VersionEdit& edit);
  /// A flush has written the log segment's values to files. became_file: the segment itself is now
  /// a value file of the version, and must not be removed while readers may use it as a segment.
  void AddLogSegment(const std::shared_ptr<const ValueLogSegment>& segment, bool became_file);

  /// Returns files and log segments without readers, which are no longer in the set. The caller
  /// removes them from storage, or calls GiveBack(). If memory is refused, some are left to the
  /// next call.
  Unused TakeUnused() noexcept;
  /// Puts back files that must not be removed yet.
  void GiveBack(Unused unused) noexcept;
  /// Whether the set has a file of this name.
  bool Contains(const std::string& name) const;
  /// The size of all files in the set, without log segments. Units: bytes.
  uint64_t pinned_bytes() const;
  /// Empties the set. Removes no file from storage.
  void Clear();

 private:
  // The number of names that are checked before the mutex is released.
  static constexpr size_t kStep = 128;

  void AddAll(Files* files) noexcept LAVA_REQUIRES(mutex_);
  void Erase(const std::string& name) LAVA_REQUIRES(mutex_);
  // Asserts that the sum agrees with a recount. Returns true, so that LAVA_DCHECK() calls it in
  // debug builds only.
  bool CheckSum() const LAVA_REQUIRES(mutex_);
  // Checks the next names from *from on. False: no names are left.
  bool TakeStep(std::string* from, Files* unused);

  mutable Mutex mutex_;
  Files files_ LAVA_GUARDED_BY(mutex_);
  Files failed_ LAVA_GUARDED_BY(mutex_);
  bool any_failed_ LAVA_GUARDED_BY(mutex_) = false;  // since the opening
  LogSegments dead_segments_ LAVA_GUARDED_BY(mutex_);
  LogSegments kept_segments_ LAVA_GUARDED_BY(mutex_);
  uint64_t pinned_bytes_ LAVA_GUARDED_BY(mutex_) = 0;
};

}  // namespace lava
