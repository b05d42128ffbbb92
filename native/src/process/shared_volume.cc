// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "process/shared_volume.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "fs/file_system.h"
#include "lava/slice.h"
#include "lava/status.h"
#include "lava/volume.h"
#include "lavafs/lavafs_file_system.h"
#include "lavafs/volume.h"
#include "process/pin_marker.h"

namespace lava {
namespace {

constexpr size_t kOutputBufferBytes = 512 << 10;

class Input : public VolumeInput {
 public:
  explicit Input(std::unique_ptr<fs::RandomFile> file) : file_(std::move(file)) {}
  uint64_t size() const override { return file_->size(); }
  Status Read(uint64_t offset, size_t length, char* to) override {
    return file_->Read(offset, length, to);
  }

 private:
  const std::unique_ptr<fs::RandomFile> file_;
};

class Output : public VolumeOutput {
 public:
  explicit Output(std::unique_ptr<fs::AppendFile> file) : file_(std::move(file)) {}
  Status Append(Slice data) override { return file_->Append(data); }
  Status Close() override { return file_->Close(); }

 private:
  const std::unique_ptr<fs::AppendFile> file_;
};

}  // namespace

// Runs its job once: when it is called, or when it is dropped.
class VolumeJobs::Ticket {
 public:
  Ticket(std::shared_ptr<VolumeJobs> jobs, std::function<void()> job)
      : jobs_(std::move(jobs)), job_(std::move(job)) {}
  ~Ticket() { Run(); }
  Ticket(const Ticket&) = delete;
  Ticket& operator=(const Ticket&) = delete;
  void Run() {
    const std::function<void()> job = std::exchange(job_, nullptr);
    if (job == nullptr) return;
    {
      MutexLock lock(&jobs_->mutex_);
      if (jobs_->stopped_) return;
      ++jobs_->running_;
    }
    job();
    MutexLock lock(&jobs_->mutex_);
    --jobs_->running_;
    jobs_->idle_.NotifyAll();
  }

 private:
  const std::shared_ptr<VolumeJobs> jobs_;
  std::function<void()> job_;
};

void VolumeJobs::Run(std::function<void()> job) {
  const auto ticket = std::make_shared<Ticket>(shared_from_this(), std::move(job));
  submit_([ticket] { ticket->Run(); });
}

void VolumeJobs::Stop() {
  MutexLock lock(&mutex_);
  stopped_ = true;
  while (running_ != 0) idle_.Wait(&mutex_);
}

SharedVolumeImpl::SharedVolumeImpl(Setup setup)
    : path_(std::move(setup.path)),
      volume_(std::move(setup.volume)),
      file_system_(lavafs::NewLavaFileSystem(volume_.get())),
      jobs_(std::move(setup.jobs)),
      direct_io_wanted_(setup.direct_io_wanted),
      power_safe_(setup.power_safe),
      outside_(setup.outside) {
  if (setup.capacity_bytes == 0) return;
  quota_.LimitTo({.path = path_,
                  .capacity_setting = std::move(setup.capacity_setting),
                  .capacity_bytes = setup.capacity_bytes,
                  .file_bytes_max = volume_->FileBytesMax(),
                  .used_bytes = [this] { return volume_->UsedBytes(); }},
                 setup.process);
}

VolumeFigures SharedVolumeImpl::figures() {
  const lavafs::VolumeStatistics from = volume_->Statistics();
  VolumeFigures figures;
  figures.capacity_bytes = from.capacity_bytes;
  figures.device_bytes = from.device_bytes;
  figures.used_bytes = from.used_bytes;
  figures.free_bytes = from.free_bytes;
  figures.largest_free_run_bytes = from.largest_free_run_bytes;
  figures.files = from.files;
  figures.journal_written_bytes = from.journal_written_bytes;
  figures.journal_compactions = from.journal_compactions;
  figures.metadata_memory_bytes = from.metadata_memory_bytes;
  figures.direct_io = direct_io_wanted_ && volume_->is_direct();
  for (const std::string& directory : volume_->ListDirectories()) figures.pins += IsPin(directory);
  return figures;
}

Result<std::unique_ptr<VolumeInput>> SharedVolumeImpl::OpenFile(Slice directory, Slice name) {
  LAVA_ASSIGN_OR_RETURN(auto file, volume_->Open(directory, name));
  return std::unique_ptr<VolumeInput>(std::make_unique<Input>(std::move(file)));
}

Result<std::unique_ptr<VolumeOutput>> SharedVolumeImpl::CreateFile(Slice directory, Slice name) {
  LAVA_RETURN_IF_ERROR(volume_->MakeDirectory(directory));
  if (volume_->Stat(directory, name).ok()) {
    return Status::IOError("create file " + std::string(name) + " in " + path_ + ":" +
                           std::string(directory) + ": it is there already");
  }
  LAVA_ASSIGN_OR_RETURN(auto file, volume_->Create(directory, name, kOutputBufferBytes));
  return std::unique_ptr<VolumeOutput>(std::make_unique<Output>(std::move(file)));
}

Status SharedVolumeImpl::LinkFile(Slice directory, Slice name, Slice to_directory, Slice to_name) {
  LAVA_RETURN_IF_ERROR(volume_->MakeDirectory(to_directory));
  return volume_->Link(directory, name, to_directory, to_name);
}

Status SharedVolumeImpl::RemoveFile(Slice directory, Slice name) {
  return volume_->Remove(directory, name);
}

Result<std::vector<std::string>> SharedVolumeImpl::ListFiles(Slice directory) {
  return volume_->List(directory);
}

Status SharedVolumeImpl::RemoveWithFiles(Slice directory) {
  const Result<std::vector<std::string>> names = volume_->List(directory);
  if (!names.ok()) return names.status().IsNotFound() ? Status::OK() : names.status();
  for (const std::string& name : *names) {
    const Status done = volume_->Remove(directory, name);
    if (!done.ok() && !done.IsNotFound()) return done;
  }
  const Status done = volume_->RemoveDirectory(directory);
  return done.IsNotFound() ? Status::OK() : done;
}

Status SharedVolumeImpl::RemoveDirectory(Slice directory) {
  LAVA_RETURN_IF_ERROR(RemoveWithFiles(directory));
  return volume_->TrimFreeSpace();
}

Status SharedVolumeImpl::Pin(const std::string& marker, Slice directory,
                             std::span<const std::string> names) {
  MutexLock lock(&pins_mutex_);
  // The marker first, because a pin without one would be dropped.
  LAVA_RETURN_IF_ERROR(
      WritePinMarker(outside_, marker, {.volume_path = path_, .uuid = uuid()}, power_safe_));
  const std::string pin = PinDirectory(marker);
  Status done = RemoveWithFiles(pin);  // left by an earlier marker of that name
  if (done.ok()) done = volume_->MakeDirectory(pin);
  for (const std::string& name : names) {
    if (done.ok()) done = volume_->Link(directory, name, pin, name);
  }
  if (done.ok() && power_safe_) done = volume_->SyncAll();
  if (done.ok()) return done;
  // Files that cannot be removed now go once the marker is gone, at the latest with its directory.
  (void)RemoveWithFiles(pin);
  (void)outside_->Remove(marker);
  return done.WithContext("pin files of " + std::string(directory));
}

Status SharedVolumeImpl::DropStalePins() {
  MutexLock lock(&pins_mutex_);
  for (const std::string& directory : volume_->ListDirectories()) {
    if (IsStalePin(outside_, directory)) LAVA_RETURN_IF_ERROR(RemoveWithFiles(directory));
  }
  return Status::OK();
}

Status SharedVolumeImpl::RemoveAllButPins() {
  for (const std::string& directory : volume_->ListDirectories()) {
    if (!IsPin(directory)) LAVA_RETURN_IF_ERROR(RemoveWithFiles(directory));
  }
  return DropStalePins();
}

Status SharedVolumeImpl::Unmount() {
  jobs_->Stop();
  // A pin that cannot be dropped is kept, like one that has its marker.
  (void)DropStalePins();
  if (figures().pins > 0) return volume_->Close();
  return fs::FileSystem::Posix()->Remove(path_);
}

}  // namespace lava
