// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "fs/posix_block_device.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <memory>
#include <vector>

#include "fs/posix_test_util.h"
#include "fs/uring.h"
#include "testing/random.h"

namespace lava::fs {
namespace {

constexpr size_t kBlock = 4096;

class PosixBlockDeviceTest : public PosixTest {
 protected:
  static AlignedBuffer Filled(size_t bytes, uint64_t seed) {
    AlignedBuffer memory(bytes, kBlock);
    const std::string content = testing::Random(seed).Bytes(bytes);
    std::memcpy(memory.data(), content.data(), bytes);
    return memory;
  }
  // Writes, reads back and grows; with direct I/O and without.
  void Use(BlockDevice* device) {
    ASSERT_TRUE(device->Grow(64 * kBlock).ok());
    EXPECT_EQ(device->size(), 64 * kBlock);
    const AlignedBuffer written = Filled(8 * kBlock, 5), read(8 * kBlock, kBlock);
    ASSERT_TRUE(device->Write(16 * kBlock, {written.data(), written.size()}).ok());
    ASSERT_TRUE(device->Sync().ok());
    ASSERT_TRUE(device->Read(16 * kBlock, read.size(), read.data()).ok());
    EXPECT_EQ(std::memcmp(written.data(), read.data(), read.size()), 0);
    EXPECT_TRUE(device->Discard(32 * kBlock, 4 * kBlock).ok());
    const Status beyond = device->Read(60 * kBlock, 8 * kBlock, read.data());
    EXPECT_TRUE(beyond.IsCorruption());
    EXPECT_NE(beyond.message().find(device->name()), std::string::npos);
    ASSERT_TRUE(device->Grow(10 * kBlock).ok());
    EXPECT_EQ(device->size(), 64 * kBlock) << "the device must never shrink";
  }
};

TEST_F(PosixBlockDeviceTest, WritesReadsAndGrows) {
  for (const bool direct : {true, false}) {
    const std::string path = Path(direct ? "direct" : "buffered");
    auto device = OpenBlockDevice(path, {.create = true, .direct = direct});
    ASSERT_TRUE(device.ok()) << device.status().ToString();
    Use(device->get());
    struct stat st {};
    ASSERT_EQ(stat(path.c_str(), &st), 0);
    EXPECT_EQ(st.st_mode & 0777, 0600u);
  }
}

TEST_F(PosixBlockDeviceTest, BegunWritesAreThereWhenTheyAreFinished) {
  constexpr size_t kBytes = 32 * kBlock, kWrites = 8;
  auto device = OpenBlockDevice(Path("a"), {.create = true});
  ASSERT_TRUE(device.ok());
  ASSERT_TRUE((*device)->Grow(kWrites * kBytes).ok());
  std::vector<AlignedBuffer> written;
  std::vector<std::unique_ptr<BegunWrite>> begun;
  for (size_t i = 0; i < kWrites; ++i) {
    written.push_back(Filled(kBytes, i));
    begun.push_back((*device)->BeginWrite(i * kBytes, {written[i].data(), kBytes}));
    if (begun.back() != nullptr) continue;
    EXPECT_TRUE(Uring::Take() == nullptr || (*device)->alignment() == 1);
    EXPECT_TRUE((*device)->Write(i * kBytes, {written[i].data(), kBytes}).ok());
  }
  for (size_t i = kWrites; i-- > 0;) {
    if (begun[i] == nullptr) continue;
    EXPECT_TRUE(begun[i]->Finish().ok());
    EXPECT_FALSE(begun[i]->is_lost());
  }
  const AlignedBuffer read(kBytes, kBlock);
  for (size_t i = 0; i < kWrites; ++i) {
    ASSERT_TRUE((*device)->Read(i * kBytes, kBytes, read.data()).ok());
    EXPECT_EQ(std::memcmp(written[i].data(), read.data(), kBytes), 0) << i;
  }
}

TEST_F(PosixBlockDeviceTest, ABegunWriteThatFailsSaysWhere) {
  ASSERT_TRUE((*OpenBlockDevice(Path("a"), {.create = true}))->Grow(4 * kBlock).ok());
  auto device = OpenBlockDevice(Path("a"), {.read_only = true});
  ASSERT_TRUE(device.ok());
  const AlignedBuffer memory = Filled(kBlock, 1);
  const auto begun = (*device)->BeginWrite(2 * kBlock, {memory.data(), kBlock});
  const Status failed =
      begun == nullptr ? (*device)->Write(2 * kBlock, {memory.data(), kBlock}) : begun->Finish();
  EXPECT_TRUE(failed.IsIOError());
  EXPECT_NE(failed.message().find("4096 bytes at offset 8192 of " + Path("a")), std::string::npos);
}

// Faults that a test injects into the calls below.
std::atomic<int> refusals{0}, short_calls{0};
uint32_t ClaimOn(int) { return 512; }
void ClaimOff(int) {}
ssize_t ReadInPart(int descriptor, void* to, size_t bytes, off_t offset) {
  if (refusals > 0) return --refusals, errno = EINVAL, -1;
  if (short_calls > 0) return --short_calls, errno = EINTR, -1;
  return pread(descriptor, to, bytes > 1024 ? 1024 + 100 : bytes, offset);
}
ssize_t WriteInPart(int descriptor, const void* from, size_t bytes, off_t offset) {
  if (refusals > 0) return --refusals, errno = EINVAL, -1;
  if (short_calls > 0) return --short_calls, errno = EINTR, -1;
  return pwrite(descriptor, from, bytes > 1024 ? 1024 + 100 : bytes, offset);
}

const BlockDeviceOptions kInPart = {
    .create = true,
    .calls = {.turn_on = ClaimOn, .turn_off = ClaimOff, .read = ReadInPart, .write = WriteInPart}};

TEST_F(PosixBlockDeviceTest, CallsAreBrokenOffOrDoneInPart) {
  short_calls = 2;
  auto device = OpenBlockDevice(Path("a"), kInPart);
  ASSERT_TRUE(device.ok());
  EXPECT_EQ((*device)->alignment(), 512u);
  Use(device->get());
}

TEST_F(PosixBlockDeviceTest, DirectIoThatIsRefusedIsDoneWithout) {
  refusals = 1;
  auto device = OpenBlockDevice(Path("a"), kInPart);
  ASSERT_TRUE(device.ok());
  Use(device->get());
  EXPECT_EQ((*device)->alignment(), 1u);
  // A second rejection is an error.
  refusals = 1;
  const AlignedBuffer memory = Filled(kBlock, 1);
  EXPECT_TRUE((*device)->Write(0, {memory.data(), kBlock}).IsIOError());
}

TEST_F(PosixBlockDeviceTest, AnotherProcessIsRefusedWithTheFirstOnesId) {
  int to_child[2], to_parent[2];
  ASSERT_EQ(pipe(to_child), 0);
  ASSERT_EQ(pipe(to_parent), 0);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const auto held = OpenBlockDevice(Path("a"), {.create = true});
    char byte = held.ok() ? 'y' : 'n';
    if (write(to_parent[1], &byte, 1) != 1 || read(to_child[0], &byte, 1) != 1) _exit(2);
    _exit(0);
  }
  char byte = 0;
  ASSERT_EQ(read(to_parent[0], &byte, 1), 1);
  ASSERT_EQ(byte, 'y');
  const Status refused = OpenBlockDevice(Path("a")).status();
  EXPECT_TRUE(refused.IsBusy());
  // A sandbox may list no locks, or other process ids.
  const std::string by(refused.message());
  EXPECT_TRUE(by.find("process " + std::to_string(child)) != std::string::npos ||
              by.find("another process") != std::string::npos)
      << by;
  // Opening it read-only does not need the lock.
  EXPECT_TRUE(OpenBlockDevice(Path("a"), {.read_only = true}).ok());
  ASSERT_EQ(write(to_child[1], "x", 1), 1);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  const auto held = OpenBlockDevice(Path("a"));
  EXPECT_TRUE(held.ok());
  EXPECT_TRUE(OpenBlockDevice(Path("a")).status().IsBusy());
  for (const int end : {to_child[0], to_child[1], to_parent[0], to_parent[1]}) close(end);
}

TEST_F(PosixBlockDeviceTest, WhatIsNoFileIsRefused) {
  EXPECT_TRUE(OpenBlockDevice(Path("none")).status().IsNotFound());
  EXPECT_TRUE(OpenBlockDevice(directory_, {.read_only = true}).status().IsInvalidArgument());
}

}  // namespace
}  // namespace lava::fs
