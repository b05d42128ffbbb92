#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "host/space_quota.h"
#include "lava/volume.h"
#include "lavafs/volume.h"
#include "memory/memory_counter.h"

namespace lava {

/// Jobs of a volume on threads that outlive it, and may end before it.
/// Threads:    any.
class VolumeJobs : public std::enable_shared_from_this<VolumeJobs> {
 public:
  /// Runs the job or drops it, later or at once.
  using Submit = std::function<void(std::function<void()>)>;
  explicit VolumeJobs(Submit submit) : submit_(std::move(submit)) {}
  /// Runs the job; by whoever drops it, if nobody else will.
  void Run(std::function<void()> job);
  /// Waits for the job that runs, if any; no other begins.
  void Stop();

 private:
  class Ticket;
  const Submit submit_;
  std::mutex mutex_;
  std::condition_variable idle_;
  bool stopped_ = false;
  uint32_t running_ = 0;
};

/// The volume behind lava/volume.h. See there.
class SharedVolumeImpl final : public SharedVolume {
 public:
  struct Setup {
    std::string path;
    std::unique_ptr<lavafs::Volume> volume;
    std::shared_ptr<VolumeJobs> jobs;
    bool direct_io_wanted = false;
    /// Of the options, when they limit the capacity; else 0.
    uint64_t capacity_bytes = 0;
    std::string capacity_setting;
    SpaceQuota* process = nullptr;  // whose statistics have the volume's instances, too
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
             std::span<const std::string> names) override;
  Status DropStalePins() override;

  const lavafs::Uuid& uuid() const { return volume_->uuid(); }
  bool is_healthy() { return volume_->Health().ok(); }
  /// What all instances on the volume may take; without a limit when the options set no capacity.
  SpaceQuota* quota() { return &quota_; }
  bool HasDirectory(Slice directory) { return volume_->List(directory).ok(); }
  /// Removes what instances of a process that is gone left behind, and stale pins.
  Status RemoveAllButPins();
  /// Ends it: the file goes unless something is pinned. Nobody uses it any more.
  Status Unmount();

 private:
  Status RemoveWithFiles(Slice directory);

  const std::string path_;
  const std::unique_ptr<lavafs::Volume> volume_;
  const std::unique_ptr<fs::FileSystem> file_system_;
  const std::shared_ptr<VolumeJobs> jobs_;
  const bool direct_io_wanted_, power_safe_;
  fs::FileSystem* const outside_;
  SpaceQuota quota_;
  std::mutex pins_mutex_;  // a pin is whole or not there
};

}  // namespace lava
