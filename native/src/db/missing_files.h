// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "base/mutex.h"
#include "manifest/version.h"

namespace lava {

/// The missing files of an instance: imported, but not fetched yet. The engine does not fetch
/// files: a read returns NeedsFile, and the layer above fetches the file and calls
/// DB::FileArrived().
/// Threads:    any; empty() and any_key_file() take no lock.
class MissingFiles {
 public:
  struct File {
    FileId id;
    bool is_key_file = false;
    // One of the two is set. It expires when no version names the file any more.
    std::weak_ptr<FileMeta> key_file;
    std::weak_ptr<ValueFileMeta> value_file;
  };

  /// Adds a file that has no reader. Adding a known file changes nothing.
  void Add(const std::shared_ptr<FileMeta>& file);
  void Add(const std::shared_ptr<ValueFileMeta>& file);
  /// The missing file of this name; no value if there is none.
  std::optional<File> Find(const std::string& name) const;
  void Erase(const std::string& name);
  void Clear();

  bool empty() const { return files_.load(std::memory_order_relaxed) == 0; }
  bool Contains(const FileId& id) const;
  /// Whether a key file is missing. A missing key file stays in the version, because compactions do
  /// not touch it.
  bool any_key_file() const { return key_files_.load(std::memory_order_relaxed) > 0; }
  /// Whether the version has a missing file. Files of other versions may never arrive.
  bool AnyOf(const Version& version) const;

 private:
  void Insert(std::string name, const File& file) LAVA_EXCLUDES(mutex_);
  // Asserts that the counts agree. Returns true, so that LAVA_DCHECK() calls it in debug builds
  // only.
  bool CheckCounts() const LAVA_REQUIRES(mutex_);

  mutable Mutex mutex_;
  std::map<std::string, File> by_name_ LAVA_GUARDED_BY(mutex_);
  std::set<FileId> ids_ LAVA_GUARDED_BY(mutex_);
  std::atomic<size_t> files_{0}, key_files_{0};  // changed under the mutex
};

}  // namespace lava
