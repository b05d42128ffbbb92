// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "fs/posix_random_file.h"

#include <atomic>
#include <thread>
#include <vector>

#include "fs/posix_file_system.h"
#include "fs/posix_test_util.h"
#include "testing/random.h"

namespace lava::fs {
namespace {

class PosixRandomFileTest : public PosixTest {
 protected:
  std::string Write(const std::string& name, const std::string& content) {
    auto file = FileSystem::Posix()->Create(Path(name), 4096);
    EXPECT_TRUE(file.ok());
    EXPECT_TRUE((*file)->Append(content).ok());
    EXPECT_TRUE((*file)->Close().ok());
    return Path(name);
  }
};

TEST_F(PosixRandomFileTest, ReadsExactlyOrFails) {
  OpenFileLimit limit(10);
  auto file = OpenPosixRandomFile(Write("a", "0123456789"), &limit);
  ASSERT_TRUE(file.ok());
  EXPECT_EQ((*file)->size(), 10u);
  EXPECT_EQ((*file)->path(), Path("a"));
  char buffer[16];
  ASSERT_TRUE((*file)->Read(3, 4, buffer).ok());
  EXPECT_EQ(Slice(buffer, 4), "3456");
  ASSERT_TRUE((*file)->Read(10, 0, buffer).ok());
  for (const auto& [offset, length] : std::vector<std::pair<uint64_t, size_t>>{
           {8, 3}, {10, 1}, {11, 0}, {UINT64_MAX, 2}, {0, 11}}) {
    const Status status = (*file)->Read(offset, length, buffer);
    EXPECT_TRUE(status.IsCorruption()) << offset;
    EXPECT_NE(status.message().find(Path("a")), std::string::npos);
    EXPECT_NE(status.message().find("offset " + std::to_string(offset)), std::string::npos);
  }
}

TEST_F(PosixRandomFileTest, AFileThatBecameShorterIsCorruption) {
  OpenFileLimit limit(10);
  auto file = OpenPosixRandomFile(Write("a", "0123456789"), &limit);
  ASSERT_TRUE(file.ok());
  std::filesystem::resize_file(Path("a"), 5);
  char buffer[16];
  EXPECT_TRUE((*file)->Read(0, 10, buffer).IsCorruption());
  EXPECT_TRUE((*file)->Read(0, 5, buffer).ok());
}

TEST_F(PosixRandomFileTest, MissingFilesAndDirectories) {
  OpenFileLimit limit(10);
  EXPECT_TRUE(OpenPosixRandomFile(Path("none"), &limit).status().IsNotFound());
  EXPECT_TRUE(OpenPosixRandomFile(directory_, &limit).status().IsIOError());
  EXPECT_EQ(limit.open_files(), 0u);
}

TEST_F(PosixRandomFileTest, ReopensAfterEviction) {
  OpenFileLimit limit(10);
  auto file = OpenPosixRandomFile(Write("a", "content"), &limit);
  ASSERT_TRUE(file.ok());
  char buffer[7];
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(limit.Evict(1), 1u);
    EXPECT_EQ(limit.open_files(), 0u);
    ASSERT_TRUE((*file)->Read(0, 7, buffer).ok());
    EXPECT_EQ(Slice(buffer, 7), "content");
    EXPECT_EQ(limit.open_files(), 1u);
  }
  file->reset();
  EXPECT_EQ(limit.open_files(), 0u);
}

TEST_F(PosixRandomFileTest, NeverReadsWhatTookOverTheName) {
  OpenFileLimit limit(10);
  auto file = OpenPosixRandomFile(Write("a", "content"), &limit);
  ASSERT_TRUE(file.ok());
  ASSERT_TRUE(FileSystem::Posix()->Rename(Write("b", "another"), Path("a")).ok());
  char buffer[7];
  ASSERT_TRUE((*file)->Read(0, 7, buffer).ok());
  EXPECT_EQ(Slice(buffer, 7), "content");
  ASSERT_EQ(limit.Evict(1), 1u);
  EXPECT_TRUE((*file)->Read(0, 7, buffer).IsIOError());
  ASSERT_TRUE(FileSystem::Posix()->Remove(Path("a")).ok());
  EXPECT_TRUE((*file)->Read(0, 7, buffer).IsNotFound());
}

// More files than the bound, read from many threads.
TEST_F(PosixRandomFileTest, ManyFilesUnderASmallBound) {
  constexpr size_t kFiles = 24;
  OpenFileLimit limit(4);
  std::vector<std::unique_ptr<RandomFile>> files;
  for (size_t i = 0; i < kFiles; ++i) {
    auto file = OpenPosixRandomFile(
        Write(std::to_string(i), std::string(100, static_cast<char>('a' + i))), &limit);
    ASSERT_TRUE(file.ok());
    files.push_back(std::move(*file));
  }
  EXPECT_LE(limit.open_files(), 4u);
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (uint64_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      testing::Random random(t);
      char buffer[10];
      for (int i = 0; i < 3'000; ++i) {
        const size_t n = random.Uniform(kFiles);
        const bool ok = files[n]->Read(random.Uniform(90), 10, buffer).ok();
        if (!ok || Slice(buffer, 10) != std::string(10, static_cast<char>('a' + n))) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_LE(limit.open_files(), 4u + 4);
  files.clear();
  EXPECT_EQ(limit.open_files(), 0u);
}

}  // namespace
}  // namespace lava::fs
