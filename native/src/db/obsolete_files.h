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

/// The files of an instance that no current version names any more, and log segments whose values
/// are elsewhere. A file goes once no version, view or job holds its StoredFile: there is one such
/// object per name, so nothing names the file any more then.
/// Threads:    any. A walk over all files holds the lock for a few of them at a time, so the wait
///             for the lock does not grow with the number of files.
/// Errors:     what adds throws std::bad_alloc without memory, and has changed nothing then.
class ObsoleteFiles {
 public:
  struct File {
    std::weak_ptr<StoredFile> file;
    uint64_t bytes = 0;
  };
  using Files = std::map<std::string, File>;
  using LogSegments = std::map<std::string, std::weak_ptr<const ValueLogSegment>>;
  /// What may be removed from storage, by file name.
  struct Unused {
    Files files;
    LogSegments log_segments;
  };

  /// The file left the current version, or never came into one.
  void Add(const std::string& name, const std::weak_ptr<StoredFile>& file);
  /// The outputs of an edit that the manifest may have although writing it failed. They stay until
  /// another edit is safe.
  void AddFailed(const VersionEdit& edit);
  /// The edit is safe in the manifest, so those that failed before it cannot come back. It may be
  /// one of them that was tried again: what it adds is not obsolete.
  void EditIsSafe(const VersionEdit& edit);
  /// A flush has written the log segment's values. became_file: the segment itself is a value file
  /// of the version now, and is only kept from removal while somebody may read it as a segment.
  void AddLogSegment(const std::shared_ptr<const ValueLogSegment>& segment, bool became_file);

  /// Takes out what nobody reads any more. The caller removes the files, or gives them back.
  /// Without memory some are left to the next call.
  Unused TakeUnused() noexcept;
  /// Takes back what is not to be removed yet.
  void GiveBack(Unused unused) noexcept;
  /// Whether the file left a version and is not removed yet.
  bool Contains(const std::string& name) const;
  /// Of all files that left and are not taken out. Units: bytes.
  uint64_t pinned_bytes() const;
  /// Forgets all; no file is removed for that.
  void Clear();

 private:
  // So many names are looked at before others may have the lock.
  static constexpr size_t kStep = 128;

  void AddAll(Files* files) noexcept LAVA_REQUIRES(mutex_);
  void Erase(const std::string& name) LAVA_REQUIRES(mutex_);
  // Asserts that the sum agrees with a recount. Returns true, so that LAVA_DCHECK() calls it in
  // debug builds only.
  bool CheckSum() const LAVA_REQUIRES(mutex_);
  // Looks at the next names from *from on. False: there are no more.
  bool TakeStep(std::string* from, Files* unused);

  mutable Mutex mutex_;
  Files files_ LAVA_GUARDED_BY(mutex_);
  Files failed_ LAVA_GUARDED_BY(mutex_);
  bool any_failed_ LAVA_GUARDED_BY(mutex_) = false;  // ever
  LogSegments dead_segments_ LAVA_GUARDED_BY(mutex_);
  LogSegments kept_segments_ LAVA_GUARDED_BY(mutex_);
  uint64_t pinned_bytes_ LAVA_GUARDED_BY(mutex_) = 0;
};

}  // namespace lava
