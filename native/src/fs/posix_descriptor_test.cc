// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "fs/posix_descriptor.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <vector>

#include "fs/file_system.h"
#include "fs/open_file_limit.h"
#include "fs/posix_test_util.h"

namespace lava::fs {
namespace {

using PosixDescriptorTest = PosixTest;

TEST_F(PosixDescriptorTest, IsClosedOnExec) {
  auto descriptor = OpenDescriptor(Path("a"), O_RDWR | O_CREAT, "create");
  ASSERT_TRUE(descriptor.ok());
  EXPECT_EQ(fcntl(*descriptor, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
  close(*descriptor);
  EXPECT_EQ(OpenDescriptor(Path("b"), O_RDONLY, "look for").status().message(),
            "look for " + Path("b") + ": No such file or directory (errno 2)");
}

TEST_F(PosixDescriptorTest, ReadAtStopsAtTheEnd) {
  auto descriptor = OpenDescriptor(Path("a"), O_RDWR | O_CREAT, "create");
  ASSERT_TRUE(descriptor.ok());
  ASSERT_EQ(write(*descriptor, "0123456789", 10), 10);
  char buffer[20];
  EXPECT_EQ(*ReadAt(*descriptor, Path("a"), 4, 20, buffer), 6u);
  EXPECT_EQ(std::string(buffer, 6), "456789");
  EXPECT_EQ(*ReadAt(*descriptor, Path("a"), 10, 1, buffer), 0u);
  close(*descriptor);
  EXPECT_TRUE(ReadAt(*descriptor, Path("a"), 0, 1, buffer).status().IsIOError());
}

// When descriptors run out, files open for reads give theirs up.
TEST_F(PosixDescriptorTest, ExhaustionTakesDescriptorsFromReaders) {
  FileSystem* posix = FileSystem::Posix();
  auto created = posix->Create(Path("a"), 0);
  ASSERT_TRUE(created.ok());
  ASSERT_TRUE((*created)->Append("x").ok());
  ASSERT_TRUE((*created)->Close().ok());
  // Evicts and reads once now: UBSan checks each type for the first time through a pipe, for which
  // no descriptor would be free below.
  {
    auto reader = posix->OpenRandom(Path("a"));
    ASSERT_TRUE(reader.ok());
    OpenFileLimit::Process()->Evict(1);
    char byte = 0;
    ASSERT_TRUE((*reader)->Read(0, 1, &byte).ok());
  }
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const int free_descriptor = dup(0);
  ASSERT_GE(free_descriptor, 0);
  close(free_descriptor);
  rlimit tight = before;
  tight.rlim_cur = static_cast<rlim_t>(free_descriptor) + 8;
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &tight), 0);
  std::vector<std::unique_ptr<RandomFile>> readers;
  Status status;
  for (int i = 0; i < 32 && status.ok(); ++i) {
    auto reader = posix->OpenRandom(Path("a"));
    status = reader.status();
    if (reader.ok()) readers.push_back(std::move(*reader));
  }
  for (const auto& reader : readers) {
    char byte = 0;
    if (status.ok()) status = reader->Read(0, 1, &byte);
    if (status.ok() && byte != 'x') status = Status::Corruption("wrong byte");
  }
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_TRUE(status.ok()) << status.ToString();
  EXPECT_EQ(readers.size(), 32u);
}

}  // namespace
}  // namespace lava::fs
