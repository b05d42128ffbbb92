// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <list>
#include <unordered_map>

#include "base/mutex.h"

namespace lava::fs {

/// A file whose descriptor may be closed while nobody reads; the next read opens it again.
class EvictableFile {
 public:
  virtual ~EvictableFile() = default;
  /// Closes the descriptor unless it is in use, or was used since the last call (a second chance,
  /// which `force` ignores). True when it was closed. Called under the limit's lock.
  virtual bool TryEvict(bool force) = 0;
};

/// Bounds how many files the process holds open for random reads, so that thousands of instances
/// fit under `ulimit -n`. Above the bound, the least recently read files are closed.
/// Threads:    any thread.
/// Ownership:  files are borrowed from Add until Remove returns.
class OpenFileLimit {
 public:
  explicit OpenFileLimit(uint32_t files_max) : files_max_(files_max) {}
  /// The limit of this process: half of RLIMIT_NOFILE, at most 16384. Never destroyed.
  static OpenFileLimit* Process();

  /// Counts a file that was just opened; may evict others. The bound is exceeded while all are in
  /// use.
  void Add(EvictableFile* file) LAVA_EXCLUDES(mutex_);
  /// Forgets a file and does not touch it afterwards. No effect if it was evicted.
  void Remove(EvictableFile* file) LAVA_EXCLUDES(mutex_);
  /// Closes up to `count` files, recently used ones too: for a process without free descriptors.
  uint32_t Evict(uint32_t count) LAVA_EXCLUDES(mutex_);

  uint32_t open_files() const LAVA_EXCLUDES(mutex_);
  void SetFilesMax(uint32_t files_max) LAVA_EXCLUDES(mutex_);

 private:
  void Sweep(uint32_t wanted, bool force, uint32_t* closed) LAVA_REQUIRES(mutex_);

  mutable Mutex mutex_;
  uint32_t files_max_ LAVA_GUARDED_BY(mutex_);
  using Files = std::list<EvictableFile*>;
  Files files_ LAVA_GUARDED_BY(mutex_);  // the front is asked first
  std::unordered_map<EvictableFile*, Files::iterator> positions_ LAVA_GUARDED_BY(mutex_);
};

}  // namespace lava::fs
