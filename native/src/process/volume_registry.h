// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "base/run_in_background.h"
#include "host/process_parts.h"
#include "lava/host.h"
#include "process/shared_volume.h"

namespace lava {

/// The volumes that this process has mounted, and their users.
/// Threads:    any; one thread mounts or unmounts at a time, the others wait.
/// Ownership:  must outlive the volumes that it gave out.
class VolumeRegistry final : public VolumeOpener {
 public:
  /// buffers: charged with the buffers of files; null: nothing is charged. submit: see VolumeJobs.
  /// process: its statistics include the instances on volumes; may be null.
  VolumeRegistry(MemoryCounter* buffers, RunInBackground submit, SpaceQuota* process = nullptr)
      : buffers_(buffers), submit_(std::move(submit)), process_(process) {}

  /// See Host.
  Result<std::shared_ptr<SharedVolume>> Open(const std::string& directory,
                                             const VolumeOptions& options,
                                             std::vector<std::string>* left_behind) override
      LAVA_EXCLUDES(mutex_);
  Result<PinnedFiles> OpenPinned(const std::string& marker, const VolumeOptions& options) override
      LAVA_EXCLUDES(mutex_);
  Result<uint32_t> RemoveStale(const std::string& directory) override LAVA_EXCLUDES(mutex_);

 private:
  struct Mounted {
    std::string directory;
    std::unique_ptr<SharedVolumeImpl> volume;
    uint32_t references = 0;
  };
  struct Leftovers;

  std::shared_ptr<SharedVolume> Share(Mounted* mounted) LAVA_REQUIRES(mutex_);
  Result<Mounted*> Mount(const std::string& directory, const std::string& path,
                         std::unique_ptr<fs::BlockDevice> device, const VolumeOptions& options)
      LAVA_REQUIRES(mutex_);
  Result<Mounted*> MountNew(const std::string& directory, uint64_t capacity_bytes,
                            Leftovers* leftovers, const VolumeOptions& options)
      LAVA_REQUIRES(mutex_);
  // The next two are also called with the mutex held: one thread looks for volumes at a time.
  static Result<Leftovers> FindLeftovers(const std::string& directory, bool direct_io);
  static void RemoveUnpinned(Leftovers* leftovers);
  void Unmount(Mounted* mounted) LAVA_REQUIRES(mutex_);
  void Release(SharedVolumeImpl* volume) LAVA_EXCLUDES(mutex_);

  MemoryCounter* const buffers_;
  const RunInBackground submit_;
  SpaceQuota* const process_;
  Mutex mutex_;
  std::list<Mounted> mounted_ LAVA_GUARDED_BY(mutex_);
};

}  // namespace lava
