// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "fs/posix_append_file.h"

#include <sys/stat.h>

#include "fs/posix_test_util.h"
#include "testing/random.h"

namespace lava::fs {
namespace {

class PosixAppendFileTest : public PosixTest {
 protected:
  std::string Content(const std::string& name) {
    auto content = FileSystem::Posix()->ReadWhole(Path(name), 1 << 20);
    EXPECT_TRUE(content.ok()) << content.status().ToString();
    return content.ok() ? *content : "";
  }
};

TEST_F(PosixAppendFileTest, BuffersUpToItsBound) {
  auto file = CreatePosixAppendFile(Path("a"), 10);
  ASSERT_TRUE(file.ok());
  ASSERT_TRUE((*file)->Append("12345").ok());
  ASSERT_TRUE((*file)->Append("67890").ok());
  EXPECT_EQ(Content("a"), "");
  EXPECT_EQ((*file)->size(), 10u);
  ASSERT_TRUE((*file)->Append("x").ok());
  EXPECT_EQ(Content("a"), "1234567890");
  ASSERT_TRUE((*file)->Append("a piece larger than the buffer").ok());
  EXPECT_EQ(Content("a"), "1234567890xa piece larger than the buffer");
  ASSERT_TRUE((*file)->Append("y").ok());
  ASSERT_TRUE((*file)->Sync().ok());
  EXPECT_TRUE(Content("a").ends_with("y"));
  ASSERT_TRUE((*file)->Append("z").ok());
  ASSERT_TRUE((*file)->Close().ok());
  EXPECT_TRUE(Content("a").ends_with("yz"));
  EXPECT_TRUE((*file)->Append("more").IsClosed());
  EXPECT_TRUE((*file)->Close().ok());
}

TEST_F(PosixAppendFileTest, RandomPiecesComeBackWhole) {
  testing::Random random(4);
  for (const size_t buffer_bytes : {0u, 1u, 64u, 4096u}) {
    auto file = CreatePosixAppendFile(Path("a"), buffer_bytes);  // truncates the one before
    ASSERT_TRUE(file.ok());
    std::string expected;
    for (int i = 0; i < 200; ++i) {
      const std::string piece = random.SkewedBytes(300);
      ASSERT_TRUE((*file)->Append(piece).ok());
      expected.append(piece);
      if (random.OneIn(20)) {
        ASSERT_TRUE((*file)->Flush().ok());
        ASSERT_EQ(Content("a"), expected);
      }
    }
    EXPECT_EQ((*file)->size(), expected.size());
    ASSERT_TRUE((*file)->Close().ok());
    EXPECT_EQ(Content("a"), expected);
  }
}

TEST_F(PosixAppendFileTest, DestructionDropsWhatIsBuffered) {
  {
    auto file = CreatePosixAppendFile(Path("a"), 100);
    ASSERT_TRUE(file.ok());
    ASSERT_TRUE((*file)->Append("kept").ok());
    ASSERT_TRUE((*file)->Flush().ok());
    ASSERT_TRUE((*file)->Append("dropped").ok());
  }
  EXPECT_EQ(Content("a"), "kept");
}

TEST_F(PosixAppendFileTest, OnlyTheUserMayRead) {
  auto file = CreatePosixAppendFile(Path("a"), 10);
  ASSERT_TRUE(file.ok());
  struct stat st {};
  ASSERT_EQ(stat(Path("a").c_str(), &st), 0);
  EXPECT_EQ(st.st_mode & 0777, 0600u);
}

TEST_F(PosixAppendFileTest, MissingDirectoryIsNotFound) {
  EXPECT_TRUE(CreatePosixAppendFile(Path("none/a"), 10).status().IsNotFound());
}

TEST_F(PosixAppendFileTest, AFullDeviceIsNoSpaceAndFinal) {
  auto file = CreatePosixAppendFile("/dev/full", 4);
  ASSERT_TRUE(file.ok()) << file.status().ToString();
  ASSERT_TRUE((*file)->Append("1").ok());
  const Status full = (*file)->Flush();
  EXPECT_TRUE(full.IsNoSpace());
  EXPECT_NE(full.message().find("/dev/full"), std::string::npos);
  EXPECT_TRUE((*file)->Append("1").IsNoSpace());
  EXPECT_TRUE((*file)->Sync().IsNoSpace());
  EXPECT_TRUE((*file)->Close().IsNoSpace());
}

}  // namespace
}  // namespace lava::fs
