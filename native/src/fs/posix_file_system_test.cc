// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "fs/posix_file_system.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include "fs/posix_block_device.h"
#include "fs/posix_test_util.h"

namespace lava::fs {
namespace {

class PosixFileSystemTest : public PosixTest {
 protected:
  void Write(const std::string& name, const std::string& content) {
    auto file = posix_->Create(Path(name), 100);
    ASSERT_TRUE(file.ok()) << file.status().ToString();
    ASSERT_TRUE((*file)->Append(content).ok());
    ASSERT_TRUE((*file)->Close().ok());
  }

  static mode_t PermissionsOf(const std::string& path) {
    struct stat st {};
    EXPECT_EQ(lstat(path.c_str(), &st), 0) << path;
    return st.st_mode & 07777;
  }

  FileSystem* posix_ = FileSystem::Posix();
};

TEST_F(PosixFileSystemTest, ReadsWholeFilesUpToALimit) {
  Write("a", "content");
  EXPECT_EQ(*posix_->ReadWhole(Path("a"), 7), "content");
  EXPECT_TRUE(posix_->ReadWhole(Path("a"), 6).status().IsCorruption());
  EXPECT_TRUE(posix_->ReadWhole(Path("b"), 6).status().IsNotFound());
  EXPECT_EQ(*posix_->FileSize(Path("a")), 7u);
  EXPECT_TRUE(posix_->FileSize(Path("b")).status().IsNotFound());
}

TEST_F(PosixFileSystemTest, NamesChange) {
  Write("a", "first");
  Write("b", "second");
  ASSERT_TRUE(posix_->Link(Path("a"), Path("c")).ok());
  EXPECT_TRUE(posix_->Link(Path("a"), Path("b")).IsIOError());
  ASSERT_TRUE(posix_->Rename(Path("a"), Path("b")).ok());
  EXPECT_EQ(*posix_->ReadWhole(Path("b"), 100), "first");
  EXPECT_EQ(*posix_->ReadWhole(Path("c"), 100), "first");
  EXPECT_FALSE(*posix_->Exists(Path("a")));
  EXPECT_TRUE(*posix_->Exists(Path("b")));
  EXPECT_TRUE(posix_->Rename(Path("a"), Path("b")).IsNotFound());
  ASSERT_TRUE(posix_->Remove(Path("b")).ok());
  EXPECT_TRUE(posix_->Remove(Path("b")).IsNotFound());
  EXPECT_EQ(*posix_->ReadWhole(Path("c"), 100), "first");
}

TEST_F(PosixFileSystemTest, ListsFilesOnly) {
  Write("a", "");
  Write("b", "");
  ASSERT_TRUE(posix_->CreateDirectory(Path("d/e/f")).ok());
  auto names = posix_->List(directory_);
  ASSERT_TRUE(names.ok());
  std::sort(names->begin(), names->end());
  EXPECT_EQ(*names, (std::vector<std::string>{"a", "b"}));
  EXPECT_TRUE(posix_->List(Path("none")).status().IsNotFound());
}

TEST_F(PosixFileSystemTest, MakesDirectoriesForTheUserAlone) {
  ASSERT_TRUE(posix_->CreateDirectory(Path("d/e/f")).ok());
  ASSERT_TRUE(posix_->CreateDirectory(Path("d/e/f")).ok());
  for (const char* name : {"d", "d/e", "d/e/f"}) {
    struct stat st {};
    ASSERT_EQ(stat(Path(name).c_str(), &st), 0);
    EXPECT_EQ(st.st_mode & 0777, 0700u);
  }
  Write("file", "");
  EXPECT_TRUE(posix_->CreateDirectory(Path("file")).IsIOError());
  EXPECT_TRUE(posix_->CreateDirectory(Path("file/under")).IsIOError());
}

TEST_F(PosixFileSystemTest, AllIsForTheUserAloneWhateverTheUmask) {
  for (const mode_t mask : {mode_t{0}, mode_t{0777}}) {
    const std::string in = Path("umask" + std::to_string(mask));
    ASSERT_TRUE(posix_->CreateDirectory(in).ok());
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      umask(mask);
      bool made = posix_->CreateDirectory(in + "/d/e").ok();
      made &= posix_->Create(in + "/d/e/file", 4096).ok();
      made &= posix_->Create(in + "/d/e/direct", 1 << 20).ok();
      made &= posix_->Link(in + "/d/e/file", in + "/d/e/link").ok();
      made &= posix_->Lock(in + "/d/e").ok();
      made &= OpenBlockDevice(in + "/d/e/volume", {.create = true}).ok();
      _exit(made ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    for (const char* name : {"/d", "/d/e"}) EXPECT_EQ(PermissionsOf(in + name), 0700u) << name;
    for (const char* name : {"file", "direct", "link", "LOCK", "volume"})
      EXPECT_EQ(PermissionsOf(in + "/d/e/" + name), 0600u) << name;
  }
}

// Such as a file from an older process, or one put there by hand.
TEST_F(PosixFileSystemTest, WhatOthersCouldReadTheyCannotReadOnceItIsWrittenOrLinked) {
  Write("file", "state");
  ASSERT_EQ(chmod(Path("file").c_str(), 0666), 0);
  ASSERT_TRUE(posix_->Create(Path("file"), 4096).ok());
  EXPECT_EQ(PermissionsOf(Path("file")), 0600u);
  ASSERT_EQ(chmod(Path("file").c_str(), 0547), 0);
  ASSERT_TRUE(posix_->Link(Path("file"), Path("link")).ok());
  EXPECT_EQ(PermissionsOf(Path("file")), 0500u) << "the user's own permissions must not change";
  if (geteuid() != 0) return;  // only root can give files away
  Write("given", "state");
  ASSERT_EQ(chmod(Path("given").c_str(), 0644), 0);
  ASSERT_EQ(chown(Path("given").c_str(), 1, 1), 0);
  ASSERT_TRUE(posix_->Link(Path("given"), Path("given link")).ok());
  EXPECT_EQ(PermissionsOf(Path("given")), 0644u)
      << "the permissions of another user's file must not change";
}

TEST_F(PosixFileSystemTest, SyncsDirectories) {
  Write("a", "content");
  EXPECT_TRUE(posix_->SyncDirectory(directory_).ok());
  EXPECT_TRUE(posix_->SyncDirectory(Path("none")).IsNotFound());
  EXPECT_TRUE(posix_->SyncDirectory(Path("a")).IsIOError());
}

TEST_F(PosixFileSystemTest, SyncsFilesByName) {
  Write("a", "left");
  bool asked = false;
  EXPECT_TRUE(posix_->SyncFile(Path("a"), &asked).ok());
  EXPECT_TRUE(asked);
  asked = false;
  EXPECT_TRUE(posix_->SyncFile(Path("none"), &asked).IsNotFound());
  EXPECT_FALSE(asked) << "the device must not be asked";
}

TEST_F(PosixFileSystemTest, LocksAndOpensUnderItsOwnLimit) {
  OpenFileLimit limit(1);
  auto own = NewPosixFileSystem(&limit);
  Write("a", "a");
  Write("b", "b");
  auto a = own->OpenRandom(Path("a"));
  auto b = own->OpenRandom(Path("b"));
  ASSERT_TRUE(a.ok() && b.ok());
  EXPECT_EQ(limit.open_files(), 1u);
  char byte;
  ASSERT_TRUE((*a)->Read(0, 1, &byte).ok());
  EXPECT_EQ(byte, 'a');
  ASSERT_TRUE((*b)->Read(0, 1, &byte).ok());
  EXPECT_EQ(byte, 'b');
  auto lock = own->Lock(directory_);
  ASSERT_TRUE(lock.ok());
  EXPECT_TRUE(posix_->Lock(directory_).status().IsBusy());
}

}  // namespace
}  // namespace lava::fs
