// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "volume/volume_view.h"

#include <algorithm>

#include "fs/posix_block_device.h"
#include "os/boot_id.h"

namespace lava::lavafs {

Result<VolumeView> VolumeView::Open(const std::string& path) {
  VolumeView view;
  LAVA_ASSIGN_OR_RETURN(view.device_,
                        fs::OpenBlockDevice(path, {.read_only = true, .direct = false}));
  LAVA_ASSIGN_OR_RETURN(view.image_, ReadImage(view.device_.get(), os::BootId()));
  return view;
}

std::vector<VolumeView::File> VolumeView::Files(const std::string& wanted) const {
  const Metadata& metadata = image_.metadata;
  std::vector<File> files;
  for (const std::string& directory : metadata.DirectoryNames()) {
    if (!wanted.empty() && directory != wanted) continue;
    const uint32_t number = *metadata.FindDirectory(directory);
    std::vector<std::string> names = metadata.List(number);
    std::sort(names.begin(), names.end());
    for (const std::string& name : names) {
      const uint32_t inode = *metadata.Find(number, name);
      files.push_back(
          {.directory = directory,
           .name = name,
           .inode = inode,
           .size = metadata.inode(inode).size,
           .open_ended = metadata.inode(inode).open_ended != 0,
           .extents_bytes = metadata.ExtentsOf(inode) * image_.superblock.extent_bytes});
    }
  }
  return files;
}

Result<VolumeView::File> VolumeView::Find(const std::string& path) const {
  const size_t slash = path.rfind('/');
  if (slash != std::string::npos) {
    for (const File& file : Files(path.substr(0, slash))) {
      if (file.name == path.substr(slash + 1)) return file;
    }
  }
  return Status::NotFound("volume " + device_->name() + " has no file " + path +
                          "; `lava-fs ls` lists those it has");
}

Status VolumeView::ReadFile(const File& file, const std::function<Status(Slice)>& to) const {
  const uint32_t extent_bytes = image_.superblock.extent_bytes;
  uint64_t left = file.open_ended ? file.extents_bytes : file.size;
  fs::AlignedBuffer memory;
  for (const ExtentRange& range : image_.metadata.RangesOf(file.inode)) {
    for (uint32_t extent = range.first; extent < range.first + range.count && left > 0; extent++) {
      LAVA_RETURN_IF_ERROR(
          ReadAligned(device_.get(), uint64_t{extent} * extent_bytes, extent_bytes, &memory));
      const uint64_t bytes = std::min<uint64_t>(left, extent_bytes);
      LAVA_RETURN_IF_ERROR(to({memory.data(), bytes}));
      left -= bytes;
    }
  }
  return Status::OK();
}

// Finds a transaction in a free extent showing that data after the journal's end was synced: the
// path to it is damaged. Extents that never belonged to the journal cost one block.
Result<std::optional<VolumeView::Finding>> VolumeView::StrayIn(uint32_t extent) const {
  const uint32_t extent_bytes = image_.superblock.extent_bytes;
  const uint64_t begin = uint64_t{extent} * extent_bytes;
  fs::AlignedBuffer memory;
  for (uint64_t at = 0; at < extent_bytes;) {
    LAVA_RETURN_IF_ERROR(ReadAligned(device_.get(), begin + at, kBlockBytes, &memory));
    TransactionHeader header;
    const uint64_t rest_bytes = extent_bytes - at;
    if (!PeekTransaction({memory.data(), kBlockBytes}, rest_bytes, &header)) break;
    const uint64_t bytes = TransactionBytes(header.payload_bytes);
    LAVA_RETURN_IF_ERROR(ReadAligned(device_.get(), begin + at, bytes, &memory));
    if (!CheckTransaction(image_.superblock.uuid, header, {memory.data(), bytes})) break;
    if (header.durable >= image_.end.start.sequence) {
      return std::optional<Finding>(
          {"offset " + std::to_string(begin + at) + ": transaction " +
               std::to_string(header.sequence) + " says that all up to " +
               std::to_string(header.durable) + " had been synced, but the journal ends before " +
               std::to_string(image_.end.start.sequence) + ", at offset " +
               std::to_string(uint64_t{image_.end.start.extent} * extent_bytes + image_.end.offset),
           true});
    }
    at += bytes;
  }
  return std::optional<Finding>();
}

Result<std::vector<VolumeView::Finding>> VolumeView::Check() const {
  std::vector<Finding> findings;
  for (const ExtentRange& range : image_.extents.FreeRanges()) {
    for (uint32_t extent = range.first; extent < range.first + range.count; extent++) {
      LAVA_ASSIGN_OR_RETURN(std::optional<Finding> stray, StrayIn(extent));
      if (stray.has_value()) findings.push_back(std::move(*stray));
    }
  }
  if (!image_.superblocks_agree) {
    findings.push_back({"the two superblocks differ; the next mount mends that", false});
  }
  if (image_.transactions_left_out > 0) {
    findings.push_back({std::to_string(image_.transactions_left_out) +
                            " transactions at the journal's end may speak of contents that a "
                            "power cut took; a mount leaves them out",
                        false});
  }
  for (const File& file : Files()) {
    if (!file.open_ended) continue;
    findings.push_back({file.directory + "/" + file.name +
                            " was synced without its size; its end is found by checksums",
                        false});
  }
  return findings;
}

}  // namespace lava::lavafs
