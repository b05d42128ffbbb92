// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "testing/mem_file_system.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace lava::testing {
namespace {

class MemFileSystemTest : public ::testing::Test {
 protected:
  MemFileSystemTest() { EXPECT_TRUE(fs_.CreateDurableDirectory("/db").ok()); }

  std::unique_ptr<fs::AppendFile> Create(const std::string& path, size_t buffer_bytes = 0) {
    auto file = fs_.Create(path, buffer_bytes);
    EXPECT_TRUE(file.ok()) << file.status().ToString();
    return std::move(*file);
  }
  void Write(const std::string& path, const std::string& content, bool sync) {
    auto file = Create(path);
    EXPECT_TRUE(file->Append(content).ok());
    if (sync) {
      EXPECT_TRUE(file->Sync().ok());
    }
    EXPECT_TRUE(file->Close().ok());
  }
  static std::string Read(CrashableFileSystem& fs, const std::string& path) {
    auto content = fs.ReadWhole(path, 1 << 20);
    return content.ok() ? *content : std::string(CodeName(content.status().code()));
  }
  std::string AfterCrash(const std::string& path, CrashMode mode, uint64_t seed = 0) {
    auto clone = fs_.CrashClone(mode, seed);
    return Read(*clone, path);
  }

  MemFileSystem fs_;
};

TEST_F(MemFileSystemTest, BuffersAsThePosixOneDoes) {
  auto file = Create("/db/a", 10);
  ASSERT_TRUE(file->Append("1234567890").ok());
  EXPECT_EQ(Read(fs_, "/db/a"), "");
  ASSERT_TRUE(file->Append("x").ok());
  EXPECT_EQ(Read(fs_, "/db/a"), "1234567890x");
  ASSERT_TRUE(file->Append("lost").ok());
  EXPECT_EQ(file->size(), 15u);
  file.reset();
  EXPECT_EQ(Read(fs_, "/db/a"), "1234567890x");
}

TEST_F(MemFileSystemTest, ErrorsAreThoseOfFileSystem) {
  EXPECT_TRUE(fs_.Create("/none/a", 0).status().IsNotFound());
  EXPECT_TRUE(fs_.Create("/db", 0).status().IsIOError());
  EXPECT_TRUE(fs_.OpenRandom("/db/a").status().IsNotFound());
  EXPECT_TRUE(fs_.Remove("/db/a").IsNotFound());
  EXPECT_TRUE(fs_.Rename("/db/a", "/db/b").IsNotFound());
  EXPECT_TRUE(fs_.List("/none").status().IsNotFound());
  EXPECT_TRUE(fs_.SyncDirectory("/none").IsNotFound());
  Write("/db/a", "0123456789", true);
  EXPECT_TRUE(fs_.ReadWhole("/db/a", 9).status().IsCorruption());
  EXPECT_TRUE(fs_.CreateDirectory("/db/a/b").IsIOError());
  auto file = fs_.OpenRandom("/db/a");
  ASSERT_TRUE(file.ok());
  char buffer[10];
  EXPECT_TRUE((*file)->Read(2, 8, buffer).ok());
  EXPECT_EQ(Slice(buffer, 8), "23456789");
  EXPECT_TRUE((*file)->Read(3, 8, buffer).IsCorruption());
  EXPECT_TRUE((*file)->Read(UINT64_MAX, 2, buffer).IsCorruption());
  EXPECT_EQ((*file)->size(), 10u);
  EXPECT_EQ(*fs_.FileSize("/db/a"), 10u);
}

TEST_F(MemFileSystemTest, ReadsOfRemovedFilesAreNoticed) {
  Write("/db/a", "x", true);
  auto file = fs_.OpenRandom("/db/a");
  ASSERT_TRUE(file.ok());
  ASSERT_TRUE(fs_.Remove("/db/a").ok());
  char byte;
  EXPECT_TRUE((*file)->Read(0, 1, &byte).IsNotFound());
  fs_.SetRemovedFilesReadable(true);
  EXPECT_TRUE((*file)->Read(0, 1, &byte).ok());
}

TEST_F(MemFileSystemTest, LocksOnceAndListsTheLock) {
  auto lock = fs_.Lock("/db");
  ASSERT_TRUE(lock.ok());
  EXPECT_TRUE(fs_.Lock("/db").status().IsBusy());
  EXPECT_EQ(*fs_.List("/db"), std::vector<std::string>{"LOCK"});
  EXPECT_TRUE(fs_.CrashClone(CrashMode::kAll)->Lock("/db").ok());
  lock->reset();
  EXPECT_TRUE(fs_.Lock("/db").ok());
  EXPECT_TRUE(fs_.Lock("/none").status().IsNotFound());
}

TEST_F(MemFileSystemTest, BytesSurviveBySync) {
  auto file = Create("/db/a");
  ASSERT_TRUE(file->Append("synced").ok());
  ASSERT_TRUE(file->Sync().ok());
  ASSERT_TRUE(file->Append("-later").ok());
  EXPECT_EQ(AfterCrash("/db/a", CrashMode::kSyncedOnly), "NotFound")
      << "the name of the file was not synced";
  ASSERT_TRUE(fs_.SyncDirectory("/db").ok());
  EXPECT_EQ(AfterCrash("/db/a", CrashMode::kSyncedOnly), "synced");
  EXPECT_EQ(AfterCrash("/db/a", CrashMode::kAll), "synced-later");
  std::set<size_t> lengths;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    const std::string random = AfterCrash("/db/a", CrashMode::kRandom, seed);
    EXPECT_EQ(random, std::string("synced-later").substr(0, random.size()));
    lengths.insert(random.size());
    EXPECT_TRUE(AfterCrash("/db/a", CrashMode::kTorn, seed).starts_with("synced"));
  }
  EXPECT_EQ(lengths.size(), 7u) << "every length in between must occur";
  EXPECT_EQ(*lengths.begin(), 6u);
}

TEST_F(MemFileSystemTest, DirectoriesSurviveBySyncsOfTheOnesAbove) {
  ASSERT_TRUE(fs_.CreateDirectory("/a/b").ok());
  auto file = Create("/a/b/file");
  ASSERT_TRUE(file->Append("synced").ok());
  ASSERT_TRUE(file->Sync().ok());
  ASSERT_TRUE(fs_.SyncDirectory("/a/b").ok());
  EXPECT_EQ(AfterCrash("/a/b/file", CrashMode::kAll), "synced");
  EXPECT_EQ(AfterCrash("/a/b/file", CrashMode::kSyncedOnly), "NotFound");
  ASSERT_TRUE(fs_.SyncDirectory("/a").ok());
  EXPECT_EQ(AfterCrash("/a/b/file", CrashMode::kSyncedOnly), "NotFound")
      << "the parent's parent was not synced";
  EXPECT_EQ(fs_.CrashStates(), 2u) << "the crash may keep or lose /a";
  bool lost = false, kept = false;
  for (uint64_t seed = 0; seed < 50; ++seed) {
    const std::string found = AfterCrash("/a/b/file", CrashMode::kRandom, seed);
    (found == "synced" ? kept : lost) = true;
  }
  EXPECT_TRUE(lost && kept);
  ASSERT_TRUE(fs_.CreateDurableDirectory("/a").ok());
  EXPECT_EQ(AfterCrash("/a/b/file", CrashMode::kSyncedOnly), "synced");
  ASSERT_TRUE(fs_.CreateDurableDirectory("/x/y/z").ok());
  EXPECT_EQ(*fs_.CrashClone(CrashMode::kSyncedOnly)->Exists("/x/y/z"), true);
}

TEST_F(MemFileSystemTest, WhatAnotherLeftIsSyncedByName) {
  auto file = Create("/db/a");
  ASSERT_TRUE(file->Append("left").ok());
  ASSERT_TRUE(file->Flush().ok());
  ASSERT_TRUE(fs_.SyncDirectory("/db").ok());
  EXPECT_EQ(AfterCrash("/db/a", CrashMode::kSyncedOnly), "");
  bool asked = false;
  ASSERT_TRUE(fs_.SyncFile("/db/a", &asked).ok());
  EXPECT_TRUE(asked);
  EXPECT_EQ(AfterCrash("/db/a", CrashMode::kSyncedOnly), "left");
  EXPECT_TRUE(fs_.SyncFile("/db/none", &asked).IsNotFound());
}

TEST_F(MemFileSystemTest, TornSectorsKeepTheirPlaces) {
  const std::string synced(700, 's');
  const std::string unsynced(2'000, 'u');
  auto file = Create("/db/a");
  ASSERT_TRUE(file->Append(synced).ok());
  ASSERT_TRUE(file->Sync().ok());
  ASSERT_TRUE(fs_.SyncDirectory("/db").ok());
  ASSERT_TRUE(file->Append(unsynced).ok());
  bool written = false;
  bool zero = false;
  bool garbage = false;
  for (uint64_t seed = 0; seed < 50; ++seed) {
    const std::string torn = AfterCrash("/db/a", CrashMode::kTorn, seed);
    ASSERT_EQ(torn.substr(0, 700), synced);
    for (size_t at = 1'024; at + 512 <= torn.size(); at += 512) {
      const std::string sector = torn.substr(at, 512);
      const bool is_written = sector == std::string(512, 'u');
      const bool is_zero = sector == std::string(512, '\0');
      written |= is_written;
      zero |= is_zero;
      garbage |= !is_written && !is_zero;
    }
  }
  EXPECT_TRUE(written && zero && garbage);
}

TEST_F(MemFileSystemTest, RenameSurvivesBySyncOfTheDirectory) {
  Write("/db/current", "old", true);
  ASSERT_TRUE(fs_.SyncDirectory("/db").ok());
  Write("/db/new", "new", true);
  ASSERT_TRUE(fs_.Rename("/db/new", "/db/current").ok());
  EXPECT_EQ(AfterCrash("/db/current", CrashMode::kSyncedOnly), "old");
  EXPECT_EQ(AfterCrash("/db/current", CrashMode::kAll), "new");
  std::set<std::string> seen;
  for (uint64_t seed = 0; seed < 100; ++seed) {
    seen.insert(AfterCrash("/db/current", CrashMode::kRandom, seed));
  }
  EXPECT_EQ(seen, (std::set<std::string>{"old", "new"}))
      << "a rename is atomic, so one of the names must always exist";
  ASSERT_TRUE(fs_.SyncDirectory("/db").ok());
  EXPECT_EQ(AfterCrash("/db/current", CrashMode::kSyncedOnly), "new");
  EXPECT_EQ(AfterCrash("/db/new", CrashMode::kSyncedOnly), "NotFound");
}

TEST_F(MemFileSystemTest, RemovedFilesMayComeBack) {
  Write("/db/a", "content", true);
  ASSERT_TRUE(fs_.SyncDirectory("/db").ok());
  ASSERT_TRUE(fs_.Remove("/db/a").ok());
  EXPECT_EQ(Read(fs_, "/db/a"), "NotFound");
  EXPECT_EQ(AfterCrash("/db/a", CrashMode::kSyncedOnly), "content");
  ASSERT_TRUE(fs_.SyncDirectory("/db").ok());
  EXPECT_EQ(AfterCrash("/db/a", CrashMode::kSyncedOnly), "NotFound");
}

TEST_F(MemFileSystemTest, CreatingOverAFileMayKeepOrLoseTheOldBytes) {
  Write("/db/a", "old", true);
  ASSERT_TRUE(fs_.SyncDirectory("/db").ok());
  auto file = Create("/db/a");
  ASSERT_TRUE(file->Append("new").ok());
  EXPECT_EQ(AfterCrash("/db/a", CrashMode::kSyncedOnly), "old");
  std::set<std::string> seen;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    seen.insert(AfterCrash("/db/a", CrashMode::kRandom, seed));
  }
  EXPECT_EQ(seen, (std::set<std::string>{"old", "", "n", "ne", "new"}));
  ASSERT_TRUE(file->Sync().ok());
  EXPECT_EQ(AfterCrash("/db/a", CrashMode::kSyncedOnly), "new");
}

TEST_F(MemFileSystemTest, LinksShareTheFile) {
  Write("/db/a", "x", true);
  ASSERT_TRUE(fs_.Link("/db/a", "/db/b").ok());
  EXPECT_TRUE(fs_.Link("/db/a", "/db/b").IsIOError());
  ASSERT_TRUE(fs_.Remove("/db/a").ok());
  auto file = fs_.OpenRandom("/db/b");
  ASSERT_TRUE(file.ok());
  char byte;
  EXPECT_TRUE((*file)->Read(0, 1, &byte).ok());
  EXPECT_EQ(byte, 'x');
}

TEST_F(MemFileSystemTest, AClonesLifeIsItsOwn) {
  Write("/db/a", "x", true);
  auto clone = fs_.CrashClone(CrashMode::kAll);
  ASSERT_TRUE(clone->SetContent("/db/a", "changed").ok());
  EXPECT_EQ(Read(fs_, "/db/a"), "x");
  EXPECT_EQ(*clone->Content("/db/a"), "changed");
  auto second = clone->CrashClone(CrashMode::kSyncedOnly);
  EXPECT_EQ(Read(*second, "/db/a"), "changed");
  EXPECT_EQ(second->Paths(), std::vector<std::string>{"/db/a"});
}

TEST_F(MemFileSystemTest, TheHookSeesEveryMutatingCall) {
  const uint64_t before = fs_.mutating_calls();
  std::vector<std::string> states;
  fs_.SetMutationHook([&](uint64_t call) {
    EXPECT_EQ(call, before + states.size() + 1);
    states.push_back(AfterCrash("/db/b", CrashMode::kSyncedOnly));
  });
  Write("/db/a", "x", true);                       // create, flush, sync
  ASSERT_TRUE(fs_.Rename("/db/a", "/db/b").ok());  // 4
  ASSERT_TRUE(fs_.SyncDirectory("/db").ok());      // 5
  ASSERT_TRUE(fs_.ReadWhole("/db/b", 10).ok());    // none
  ASSERT_TRUE(fs_.Remove("/db/b").ok());           // 6
  fs_.SetMutationHook(nullptr);
  ASSERT_TRUE(fs_.SyncDirectory("/db").ok());
  EXPECT_EQ(states,
            (std::vector<std::string>{"NotFound", "NotFound", "NotFound", "NotFound", "x", "x"}));
  EXPECT_EQ(fs_.mutating_calls(), before + 7);
}

}  // namespace
}  // namespace lava::testing
