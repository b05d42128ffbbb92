// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "fs/posix_directory_lock.h"

#include <sys/wait.h>
#include <unistd.h>

#include "fs/posix_test_util.h"

namespace lava::fs {
namespace {

using PosixDirectoryLockTest = PosixTest;

TEST_F(PosixDirectoryLockTest, OneHolderInAProcess) {
  auto first = LockPosixDirectory(directory_);
  ASSERT_TRUE(first.ok()) << first.status().ToString();
  for (const std::string& name : {directory_, directory_ + "/."}) {
    const Status second = LockPosixDirectory(name).status();
    EXPECT_TRUE(second.IsBusy());
    EXPECT_NE(second.message().find(name), std::string::npos);
  }
  first->reset();
  EXPECT_TRUE(LockPosixDirectory(directory_).ok());
}

TEST_F(PosixDirectoryLockTest, OneHolderOverProcesses) {
  // The child's list of held directories does not contain the parent's: only flock can refuse it.
  int to_child[2];
  ASSERT_EQ(pipe(to_child), 0);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    char byte;
    if (read(to_child[0], &byte, 1) != 1) _exit(2);
    _exit(LockPosixDirectory(directory_).status().IsBusy() ? 0 : 1);
  }
  auto lock = LockPosixDirectory(directory_);
  ASSERT_TRUE(lock.ok());
  ASSERT_EQ(write(to_child[1], "x", 1), 1);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  close(to_child[0]);
  close(to_child[1]);
}

TEST_F(PosixDirectoryLockTest, MissingDirectory) {
  EXPECT_TRUE(LockPosixDirectory(Path("none")).status().IsNotFound());
}

}  // namespace
}  // namespace lava::fs
