// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <list>
#include <memory>
#include <string>
#include <utility>

#include "base/mutex.h"
#include "base/run_in_background.h"
#include "fs/file_system.h"
#include "lava/host.h"
#include "log/lava_log.h"
#include "os/executor.h"

namespace lava {

/// The write-ahead logs that this process has open: one for each directory, shared by all instances
/// that name it.
/// Threads:    any; one thread opens or closes a log at a time, others that want it wait.
/// Ownership:  must outlive the logs that it gave out.
class WalRegistry {
 public:
  /// memory: charged with the logs' indexes. run: runs their checkpoints and collections.
  WalRegistry(MemoryCounter* memory, RunInBackground run) : memory_(memory), run_(std::move(run)) {}

  /// An instance's reference to a log; the last one to go closes it.
  /// Ownership: file_system must outlive the log; keep holds what file_system depends on, or is
  /// null.
  Result<std::shared_ptr<log::LavaLog>> Open(fs::FileSystem* file_system,
                                             std::shared_ptr<SharedVolume> keep,
                                             const std::string& directory) LAVA_EXCLUDES(mutex_);

 private:
  struct Opened {
    fs::FileSystem* file_system = nullptr;
    std::string directory;
    std::shared_ptr<SharedVolume> keep;
    std::unique_ptr<os::Executor> jobs;
    std::unique_ptr<log::LavaLog> log;
    uint32_t references = 0;
    bool busy = true;  // being opened or closed, without the mutex
  };
  std::list<Opened>::iterator Find(fs::FileSystem* file_system, const std::string& directory)
      LAVA_REQUIRES(mutex_);
  Status OpenLog(Opened* opened) LAVA_EXCLUDES(mutex_);
  std::shared_ptr<log::LavaLog> Share(Opened* opened) LAVA_REQUIRES(mutex_);
  void Release(Opened* opened) LAVA_EXCLUDES(mutex_);

  MemoryCounter* const memory_;
  const RunInBackground run_;
  Mutex mutex_;
  CondVar changed_;
  std::list<Opened> opened_ LAVA_GUARDED_BY(mutex_);
};

}  // namespace lava
