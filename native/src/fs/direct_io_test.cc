// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "fs/direct_io.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <thread>
#include <vector>

#include "fs/posix_file_system.h"
#include "fs/posix_test_util.h"
#include "testing/random.h"

namespace lava::fs {
namespace {

// Faults that a test injects into the calls below. Reached by a global because those are functions.
struct Faults {
  std::atomic<int> refuse_turns{0}, turns_off{0}, refuse_reads{0}, refuse_writes{0};
  std::atomic<int> reads{0}, writes{0}, misaligned{0};
  std::atomic<size_t> short_bytes{0};          // > 0: no call reads or writes more
  std::atomic<int64_t> free_bytes{INT64_MAX};  // bytes that can still be written
};
Faults* faults = nullptr;

bool IsAligned(const void* memory, size_t bytes, off_t offset) {
  return reinterpret_cast<uintptr_t>(memory) % 512 == 0 && bytes % 512 == 0 && offset % 512 == 0;
}

// Never refuses on its own, so that the tests also run where their directory has no direct I/O.
uint32_t TurnOn(int descriptor) {
  if (faults->refuse_turns > 0) return 0;
  return std::max(DirectIo::System().turn_on(descriptor), 512u);
}

void TurnOff(int descriptor) {
  ++faults->turns_off;
  DirectIo::System().turn_off(descriptor);
}

ssize_t Read(int descriptor, void* to, size_t bytes, off_t offset) {
  ++faults->reads;
  if (!IsAligned(to, bytes, offset)) ++faults->misaligned;
  if (faults->refuse_reads > 0) return errno = EINVAL, -1;
  if (faults->short_bytes > 0) bytes = std::min<size_t>(bytes, faults->short_bytes);
  return DirectIo::System().read(descriptor, to, bytes, offset);
}

ssize_t Write(int descriptor, const void* from, size_t bytes, off_t offset) {
  ++faults->writes;
  if (!IsAligned(from, bytes, offset)) ++faults->misaligned;
  // Refuses until direct I/O is turned off.
  if (faults->refuse_writes > 0 && faults->turns_off == 0) return errno = EINVAL, -1;
  if (faults->free_bytes < static_cast<int64_t>(bytes)) return errno = ENOSPC, -1;
  faults->free_bytes -= static_cast<int64_t>(bytes);
  if (faults->short_bytes > 0) bytes = std::min<size_t>(bytes, faults->short_bytes);
  return DirectIo::System().write(descriptor, from, bytes, offset);
}

constexpr size_t kBuffer = 64 << 10;

class DirectIoTest : public PosixTest {
 protected:
  DirectIoTest() { faults = &faults_; }
  ~DirectIoTest() override { faults = nullptr; }

  std::string Content(const std::string& name) {
    auto content = FileSystem::Posix()->ReadWhole(Path(name), 4 << 20);
    EXPECT_TRUE(content.ok()) << content.status().ToString();
    return content.ok() ? *content : "";
  }
  std::unique_ptr<AppendFile> Create(const std::string& name, size_t buffer_bytes = kBuffer) {
    return CreateOn(direct_.get(), name, buffer_bytes);
  }
  std::unique_ptr<AppendFile> CreateOn(FileSystem* files, const std::string& name,
                                       size_t buffer_bytes) {
    auto file = files->Create(Path(name), buffer_bytes);
    EXPECT_TRUE(file.ok()) << file.status().ToString();
    return std::move(*file);
  }
  std::string Write(const std::string& name, const std::string& content) {
    auto file = FileSystem::Posix()->Create(Path(name), 4096);
    EXPECT_TRUE((*file)->Append(content).ok() && (*file)->Close().ok());
    return content;
  }
  std::unique_ptr<RandomFile> Open(const std::string& name) {
    auto file = direct_->OpenRandom(Path(name));
    EXPECT_TRUE(file.ok()) << file.status().ToString();
    return std::move(*file);
  }
  void ExpectReads(const RandomFile& file, const std::string& content, uint64_t offset,
                   size_t length) {
    std::string got(length, '?');
    const Status status = file.Read(offset, length, got.data());
    ASSERT_TRUE(status.ok()) << status.ToString();
    ASSERT_TRUE(got == content.substr(offset, length)) << offset << " " << length;
  }

  Faults faults_;
  OpenFileLimit limit_{100};
  testing::Random random_{7};
  std::unique_ptr<FileSystem> direct_ =
      NewPosixFileSystem(&limit_, {.direct_reads = true,
                                   .direct_writes = true,
                                   .calls = {TurnOn, TurnOff, fs::Read, fs::Write}});
};

TEST_F(DirectIoTest, BuffersAreAligned) {
  for (const size_t alignment : {512u, 4096u, 65536u}) {
    const AlignedBuffer buffer(alignment + 1, alignment);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer.data()) % alignment, 0u);
    EXPECT_EQ(buffer.size(), 2 * alignment);
  }
  EXPECT_EQ(RoundUp(4096, 4096), 4096u);
  EXPECT_EQ(RoundUp(4097, 4096), 8192u);
  EXPECT_EQ(RoundDown(4095, 4096), 0u);
}

// With the system's own calls, so that full buffers are written while the next one is filled.
TEST_F(DirectIoTest, WhatIsWrittenBesideTheCallerIsThereAfterEachFlush) {
  const auto files = NewPosixFileSystem(&limit_, {.direct_writes = true});
  for (const size_t step : {1000u, 65536u, 300'000u}) {
    auto file = CreateOn(files.get(), "a", 2 * kBuffer);
    std::string content;
    for (int round = 0; round < 4; ++round) {
      for (size_t bytes = 0; bytes < 6 * kBuffer; bytes += step) {
        const std::string piece = random_.Bytes(step);
        ASSERT_TRUE(file->Append(piece).ok());
        content += piece;
      }
      ASSERT_TRUE(file->Flush().ok());
      ASSERT_TRUE(Content("a") == content) << step << " " << round;
    }
    ASSERT_TRUE(file->Append(std::string(3 * kBuffer, 'x')).ok());
    ASSERT_TRUE(file->Close().ok());
    ASSERT_TRUE(Content("a") == content + std::string(3 * kBuffer, 'x')) << step;
    // Destroyed during a write.
    file = CreateOn(files.get(), "b", 2 * kBuffer);
    ASSERT_TRUE(file->Append(std::string(kBuffer, 'x')).ok());
  }
}

TEST_F(DirectIoTest, AWriteBesideTheCallerThatFailsIsToldWithTheFile) {
  const auto files = NewPosixFileSystem(&limit_, {.direct_writes = true});
  auto file = CreateOn(files.get(), "a", 2 * kBuffer);
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  sigset_t beyond_limit;
  sigemptyset(&beyond_limit);
  sigaddset(&beyond_limit, SIGXFSZ);
  ASSERT_EQ(pthread_sigmask(SIG_BLOCK, &beyond_limit, nullptr), 0);
  const rlimit small{.rlim_cur = 3 * kBuffer, .rlim_max = before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  Status status;
  for (int i = 0; i < 8 && status.ok(); ++i) status = file->Append(std::string(kBuffer, 'x'));
  EXPECT_FALSE(status.ok());
  EXPECT_NE(status.ToString().find(Path("a")), std::string::npos) << status.ToString();
  EXPECT_EQ(file->Flush().ToString(), status.ToString())
      << "the file must return the same error from then on";
  EXPECT_EQ(file->Close().ToString(), status.ToString());
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  const timespec at_once{};
  while (sigtimedwait(&beyond_limit, nullptr, &at_once) > 0) {
  }
  ASSERT_EQ(pthread_sigmask(SIG_UNBLOCK, &beyond_limit, nullptr), 0);
}

TEST_F(DirectIoTest, ReadsAroundEveryBorderOfBlocks) {
  const std::string content = Write("a", random_.Bytes(3 * 4096 + 100));
  const auto file = Open("a");
  std::vector<uint64_t> offsets;
  for (const uint64_t block : {0, 512, 4096, 8192, 12288})
    for (int64_t near = -2; near <= 2; ++near)
      if (static_cast<int64_t>(block) + near >= 0) offsets.push_back(block + near);
  for (const uint64_t near : {98, 99, 100}) offsets.push_back(3 * 4096 + near);
  for (const uint64_t begin : offsets)
    for (const uint64_t end : offsets)
      if (begin <= end) ExpectReads(*file, content, begin, end - begin);
  EXPECT_EQ(faults_.misaligned, 0);
  EXPECT_EQ(direct_->files_refused_direct(), 0u);
}

TEST_F(DirectIoTest, AReadIsOneCallUpToAMebibyte) {
  const std::string content = Write("a", random_.Bytes(3 << 20));
  const auto file = Open("a");
  ExpectReads(*file, content, 5000, 8000);
  EXPECT_EQ(faults_.reads, 1);
  ExpectReads(*file, content, 4097, (1 << 20) - 8192);
  EXPECT_EQ(faults_.reads, 2);
  ExpectReads(*file, content, 1, (3 << 20) - 2);
  EXPECT_EQ(faults_.reads, 5);
  // A read that the system cuts short continues where it ended.
  faults_.short_bytes = 4096;
  ExpectReads(*file, content, 5000, 8000);
  EXPECT_EQ(faults_.reads, 8);
  // Also within a block, as on some network file systems.
  faults_.short_bytes = 4096 + 700;
  ExpectReads(*file, content, 5000, 8000);
  EXPECT_EQ(faults_.misaligned, 0);
}

TEST_F(DirectIoTest, ReadsEndWithTheFile) {
  const std::string content = Write("a", random_.Bytes(10'000));
  const auto file = Open("a");
  char buffer[16'384];
  EXPECT_TRUE(file->Read(9'999, 2, buffer).IsCorruption());
  EXPECT_TRUE(file->Read(10'000, 0, buffer).ok());
  for (const size_t bytes : {9'000u, 8'192u, 0u}) {
    std::filesystem::resize_file(Path("a"), bytes);
    const Status status = file->Read(100, 9'900, buffer);
    EXPECT_TRUE(status.IsCorruption()) << status.ToString();
    EXPECT_NE(status.message().find(Path("a")), std::string::npos);
  }
}

TEST_F(DirectIoTest, AFileIsReadDirectlyAgainAfterEviction) {
  const std::string content = Write("a", random_.Bytes(9'000));
  const auto file = Open("a");
  for (int i = 1; i <= 3; ++i) {
    EXPECT_EQ(limit_.Evict(1), 1u);
    ExpectReads(*file, content, 4'000, 200);
    EXPECT_EQ(faults_.reads, i);
  }
}

TEST_F(DirectIoTest, WhatRefusesGoesThroughThePageCache) {
  faults_.refuse_turns = 1;
  const std::string content = random_.Bytes(10'001);
  auto written = Create("a");
  ASSERT_TRUE(written->Append(content).ok() && written->Close().ok());
  const auto file = Open("a");
  ExpectReads(*file, content, 1, 10'000);
  EXPECT_EQ(limit_.Evict(1), 1u);
  ExpectReads(*file, content, 4'095, 2);
  EXPECT_EQ(faults_.reads + faults_.writes, 0);
  EXPECT_EQ(direct_->files_refused_direct(), 2u);
}

// This device rejects direct I/O on every machine, whatever the file system of the tests does.
TEST_F(DirectIoTest, ADeviceThatRefusesIsFullAllTheSame) {
  const auto system = NewPosixFileSystem(&limit_, {.direct_writes = true});
  auto file = system->Create("/dev/full", kBuffer);
  ASSERT_TRUE(file.ok()) << file.status().ToString();
  EXPECT_EQ(system->files_refused_direct(), 1u);
  ASSERT_TRUE((*file)->Append("1").ok());
  EXPECT_TRUE((*file)->Flush().IsNoSpace());
}

TEST_F(DirectIoTest, WhatRefusesLateIsTurnedOff) {
  faults_.refuse_reads = faults_.refuse_writes = 1;
  const std::string content = random_.Bytes(100'001);
  auto written = Create("a");
  ASSERT_TRUE(written->Append(content).ok() && written->Close().ok());
  EXPECT_EQ(Content("a"), content);
  EXPECT_EQ(direct_->files_refused_direct(), 1u);
  const auto file = Open("a");
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (uint64_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      char byte;
      for (uint64_t at = t; at < 1000; ++at)
        if (!file->Read(at, 1, &byte).ok() || byte != content[at]) ++wrong;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(direct_->files_refused_direct(), 2u);
  const int reads = faults_.reads;
  ExpectReads(*file, content, 0, content.size());
  EXPECT_EQ(faults_.reads, reads);
}

TEST_F(DirectIoTest, AFlushedFileHasItsLengthAndGrowsOn) {
  for (const size_t bytes : {1u, 4'095u, 4'096u, 4'097u, 65'535u, 65'536u, 65'537u, 200'000u}) {
    const std::string content = random_.Bytes(bytes);
    auto file = Create("a");
    std::string expected;
    for (int i = 0; i < 4; ++i) {
      ASSERT_TRUE(file->Append(content).ok());
      expected += content;
      EXPECT_EQ(file->size(), expected.size());
      ASSERT_TRUE(i % 2 == 0 ? file->Flush().ok() : file->Sync().ok());
      ASSERT_TRUE(file->Flush().ok());
      ASSERT_EQ(Content("a"), expected);
      const auto reader = Open("a");
      ExpectReads(*reader, expected, expected.size() - 1, 1);
    }
    ASSERT_TRUE(file->Append("end").ok() && file->Close().ok());
    EXPECT_EQ(Content("a"), expected + "end");
    EXPECT_TRUE(file->Append("more").IsClosed());
    EXPECT_TRUE(file->Close().ok());
  }
  EXPECT_EQ(faults_.misaligned, 0);
}

TEST_F(DirectIoTest, RandomPiecesComeBackWhole) {
  for (const size_t short_bytes : {0u, 4096u}) {
    faults_.short_bytes = short_bytes;
    auto file = Create("a", 70'000);
    std::string expected;
    for (int i = 0; i < 300; ++i) {
      const std::string piece = random_.SkewedBytes(150'000);
      ASSERT_TRUE(file->Append(piece).ok());
      expected += piece;
      if (!random_.OneIn(20)) continue;
      ASSERT_TRUE(file->Flush().ok());
      ASSERT_TRUE(Content("a") == expected);
    }
    ASSERT_TRUE(file->Close().ok());
    EXPECT_TRUE(Content("a") == expected);
  }
  EXPECT_EQ(faults_.misaligned, 0);
}

TEST_F(DirectIoTest, EmptyFilesAndDroppedBytes) {
  ASSERT_TRUE(Create("a")->Close().ok());
  EXPECT_EQ(Content("a"), "");
  {
    auto file = Create("a");
    ASSERT_TRUE(file->Append("kept").ok() && file->Flush().ok());
    ASSERT_TRUE(file->Append("dropped").ok());
  }
  EXPECT_EQ(Content("a"), "kept");
}

TEST_F(DirectIoTest, SmallBuffersGoThroughThePageCache) {
  auto file = Create("a", 4096);
  ASSERT_TRUE(file->Append("small").ok() && file->Close().ok());
  EXPECT_EQ(Content("a"), "small");
  EXPECT_EQ(faults_.writes, 0);
}

TEST_F(DirectIoTest, AFullDeviceIsNoSpaceAndFinal) {
  faults_.free_bytes = 3 * static_cast<int64_t>(kBuffer) / 2;
  auto file = Create("a");
  ASSERT_TRUE(file->Append(random_.Bytes(kBuffer)).ok());
  const Status full = file->Append(random_.Bytes(kBuffer));
  EXPECT_TRUE(full.IsNoSpace()) << full.ToString();
  EXPECT_NE(full.message().find(Path("a")), std::string::npos);
  EXPECT_NE(full.message().find("free space in " + directory_), std::string::npos);
  EXPECT_TRUE(file->Append("1").IsNoSpace());
  EXPECT_TRUE(file->Sync().IsNoSpace());
  EXPECT_TRUE(file->Close().IsNoSpace());
}

}  // namespace
}  // namespace lava::fs
