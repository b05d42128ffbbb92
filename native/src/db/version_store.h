// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "base/mutex.h"
#include "db/counters.h"
#include "db/obsolete_files.h"
#include "fs/file_system.h"
#include "manifest/manifest.h"

namespace lava {

/// The durable side of an instance's versions: the manifest, the newest version in it, the names of
/// new files, and obsolete files.
///
/// A thread that installs an edit holds install_mutex() from its first read of the newest state
/// until readers have the new version. Edits are therefore made one after the other, each based on
/// the state after the previous edit.
///
/// Invariants:
/// - newest() is the version in the manifest. It changes only in Begin(), Log() and Close().
/// - A file that an edit adds is on storage before the manifest names it. If the instance syncs,
///   the file's name is durable by then.
/// - A file is released for removal only when no version, view or job holds it, and never while the
///   manifest may name it.
///
/// Threads:    any; functions that need install_mutex() say so.
/// Ownership:  the file system and the counters must outlive the store.
/// Durability: see Manifest.
/// Errors:     after a failed sync of the manifest, Log() refuses every edit with the error of that
///             sync, and status() returns it. The instance must be opened again.
class VersionStore {
 public:
  struct Options {
    fs::FileSystem* file_system = nullptr;
    std::string directory;
    bool sync = false;  // edits and names of files survive a power cut
  };
  VersionStore(Options options, Counters* counters)
      : options_(std::move(options)), counters_(counters) {}

  Mutex* install_mutex() LAVA_RETURN_CAPABILITY(install_mutex_) { return &install_mutex_; }

  // Opening, in this order.
  /// Reads the manifest of the directory.
  /// Errors: NotFound if the directory contains no instance.
  Status Recover() LAVA_REQUIRES(install_mutex_);
  /// Starts a new instance. Writes nothing.
  void StartFresh() LAVA_REQUIRES(install_mutex_);
  /// Draws a random origin for the names of this opening's files, and adds it to the edit. No
  /// earlier opening had this origin, so numbers start again and names stay unique.
  void DrawOrigin(VersionEdit* first) LAVA_REQUIRES(install_mutex_);
  /// Writes the first edit of this opening. The files that the edit adds must exist.
  Status Begin(const VersionEdit& first) LAVA_REQUIRES(install_mutex_);

  /// The state in the manifest. The reference is valid until the next edit.
  const ManifestState& state() const LAVA_REQUIRES(install_mutex_) { return manifest_->state(); }
  std::shared_ptr<const Version> newest() const;

  /// Writes the edit to the manifest. Files that leave the version become obsolete. If the edit
  /// fails, the files that it adds become obsolete.
  /// Errors: those of Manifest::LogAndApply(). After an error the state is unchanged. Does not
  /// throw once the manifest has the edit.
  Status Log(const VersionEdit& edit) LAVA_REQUIRES(install_mutex_);
  /// The error of a failed sync of the manifest; otherwise OK.
  Status status() const;
  /// Whether status() is not OK; takes no lock.
  bool failed() const { return failed_.load(std::memory_order_relaxed); }

  /// Takes ids for new files, and returns the first one. numbers: the number of ids.
  FileId NewFileId(uint64_t numbers = 1) {
    return {origin_, next_file_number_.fetch_add(numbers, std::memory_order_relaxed)};
  }
  /// The origin of the files that this opening writes.
  const Origin& origin() const { return origin_; }
  /// Whether the name is that of an obsolete manifest.
  bool IsOldManifest(const std::string& name) const LAVA_REQUIRES(install_mutex_) {
    return manifest_->IsObsolete(name);
  }

  ObsoleteFiles& obsolete_files() { return obsolete_files_; }
  const ObsoleteFiles& obsolete_files() const { return obsolete_files_; }

  /// Drops the manifest and all files. Log() must not be called afterwards.
  void Close() LAVA_REQUIRES(install_mutex_);

 private:
  void SetNewest() LAVA_REQUIRES(install_mutex_);
  void Fail(const Status& failed_sync);

  const Options options_;
  Counters* const counters_;
  Mutex install_mutex_ LAVA_ACQUIRED_BEFORE(mutex_);
  std::unique_ptr<Manifest> manifest_ LAVA_GUARDED_BY(install_mutex_);
  Origin origin_;  // set by DrawOrigin(), before other threads use the instance
  std::atomic<uint64_t> next_file_number_{1};
  ObsoleteFiles obsolete_files_;

  mutable Mutex mutex_;
  std::shared_ptr<const Version> newest_ LAVA_GUARDED_BY(mutex_) = std::make_shared<Version>();
  Status status_ LAVA_GUARDED_BY(mutex_);
  std::atomic<bool> failed_{false};
};

}  // namespace lava
