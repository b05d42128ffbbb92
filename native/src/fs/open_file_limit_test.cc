// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "fs/open_file_limit.h"

#include <gtest/gtest.h>

#include <vector>

namespace lava::fs {
namespace {

struct FakeFile : EvictableFile {
  bool TryEvict(bool force) override {
    if (busy) return false;
    if (used && !force) {
      used = false;
      return false;
    }
    open = false;
    return true;
  }
  bool open = true;
  bool busy = false;
  bool used = false;
};

TEST(OpenFileLimitTest, ClosesWhatWasNotUsedForLongest) {
  OpenFileLimit limit(3);
  std::vector<FakeFile> files(5);
  for (int i = 0; i < 3; ++i) limit.Add(&files[static_cast<size_t>(i)]);
  EXPECT_EQ(limit.open_files(), 3u);
  files[0].used = true;
  limit.Add(&files[3]);
  EXPECT_EQ(limit.open_files(), 3u);
  EXPECT_TRUE(files[0].open) << "a used file must get a second chance";
  EXPECT_FALSE(files[1].open);
  EXPECT_TRUE(files[2].open);
  limit.Remove(&files[1]);  // it was evicted: no effect
  limit.Remove(&files[2]);
  EXPECT_EQ(limit.open_files(), 2u);
}

TEST(OpenFileLimitTest, OvershootsWhileAllAreInUse) {
  OpenFileLimit limit(1);
  FakeFile first;
  FakeFile second;
  first.busy = second.busy = true;
  limit.Add(&first);
  limit.Add(&second);
  EXPECT_EQ(limit.open_files(), 2u);
  EXPECT_EQ(limit.Evict(5), 0u);
  first.busy = false;
  EXPECT_EQ(limit.Evict(5), 1u);
  EXPECT_FALSE(first.open);
}

TEST(OpenFileLimitTest, ASmallerLimitClosesAtOnce) {
  OpenFileLimit limit(8);
  std::vector<FakeFile> files(8);
  for (FakeFile& file : files) {
    file.used = true;
    limit.Add(&file);
  }
  limit.SetFilesMax(2);
  EXPECT_EQ(limit.open_files(), 2u);
  int open = 0;
  for (const FakeFile& file : files) open += file.open ? 1 : 0;
  EXPECT_EQ(open, 2);
}

}  // namespace
}  // namespace lava::fs
