// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <vector>

#include "fuzz/fuzz_input.h"
#include "lavafs/change.h"
#include "lavafs/image.h"
#include "lavafs/volume.h"
#include "testing/mem_disk.h"

namespace lava::fuzzing {

/// A small LavaFS volume. An input's first byte determines it (bit 0; bit 1: it is mounted after a
/// restart of the machine; bit 2: transactions are not ordered):
///   0: payloads, each preceded by its length u16, as transactions with correct checksums; with
///      bit 3 set, the first ones up to an empty one belong to the checkpoint;
///   1: edits (position u24, byte u8) of the bytes of a good volume.
/// For any volume, reading must end with a Status. A volume that can be read must be mountable,
/// writable, and readable again.
inline constexpr uint32_t kFuzzExtent = 16 << 10;
inline constexpr uint64_t kFuzzExtents = 16;
inline constexpr lavafs::Uuid kFuzzUuid{3, 4};

inline std::string ChangeOf(const lavafs::Change& change) {
  std::string out;
  lavafs::EncodeChange(change, &out);
  return out;
}

/// Applied in order, they create directories and files, and change all of their properties.
inline const std::vector<std::string>& GoodVolumePayloads() {
  using Type = lavafs::Change::Type;
  static const std::vector<std::string> payloads = {
      ChangeOf({.type = Type::kMakeDirectory, .directory = 0, .name = "d"}) +
          ChangeOf({.type = Type::kCreate, .inode = 0, .directory = 0, .name = "a"}) +
          ChangeOf({.type = Type::kExtents, .inode = 0, .ranges = {{5, 2}}}),
      ChangeOf({.type = Type::kSize, .inode = 0, .size = 20'000, .open_ended = true}) +
          ChangeOf({.type = Type::kLink, .inode = 0, .directory = 0, .name = "b"}),
      ChangeOf({.type = Type::kMakeDirectory, .directory = 1, .name = "e"}) +
          ChangeOf({.type = Type::kRename,
                    .directory = 0,
                    .to_directory = 1,
                    .name = "a",
                    .to_name = "c"}),
      ChangeOf({.type = Type::kUnlink, .directory = 0, .name = "b"}) +
          ChangeOf({.type = Type::kUnlink, .directory = 1, .name = "c"}) +
          ChangeOf({.type = Type::kRemoveDirectory, .directory = 1}),
      ChangeOf({.type = Type::kRestore, .inode = 3, .size = 5, .ranges = {{9, 1}}}) +
          ChangeOf({.type = Type::kLink, .inode = 3, .directory = 0, .name = "r"}),
      ChangeOf({.type = Type::kJump, .extent = 4}),
  };
  return payloads;
}

/// Creates a volume from the payloads; those that do not fit are omitted.
inline void MakeVolume(const std::vector<std::string>& checkpoint,
                       const std::vector<std::string>& tail, uint64_t boot, bool ordered,
                       testing::MemDisk* disk) {
  const auto device = disk->Open();
  const lavafs::Superblock superblock{.uuid = kFuzzUuid,
                                      .extent_bytes = kFuzzExtent,
                                      .capacity_bytes = kFuzzExtents * kFuzzExtent,
                                      .generation = 1,
                                      .journal = {.extent = 1, .sequence = 1, .previous = 7}};
  for (const uint64_t offset : lavafs::kSuperblockOffsets) {
    disk->Overwrite(offset, lavafs::EncodeSuperblock(superblock));
  }
  const lavafs::JournalWriter::Identity identity{
      .uuid = kFuzzUuid, .extent_bytes = kFuzzExtent, .mount = 1, .boot = boot};
  const auto write = [&](const std::vector<std::string>& payloads, lavafs::JournalWriter* journal) {
    for (const std::string& payload : payloads) {
      if (!journal->Fits(payload.size())) break;
      if (!journal->Write(payload, 0, ordered).ok()) FuzzFailed("volume", "a good transaction");
    }
  };
  const lavafs::JournalStart resume{.extent = 2, .sequence = 1, .previous = 8};
  lavafs::JournalWriter first(device.get(), identity, {.start = superblock.journal});
  write(checkpoint, &first);
  if (!first.Resume(resume).ok()) FuzzFailed("volume", "a good transaction");
  lavafs::JournalWriter second(device.get(), identity, {.start = resume});
  write(tail, &second);
}

inline void MakeVolume(InputReader* in, uint8_t how, uint64_t boot, testing::MemDisk* disk) {
  const bool ordered = (how & 4) == 0;
  if ((how & 1) != 0) {
    MakeVolume({}, GoodVolumePayloads(), boot, ordered, disk);
    while (!in->done()) {
      const size_t at = (size_t{in->Byte()} << 16 | in->Short()) % (4 * kFuzzExtent);
      const char byte = static_cast<char>(in->Byte());
      disk->Overwrite(at, {&byte, 1});
    }
    return;
  }
  std::vector<std::string> parts[2];
  size_t part = (how & 8) != 0 ? 0 : 1;
  while (!in->done()) {
    const size_t length = in->Short();
    const std::string payload(in->Take(length));
    if (payload.empty() && part == 0) {
      part = 1;
    } else {
      parts[part].push_back(payload);
    }
  }
  MakeVolume(parts[0], parts[1], boot, ordered, disk);
}

inline int RunVolumeInput(const uint8_t* data, size_t size) {
  InputReader in(InputSlice(data, size));
  const uint8_t how = in.Byte();
  const uint64_t boot = (how & 2) != 0 ? 2 : 1;
  // Shared by all inputs, because allocating it would dominate the cost of an input.
  static testing::MemDisk disk(kFuzzExtents * kFuzzExtent, kFuzzExtents * kFuzzExtent, false);
  disk.Clear();
  MakeVolume(&in, how, boot, &disk);
  const auto image = lavafs::ReadImage(disk.Open().get(), 1);
  if (!image.ok()) {
    if (image.status().message().find("disk") == std::string::npos)
      FuzzFailed("volume", "an error does not name the device");
    return 0;
  }
  for (uint64_t mount = 1; mount <= 2; ++mount) {
    lavafs::MountOptions options;
    options.boot = 1;
    options.mount = mount;
    auto volume = lavafs::Volume::Mount(disk.Open(), options);
    // The journal left no extent for another transaction.
    if (!volume.ok() && volume.status().IsNoSpace()) return 0;
    if (!volume.ok()) FuzzFailed("volume", "a volume that can be read cannot be mounted");
    for (const std::string& directory : (*volume)->ListDirectories()) {
      const auto names = (*volume)->List(directory);
      for (const std::string& name : *names) {
        const auto file = (*volume)->Open(directory, name);
        if (!file.ok()) FuzzFailed("volume", "a name has no file");
        std::string content((*file)->size(), '\0');
        if (!(*file)->Read(0, content.size(), content.data()).ok())
          FuzzFailed("volume", "a file cannot be read");
      }
    }
    const Status made = (*volume)->MakeDirectory("fuzz");
    if (!made.ok() && !made.IsNoSpace()) FuzzFailed("volume", "a directory cannot be created");
    if (!(*volume)->SyncMetadata().ok() && !made.IsNoSpace())
      FuzzFailed("volume", "a new directory cannot be synced");
  }
  return 0;
}

inline std::vector<std::string> VolumeSeeds() {
  std::vector<std::string> seeds;
  for (const char how : {'\0', '\2', '\4', '\6', '\x8', '\xc'}) {
    std::string input(1, how);
    for (const std::string& payload : GoodVolumePayloads()) {
      input.push_back(static_cast<char>(payload.size() & 0xff));
      input.push_back(static_cast<char>(payload.size() >> 8));
      input += payload;
    }
    seeds.push_back(input);
  }
  seeds.push_back(std::string("\1", 1));
  seeds.push_back(std::string("\1\0\x10\x10\x55", 5));
  seeds.push_back(std::string("\7\0\x45\x40\x55", 5));
  return seeds;
}

}  // namespace lava::fuzzing
