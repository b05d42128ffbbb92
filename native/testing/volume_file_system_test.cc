// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "testing/volume_file_system.h"

#include <gtest/gtest.h>

#include <set>

#include "testing/chosen_file_system.h"

namespace lava::testing {
namespace {

constexpr uint64_t kMax = 1 << 20;

std::unique_ptr<fs::AppendFile> Write(fs::FileSystem* files, const std::string& path,
                                      const std::string& content) {
  auto file = files->Create(path, 0);
  EXPECT_TRUE(file.ok()) << file.status().ToString();
  EXPECT_TRUE((*file)->Append(content).ok());
  return std::move(*file);
}

class VolumeFileSystemTest : public ::testing::Test {
 protected:
  VolumeFileSystemTest() {
    EXPECT_TRUE(files_.CreateDirectory("/db").ok());
    EXPECT_TRUE(files_.SyncDirectory("/db").ok());
  }
  /// The content that a crash now leaves of a file; "none" if the file is missing.
  static std::string Left(CrashableFileSystem* crashed, const std::string& path) {
    const Result<std::string> content = crashed->ReadWhole(path, kMax);
    return content.ok() ? *content : content.status().IsNotFound() ? "none" : "error";
  }
  std::string AfterCrash(const std::string& path, CrashMode mode) const {
    return Left(files_.CrashClone(mode).get(), path);
  }

  VolumeFileSystem files_;
};

TEST_F(VolumeFileSystemTest, AKillLeavesWhatWasFlushedAndAPowerCutWhatWasSynced) {
  const auto file = Write(&files_, "/db/a", "1234");
  ASSERT_TRUE(file->Flush().ok());
  EXPECT_EQ(AfterCrash("/db/a", CrashMode::kAll), "1234");
  EXPECT_EQ(AfterCrash("/db/a", CrashMode::kSyncedOnly), "none");
  ASSERT_TRUE(file->Sync().ok() && files_.SyncDirectory("/db").ok());
  ASSERT_TRUE(file->Append("5678").ok() && file->Flush().ok());
  EXPECT_EQ(AfterCrash("/db/a", CrashMode::kAll), "12345678");
  EXPECT_EQ(AfterCrash("/db/a", CrashMode::kSyncedOnly), "1234");
}

TEST_F(VolumeFileSystemTest, ACrashedOneCanBeWrittenAndCrashAgain) {
  const auto file = Write(&files_, "/db/a", "1234");
  ASSERT_TRUE(file->Flush().ok());
  const auto killed = files_.CrashClone(CrashMode::kAll);
  ASSERT_TRUE(Write(killed.get(), "/db/b", "5678")->Close().ok());
  EXPECT_EQ(killed->Paths(), (std::vector<std::string>{"/db/a", "/db/b"}));
  const auto cut = killed->CrashClone(CrashMode::kSyncedOnly);
  EXPECT_EQ(Left(cut.get(), "/db/a"), "1234") << "everything that a crash leaves must be durable";
  EXPECT_EQ(Left(cut.get(), "/db/b"), "none");
  EXPECT_EQ(files_.Paths(), (std::vector<std::string>{"/db/a"}));
}

TEST_F(VolumeFileSystemTest, EveryStateOfAPowerCutIsAmongThoseThatAreCounted) {
  EXPECT_EQ(files_.CrashStates(), 1u) << "everything was synced";
  uint64_t hooked = 0, states_most = 0;
  std::set<std::string> left;
  files_.SetMutationHook([&](uint64_t call) {
    ++hooked;
    EXPECT_EQ(call, files_.mutating_calls());
    const uint64_t states = files_.CrashStates();
    states_most = std::max(states_most, states);
    ASSERT_LT(states, 1000u);
    for (uint64_t state = 0; state < states; ++state)
      left.insert(Left(files_.CrashCloneAt(state, call).get(), "/db/a"));
  });
  const auto file = Write(&files_, "/db/a", "1234");
  ASSERT_TRUE(file->Flush().ok() && file->Sync().ok());
  ASSERT_TRUE(file->Append("5678").ok() && file->Sync().ok());
  files_.SetMutationHook(nullptr);
  EXPECT_EQ(left, (std::set<std::string>{"none", "1234", "12345678"}));
  EXPECT_GE(hooked, 4u)
      << "the hook must see the writes of contents and of the journal, and the syncs of both";
  EXPECT_GE(states_most, 9u) << "the contents and the journal may each be there, absent or torn";
}

TEST_F(VolumeFileSystemTest, DamageIsSeenByThoseWhoHaveTheFileOpen) {
  // Several extents.
  std::string content(50'000, 'a');
  ASSERT_TRUE(Write(&files_, "/db/a", content)->Close().ok());
  ASSERT_TRUE(files_.Link("/db/a", "/db/b").ok());
  const auto open = files_.OpenRandom("/db/a");
  ASSERT_TRUE(open.ok());
  content[3] = content[40'000] = 'X';
  ASSERT_TRUE(files_.SetContent("/db/a", content).ok());
  std::string read(content.size(), '\0');
  ASSERT_TRUE((*open)->Read(0, read.size(), read.data()).ok());
  EXPECT_TRUE(read == content);
  EXPECT_TRUE(*files_.Content("/db/b") == content);
  EXPECT_TRUE(AfterCrash("/db/a", CrashMode::kSyncedOnly) == content);
}

TEST_F(VolumeFileSystemTest, ContentOfAnotherSizeTakesThePathsPlace) {
  ASSERT_TRUE(files_.SetContent("/db/a", "1234").ok());
  ASSERT_TRUE(files_.SetContent("/db/a", "56").ok());
  EXPECT_EQ(AfterCrash("/db/a", CrashMode::kSyncedOnly), "56");
  EXPECT_EQ(files_.Paths(), (std::vector<std::string>{"/db/a"}));
}

// No run may claim to use LavaFS without using it.
TEST(ChosenFileSystem, IsWhatTheEnvironmentSays) {
  ChosenFileSystem files;
  ASSERT_TRUE(files.CreateDirectory("/db").ok());
  ASSERT_TRUE(Write(&files, "/db/a", "1234")->Close().ok());
  const auto open = files.OpenRandom("/db/a");
  ASSERT_TRUE(open.ok() && files.Remove("/db/a").ok());
  char read[4];
  EXPECT_EQ((*open)->Read(0, 4, read).ok(), OnLavaFs()) << "a MemFileSystem forgets removed files";
}

}  // namespace
}  // namespace lava::testing
