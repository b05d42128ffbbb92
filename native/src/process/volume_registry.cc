// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "process/volume_registry.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "base/shared_reference.h"
#include "fs/block_device.h"
#include "fs/direct_io.h"
#include "fs/file_system.h"
#include "fs/paths.h"
#include "fs/posix_block_device.h"
#include "fs/posix_error.h"
#include "lava/slice.h"
#include "lava/status.h"
#include "lava/volume.h"
#include "lavafs/format.h"
#include "lavafs/image.h"
#include "lavafs/volume.h"
#include "os/boot_id.h"
#include "os/random.h"
#include "process/pin_marker.h"
#include "process/shared_volume.h"

namespace lava {
namespace {

constexpr Slice kNameBegin = "volume-", kNameEnd = ".lavafs";
constexpr uint64_t kCapacityBytesMin = 32ull << 20;

std::string NameOf(uint64_t number) {
  return std::string(kNameBegin) + std::to_string(number) + std::string(kNameEnd);
}

std::optional<uint64_t> NumberOf(Slice name) {
  uint64_t number = 0;
  if (!name.starts_with(kNameBegin) || !name.ends_with(kNameEnd)) return {};
  name.remove_prefix(kNameBegin.size());
  name.remove_suffix(std::min(kNameEnd.size(), name.size()));
  const auto parsed = std::from_chars(name.data(), name.data() + name.size(), number);
  const bool whole = parsed.ec == std::errc() && parsed.ptr == name.data() + name.size();
  // No process reaches larger numbers, and counting could not continue from them.
  return whole && number <= UINT32_MAX ? std::optional(number) : std::nullopt;
}

fs::FileSystem* Posix() { return fs::FileSystem::Posix(); }

// Whether its process was killed after making the file and before writing a superblock.
Result<bool> IsBlank(fs::BlockDevice* device) {
  const uint64_t bytes = lavafs::kSuperblockOffsets.back() + lavafs::kBlockBytes;
  if (device->size() < bytes) return true;
  const fs::AlignedBuffer memory(bytes, std::max(device->alignment(), lavafs::kBlockBytes));
  LAVA_RETURN_IF_ERROR(device->Read(0, memory.size(), memory.data()));
  return std::all_of(memory.data(), memory.data() + bytes, [](char byte) { return byte == 0; });
}

// Whether the volume has content that must be kept.
Result<bool> HasPins(fs::BlockDevice* device) {
  LAVA_ASSIGN_OR_RETURN(const bool blank, IsBlank(device));
  if (blank) return false;
  LAVA_ASSIGN_OR_RETURN(const lavafs::Image image, lavafs::ReadImage(device, os::BootId()));
  for (const std::string& directory : image.metadata.DirectoryNames()) {
    if (IsPin(directory) && !IsStalePin(Posix(), directory)) return true;
  }
  return false;
}

Status CheckOptions(const VolumeOptions& options, const std::string& directory) {
  if (options.capacity_bytes == 0 || options.capacity_bytes >= kCapacityBytesMin) {
    return Status::OK();
  }
  return Status::InvalidArgument("open a volume in " + directory + ": a capacity of " +
                                 std::to_string(options.capacity_bytes) + " bytes is less than " +
                                 std::to_string(kCapacityBytesMin));
}

}  // namespace

// Volumes that no process uses. They are open, so that no other process takes them meanwhile.
struct VolumeRegistry::Leftovers {
  struct Found {
    std::string path;
    std::unique_ptr<fs::BlockDevice> device;
    bool has_pins = false;
  };
  std::vector<Found> found;  // those with pins first
  uint64_t next_number = 0;
  std::vector<std::string> unreadable;
};

Result<VolumeRegistry::Leftovers> VolumeRegistry::FindLeftovers(const std::string& directory,
                                                                bool direct_io) {
  Leftovers leftovers;
  LAVA_ASSIGN_OR_RETURN(const std::vector<std::string> names, Posix()->List(directory));
  for (const std::string& name : names) {
    const std::optional<uint64_t> number = NumberOf(name);
    if (!number.has_value()) continue;
    leftovers.next_number = std::max(leftovers.next_number, *number + 1);
    const std::string path = directory + "/" + name;
    auto device = fs::OpenBlockDevice(path, {.direct = direct_io});
    if (!device.ok()) {
      // Another process has it, or has just removed it.
      if (device.status().IsBusy() || device.status().IsNotFound()) continue;
      leftovers.unreadable.push_back(device.status().ToString());
      continue;
    }
    const Result<bool> has_pins = HasPins(device->get());
    if (!has_pins.ok()) {
      leftovers.unreadable.push_back(has_pins.status().ToString());
      continue;
    }
    leftovers.found.push_back({path, std::move(device).value(), *has_pins});
  }
  std::stable_sort(leftovers.found.begin(), leftovers.found.end(),
                   [](const auto& a, const auto& b) { return a.has_pins > b.has_pins; });
  return leftovers;
}

Result<std::shared_ptr<SharedVolume>> VolumeRegistry::Open(const std::string& directory,
                                                           const VolumeOptions& options,
                                                           std::vector<std::string>* left_behind) {
  LAVA_RETURN_IF_ERROR(CheckOptions(options, directory));
  LAVA_RETURN_IF_ERROR(options.power_safe ? Posix()->CreateDurableDirectory(directory)
                                          : Posix()->CreateDirectory(directory));
  LAVA_RETURN_IF_ERROR(fs::CheckPrivateDirectory(directory));
  LAVA_ASSIGN_OR_RETURN(const std::string canonical, fs::CanonicalPath(directory));
  uint64_t capacity_bytes = options.capacity_bytes;
  if (capacity_bytes == 0) {
    LAVA_ASSIGN_OR_RETURN(capacity_bytes, fs::DiskBytes(canonical));
    capacity_bytes = std::max(capacity_bytes, kCapacityBytesMin);
  }
  MutexLock lock(&mutex_);
  for (Mounted& mounted : mounted_) {
    if (mounted.directory == canonical && mounted.volume->is_healthy()) return Share(&mounted);
  }
  LAVA_ASSIGN_OR_RETURN(Leftovers leftovers, FindLeftovers(canonical, options.direct_io));
  Mounted* mounted = nullptr;
  while (mounted == nullptr && !leftovers.found.empty() && leftovers.found.front().has_pins) {
    Leftovers::Found found = std::move(leftovers.found.front());
    leftovers.found.erase(leftovers.found.begin());
    Result<Mounted*> done = Mount(canonical, found.path, std::move(found.device), options);
    if (done.ok()) {
      mounted = *done;
    } else {
      leftovers.unreadable.push_back(done.status().ToString());
    }
  }
  if (mounted == nullptr) {
    LAVA_ASSIGN_OR_RETURN(mounted, MountNew(canonical, capacity_bytes, &leftovers, options));
  }
  RemoveUnpinned(&leftovers);
  if (left_behind != nullptr) *left_behind = std::move(leftovers.unreadable);
  return Share(mounted);
}

void VolumeRegistry::RemoveUnpinned(Leftovers* leftovers) {
  std::erase_if(leftovers->found, [&](const Leftovers::Found& found) {
    if (found.has_pins) return false;
    const Status removed = Posix()->Remove(found.path);
    if (!removed.ok()) leftovers->unreadable.push_back(removed.ToString());
    return true;
  });
}

Result<uint32_t> VolumeRegistry::RemoveStale(const std::string& directory) {
  LAVA_ASSIGN_OR_RETURN(const bool there, Posix()->Exists(directory));
  if (!there) return 0;
  LAVA_RETURN_IF_ERROR(fs::CheckPrivateDirectory(directory));
  MutexLock lock(&mutex_);
  LAVA_ASSIGN_OR_RETURN(Leftovers leftovers, FindLeftovers(directory, false));
  RemoveUnpinned(&leftovers);
  return static_cast<uint32_t>(leftovers.found.size());
}

// Uses the file of a leftover volume if one fits: its blocks have been written, so writing them
// again is cheap.
Result<VolumeRegistry::Mounted*> VolumeRegistry::MountNew(const std::string& directory,
                                                          uint64_t capacity_bytes,
                                                          Leftovers* leftovers,
                                                          const VolumeOptions& options) {
  std::string path;
  std::unique_ptr<fs::BlockDevice> device;
  const auto usable = std::find_if(
      leftovers->found.begin(), leftovers->found.end(), [&](const Leftovers::Found& found) {
        return !found.has_pins && found.device->size() <= capacity_bytes;
      });
  if (usable != leftovers->found.end()) {
    path = usable->path;
    device = std::move(usable->device);
    leftovers->found.erase(usable);
  }
  for (; device == nullptr; ++leftovers->next_number) {
    path = directory + "/" + NameOf(leftovers->next_number);
    auto made = fs::OpenBlockDevice(path, {.create = true, .direct = options.direct_io});
    // Another process was faster.
    if (!made.ok() && (made.status().IsBusy() || made.status().IsNotFound())) continue;
    if (!made.ok()) return std::move(made).status();
    device = std::move(made).value();
  }
  const os::Random128 random = os::RandomBits128();
  Status done = lavafs::Volume::Format(device.get(), {.capacity_bytes = capacity_bytes},
                                       {random.high, random.low});
  if (done.ok() && options.power_safe) done = Posix()->SyncDirectory(directory);
  if (!done.ok()) {
    (void)Posix()->Remove(path);
    return done.WithContext("make the volume " + path);
  }
  return Mount(directory, path, std::move(device), options);
}

Result<VolumeRegistry::Mounted*> VolumeRegistry::Mount(const std::string& directory,
                                                       const std::string& path,
                                                       std::unique_ptr<fs::BlockDevice> device,
                                                       const VolumeOptions& options) {
  auto jobs = std::make_shared<VolumeJobs>(submit_);
  lavafs::MountOptions mount;
  mount.capacity_setting = options.capacity_setting;
  mount.grow_bytes = options.grow_bytes;
  mount.reserve_bytes = options.reserve_bytes;
  mount.idle_reserve_bytes = options.idle_reserve_bytes;
  mount.power_safe = options.power_safe;
  mount.boot = os::BootId();
  mount.mount = os::RandomBits128().low;
  mount.run_in_background = [jobs](std::function<void()> job) { jobs->Run(std::move(job)); };
  mount.buffers = buffers_;
  LAVA_ASSIGN_OR_RETURN(auto volume, lavafs::Volume::Mount(std::move(device), mount));
  auto shared = std::make_unique<SharedVolumeImpl>(
      SharedVolumeImpl::Setup{.path = path,
                              .volume = std::move(volume),
                              .jobs = std::move(jobs),
                              .direct_io_wanted = options.direct_io,
                              .capacity_bytes = options.capacity_bytes,
                              .capacity_setting = options.capacity_setting,
                              .process = process_,
                              .power_safe = options.power_safe});
  LAVA_RETURN_IF_ERROR(shared->RemoveAllButPins());
  mounted_.push_back({.directory = directory, .volume = std::move(shared)});
  return &mounted_.back();
}

Result<PinnedFiles> VolumeRegistry::OpenPinned(const std::string& marker,
                                               const VolumeOptions& options) {
  LAVA_ASSIGN_OR_RETURN(const PinMarker found, ReadPinMarker(Posix(), marker));
  const std::string directory = fs::DirectoryOf(found.volume_path);
  const std::string name = found.volume_path.substr(directory.size() + 1);
  if (!NumberOf(name).has_value()) {
    return Status::Corruption("read the pin " + marker + ": it names " + found.volume_path +
                              ", which is no volume of this kind");
  }
  LAVA_RETURN_IF_ERROR(fs::CheckPrivateDirectory(directory));
  const std::string pin = PinDirectory(marker);
  MutexLock lock(&mutex_);
  Mounted* mounted = nullptr;
  for (Mounted& candidate : mounted_) {
    if (candidate.volume->path() == found.volume_path) mounted = &candidate;
  }
  if (mounted == nullptr) {
    LAVA_ASSIGN_OR_RETURN(auto device,
                          fs::OpenBlockDevice(found.volume_path, {.direct = options.direct_io}));
    LAVA_ASSIGN_OR_RETURN(mounted, Mount(directory, found.volume_path, std::move(device), options));
  }
  if (mounted->volume->uuid() == found.uuid && mounted->volume->HasDirectory(pin)) {
    return PinnedFiles{.volume = Share(mounted), .directory = pin};
  }
  if (mounted->references == 0) Unmount(mounted);
  return Status::NotFound("open the pin " + marker + ": volume " + found.volume_path +
                          " does not have it any more");
}

std::shared_ptr<SharedVolume> VolumeRegistry::Share(Mounted* mounted) {
  SharedVolumeImpl* const volume = mounted->volume.get();
  std::shared_ptr<SharedVolume> shared =
      SharedReference<SharedVolume>(volume, [this, volume] { Release(volume); });
  ++mounted->references;
  return shared;
}

void VolumeRegistry::Release(SharedVolumeImpl* volume) {
  MutexLock lock(&mutex_);
  for (Mounted& mounted : mounted_) {
    if (mounted.volume.get() != volume) continue;
    if (--mounted.references == 0) Unmount(&mounted);
    return;
  }
}

void VolumeRegistry::Unmount(Mounted* mounted) {
  // The next user of the directory finds what could not be written or removed.
  (void)mounted->volume->Unmount();
  mounted_.remove_if([&](const Mounted& candidate) { return &candidate == mounted; });
}

}  // namespace lava
