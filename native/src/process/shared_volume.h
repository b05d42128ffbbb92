// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "base/run_in_background.h"
#include "host/process_parts.h"
#include "host/space_quota.h"
#include "lava/volume.h"
#include "lavafs/volume.h"
#include "memory/memory_counter.h"

namespace lava {

/// Runs jobs of a volume on threads that may outlive it, or end before it.
/// Threads:    any.
class VolumeJobs : public std::enable_shared_from_this<VolumeJobs> {
 public:
  /// Runs the job now or later, or drops it.
  explicit VolumeJobs(RunInBackground submit) : submit_(std::move(submit)) {}
  /// Runs the job. If the job is dropped, the thread that drops it runs it.
  void Run(std::function<void()> job) LAVA_EXCLUDES(mutex_);
  /// Waits for running jobs; no other begins.
  void Stop() LAVA_EXCLUDES(mutex_);

 private:
  class Ticket;
  const RunInBackground submit_;
  Mutex mutex_;
  CondVar idle_;
  bool stopped_ LAVA_GUARDED_BY(mutex_) = false;
  uint32_t running_ LAVA_GUARDED_BY(mutex_) = 0;
};

/// The implementation of lava/volume.h, which has the contract.
class SharedVolumeImpl final : public LimitedVolume {
 public:
  struct Setup {
    std::string path;
    std::unique_ptr<lavafs::Volume> volume;
    std::shared_ptr<VolumeJobs> jobs;
    bool direct_io_wanted = false;
    /// From the options if they limit the capacity; otherwise 0.
    uint64_t capacity_bytes = 0;
    std::string capacity_setting;
    SpaceQuota* process = nullptr;  // its statistics include the volume's instances
    bool power_safe = false;
    fs::FileSystem* outside = fs::FileSystem::Posix();  // where markers of pins are
  };
  explicit SharedVolumeImpl(Setup setup);
  ~SharedVolumeImpl() override { jobs_->Stop(); }

  const std::string& path() const override { return path_; }
  fs::FileSystem* file_system() override { return file_system_.get(); }
  VolumeFigures figures() override;
  Result<std::unique_ptr<VolumeInput>> OpenFile(Slice directory, Slice name) override;
  Result<std::unique_ptr<VolumeOutput>> CreateFile(Slice directory, Slice name) override;
  Status LinkFile(Slice directory, Slice name, Slice to_directory, Slice to_name) override;
  Status RemoveFile(Slice directory, Slice name) override;
  Result<std::vector<std::string>> ListFiles(Slice directory) override;
  Status RemoveDirectory(Slice directory) override;
  Status Pin(const std::string& marker, Slice directory,
             std::span<const std::string> names) override LAVA_EXCLUDES(pins_mutex_);
  Status DropStalePins() override LAVA_EXCLUDES(pins_mutex_);

  const lavafs::Uuid& uuid() const { return volume_->uuid(); }
  bool is_healthy() { return volume_->Health().ok(); }
  SpaceQuota* quota() override { return &quota_; }
  bool HasDirectory(Slice directory) { return volume_->List(directory).ok(); }
  /// Removes stale pins and the files that instances of an ended process left behind.
  Status RemoveAllButPins() LAVA_EXCLUDES(pins_mutex_);
  /// Unmounts, and removes the volume's file unless files are pinned. The volume must be unused.
  Status Unmount() LAVA_EXCLUDES(pins_mutex_);

 private:
  Status RemoveWithFiles(Slice directory);

  const std::string path_;
  const std::unique_ptr<lavafs::Volume> volume_;
  const std::unique_ptr<fs::FileSystem> file_system_;
  const std::shared_ptr<VolumeJobs> jobs_;
  const bool direct_io_wanted_, power_safe_;
  fs::FileSystem* const outside_;
  SpaceQuota quota_;
  Mutex pins_mutex_;  // held while pins are made or dropped
};

}  // namespace lava
