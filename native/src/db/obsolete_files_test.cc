// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "db/obsolete_files.h"

#include <gtest/gtest.h>

#include <thread>

namespace lava {
namespace {

std::shared_ptr<FileMeta> File(uint64_t number, uint64_t bytes) {
  auto file = std::make_shared<FileMeta>();
  file->id = {{1, 2}, number};
  file->bytes = bytes;
  return file;
}

std::vector<std::string> NamesOf(const ObsoleteFiles::Files& files) {
  std::vector<std::string> names;
  for (const auto& [name, file] : files) names.push_back(name);
  return names;
}

TEST(ObsoleteFiles, AFileIsTakenOnceNobodyHoldsIt) {
  ObsoleteFiles files;
  std::shared_ptr<FileMeta> held = File(1, 100), gone = File(2, 50);
  const std::string held_name = held->id.FileName(), gone_name = gone->id.FileName();
  files.Add(held_name, held);
  files.Add(gone_name, gone);
  EXPECT_EQ(files.pinned_bytes(), 150u);
  gone.reset();

  EXPECT_EQ(NamesOf(files.TakeUnused().files), std::vector{gone_name});
  EXPECT_EQ(files.pinned_bytes(), 100u);
  EXPECT_TRUE(files.Contains(held_name));
  EXPECT_FALSE(files.Contains(gone_name));

  held.reset();
  ObsoleteFiles::Unused unused = files.TakeUnused();
  EXPECT_EQ(NamesOf(unused.files), std::vector{held_name});
  EXPECT_EQ(files.pinned_bytes(), 0u);
  files.GiveBack(std::move(unused));
  EXPECT_EQ(files.pinned_bytes(), 100u) << "the file is still on storage";
  EXPECT_EQ(NamesOf(files.TakeUnused().files), std::vector{held_name})
      << "the next call must offer the file again";
}

TEST(ObsoleteFiles, OutputsOfAFailedEditStayUntilALaterOneIsSafe) {
  ObsoleteFiles files;
  std::string name;
  {
    VersionEdit edit;
    const std::shared_ptr<FileMeta> output = File(1, 100);
    name = output->id.FileName();
    edit.Add(0, {output, "", ""});
    files.AddFailed(edit);
  }
  EXPECT_TRUE(files.TakeUnused().files.empty())
      << "the manifest may contain the failed edit, so its output must stay";
  files.EditIsSafe(VersionEdit());
  EXPECT_EQ(NamesOf(files.TakeUnused().files), std::vector{name});
}

TEST(ObsoleteFiles, AnEditThatIsTriedAgainMakesItsOutputsCurrent) {
  ObsoleteFiles files;
  const std::shared_ptr<FileMeta> output = File(1, 100), other = File(2, 50);
  VersionEdit failed, later;
  failed.Add(0, {output, "", ""});
  later.Add(0, {other, "", ""});
  files.AddFailed(failed);
  files.EditIsSafe(later);
  EXPECT_EQ(files.pinned_bytes(), 100u);
  files.EditIsSafe(failed);
  EXPECT_EQ(files.pinned_bytes(), 0u)
      << "the file is part of the version now, so it must not be obsolete";
  EXPECT_FALSE(files.Contains(output->id.FileName()));
}

TEST(ObsoleteFiles, AWalkFindsAllOfManyFilesAndLeavesThoseThatAreHeld) {
  ObsoleteFiles files;
  std::vector<std::shared_ptr<FileMeta>> held;
  for (uint64_t n = 0; n < 1000; ++n) {
    const std::shared_ptr<FileMeta> file = File(n, 1);
    files.Add(file->id.FileName(), file);
    if (n % 3 == 0) held.push_back(file);
  }
  EXPECT_EQ(files.TakeUnused().files.size(), 1000 - held.size());
  EXPECT_EQ(files.pinned_bytes(), held.size());
  EXPECT_TRUE(files.TakeUnused().files.empty());
}

TEST(ObsoleteFiles, EachFileIsTakenByOneOfSeveralThreads) {
  ObsoleteFiles files;
  constexpr uint64_t kFiles = 2000;
  std::atomic<uint64_t> taken{0};
  std::vector<std::thread> threads;
  for (uint64_t t = 0; t < 4; ++t) {
    threads.emplace_back([&files, &taken, t] {
      for (uint64_t n = 0; n < kFiles / 4; ++n) {
        const std::shared_ptr<FileMeta> file = File(t * kFiles + n, 1);
        files.Add(file->id.FileName(), file);
        if (n % 16 == 0) taken += files.TakeUnused().files.size();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  taken += files.TakeUnused().files.size();
  EXPECT_EQ(taken, kFiles);
  EXPECT_EQ(files.pinned_bytes(), 0u);
}

}  // namespace
}  // namespace lava
