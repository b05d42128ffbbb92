// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "fs/read_batch.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <thread>
#include <vector>

#include "fs/gathered_reads.h"
#include "fs/posix_file_system.h"
#include "fs/posix_test_util.h"
#include "fs/uring.h"
#include "testing/random.h"

namespace lava::fs {
namespace {

using testing::Random;
using Mode = ReadBatch::Mode;

constexpr size_t kFileBytes = 300'000;

class ReadBatchTest : public PosixTest {
 protected:
  explicit ReadBatchTest(bool direct = false)
      : files_(NewPosixFileSystem(&limit_, {.direct_reads = direct})) {
    Random random(3);
    for (int n = 0; n < 3; ++n) {
      content_.push_back(random.Bytes(kFileBytes + static_cast<size_t>(n) * 777));
      const std::string path = Path("file" + std::to_string(n));
      auto file = files_->Create(path, 1 << 16);
      EXPECT_TRUE(file.ok() && (*file)->Append(content_.back()).ok() && (*file)->Close().ok());
      auto opened = files_->OpenRandom(path);
      EXPECT_TRUE(opened.ok());
      opened_.push_back(std::move(*opened));
    }
  }
  void ExpectRandomPieces(Mode mode, uint64_t seed) {
    Random random(seed);
    ReadBatch batch(mode);
    for (int round = 0; round < 10; ++round) {
      batch.Clear();
      struct Piece {
        size_t file, offset, length;
      };
      std::vector<Piece> pieces;
      // More reads than a ring takes at once.
      for (uint64_t n = random.Uniform(400); n > 0; --n) {
        Piece piece{random.Uniform(3), random.Uniform(kFileBytes - 50'000), random.Uniform(50'000)};
        EXPECT_EQ(batch.Add(*opened_[piece.file], piece.offset, piece.length), pieces.size());
        pieces.push_back(piece);
      }
      batch.Run();
      for (size_t i = 0; i < pieces.size(); ++i) {
        ASSERT_TRUE(batch.status(i).ok()) << batch.status(i).ToString();
        const Slice expected =
            Slice(content_[pieces[i].file]).substr(pieces[i].offset, pieces[i].length);
        ASSERT_TRUE(batch.bytes(i) == expected);
      }
    }
  }

  OpenFileLimit limit_{2};
  std::unique_ptr<FileSystem> files_;
  std::vector<std::string> content_;
  std::vector<std::unique_ptr<RandomFile>> opened_;
};

class DirectReadBatchTest : public ReadBatchTest {
 protected:
  DirectReadBatchTest() : ReadBatchTest(true) {}
};

TEST_F(ReadBatchTest, GivesWhatTheFilesHaveInEitherMode) {
  for (const Mode mode : {Mode::kBesideEachOther, Mode::kOneByOne}) ExpectRandomPieces(mode, 7);
}

TEST_F(DirectReadBatchTest, GivesWhatTheFilesHaveInEitherMode) {
  for (const Mode mode : {Mode::kBesideEachOther, Mode::kOneByOne}) ExpectRandomPieces(mode, 8);
}

TEST_F(ReadBatchTest, IsOneTripThroughTheRingWhereThereIsOne) {
  if (!ReadBatch::IsParallel()) GTEST_SKIP() << "no io_uring here: batches are read one by one";
  ReadBatch batch;
  for (size_t n = 0; n < 5; ++n) batch.Add(*opened_[0], n * 10'000, 100);
  const uint64_t before = Uring::TotalsNow().reads;
  batch.Run();
  EXPECT_EQ(Uring::TotalsNow().reads - before, 5u);
}

TEST_F(DirectReadBatchTest, TwoGoOnBesideTheirCallerAndOneIsGivenUp) {
  ReadBatch first, second;
  {
    ReadBatch given_up;
    for (size_t n = 0; n < 300; ++n) {
      first.Add(*opened_[0], n * 900, 800);
      second.Add(*opened_[1], n * 900, 800);
      given_up.Add(*opened_[2], n * 900, 800);
    }
    first.Begin();
    second.Begin();
    given_up.Begin();
  }
  second.Finish();
  first.Finish();
  for (size_t n = 0; n < 300; ++n) {
    EXPECT_TRUE(first.bytes(n) == Slice(content_[0]).substr(n * 900, 800));
    EXPECT_TRUE(second.bytes(n) == Slice(content_[1]).substr(n * 900, 800));
  }
  first.Add(*opened_[0], 5, 10);  // also a batch that is cleared while it runs
  first.Clear();
  EXPECT_EQ(first.pieces(), 0u);
}

// Takes io_uring away from the process, as containers do. False where seccomp is not allowed.
bool RefuseRings() {
  sock_filter rules[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_io_uring_setup, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  sock_fprog program{.len = std::size(rules), .filter = rules};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

using ReadBatchDeathTest = ReadBatchTest;

TEST_F(ReadBatchDeathTest, ReadsOneByOneWhereTheSystemRefusesRings) {
  // A separate process that has made no ring yet.
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  constexpr int kRight = 0, kWrong = 1, kNotRefused = 2, kMayNotSay = 3;
  const auto read = [this] {
    if (!RefuseRings()) return kMayNotSay;
    if (Uring::Take() != nullptr || ReadBatch::IsParallel()) return kNotRefused;
    ExpectRandomPieces(Mode::kBesideEachOther, 9);
    return HasFailure() ? kWrong : kRight;
  };
  EXPECT_EXIT(
      _exit(read()),
      [](int status) {
        return WIFEXITED(status) &&
               (WEXITSTATUS(status) == kRight || WEXITSTATUS(status) == kMayNotSay);
      },
      "");
}

TEST_F(ReadBatchTest, APieceThatFailsSaysWhyAndLeavesTheOthers) {
  for (const Mode mode : {Mode::kBesideEachOther, Mode::kOneByOne}) {
    ReadBatch batch(mode);
    batch.Add(*opened_[0], 10, 20);
    batch.Add(*opened_[1], content_[1].size() - 5, 6);
    batch.Add(*opened_[2], UINT64_MAX - 3, 100);
    batch.Add(*opened_[2], 0, 0);
    batch.Add(*opened_[2], content_[2].size() - 5, 5);
    batch.Run();
    EXPECT_TRUE(batch.bytes(0) == Slice(content_[0]).substr(10, 20));
    EXPECT_TRUE(batch.status(1).IsCorruption()) << batch.status(1).ToString();
    EXPECT_NE(batch.status(1).ToString().find(Path("file1")), std::string::npos);
    EXPECT_TRUE(batch.status(2).IsCorruption());
    EXPECT_TRUE(batch.status(3).ok() && batch.bytes(3).empty());
    EXPECT_TRUE(batch.bytes(4) == Slice(content_[2]).substr(content_[2].size() - 5));
  }
}

// The file is now shorter than it was when it was opened.
TEST_F(ReadBatchTest, AFileThatWasCutIsCorruption) {
  std::filesystem::resize_file(Path("file1"), 1000);
  ReadBatch batch;
  batch.Add(*opened_[0], 0, 100);
  batch.Add(*opened_[1], 900, 200);
  batch.Run();
  EXPECT_TRUE(batch.status(0).ok());
  EXPECT_TRUE(batch.status(1).IsCorruption()) << batch.status(1).ToString();
}

TEST_F(ReadBatchTest, ThreadsDoNotMeet) {
  std::vector<std::thread> threads;
  for (uint64_t t = 0; t < 8; ++t)
    threads.emplace_back([this, t] { ExpectRandomPieces(Mode::kBesideEachOther, 20 + t); });
  for (std::thread& thread : threads) thread.join();
}

class GatheredReadsTest : public ReadBatchTest {
 protected:
  FileRange Range(size_t file, uint64_t offset, uint64_t bytes) const {
    return {opened_[file].get(), offset, bytes};
  }
  void ExpectHas(const GatheredReads& reads, size_t i, size_t file, uint64_t offset,
                 uint64_t bytes) {
    ASSERT_TRUE(reads.status(i).ok()) << reads.status(i).ToString();
    EXPECT_TRUE(reads.bytes(i) == Slice(content_[file]).substr(offset, bytes)) << i;
  }
};

TEST_F(GatheredReadsTest, NearRangesOfAFileComeInOnePiece) {
  GatheredReads reads({.gap_bytes_max = 100});
  const std::vector<FileRange> ranges = {Range(0, 0, 10),   Range(0, 10, 10), Range(0, 120, 10),
                                         Range(0, 231, 10), Range(1, 241, 5), Range(1, 243, 1)};
  ASSERT_EQ(reads.Read(ranges), ranges.size());
  EXPECT_EQ(reads.pieces(), 3u) << "a gap of 101 bytes and another file must begin new pieces";
  EXPECT_EQ(reads.bytes_read(), 130u + 10 + 5);
  for (size_t i = 0; i < ranges.size(); ++i)
    ExpectHas(reads, i, i < 4 ? 0 : 1, ranges[i].offset, ranges[i].bytes);
}

TEST_F(GatheredReadsTest, PiecesAndBatchesHaveAnEndButForOneLargeRange) {
  GatheredReads reads({.gap_bytes_max = 0, .piece_bytes_max = 1000, .batch_bytes_max = 2500});
  std::vector<FileRange> ranges;
  for (uint64_t n = 0; n < 10; ++n) ranges.push_back(Range(0, n * 500, 500));
  EXPECT_EQ(reads.Read(ranges), 4u) << "the batch must end after two pieces of two ranges each";
  EXPECT_EQ(reads.pieces(), 2u);
  ranges = {Range(0, 5, 50'000), Range(0, 100, 10), Range(1, 0, 1)};
  EXPECT_EQ(reads.Read(ranges), 2u) << "the second range lies within the first";
  ExpectHas(reads, 0, 0, 5, 50'000);
  ExpectHas(reads, 1, 0, 100, 10);
  EXPECT_EQ(reads.Read({}), 0u);
}

TEST_F(GatheredReadsTest, WhatAPieceCannotReadFailsItsRanges) {
  GatheredReads reads;
  const std::vector<FileRange> ranges = {Range(0, content_[0].size() - 10, 5),
                                         Range(0, content_[0].size() - 2, 5), Range(1, 0, 5)};
  ASSERT_EQ(reads.Read(ranges), 3u);
  EXPECT_TRUE(reads.status(0).IsCorruption());
  EXPECT_TRUE(reads.status(1).IsCorruption());
  ExpectHas(reads, 2, 1, 0, 5);
}

}  // namespace
}  // namespace lava::fs
