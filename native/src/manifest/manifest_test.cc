// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "manifest/manifest.h"

#include <gtest/gtest.h>

#include "testing/chosen_file_system.h"
#include "testing/fault_file_system.h"

namespace lava {
namespace {

using testing::ChosenFileSystem;
using testing::CrashableFileSystem;
using testing::Fault;
using testing::FaultFileSystem;
using testing::FileCall;

KeyFileEntry Entry(uint64_t number) {
  auto meta = std::make_shared<FileMeta>();
  meta->id = {{7, 9}, number};
  meta->bytes = 10;
  meta->records = 1;
  meta->lower = "a";
  meta->upper = "b";
  return {meta, "a", "b"};
}

class ManifestTest : public ::testing::Test {
 protected:
  ManifestTest() { EXPECT_TRUE(memory_.CreateDurableDirectory("/m").ok()); }
  Manifest::Options Options(bool sync = false) {
    return {.file_system = &faults_, .directory = "/m", .sync = sync, .roll_over_bytes = 2000};
  }
  static Status AddFile(Manifest* manifest, uint64_t number) {
    VersionEdit edit;
    edit.Add(0, Entry(number));
    return manifest->LogAndApply(edit);
  }
  Result<size_t> Recovered(bool sync = false) {
    Result<std::unique_ptr<Manifest>> manifest = Manifest::Recover(Options(sync));
    if (!manifest.ok()) return manifest.status();
    return (*manifest)->state().version->levels[0].size();
  }

  ChosenFileSystem memory_;
  FaultFileSystem faults_{&memory_};
};

TEST_F(ManifestTest, RecoversWhatWasLoggedAndRollsOver) {
  EXPECT_TRUE(Manifest::Recover(Options()).status().IsNotFound());
  auto manifest = Manifest::Fresh(Options());
  for (uint64_t n = 1; n <= 60; ++n) ASSERT_TRUE(AddFile(manifest.get(), n).ok());
  EXPECT_GT(manifest->number(), 2u);
  EXPECT_EQ(memory_.Paths().size(), 2u) << "only CURRENT and one manifest may exist";
  Result<std::unique_ptr<Manifest>> again = Manifest::Recover(Options());
  ASSERT_TRUE(again.ok()) << again.status().ToString();
  const auto& level = (*again)->state().version->levels[0];
  ASSERT_EQ(level.size(), 60u);
  EXPECT_EQ(level.front().file->id.number, 60u);
  EXPECT_EQ(level.back().file->id.number, 1u);
}

TEST_F(ManifestTest, ALogIsReadByItself) {
  auto manifest = Manifest::Fresh(Options());
  for (uint64_t n = 1; n <= 3; ++n) ASSERT_TRUE(AddFile(manifest.get(), n).ok());
  const std::string path = "/m/" + Manifest::FileName(manifest->number());
  ASSERT_TRUE(memory_.SetContent("/m/CURRENT", "damaged").ok());
  EXPECT_FALSE(Manifest::Recover(Options()).ok());
  const std::string content = *memory_.Content(path);
  for (const size_t cut : {size_t{0}, size_t{1}}) {
    ASSERT_TRUE(memory_.SetContent(path, content.substr(0, content.size() - cut)).ok());
    const auto read = Manifest::ReadLog(Options(), manifest->number());
    ASSERT_TRUE(read.ok()) << read.status().ToString();
    const Manifest::LogInfo& info = (*read)->log_info();
    EXPECT_EQ((*read)->state().version->levels[0].size(), 3u - cut);
    EXPECT_EQ(info.edits, 3u - cut);
    EXPECT_EQ(info.bytes, content.size() - cut);
    EXPECT_EQ(info.sound_bytes == info.bytes, cut == 0);
  }
  EXPECT_TRUE(Manifest::ReadLog(Options(), 99).status().IsNotFound());
}

TEST_F(ManifestTest, EveryCallThatFailsLeavesTheOldOrTheNewState) {
  for (uint64_t call = 1; call < 40; ++call) {
    for (const Fault fault : {Fault::kIOError, Fault::kNoSpace, Fault::kShortWrite}) {
      ChosenFileSystem memory;
      FaultFileSystem faults(&memory);
      ASSERT_TRUE(memory.CreateDurableDirectory("/m").ok());
      const Manifest::Options options{
          .file_system = &faults, .directory = "/m", .sync = true, .roll_over_bytes = 300};
      auto manifest = Manifest::Fresh(options);
      ASSERT_TRUE(AddFile(manifest.get(), 1).ok());
      faults.Arm({.fault = fault, .call = call});
      uint64_t acknowledged = 1, tried = 1;
      for (uint64_t n = 2; n < 8; ++n, ++tried) {
        if (!AddFile(manifest.get(), n).ok()) continue;
        acknowledged = n;
        EXPECT_EQ(manifest->state().version->levels[0].front().file->id.number, n);
      }
      EXPECT_EQ(faults.syncs_after_failure(), 0u);
      faults.Disarm();
      Result<std::unique_ptr<Manifest>> again = Manifest::Recover(options);
      ASSERT_TRUE(again.ok()) << again.status().ToString();
      const auto& level = (*again)->state().version->levels[0];
      EXPECT_GE(level.front().file->id.number, acknowledged);
    }
  }
}

// Once the state was longer than the limit, each edit wrote the whole state.
TEST_F(ManifestTest, AStateThatIsLongerThanTheLimitIsNotWrittenForEachEdit) {
  auto manifest = Manifest::Fresh(Options());
  for (uint64_t n = 1; n <= 200; ++n) ASSERT_TRUE(AddFile(manifest.get(), n).ok());
  const uint64_t number = manifest->number();
  for (uint64_t n = 201; n <= 300; ++n) ASSERT_TRUE(AddFile(manifest.get(), n).ok());
  EXPECT_LE(manifest->number(), number + 1);
  EXPECT_EQ(*Recovered(), 300u);
}

TEST_F(ManifestTest, AReadThatEndsEarlyIsNoTornEnd) {
  for (const bool sync : {false, true}) {
    {
      auto manifest = Manifest::Fresh(Options(sync));
      // The first half of the log is a snapshot and complete edits.
      for (uint64_t n = 1; n <= 9; ++n) ASSERT_TRUE(AddFile(manifest.get(), n).ok());
    }
    faults_.Arm({.fault = Fault::kShortRead, .path_contains = "/MANIFEST-"});
    const Result<size_t> files = Recovered(sync);
    faults_.Disarm();
    ASSERT_TRUE(files.status().IsIOError()) << files.status().ToString();
    EXPECT_NE(files.status().message().find("/m/MANIFEST-"), Slice::npos);
    EXPECT_EQ(*Recovered(sync), 9u);
    for (const std::string& path : memory_.Paths()) ASSERT_TRUE(memory_.Remove(path).ok());
  }
}

TEST_F(ManifestTest, ANoSpaceIsOverWhenSpaceReturns) {
  auto manifest = Manifest::Fresh(Options());
  ASSERT_TRUE(AddFile(manifest.get(), 1).ok());
  faults_.Arm({.fault = Fault::kNoSpace, .forever = true});
  EXPECT_TRUE(AddFile(manifest.get(), 2).IsNoSpace());
  EXPECT_TRUE(AddFile(manifest.get(), 2).IsNoSpace());
  faults_.Disarm();
  EXPECT_TRUE(AddFile(manifest.get(), 2).ok());
  EXPECT_EQ(*Recovered(), 2u);
}

TEST_F(ManifestTest, AFailedSyncOfAnEditIsFinal) {
  auto manifest = Manifest::Fresh(Options(true));
  ASSERT_TRUE(AddFile(manifest.get(), 1).ok());
  faults_.Arm({.fault = Fault::kIOError, .only = FileCall::kSync});
  EXPECT_TRUE(AddFile(manifest.get(), 2).IsIOError());
  faults_.Disarm();
  EXPECT_TRUE(AddFile(manifest.get(), 3).IsIOError());
  EXPECT_TRUE(manifest->failed_sync().IsIOError());
  EXPECT_EQ(manifest->state().version->levels[0].size(), 1u);
}

TEST_F(ManifestTest, SyncedEditsSurviveEveryPowerCut) {
  uint64_t acknowledged = 0;
  memory_.SetMutationHook([&](uint64_t call) {
    for (const auto mode : {testing::CrashMode::kSyncedOnly, testing::CrashMode::kTorn}) {
      const std::unique_ptr<CrashableFileSystem> crashed = memory_.CrashClone(mode, call);
      const Manifest::Options options{.file_system = crashed.get(), .directory = "/m"};
      Result<std::unique_ptr<Manifest>> manifest = Manifest::Recover(options);
      if (acknowledged == 0 && manifest.status().IsNotFound()) continue;
      ASSERT_TRUE(manifest.ok()) << manifest.status().ToString();
      EXPECT_GE((*manifest)->state().version->levels[0].size(), acknowledged);
    }
  });
  auto manifest = Manifest::Fresh(Options(true));
  for (uint64_t n = 1; n <= 30; ++n) {
    ASSERT_TRUE(AddFile(manifest.get(), n).ok());
    acknowledged = n;
  }
  memory_.SetMutationHook(nullptr);
}

// Directories do not keep their changes in order: the rename of CURRENT may be durable while the
// creation of the manifest that it names is not.
TEST_F(ManifestTest, CurrentNeverNamesAManifestWhoseNameMayBeLost) {
  memory_.SetMutationHook([&](uint64_t call) {
    const uint64_t states = memory_.CrashStates();
    ASSERT_LT(states, 10'000u);
    for (uint64_t state = 0; state < states; ++state) {
      const std::unique_ptr<CrashableFileSystem> crashed = memory_.CrashCloneAt(state, call);
      const Status recovered =
          Manifest::Recover({.file_system = crashed.get(), .directory = "/m"}).status();
      EXPECT_TRUE(recovered.ok() || recovered.IsNotFound()) << recovered.ToString();
    }
  });
  auto manifest = Manifest::Fresh(Options(true));
  for (uint64_t n = 1; n <= 60; ++n) ASSERT_TRUE(AddFile(manifest.get(), n).ok());
  EXPECT_GT(manifest->number(), 1u);
  memory_.SetMutationHook(nullptr);
}

TEST_F(ManifestTest, EveryFlippedBitIsSeen) {
  auto manifest = Manifest::Fresh(Options());
  for (uint64_t n = 1; n <= 3; ++n) ASSERT_TRUE(AddFile(manifest.get(), n).ok());
  for (const std::string& path : memory_.Paths()) {
    const std::string sound = *memory_.Content(path);
    for (size_t i = 0; i < sound.size(); ++i) {
      std::string damaged = sound;
      damaged[i] = static_cast<char>(damaged[i] ^ (1 << (i % 8)));
      ASSERT_TRUE(memory_.SetContent(path, damaged).ok());
      const Status status = Recovered().status();
      EXPECT_TRUE(status.IsCorruption()) << path << " " << i << " " << status.ToString();
      EXPECT_NE(status.message().find("/m/"), std::string_view::npos) << status.ToString();
    }
    ASSERT_TRUE(memory_.SetContent(path, sound).ok());
  }
}

TEST_F(ManifestTest, ATornTailIsDroppedAndATruncatedSnapshotIsNot) {
  auto manifest = Manifest::Fresh(Options());
  for (uint64_t n = 1; n <= 3; ++n) ASSERT_TRUE(AddFile(manifest.get(), n).ok());
  const std::string path = "/m/" + Manifest::FileName(manifest->number());
  const std::string sound = *memory_.Content(path);
  ASSERT_TRUE(memory_.SetContent(path, sound.substr(0, sound.size() - 1)).ok());
  EXPECT_EQ(*Recovered(), 2u);
  ASSERT_TRUE(memory_.SetContent(path, sound.substr(0, 40)).ok());
  EXPECT_TRUE(Recovered().status().IsCorruption());
}

}  // namespace
}  // namespace lava
