// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "lavafs/volume.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>
#include <thread>

#include "base/hash.h"
#include "lavafs/image.h"
#include "lavafs/lavafs_file_system.h"
#include "testing/mem_disk.h"
#include "testing/random.h"

namespace lava::lavafs {
namespace {

using testing::MemDisk;

constexpr uint32_t kExtent = 16 << 10;
constexpr Uuid kUuid{1, 2};

class VolumeTest : public ::testing::Test {
 protected:
  void Format(uint64_t extents, uint64_t initial, uint32_t extent_bytes = kExtent) {
    disk_ = std::make_unique<MemDisk>(0, extents * extent_bytes);
    ASSERT_TRUE(Volume::Format(disk_->Open().get(),
                               {.capacity_bytes = extents * extent_bytes,
                                .extent_bytes = extent_bytes,
                                .initial_bytes = initial * extent_bytes},
                               kUuid)
                    .ok());
  }
  Status Mount(MountOptions options = {}) {
    volume_.reset();
    options.grow_bytes = std::min<uint64_t>(options.grow_bytes, 4 * kExtent);
    options.boot = 1;
    if (options.second_buffer_from_bytes == MountOptions().second_buffer_from_bytes)
      options.second_buffer_from_bytes = 4096;
    options.mount = ++mounts_;
    LAVA_ASSIGN_OR_RETURN(volume_, Volume::Mount(disk_->Open(), options));
    return volume_->MakeDirectory("d");
  }
  Status Write(const std::string& name, const std::string& content, bool sync = true) {
    LAVA_ASSIGN_OR_RETURN(auto file, volume_->Create("d", name, 4096));
    LAVA_RETURN_IF_ERROR(file->Append(content));
    if (sync) LAVA_RETURN_IF_ERROR(file->Sync());
    return file->Close();
  }
  Result<std::string> Read(const std::string& name) {
    LAVA_ASSIGN_OR_RETURN(const auto file, volume_->Open("d", name));
    std::string content(file->size(), '\0');
    LAVA_RETURN_IF_ERROR(file->Read(0, content.size(), content.data()));
    return content;
  }
  // Reads the volume from the device, as a scrub does.
  Status Reread() { return ReadImage(disk_->Open().get(), 1).status(); }

  std::unique_ptr<MemDisk> disk_;
  std::unique_ptr<Volume> volume_;
  uint64_t mounts_ = 0;
};

std::string Content(size_t bytes, uint64_t seed) { return testing::Random(seed).Bytes(bytes); }

TEST_F(VolumeTest, FilesOfAnySizeComeBackAfterAMount) {
  Format(400, 16);
  ASSERT_TRUE(Mount().ok());
  const size_t sizes[] = {0, 1, 4095, 4096, 4097, kExtent, kExtent + 1, 40 * kExtent + 3};
  for (const size_t size : sizes) {
    ASSERT_TRUE(Write(std::to_string(size), Content(size, size), false).ok());
  }
  ASSERT_TRUE(volume_->Close().ok());
  EXPECT_EQ(volume_->MakeDirectory("e").code(), Status::Code::kClosed);
  ASSERT_TRUE(Mount().ok());
  for (const size_t size : sizes) EXPECT_EQ(*Read(std::to_string(size)), Content(size, size));
  EXPECT_EQ(volume_->List("d")->size(), std::size(sizes));
  EXPECT_TRUE(volume_->List("none").status().IsNotFound());
}

TEST_F(VolumeTest, PartsOfAFileAreReadAndNoneBehindItsEnd) {
  Format(64, 16);
  ASSERT_TRUE(Mount().ok());
  const std::string content = Content(3 * kExtent, 9);
  ASSERT_TRUE(Write("f", content).ok());
  const auto file = volume_->Open("d", "f");
  ASSERT_TRUE(file.ok());
  testing::Random random(4);
  for (int round = 0; round < 200; round++) {
    const uint64_t from = random.Uniform(content.size()), most = content.size() - from;
    const uint64_t length = random.Uniform(most + 1);
    std::string read(length, '\0');
    ASSERT_TRUE((*file)->Read(from, length, read.data()).ok());
    ASSERT_EQ(read, content.substr(from, length));
  }
  char byte;
  const Status beyond = (*file)->Read(content.size(), 1, &byte);
  EXPECT_TRUE(beyond.IsCorruption());
  EXPECT_NE(beyond.message().find("disk:d/f"), std::string::npos);
  EXPECT_TRUE((*file)->Read(UINT64_MAX, 2, &byte).IsCorruption());
}

TEST_F(VolumeTest, AFullBufferIsWrittenWhileTheNextIsFilled) {
  constexpr uint64_t kBuffer = 8 << 10;
  Format(400, 16);
  MemoryCounter buffers;
  ASSERT_TRUE(Mount({.buffers = &buffers}).ok());
  const std::string content = Content(10 * kExtent + 5, 1);
  auto file = volume_->Create("d", "f", kBuffer);
  ASSERT_TRUE(file.ok());
  uint64_t appended = 0;
  for (const uint64_t to : {kBuffer - 1, kBuffer, 5 * kBuffer / 2}) {
    ASSERT_TRUE((*file)->Append(Slice(content).substr(appended, to - appended)).ok());
    appended = to;
    EXPECT_EQ(disk_->writes_begun(), to / kBuffer);
    EXPECT_EQ(buffers.used(), to <= kBuffer ? kBuffer : 2 * kBuffer);
  }
  ASSERT_TRUE((*file)->Append(Slice(content).substr(appended)).ok());
  EXPECT_GE(disk_->writes_begun(), content.size() / kBuffer);
  ASSERT_TRUE((*file)->Sync().ok());
  EXPECT_EQ(*Read("f"), content);
  ASSERT_TRUE((*file)->Close().ok());
  EXPECT_EQ(buffers.used(), 0u);
  // A file with a small buffer has no second one.
  const uint64_t begun = disk_->writes_begun();
  ASSERT_TRUE(Mount({.second_buffer_from_bytes = 32 << 10}).ok());
  auto small = volume_->Create("d", "g", kBuffer);
  ASSERT_TRUE((*small)->Append(content).ok());
  EXPECT_EQ(disk_->writes_begun(), begun);
}

TEST_F(VolumeTest, AFileThatIsGivenUpFreesNothingThatIsStillWritten) {
  Format(400, 16);
  ASSERT_TRUE(Mount().ok());
  const std::string content = Content(4 * kExtent, 1);
  for (const bool removed : {false, true}) {
    auto file = volume_->Create("d", "f", kExtent / 2);
    ASSERT_TRUE((*file)->Append(content).ok());
    if (removed) {
      ASSERT_TRUE(volume_->Remove("d", "f").ok());
    }
    file->reset();
    // The new file gets the extents of the first; MemDisk checks that no write to them is pending.
    ASSERT_TRUE(Write("g", Content(200 * kExtent, 2)).ok());
    ASSERT_TRUE(volume_->Remove("d", "g").ok());
  }
}

TEST_F(VolumeTest, ABegunWriteThatFailsIsToldByTheNextCall) {
  Format(400, 16);
  ASSERT_TRUE(Mount().ok());
  auto file = volume_->Create("d", "f", 8 << 10);
  ASSERT_TRUE((*file)->Append(Content(4096, 1)).ok());
  ASSERT_TRUE((*file)->Flush().ok());
  disk_->FailAt(disk_->calls() + 1, false);
  ASSERT_TRUE((*file)->Append(Content((8 << 10) - 4096, 2)).ok())
      << "the failing write only begins here";
  Status told = (*file)->Flush();
  if (told.ok()) told = (*file)->Append("x");
  EXPECT_TRUE(told.IsIOError()) << told.ToString();
  EXPECT_NE(told.message().find("write to"), std::string::npos) << told.ToString();
  EXPECT_TRUE((*file)->Close().IsIOError()) << "the file must keep returning the first error";
}

// Whole blocks are read straight into aligned memory, everything else through an aligned buffer.
// The disk refuses unaligned reads.
TEST_F(VolumeTest, AnyMemoryIsReadInto) {
  Format(64, 16);
  ASSERT_TRUE(Mount().ok());
  const std::string content = Content(3 * kExtent, 9);
  ASSERT_TRUE(Write("f", content).ok());
  const auto file = volume_->Open("d", "f");
  ASSERT_TRUE(file.ok());
  const fs::AlignedBuffer memory(content.size() + kBlockBytes, kBlockBytes);
  constexpr uint64_t kBlock = kBlockBytes;
  for (const uint64_t shift : std::vector<uint64_t>{0, 1, 512}) {
    for (const uint64_t from : std::vector<uint64_t>{0, 1, kBlock, kExtent - kBlock}) {
      for (const uint64_t length :
           std::vector<uint64_t>{1, kBlock, 2 * kBlock + 1, 2 * kBlock, 2 * kExtent}) {
        std::memset(memory.data(), 0x5a, memory.size());
        ASSERT_TRUE((*file)->Read(from, length, memory.data() + shift).ok());
        ASSERT_EQ(std::string_view(memory.data() + shift, length), content.substr(from, length))
            << shift << " " << from << " " << length;
        ASSERT_EQ(memory.data()[shift + length], 0x5a)
            << "the read must not write beyond the requested length";
      }
    }
  }
}

// For batches of reads, which read the device directly.
TEST_F(VolumeTest, ARangeIsFoundOnTheDeviceWhereItIsInOnePiece) {
  Format(64, 16);
  ASSERT_TRUE(Mount().ok());
  // Extents of the two files alternate, so no two of one file are adjacent.
  const std::string content = Content(4 * kExtent, 9);
  auto one = volume_->Create("d", "one", kExtent), other = volume_->Create("d", "other", kExtent);
  ASSERT_TRUE(one.ok() && other.ok());
  for (size_t at = 0; at < content.size(); at += kExtent) {
    for (auto* file : {one->get(), other->get()}) {
      ASSERT_TRUE(file->Append(Slice(content).substr(at, kExtent)).ok());
    }
  }
  ASSERT_TRUE((*one)->Close().ok() && (*other)->Close().ok());
  const std::string device = disk_->Content();
  const auto file = volume_->Open("d", "one");
  ASSERT_TRUE(file.ok());
  testing::Random random(4);
  uint64_t found = 0, split = 0;
  for (int round = 0; round < 400; round++) {
    const uint64_t from = random.Uniform(content.size());
    const uint64_t length =
        1 + random.Uniform(std::min<uint64_t>(content.size() - from, 2 * kExtent));
    const bool within = from / kExtent == (from + length - 1) / kExtent;
    uint64_t at = 0;
    ASSERT_EQ((*file)->Locate(from, length, &at), within) << from << " " << length;
    (within ? found : split)++;
    if (!within) continue;
    ASSERT_EQ(device.substr(at, length), content.substr(from, length));
  }
  EXPECT_GT(found, 50u);
  EXPECT_GT(split, 50u);
  uint64_t at = 0;
  EXPECT_FALSE((*file)->Locate(content.size(), 1, &at));
  EXPECT_FALSE((*file)->Locate(UINT64_MAX, 2, &at));
}

TEST_F(VolumeTest, NamesChange) {
  Format(64, 16);
  ASSERT_TRUE(Mount().ok());
  ASSERT_TRUE(Write("a", "first").ok());
  ASSERT_TRUE(Write("b", "second").ok());
  ASSERT_TRUE(volume_->Link("d", "a", "d", "c").ok());
  EXPECT_TRUE(volume_->Link("d", "a", "d", "b").IsIOError());
  ASSERT_TRUE(volume_->Rename("d", "a", "d", "b").ok());
  EXPECT_EQ(*Read("b"), "first");
  EXPECT_EQ(*Read("c"), "first");
  EXPECT_TRUE(Read("a").status().IsNotFound());
  EXPECT_TRUE(volume_->Rename("d", "a", "d", "b").IsNotFound());
  EXPECT_TRUE(volume_->Rename("d", "b", "e", "b").IsNotFound());
  EXPECT_TRUE(volume_->Remove("d", "a").IsNotFound());
  EXPECT_TRUE(volume_->RemoveDirectory("d").IsBusy());
  ASSERT_TRUE(volume_->Remove("d", "b").ok());
  EXPECT_EQ(*Read("c"), "first");
  for (const Slice bad : {Slice(""), Slice("x/y"), Slice("x\0", 2)}) {
    EXPECT_TRUE(volume_->Create("d", bad, 4096).status().IsInvalidArgument());
    EXPECT_TRUE(volume_->Rename("d", "c", "d", bad).IsInvalidArgument());
    EXPECT_TRUE(volume_->Link("d", "c", "d", bad).IsInvalidArgument());
  }
  EXPECT_TRUE(volume_->MakeDirectory("").IsInvalidArgument());
  EXPECT_TRUE(Reread().ok());
}

TEST_F(VolumeTest, ARemovedFileIsReadAndWrittenAsLongAsItIsOpen) {
  Format(64, 16);
  ASSERT_TRUE(Mount().ok());
  ASSERT_TRUE(Write("f", Content(kExtent, 1)).ok());
  auto reader = volume_->Open("d", "f");
  auto writer = volume_->Create("d", "g", 4096);
  ASSERT_TRUE((*writer)->Append("begun").ok());
  ASSERT_TRUE(volume_->Remove("d", "f").ok());
  ASSERT_TRUE(volume_->Remove("d", "g").ok());
  ASSERT_TRUE((*writer)->Append(Content(2 * kExtent, 2)).ok());
  ASSERT_TRUE((*writer)->Sync().ok());
  std::string read(kExtent, '\0');
  ASSERT_TRUE((*reader)->Read(0, kExtent, read.data()).ok());
  EXPECT_EQ(read, Content(kExtent, 1));
  const uint64_t used = volume_->Statistics().used_bytes;
  reader->reset();
  ASSERT_TRUE((*writer)->Close().ok());
  ASSERT_TRUE(volume_->SyncMetadata().ok());
  const VolumeStatistics after = volume_->Statistics();
  EXPECT_EQ(after.used_bytes - after.to_be_freed_bytes, used - 4 * kExtent);
  EXPECT_EQ(after.files, 0u);
  EXPECT_TRUE(Reread().ok());
}

TEST_F(VolumeTest, AFullVolumeSaysSoAndGoesOnWhenThereIsSpace) {
  Format(32, 16);
  ASSERT_TRUE(Mount({.reserve_bytes = 4 * kExtent}).ok());
  Status full;
  int written = 0;
  while (full.ok() && written < 40) {
    full = Write(std::to_string(written), Content(kExtent, written));
    if (full.ok()) written++;
  }
  ASSERT_TRUE(full.IsNoSpace()) << full.ToString();
  for (const char* part : {"disk:d/", "is full", "524288", "files"}) {
    EXPECT_NE(full.message().find(part), std::string::npos) << full.ToString();
  }
  EXPECT_EQ(volume_->Statistics().device_bytes, 32 * kExtent);
  EXPECT_GE(written, 10);
  // A file that may use the reserve, such as the collector's, still gets space.
  auto collector = volume_->Create("d", "gc", 4096, /*may_use_reserve=*/true);
  ASSERT_TRUE((*collector)->Append(Content(3 * kExtent, 77)).ok());
  ASSERT_TRUE((*collector)->Sync().ok());
  ASSERT_TRUE((*collector)->Close().ok());
  EXPECT_TRUE(Write("more", Content(kExtent, 5)).IsNoSpace());
  for (int n = 0; n < 6; n++) ASSERT_TRUE(volume_->Remove("d", std::to_string(n)).ok());
  ASSERT_TRUE(Write("more", Content(kExtent, 5)).ok());
  EXPECT_EQ(*Read("more"), Content(kExtent, 5));
  EXPECT_EQ(*Read("gc"), Content(3 * kExtent, 77));
  EXPECT_TRUE(Reread().ok());
}

TEST_F(VolumeTest, ADeviceThatCannotGrowIsNamedAsTheReason) {
  Format(64, 24);
  ASSERT_TRUE(Mount().ok());
  auto file = volume_->Create("d", "f", 4096);
  ASSERT_TRUE((*file)->Append(Content(100, 1)).ok());
  ASSERT_TRUE((*file)->Sync().ok());
  const uint64_t free = volume_->Statistics().free_bytes;
  disk_->FailGrowth(true);
  const Status full = Write("g", Content(free, 2));
  EXPECT_TRUE(full.IsNoSpace());
  EXPECT_NE(full.message().find("it could not grow: IOError: grow of disk: injected"),
            std::string::npos)
      << full.ToString();
  disk_->FailGrowth(false);
  EXPECT_TRUE(Write("g", Content(free, 2)).ok());
}

TEST_F(VolumeTest, TheJournalOfAFullVolumeGoesOn) {
  for (const uint64_t extents : {24, 32, 200}) {
    Format(extents, extents);
    ASSERT_TRUE(Mount().ok());
    int written = 0;
    while (Write(std::to_string(written), Content(kExtent, written), written % 2 == 0).ok()) {
      written++;
    }
    ASSERT_GE(written, 6) << extents;
    // Thousands of commits, each a block of the journal, take no space from files.
    for (int n = 0; n < 3000; n++) {
      ASSERT_TRUE(volume_->Rename("d", n % 2 == 0 ? "0" : "x", "d", n % 2 == 0 ? "x" : "0").ok());
      if (n % 100 == 0) {
        ASSERT_TRUE(volume_->SyncMetadata().ok());
      }
    }
    ASSERT_TRUE(Mount().ok());
    for (int n = 0; n < written; n++) {
      ASSERT_TRUE(volume_->Remove("d", std::to_string(n)).ok());
    }
    EXPECT_TRUE(Write("after", Content(3 * kExtent, 1)).ok());
    EXPECT_TRUE(Reread().ok());
  }
}

TEST_F(VolumeTest, RemovedSpaceIsUsedAgainBeforeTheDeviceGrows) {
  Format(1000, 16);
  ASSERT_TRUE(Mount({.journal_bytes_max = 64 << 10}).ok());
  for (int round = 0; round < 200; round++) {
    ASSERT_TRUE(Write("f" + std::to_string(round % 3), Content(2 * kExtent, round), false).ok());
  }
  EXPECT_LE(volume_->Statistics().device_bytes, 48 * kExtent);
}

TEST_F(VolumeTest, FreeSpaceAboveTheIdleReserveIsGivenBack) {
  Format(64, 64);
  ASSERT_TRUE(Mount({.idle_reserve_bytes = 8 * kExtent}).ok());
  ASSERT_TRUE(Write("kept", Content(3 * kExtent, 1)).ok());
  const uint64_t before = disk_->bytes_written();
  ASSERT_TRUE(volume_->TrimFreeSpace().ok());
  // MemDisk counts discarded bytes as zeros written.
  EXPECT_EQ(disk_->bytes_written() - before, volume_->Statistics().free_bytes - 8 * kExtent);
  EXPECT_EQ(*Read("kept"), Content(3 * kExtent, 1));
  EXPECT_TRUE(Reread().ok());
}

TEST_F(VolumeTest, SyncDataWritesNoMetadataUnlessTheFileGrew) {
  Format(64, 32, 64 << 10);
  ASSERT_TRUE(Mount().ok());
  auto file = volume_->Create("d", "wal", 4096);
  ASSERT_TRUE(file.ok());
  ASSERT_TRUE((*file)->Append(Content(4096, 1)).ok());
  ASSERT_TRUE((*file)->SyncData().ok());
  uint64_t before = disk_->bytes_written();
  // In the rest of the first extent, only contents are written.
  for (int n = 0; n < 15; n++) {
    ASSERT_TRUE((*file)->Append(Content(4096, 2)).ok());
    ASSERT_TRUE((*file)->SyncData().ok());
  }
  EXPECT_EQ(disk_->bytes_written() - before, 15 * 4096u);
  before = disk_->bytes_written();
  ASSERT_TRUE((*file)->Append(Content(4096, 3)).ok());
  ASSERT_TRUE((*file)->SyncData().ok());
  EXPECT_EQ(disk_->bytes_written() - before, 2 * 4096u);
  before = disk_->bytes_written();
  ASSERT_TRUE((*file)->Append(Content(4096, 4)).ok());
  ASSERT_TRUE((*file)->Sync().ok());
  EXPECT_EQ(disk_->bytes_written() - before, 2 * 4096u);
  EXPECT_FALSE(volume_->Stat("d", "wal")->open_ended);
}

TEST_F(VolumeTest, TheJournalStaysSmallAndTellsTheSameAfterItsCompaction) {
  Format(256, 64);
  ASSERT_TRUE(Mount({.journal_bytes_max = 64 << 10}).ok());
  for (int round = 0; round < 500; round++) {
    ASSERT_TRUE(Write("f" + std::to_string(round % 7), Content(round, round), false).ok());
  }
  const VolumeStatistics all = volume_->Statistics();
  EXPECT_GE(all.journal_compactions, 10u);
  EXPECT_LE(all.journal_bytes, 12 * kExtent);
  ASSERT_TRUE(Mount().ok());
  for (int round = 493; round < 500; round++) {
    EXPECT_EQ(*Read("f" + std::to_string(round % 7)), Content(round, round));
  }
}

// Otherwise a sync during the compaction waits for a write of a mebibyte.
TEST_F(VolumeTest, ACompactionOfTheJournalReadsAndWritesInSmallPieces) {
  Format(64, 24, 1 << 20);
  ASSERT_TRUE(Mount({.journal_bytes_max = 1 << 30}).ok());
  for (int file = 0; file < 20'000; file++) {
    ASSERT_TRUE(volume_->Create("d", "a file of a longer name " + std::to_string(file), 1).ok());
  }
  ASSERT_TRUE(volume_->SyncMetadata().ok());
  disk_->TakeLargestBytes();
  const uint64_t before = disk_->bytes_written();
  ASSERT_TRUE(volume_->CompactJournal().ok());
  EXPECT_GT(disk_->bytes_written() - before, 700u << 10);
  EXPECT_LE(disk_->TakeLargestBytes(), 128u << 10);
  ASSERT_TRUE(Mount().ok());
  EXPECT_EQ(volume_->Statistics().files, 20'000u);
}

TEST_F(VolumeTest, OneDamagedSuperblockIsMendedTwoAreTold) {
  Format(64, 16);
  ASSERT_TRUE(Mount().ok());
  ASSERT_TRUE(Write("f", "content").ok());
  for (const uint64_t offset : kSuperblockOffsets) {
    volume_.reset();
    std::string content = disk_->Content();
    content[offset + 30] ^= 1;
    disk_->SetContent(content);
    EXPECT_FALSE(ReadImage(disk_->Open().get(), 1)->superblocks_agree);
    ASSERT_TRUE(Mount().ok());
    EXPECT_EQ(*Read("f"), "content");
    EXPECT_TRUE(ReadImage(disk_->Open().get(), 1)->superblocks_agree);
  }
  volume_.reset();
  std::string content = disk_->Content();
  for (const uint64_t offset : kSuperblockOffsets) content[offset + 30] ^= 1;
  disk_->SetContent(content);
  const Status told = Mount();
  EXPECT_TRUE(told.IsCorruption());
  EXPECT_NE(told.message().find("disk at offset 4096"), std::string::npos) << told.ToString();
}

TEST_F(VolumeTest, ANewerFormatIsRefused) {
  Format(64, 16);
  std::string content = disk_->Content();
  for (const uint64_t offset : kSuperblockOffsets) {
    std::string block = content.substr(offset, kBlockBytes);
    block[8] = 9;
    const uint64_t checksum = Hash64(Slice(block).substr(0, 72));
    std::copy_n(reinterpret_cast<const char*>(&checksum), 8, block.begin() + 72);
    content.replace(offset, kBlockBytes, block);
  }
  disk_->SetContent(content);
  const Status told = Mount();
  EXPECT_EQ(told.code(), Status::Code::kNotSupported) << told.ToString();
  EXPECT_NE(told.message().find("version 9"), std::string::npos);
}

TEST_F(VolumeTest, DamagedTransactionsThatWereSyncedAreToldWithTheirOffset) {
  constexpr uint32_t kLarge = 256 << 10;
  Format(64, 32, kLarge);
  ASSERT_TRUE(Mount().ok());
  for (int n = 0; n < 3; n++) ASSERT_TRUE(Write("f" + std::to_string(n), "content").ok());
  volume_.reset();
  const std::string whole = disk_->Content();
  const auto image = ReadImage(disk_->Open().get(), 1);
  ASSERT_TRUE(image.ok());
  const uint64_t tail = uint64_t{image->end.start.extent} * kLarge;
  ASSERT_GE(image->end.offset, 3 * kBlockBytes);
  uint64_t told = 0, transactions = 0;
  for (uint64_t at = 0; at < image->end.offset; at += kBlockBytes) {
    std::string damaged = whole;
    damaged[tail + at + 20] ^= 1;
    disk_->SetContent(damaged);
    transactions++;
    const Status status = Reread();
    if (status.IsCorruption()) {
      told++;
      EXPECT_NE(status.message().find("offset " + std::to_string(tail + at)), std::string::npos)
          << status.ToString();
    }
  }
  // No transaction says that the last one was synced.
  EXPECT_EQ(told, transactions - 1);
  EXPECT_GE(told, 4u);
  // Damage to the checkpoint is always reported.
  std::string damaged = whole;
  damaged[image->superblock.journal.extent * kLarge + 66] ^= 1;
  disk_->SetContent(damaged);
  EXPECT_TRUE(Reread().IsCorruption());
}

// Two power cuts. The first one loses a jump of the journal but not the transactions after it. They
// stay in the extent to which the journal jumps again later. They declare sequence numbers as
// synced that are used a second time.
TEST_F(VolumeTest, WhatAnEarlierStartLeftInAnExtentSaysNothingOfTheJournal) {
  Format(64, 32, 64 << 10);
  ASSERT_TRUE(Mount().ok());
  ASSERT_TRUE(Write("f", "content").ok());
  volume_.reset();
  const auto device = disk_->Open();
  const auto before = ReadImage(device.get(), 1);
  ASSERT_TRUE(before.ok());
  const uint32_t extent_bytes = before->superblock.extent_bytes;
  const uint32_t free = 30;
  const uint64_t sequence = before->end.start.sequence;
  JournalWriter left(
      device.get(),
      {.uuid = before->superblock.uuid, .extent_bytes = extent_bytes, .mount = 1, .boot = 1},
      {.start = {.extent = free, .sequence = sequence + 10, .previous = 7}});
  ASSERT_TRUE(left.Write({}, sequence + 9, true).ok());
  const auto after = ReadImage(device.get(), 2);
  ASSERT_TRUE(after.ok()) << after.status().ToString();
  EXPECT_EQ(after->last_sequence, sequence - 1);
  JournalWriter again(
      device.get(),
      {.uuid = before->superblock.uuid, .extent_bytes = extent_bytes, .mount = 2, .boot = 2},
      after->end);
  ASSERT_TRUE(again.Write({}, after->last_sequence, true).ok());
  ASSERT_TRUE(again.Jump(free, after->last_sequence).ok());
  const auto last = ReadImage(device.get(), 3);
  ASSERT_TRUE(last.ok()) << last.status().ToString();
  EXPECT_EQ(last->end.start.extent, free);
  EXPECT_EQ(last->transactions, after->transactions + 2);
  // Boots differ by their sequences, not by their positions alone.
  EXPECT_GT(last->end.start.sequence >> 32, after->end.start.sequence >> 32);
}

// A crash lost the first of two transactions but not the second. The next mount writes another
// transaction in place of the first. The second one, which has the expected number, still follows
// it.
TEST_F(VolumeTest, ATransactionOfAnEarlierMountDoesNotContinueTheJournal) {
  Format(64, 32, 64 << 10);
  ASSERT_TRUE(Mount().ok());
  ASSERT_TRUE(Write("f", "content").ok());
  volume_.reset();
  const auto device = disk_->Open();
  const auto before = ReadImage(device.get(), 1);
  ASSERT_TRUE(before.ok());
  const uint64_t sequence = before->end.start.sequence;
  JournalWriter::Identity identity = {.uuid = before->superblock.uuid,
                                      .extent_bytes = before->superblock.extent_bytes,
                                      .mount = 1,
                                      .boot = 1};
  JournalWriter earlier(device.get(), identity, before->end);
  ASSERT_TRUE(earlier.Write({}, before->last_sequence, true).ok());
  ASSERT_TRUE(earlier.Write({}, before->last_sequence, true).ok());
  const auto both = ReadImage(device.get(), 1);
  ASSERT_TRUE(both.ok());
  EXPECT_EQ(both->last_sequence, sequence + 1);
  identity.mount = 2;
  JournalWriter next(device.get(), identity, before->end);
  ASSERT_TRUE(next.Write({}, before->last_sequence, true).ok());
  const auto image = ReadImage(device.get(), 1);
  ASSERT_TRUE(image.ok()) << image.status().ToString();
  EXPECT_EQ(image->last_sequence, sequence);
  EXPECT_EQ(image->end.offset, next.position().offset);
}

// The transaction that says so need not be reachable from where the journal was torn.
TEST_F(VolumeTest, TransactionsCountThatALaterOneBehindATornOneCallsDurable) {
  Format(64, 32, 64 << 10);
  ASSERT_TRUE(Mount().ok());
  ASSERT_TRUE(Write("f", "content").ok());
  volume_.reset();
  const auto device = disk_->Open();
  const auto before = ReadImage(device.get(), 1);
  ASSERT_TRUE(before.ok());
  const uint64_t sequence = before->end.start.sequence;
  const JournalWriter::Identity identity = {.uuid = before->superblock.uuid,
                                            .extent_bytes = before->superblock.extent_bytes,
                                            .mount = 1,
                                            .boot = 1};
  JournalWriter writer(device.get(), identity, before->end);
  ASSERT_TRUE(writer.Fits(0));
  ASSERT_TRUE(writer.Write({}, before->last_sequence, false).ok());
  const auto doubtful = ReadImage(device.get(), 2);
  ASSERT_TRUE(doubtful.ok());
  EXPECT_EQ(doubtful->transactions_left_out, 1u);
  JournalWriter::Position behind = writer.position();
  behind.offset += kBlockBytes;
  behind.start.sequence++;
  JournalWriter later(device.get(), identity, behind);
  ASSERT_TRUE(later.Write({}, sequence, true).ok());
  const auto trusted = ReadImage(device.get(), 2);
  ASSERT_TRUE(trusted.ok()) << trusted.status().ToString();
  EXPECT_EQ(trusted->transactions_left_out, 0u);
  EXPECT_EQ(trusted->last_sequence, sequence);
}

TEST_F(VolumeTest, AnyCallOfTheDeviceMayFail) {
  for (const bool for_ever : {false, true}) {
    for (uint64_t call = 1;; call++) {
      Format(64, 16);
      ASSERT_TRUE(Mount({.journal_bytes_max = 32 << 10}).ok());
      ASSERT_TRUE(Write("synced", Content(5000, 1)).ok());
      const uint64_t begin = disk_->calls();
      disk_->FailAt(begin + call, for_ever);
      Status first;
      for (int n = 0; n < 20; n++) {
        const Status done = Write("f" + std::to_string(n % 4), Content(9000, n), n % 2 == 0);
        if (!done.ok() && first.ok()) first = done;
        // Reads continue.
        ASSERT_EQ(*Read("synced"), Content(5000, 1));
      }
      const bool met = disk_->calls() >= begin + call;
      disk_->FailAt(0, false);
      if (!met) break;
      EXPECT_TRUE(first.IsIOError()) << call;
      EXPECT_NE(first.message().find("injected"), std::string::npos) << first.ToString();
      // After a new mount, all synced content is there and more can be written.
      ASSERT_TRUE(Mount().ok()) << call;
      EXPECT_EQ(*Read("synced"), Content(5000, 1));
      EXPECT_TRUE(Write("after", "after").ok()) << call;
      EXPECT_TRUE(Reread().ok()) << call;
    }
  }
}

TEST_F(VolumeTest, AFileTakesLittleMemoryAndThereMayBeMany) {
  constexpr uint64_t kFiles = 24'000;
  Format(kFiles, kFiles);
  ASSERT_TRUE(Mount().ok());
  for (uint64_t n = 0; n < kFiles; n++) {
    // A name as long as the engine's.
    const std::string name = "0123456789abcdef0123456789abcdef-" + std::to_string(n) + ".ksst";
    ASSERT_TRUE(volume_->Create("d", name, 4096).ok());
  }
  EXPECT_LE(volume_->Statistics().metadata_memory_bytes / kFiles, 100u);
  ASSERT_TRUE(volume_->Close().ok());
  ASSERT_TRUE(Mount().ok());
  EXPECT_EQ(volume_->Statistics().files, kFiles);
}

TEST_F(VolumeTest, ManyThreadsWriteAndRemove) {
  Format(2000, 64);
  std::vector<std::thread> compactions;
  std::mutex mutex;
  MountOptions options;
  options.journal_bytes_max = 64 << 10;
  options.run_in_background = [&](std::function<void()> job) {
    std::lock_guard<std::mutex> lock(mutex);
    compactions.emplace_back(std::move(job));
  };
  ASSERT_TRUE(Mount(options).ok());
  std::vector<std::thread> threads;
  std::atomic<int> failures{0};
  for (int t = 0; t < 4; t++) {
    threads.emplace_back([&, t] {
      testing::Random random(t);
      for (int n = 0; n < 60; n++) {
        const std::string name = std::to_string(t) + "-" + std::to_string(random.Uniform(5));
        const uint64_t seed = random.Next();
        const std::string content = Content(random.Uniform(3 * kExtent), seed);
        if (!Write(name, content, random.OneIn(3)).ok()) failures++;
        const auto read = Read(name);
        if (!read.ok() || *read != content) failures++;
        if (random.OneIn(4) && !volume_->Remove("d", name).ok()) failures++;
        if (random.OneIn(20)) (void)volume_->Statistics();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failures.load(), 0);
  const auto join_compactions = [&] {
    std::vector<std::thread> begun;
    {
      std::lock_guard<std::mutex> lock(mutex);
      begun.swap(compactions);
    }
    for (std::thread& thread : begun) thread.join();
  };
  join_compactions();  // a compaction that begins after Close() does nothing
  EXPECT_TRUE(volume_->Close().ok());
  join_compactions();
  EXPECT_GE(volume_->Statistics().journal_compactions, 1u);
  EXPECT_TRUE(Reread().ok());
}

TEST_F(VolumeTest, IsAFileSystem) {
  Format(64, 16);
  ASSERT_TRUE(Mount().ok());
  const std::unique_ptr<fs::FileSystem> files = NewLavaFileSystem(volume_.get());
  ASSERT_TRUE(files->CreateDirectory("/a/b/").ok());
  auto file = files->Create("/a/b/f", 100);
  ASSERT_TRUE(file.ok());
  ASSERT_TRUE((*file)->Append("content").ok());
  ASSERT_TRUE((*file)->Close().ok());
  EXPECT_TRUE((*file)->Append("x").IsClosed());
  EXPECT_EQ(*files->ReadWhole("/a/b/f", 7), "content");
  EXPECT_TRUE(files->ReadWhole("/a/b/f", 6).status().IsCorruption());
  EXPECT_TRUE(files->ReadWhole("/a/b/g", 6).status().IsNotFound());
  EXPECT_TRUE(files->Create("/none/f", 100).status().IsNotFound());
  EXPECT_EQ(*files->FileSize("/a/b/f"), 7u);
  EXPECT_TRUE(*files->Exists("/a/b/f"));
  EXPECT_TRUE(*files->Exists("/a/b"));
  EXPECT_FALSE(*files->Exists("/a/b/g"));
  ASSERT_TRUE(files->Link("/a/b/f", "/a/b/g").ok());
  ASSERT_TRUE(files->Rename("/a/b/f", "/a/b/h").ok());
  ASSERT_TRUE(files->SyncDirectory("/a/b").ok());
  EXPECT_TRUE(files->SyncDirectory("/a/c").IsNotFound());
  auto names = files->List("/a/b");
  std::sort(names->begin(), names->end());
  EXPECT_EQ(*names, (std::vector<std::string>{"g", "h"}));
  auto lock = files->Lock("/a/b");
  ASSERT_TRUE(lock.ok());
  EXPECT_TRUE(files->Lock("/a/b/").status().IsBusy());
  lock->reset();
  EXPECT_TRUE(files->Lock("/a/b").ok());
  ASSERT_TRUE(files->Remove("/a/b/g").ok());
  EXPECT_TRUE(files->Remove("/a/b/g").IsNotFound());
  EXPECT_EQ((*files->OpenRandom("/a/b/h"))->size(), 7u);
}

TEST_F(VolumeTest, WhatCannotBeAVolumeIsNotMade) {
  MemDisk disk(0, 1 << 20);
  const auto format = [&](uint64_t capacity, uint32_t extent) {
    return Volume::Format(disk.Open().get(), {.capacity_bytes = capacity, .extent_bytes = extent},
                          kUuid);
  };
  EXPECT_TRUE(format(1 << 20, 4096).IsInvalidArgument());
  EXPECT_TRUE(format(1 << 20, 3 * kExtent).IsInvalidArgument());
  EXPECT_TRUE(format(23 * kExtent, kExtent).IsInvalidArgument());
  EXPECT_TRUE(format(1 << 20, 0).IsInvalidArgument());
  EXPECT_TRUE(Volume::Mount(disk.Open(), {}).status().IsCorruption());
  MemDisk zeros(1 << 20, 1 << 20);
  const Status told = Volume::Mount(zeros.Open(), {}).status();
  EXPECT_TRUE(told.IsCorruption());
  EXPECT_NE(told.message().find("no LavaFS superblock"), std::string::npos);
}

}  // namespace
}  // namespace lava::lavafs
