// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "fs/file_system.h"

namespace lava::testing {

/// Unsynced data and names that survive a crash.
enum class CrashMode : uint8_t {
  kAll,         // all that reached the operating system: a process kill
  kSyncedOnly,  // only synced data and synced directory entries
  kRandom,      // any length of the unsynced ends, any subset of the unsynced directory changes
  kTorn,        // as kRandom, and unsynced data may be there in part
};

/// A file system in memory that tests can inspect, damage, and crash at any moment.
/// Threads:    any thread.
/// Ownership:  must outlive its files. Directories "/" and "." exist.
class CrashableFileSystem : public fs::FileSystem {
 public:
  /// The file system as it would be after a crash now: all of it durable, and no locks held.
  virtual std::unique_ptr<CrashableFileSystem> CrashClone(CrashMode mode,
                                                          uint64_t seed = 0) const = 0;
  /// The number of images that a power cut now may leave, where all torn variants count as one.
  /// UINT64_MAX: too many to count.
  virtual uint64_t CrashStates() const = 0;
  /// One of these images, state < CrashStates(). The seed decides how data is torn.
  virtual std::unique_ptr<CrashableFileSystem> CrashCloneAt(uint64_t state,
                                                            uint64_t seed) const = 0;

  /// Number of calls that changed the file system.
  virtual uint64_t mutating_calls() const = 0;
  /// Called after every mutating call, with its number from 1 on, on the calling thread. The hook
  /// may call CrashClone. Null: no hook.
  virtual void SetMutationHook(std::function<void(uint64_t call)> hook) = 0;
  /// Whether a removed file can still be read while it is open.
  virtual void SetRemovedFilesReadable(bool readable) = 0;

  /// / For tests that damage files: the content, and its replacement, which is durable immediately.
  virtual Result<std::string> Content(const std::string& path) const = 0;
  virtual Status SetContent(const std::string& path, std::string content) = 0;
  /// All files' paths, sorted.
  virtual std::vector<std::string> Paths() const = 0;
};

}  // namespace lava::testing
