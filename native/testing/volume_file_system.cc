// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "testing/volume_file_system.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/check.h"
#include "lavafs/image.h"

namespace lava::testing {
namespace {

// Extents are as small as possible, so that files have many of them. The disk is small, too,
// because each crash copies it.
constexpr uint64_t kExtentBytes = lavafs::kExtentBytesMin;
constexpr uint64_t kInitialBytes = 24 * kExtentBytes;
constexpr uint64_t kGrowBytes = 8 * kExtentBytes;
constexpr uint64_t kBytesMax = 1ull << 30;
constexpr uint64_t kJournalBytesMax = 64 << 10;  // small, so that the journal is compacted often

}  // namespace

VolumeFileSystem::VolumeFileSystem()
    : disk_(std::make_unique<MemDisk>(0, kBytesMax)), boot_(1), mount_(1) {
  FormatVolume(
      disk_->Open().get(),
      {.capacity_bytes = kBytesMax, .extent_bytes = kExtentBytes, .initial_bytes = kInitialBytes});
  Mount();
  for (const char* directory : {"/", "."}) MustBeOk(mounted_.volume->MakeDirectory(directory));
  MustBeOk(mounted_.volume->SyncMetadata());
}

VolumeFileSystem::VolumeFileSystem(std::unique_ptr<MemDisk> disk, uint64_t boot, uint64_t mount)
    : disk_(std::move(disk)), boot_(boot), mount_(mount) {
  Mount();
}

VolumeFileSystem::~VolumeFileSystem() = default;

void VolumeFileSystem::Mount() {
  lavafs::MountOptions options;
  options.grow_bytes = kGrowBytes;
  options.journal_bytes_max = kJournalBytesMax;
  options.boot = boot_;
  options.mount = mount_;
  auto mounted = MountVolume(disk_->Open(), options);
  MustBeOk(mounted.status());
  mounted_ = std::move(*mounted);
  ForwardTo(mounted_.file_system.get());
}

std::unique_ptr<CrashableFileSystem> VolumeFileSystem::AfterPowerCut(
    std::unique_ptr<MemDisk> disk) const {
  return std::unique_ptr<CrashableFileSystem>(
      new VolumeFileSystem(std::move(disk), boot_ + 1, mount_ + 1));
}

// Must not call the volume: the mutation hook runs inside of the volume's calls.
std::unique_ptr<CrashableFileSystem> VolumeFileSystem::CrashClone(CrashMode mode,
                                                                  uint64_t seed) const {
  switch (mode) {
    case CrashMode::kAll:
      return std::unique_ptr<CrashableFileSystem>(
          new VolumeFileSystem(disk_->AfterPowerCut(1), boot_, mount_ + 1));
    case CrashMode::kSyncedOnly:
      return AfterPowerCut(disk_->AfterPowerCut(0));
    default:  // seeds 0 and 1 have a special meaning
      return AfterPowerCut(disk_->AfterPowerCut(std::max<uint64_t>(seed, seed + 2)));
  }
}

uint64_t VolumeFileSystem::CrashStates() const { return disk_->PowerCutStates(); }

std::unique_ptr<CrashableFileSystem> VolumeFileSystem::CrashCloneAt(uint64_t state,
                                                                    uint64_t seed) const {
  return AfterPowerCut(disk_->AfterPowerCutAt(state, seed));
}

uint64_t VolumeFileSystem::mutating_calls() const { return disk_->calls(); }

void VolumeFileSystem::SetMutationHook(std::function<void(uint64_t)> hook) {
  disk_->SetHook(std::move(hook));
}

void VolumeFileSystem::SetRemovedFilesReadable(bool) {}

Result<std::string> VolumeFileSystem::Content(const std::string& path) const {
  return files()->ReadWhole(path, kBytesMax);
}

Status VolumeFileSystem::SetContent(const std::string& path, std::string content) {
  const Result<uint64_t> size = files()->FileSize(path);
  if (size.ok() && *size == content.size()) return Overwrite(path, content);
  const std::string beside = path + "~";
  LAVA_ASSIGN_OR_RETURN(const auto file, files()->Create(beside, 1 << 16));
  LAVA_RETURN_IF_ERROR(file->Append(content));
  LAVA_RETURN_IF_ERROR(file->Sync());
  LAVA_RETURN_IF_ERROR(file->Close());
  LAVA_RETURN_IF_ERROR(files()->Rename(beside, path));
  return mounted_.volume->SyncMetadata();
}

// Reads the metadata as a mount would, to learn where the file's bytes are.
Status VolumeFileSystem::Overwrite(const std::string& path, const std::string& content) {
  LAVA_RETURN_IF_ERROR(mounted_.volume->SyncMetadata());
  const std::unique_ptr<fs::BlockDevice> device = disk_->Open();
  LAVA_RETURN_IF_ERROR(device->Sync());
  LAVA_ASSIGN_OR_RETURN(const lavafs::Image image, lavafs::ReadImage(device.get(), boot_));
  const size_t slash = path.rfind('/');
  const std::optional<uint32_t> directory =
      image.metadata.FindDirectory(slash == 0 ? "/" : path.substr(0, slash));
  LAVA_CHECK(directory.has_value());
  const std::optional<uint32_t> inode = image.metadata.Find(*directory, path.substr(slash + 1));
  LAVA_CHECK(inode.has_value());
  Slice left = content;
  for (const lavafs::ExtentRange& range : image.metadata.RangesOf(*inode)) {
    const Slice here = left.substr(0, range.count * kExtentBytes);
    if (!here.empty()) disk_->Overwrite(range.first * kExtentBytes, here);
    left.remove_prefix(here.size());
  }
  LAVA_CHECK(left.empty());
  return Status::OK();
}

std::vector<std::string> VolumeFileSystem::Paths() const {
  std::vector<std::string> paths;
  for (const std::string& directory : mounted_.volume->ListDirectories()) {
    const auto names = mounted_.volume->List(directory);
    MustBeOk(names.status());
    const std::string begin = directory == "/" ? "" : directory;
    for (const std::string& name : *names) paths.push_back(begin + "/" + name);
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

}  // namespace lava::testing
