// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "fs/posix_error.h"

#include <gtest/gtest.h>

#include <cerrno>

namespace lava::fs {
namespace {

TEST(PosixErrorTest, CodesFollowErrno) {
  EXPECT_TRUE(PosixError("open", "/a/b", ENOENT).IsNotFound());
  EXPECT_TRUE(PosixError("open", "/a/b", EIO).IsIOError());
  for (const int error : {ENOSPC, EDQUOT}) {
    const Status status = PosixError("write to", "/a/b", error);
    EXPECT_TRUE(status.IsNoSpace());
    EXPECT_NE(status.message().find("free space in /a and"), std::string::npos);
  }
  EXPECT_EQ(PosixError("open", "/a/b", EIO).message(), "open /a/b: Input/output error (errno 5)");
}

TEST(PosixErrorTest, DirectoryOfAPath) {
  EXPECT_EQ(DirectoryOf("/a/b"), "/a");
  EXPECT_EQ(DirectoryOf("/a"), "/");
  EXPECT_EQ(DirectoryOf("a"), ".");
  EXPECT_EQ(DirectoryOf("a/b/c"), "a/b");
}

}  // namespace
}  // namespace lava::fs
