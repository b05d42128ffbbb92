// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <string>

namespace lava::fs {

/// A test with a fresh directory, which is removed afterwards.
class PosixTest : public ::testing::Test {
 protected:
  PosixTest() {
    std::string pattern = ::testing::TempDir() + "lava_fs_XXXXXX";
    EXPECT_NE(mkdtemp(pattern.data()), nullptr);
    directory_ = pattern;
  }
  ~PosixTest() override {
    std::error_code ignored;
    std::filesystem::remove_all(directory_, ignored);
  }
  std::string Path(const std::string& name) const { return directory_ + "/" + name; }

  std::string directory_;
};

}  // namespace lava::fs
