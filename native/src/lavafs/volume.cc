// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "lavafs/volume.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "fs/block_device.h"
#include "fs/direct_io.h"
#include "lava/status.h"
#include "lavafs/change.h"
#include "lavafs/format.h"
#include "lavafs/image.h"
#include "lavafs/journal.h"
#include "lavafs/volume_impl.h"

namespace lava::lavafs {
namespace {

// One for the superblocks, one for the checkpoint, one for the journal after it; the rest for
// files.
constexpr uint64_t kExtentsMin = 24;

Status WriteSuperblock(fs::BlockDevice* device, const Superblock& superblock, uint64_t offset) {
  const std::string block = EncodeSuperblock(superblock);
  const fs::AlignedBuffer memory(block.size(), kBlockBytes);
  std::copy(block.begin(), block.end(), memory.data());
  return device->Write(offset, {memory.data(), block.size()});
}

}  // namespace

Status Volume::Format(fs::BlockDevice* device, const FormatOptions& options, const Uuid& uuid) {
  const uint64_t extents = options.capacity_bytes / std::max(options.extent_bytes, 1u);
  if (!std::has_single_bit(options.extent_bytes) || options.extent_bytes < kExtentBytesMin ||
      options.extent_bytes > kExtentBytesMax || extents < kExtentsMin || extents > kExtentsMax) {
    return Status::InvalidArgument(
        "format volume " + device->name() + " of " + std::to_string(options.capacity_bytes) +
        " bytes in extents of " + std::to_string(options.extent_bytes) + ": extents must be " +
        std::to_string(kExtentBytesMin) + " to " + std::to_string(kExtentBytesMax) +
        " bytes, a power of two, and " + std::to_string(kExtentsMin) + " at least");
  }
  const uint64_t wanted = std::clamp<uint64_t>(
      options.initial_bytes, kExtentsMin * options.extent_bytes, extents * options.extent_bytes);
  if (device->size() < wanted) LAVA_RETURN_IF_ERROR(device->Grow(wanted));
  Superblock superblock{.uuid = uuid,
                        .extent_bytes = options.extent_bytes,
                        .capacity_bytes = extents * options.extent_bytes,
                        .generation = 1,
                        .journal = {.extent = kFirstExtent, .sequence = 1, .previous = uuid.low}};
  // An empty checkpoint, followed by an extent without a whole transaction: older transactions
  // there belong to another volume.
  JournalWriter journal(device, {.uuid = uuid, .extent_bytes = options.extent_bytes},
                        {.start = superblock.journal});
  LAVA_RETURN_IF_ERROR(
      journal.Resume({.extent = kFirstExtent + 1, .sequence = 1, .previous = uuid.high}));
  LAVA_RETURN_IF_ERROR(device->Sync());
  for (const uint64_t offset : kSuperblockOffsets) {
    LAVA_RETURN_IF_ERROR(WriteSuperblock(device, superblock, offset));
  }
  return device->Sync();
}

Result<std::unique_ptr<Volume>> Volume::Mount(std::unique_ptr<fs::BlockDevice> device,
                                              const MountOptions& options) {
  LAVA_ASSIGN_OR_RETURN(Image image, ReadImage(device.get(), options.boot));
  const bool mend = !image.superblocks_agree;
  auto volume = std::make_unique<VolumeImpl>(std::move(device), options, std::move(image));
  LAVA_RETURN_IF_ERROR(volume->Begin(mend));
  return std::unique_ptr<Volume>(std::move(volume));
}

VolumeImpl::VolumeImpl(std::unique_ptr<fs::BlockDevice> device, const MountOptions& options,
                       Image image)
    : device_(std::move(device)),
      options_(options),
      superblock_(image.superblock),
      metadata_(std::move(image.metadata)),
      extents_(std::move(image.extents)),
      journal_extents_(std::move(image.journal_extents)),
      journal_(device_.get(),
               {.uuid = superblock_.uuid,
                .extent_bytes = superblock_.extent_bytes,
                .mount = options.mount,
                .boot = options.boot},
               image.end),
      changes_{.durable_sequence = image.last_sequence} {}

Status VolumeImpl::Begin(bool mend_superblocks) {
  committer_.AssertHeld();  // no other thread has the volume yet
  // The journal that was read may not be on the device yet. It counts from now on, so it must be
  // synced, and the journal must say so.
  LAVA_RETURN_IF_ERROR(device_->Sync());
  if (mend_superblocks) {
    superblock_.generation++;
    LAVA_RETURN_IF_ERROR(WriteSuperblocks());
  }
  // Extents that only doubtful transactions freed are not written before the journal says so.
  uint64_t durable = 0;
  {
    MutexLock lock(&mutex_);
    durable = changes_.durable_sequence;
  }
  LAVA_RETURN_IF_ERROR(journal_.Fits(0) ? journal_.Write({}, durable, true)
                                        : JumpToNewExtent(durable));
  LAVA_RETURN_IF_ERROR(device_->Sync());
  MutexLock lock(&mutex_);
  changes_.durable_sequence = journal_.sequence();
  return Status::OK();
}

Status VolumeImpl::WriteSuperblocks() {
  for (const uint64_t offset : kSuperblockOffsets) {
    LAVA_RETURN_IF_ERROR(WriteSuperblock(device_.get(), superblock_, offset));
    LAVA_RETURN_IF_ERROR(device_->Sync());
  }
  return Status::OK();
}

Status VolumeImpl::Close() {
  MutexLock lock(&mutex_);
  if (closed_) return Status::OK();
  const Status done = Commit(Reach::kDurable);
  while (committing_ || compacting_) committed_.Wait(&mutex_);
  closed_ = true;
  return done;
}

Status VolumeImpl::Health() {
  MutexLock lock(&mutex_);
  return Usable();
}

Status VolumeImpl::Usable() const {
  if (closed_) return Status::Closed("volume " + device_->name() + " was closed");
  return failure_;
}

std::string VolumeImpl::PathOf(Slice directory, Slice name) const {
  return device_->name() + ":" + std::string(directory) + "/" + std::string(name);
}

Status VolumeImpl::FindDirectory(Slice directory, Slice operation, uint32_t* number) const {
  const std::optional<uint32_t> found = metadata_.FindDirectory(directory);
  if (found.has_value()) {
    *number = *found;
    return Status::OK();
  }
  return Status::NotFound(std::string(operation) + " " + device_->name() + ":" +
                          std::string(directory) + ": no such directory");
}

Status VolumeImpl::FindFile(Slice directory, Slice name, Slice operation,
                            uint32_t* directory_number, uint32_t* inode) const {
  LAVA_RETURN_IF_ERROR(FindDirectory(directory, operation, directory_number));
  const std::optional<uint32_t> found = metadata_.Find(*directory_number, name);
  if (!found.has_value()) {
    return Status::NotFound(std::string(operation) + " " + PathOf(directory, name) +
                            ": no such file");
  }
  *inode = *found;
  return Status::OK();
}

Status VolumeImpl::MakeDirectory(Slice directory) {
  MutexLock lock(&mutex_);
  LAVA_RETURN_IF_ERROR(Usable());
  if (metadata_.FindDirectory(directory).has_value()) return Status::OK();
  if (!IsDirectoryName(directory)) {
    return Status::InvalidArgument("make a directory in volume " + device_->name() +
                                   ": its name has " + std::to_string(directory.size()) +
                                   " bytes, or a zero byte");
  }
  const std::optional<uint32_t> number = NewDirectory();
  if (!number.has_value()) return Full("make directory " + std::string(directory));
  Record({.type = Change::Type::kMakeDirectory, .directory = *number, .name = directory});
  return Commit(Reach::kWritten);
}

Status VolumeImpl::RemoveDirectory(Slice directory) {
  MutexLock lock(&mutex_);
  LAVA_RETURN_IF_ERROR(Usable());
  uint32_t number = 0;
  LAVA_RETURN_IF_ERROR(FindDirectory(directory, "remove directory", &number));
  if (metadata_.FilesIn(number) > 0) {
    return Status::Busy("remove directory " + device_->name() + ":" + std::string(directory) +
                        ": it has " + std::to_string(metadata_.FilesIn(number)) + " files");
  }
  Record({.type = Change::Type::kRemoveDirectory, .directory = number});
  return Commit(Reach::kWritten);
}

std::vector<std::string> VolumeImpl::ListDirectories() {
  MutexLock lock(&mutex_);
  return metadata_.DirectoryNames();
}

Result<std::vector<std::string>> VolumeImpl::List(Slice directory) {
  MutexLock lock(&mutex_);
  uint32_t number = 0;
  LAVA_RETURN_IF_ERROR(FindDirectory(directory, "list", &number));
  return metadata_.List(number);
}

Result<FileStatus> VolumeImpl::Stat(Slice directory, Slice name) {
  MutexLock lock(&mutex_);
  uint32_t directory_number = 0, inode = 0;
  LAVA_RETURN_IF_ERROR(FindFile(directory, name, "look at", &directory_number, &inode));
  return FileStatus{.size = metadata_.inode(inode).size,
                    .open_ended = metadata_.inode(inode).open_ended != 0,
                    .extents_bytes = metadata_.ExtentsOf(inode) * superblock_.extent_bytes};
}

Status VolumeImpl::Resolve(Slice operation, const FilePath& from, const FilePath& to,
                           Resolved* resolved) const {
  LAVA_RETURN_IF_ERROR(Usable());
  LAVA_RETURN_IF_ERROR(
      FindFile(from.directory, from.name, operation, &resolved->from, &resolved->inode));
  LAVA_RETURN_IF_ERROR(FindDirectory(to.directory, std::string(operation) + " to", &resolved->to));
  if (IsFileName(to.name)) return Status::OK();
  return Status::InvalidArgument(std::string(operation) + " " + PathOf(from.directory, from.name) +
                                 " to a name in " + std::string(to.directory) + " that has " +
                                 std::to_string(to.name.size()) + " bytes, or '/', or a zero byte");
}

Status VolumeImpl::Rename(Slice directory, Slice name, Slice to_directory, Slice to_name) {
  MutexLock lock(&mutex_);
  Resolved resolved;
  LAVA_RETURN_IF_ERROR(Resolve("rename", {directory, name}, {to_directory, to_name}, &resolved));
  Record({.type = Change::Type::kRename,
          .directory = resolved.from,
          .to_directory = resolved.to,
          .name = name,
          .to_name = to_name});
  return Commit(Reach::kWritten);
}

Status VolumeImpl::Link(Slice directory, Slice name, Slice to_directory, Slice to_name) {
  MutexLock lock(&mutex_);
  Resolved resolved;
  LAVA_RETURN_IF_ERROR(Resolve("link", {directory, name}, {to_directory, to_name}, &resolved));
  if (metadata_.Find(resolved.to, to_name).has_value()) {
    return Status::IOError("link " + PathOf(directory, name) + " to " +
                           PathOf(to_directory, to_name) + ": that is there already");
  }
  Record({.type = Change::Type::kLink,
          .inode = resolved.inode,
          .directory = resolved.to,
          .name = to_name});
  return Commit(Reach::kWritten);
}

Status VolumeImpl::Remove(Slice directory, Slice name) {
  MutexLock lock(&mutex_);
  LAVA_RETURN_IF_ERROR(Usable());
  uint32_t directory_number = 0, inode = 0;
  LAVA_RETURN_IF_ERROR(FindFile(directory, name, "remove", &directory_number, &inode));
  Record({.type = Change::Type::kUnlink, .directory = directory_number, .name = name});
  return Commit(Reach::kWritten);
}

Status VolumeImpl::SyncMetadata() {
  MutexLock lock(&mutex_);
  LAVA_RETURN_IF_ERROR(Usable());
  return Commit(Reach::kDurable);
}

Status VolumeImpl::SyncAll() {
  LAVA_RETURN_IF_ERROR(SyncMetadata());
  const uint64_t contents = contents_written_.load();
  const Status synced = device_->Sync();
  MutexLock lock(&mutex_);
  if (synced.ok()) {
    contents_synced_ = std::max(contents_synced_, contents);
  } else {
    Fail(synced);
  }
  return synced;
}

uint64_t VolumeImpl::UsedBytes() {
  MutexLock lock(&mutex_);
  const uint64_t used = extents_.count() - extents_.free_count();
  return (used - std::min(used, freed_extents_)) * superblock_.extent_bytes;
}

VolumeStatistics VolumeImpl::Statistics() {
  MutexLock lock(&mutex_);
  const uint64_t extent_bytes = superblock_.extent_bytes;
  VolumeStatistics all;
  all.capacity_bytes = superblock_.capacity_bytes;
  all.device_bytes = extents_.count() * extent_bytes;
  all.free_bytes = extents_.free_count() * extent_bytes;
  all.used_bytes = all.device_bytes - all.free_bytes;
  all.to_be_freed_bytes = freed_extents_ * extent_bytes;
  all.largest_free_run_bytes = extents_.LargestFreeRange() * extent_bytes;
  all.reserve_bytes = Reserve(false) * extent_bytes;
  all.journal_bytes = journal_extents_.size() * extent_bytes;
  all.journal_written_bytes = journal_use_.written_bytes;
  all.journal_compactions = journal_use_.compactions;
  all.files = metadata_.files();
  all.metadata_memory_bytes = metadata_.bytes();
  return all;
}

}  // namespace lava::lavafs
