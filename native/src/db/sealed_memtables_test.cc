// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "db/sealed_memtables.h"

#include <gtest/gtest.h>

namespace lava {
namespace {

std::shared_ptr<SealedRun> Seal(SealedMemTables* sealed) {
  auto run = std::make_shared<SealedRun>();
  sealed->Seal(sealed->With(run));
  return run;
}

// Starts the next group as FlushScheduler does. Null: nothing must be started.
std::shared_ptr<FlushGroup> Start(SealedMemTables* sealed) {
  std::shared_ptr<FlushGroup> group = sealed->NextToStart();
  if (group != nullptr) sealed->Started(group.get());
  return group;
}

std::vector<uint64_t> NumbersOf(const SealedMemTables::Runs& runs) {
  std::vector<uint64_t> numbers;
  for (const std::shared_ptr<SealedRun>& run : runs) numbers.push_back(run->sequence);
  return numbers;
}
using Numbers = std::vector<uint64_t>;

void InstallOldest(SealedMemTables* sealed) { sealed->RemoveOldest(sealed->WithoutOldest()); }

bool End(SealedMemTables* sealed, const std::shared_ptr<FlushGroup>& group) {
  SealedMemTables::Runs installed;
  return sealed->Ended(group.get(), &installed);
}

TEST(SealedMemTables, RunsAreNumberedAndTheNewestComesFirst) {
  SealedMemTables sealed;
  EXPECT_EQ(sealed.sealed_through(), 0u);
  for (int i = 0; i < 3; ++i) Seal(&sealed);
  EXPECT_EQ(NumbersOf(sealed.runs()), (Numbers{3, 2, 1}));
  EXPECT_EQ(sealed.sealed_through(), 3u);
  EXPECT_EQ(sealed.installed_through(), 0u);
}

TEST(SealedMemTables, RunsThatGatherWhileTwoFlushesRunShareTheNextFile) {
  SealedMemTables sealed;
  Seal(&sealed);
  const auto first = Start(&sealed);
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(Start(&sealed), nullptr) << "every run is already in a group";
  Seal(&sealed);
  const auto second = Start(&sealed);
  ASSERT_NE(second, nullptr);
  Seal(&sealed);
  Seal(&sealed);
  EXPECT_EQ(Start(&sealed), nullptr) << "two flushes already run";
  EXPECT_EQ(sealed.running(), 2u);

  first->done = true;
  InstallOldest(&sealed);
  EXPECT_TRUE(End(&sealed, first));
  const auto third = Start(&sealed);
  ASSERT_NE(third, nullptr);
  EXPECT_EQ(NumbersOf(third->runs), (Numbers{4, 3}));
}

TEST(SealedMemTables, AGroupEndsWithTheRunThatEndsASnapshot) {
  SealedMemTables sealed;
  sealed.EndSnapshot();  // a snapshot without runs
  Seal(&sealed);
  Seal(&sealed);
  sealed.EndSnapshot();
  Seal(&sealed);
  EXPECT_EQ(NumbersOf(Start(&sealed)->runs), (Numbers{2, 1}));
  EXPECT_EQ(NumbersOf(Start(&sealed)->runs), (Numbers{3}));
}

TEST(SealedMemTables, RunsLeaveOldestFirstWhateverFlushEndsFirst) {
  SealedMemTables sealed;
  Seal(&sealed);
  const auto first = Start(&sealed);
  Seal(&sealed);
  const auto second = Start(&sealed);
  second->done = true;
  EXPECT_FALSE(End(&sealed, second)) << "the group is not installed yet";
  EXPECT_EQ(sealed.OldestDone(), nullptr) << "the older run is not in a file yet";
  EXPECT_EQ(sealed.NextToStart(), nullptr) << "a written group must not be flushed again";
  EXPECT_TRUE(sealed.IsOldest(*first));
  EXPECT_FALSE(sealed.IsOldest(*second));

  first->done = true;
  EXPECT_EQ(sealed.OldestDone(), first);
  InstallOldest(&sealed);
  EXPECT_EQ(sealed.installed_through(), 1u);
  EXPECT_EQ(sealed.OldestDone(), second);
  InstallOldest(&sealed);
  EXPECT_EQ(sealed.installed_through(), 2u);
  EXPECT_TRUE(sealed.empty());
}

TEST(SealedMemTables, AFailedFlushIsStartedAgainWithTheSameRuns) {
  SealedMemTables sealed;
  Seal(&sealed);
  const auto group = Start(&sealed);
  EXPECT_FALSE(End(&sealed, group));
  Seal(&sealed);
  EXPECT_EQ(Start(&sealed), group);
  EXPECT_EQ(NumbersOf(group->runs), (Numbers{1}));
}

TEST(SealedMemTables, AWrittenGroupWhoseInstallFailedIsStartedAgainOnceItIsTheOldest) {
  SealedMemTables sealed;
  Seal(&sealed);
  const auto first = Start(&sealed);
  Seal(&sealed);
  const auto second = Start(&sealed);
  first->done = second->done = true;
  End(&sealed, second);
  End(&sealed, first);
  EXPECT_EQ(sealed.NextToStart(), first);
  sealed.Started(first.get());
  EXPECT_EQ(sealed.NextToStart(), nullptr);
}

TEST(SealedMemTables, AnInstalledGroupLetsGoOfItsRuns) {
  SealedMemTables sealed;
  std::weak_ptr<SealedRun> run = Seal(&sealed);
  const auto group = Start(&sealed);
  group->done = group->logged = true;
  EXPECT_EQ(sealed.OldestLogged(), group);
  InstallOldest(&sealed);
  EXPECT_EQ(sealed.OldestLogged(), nullptr);
  EXPECT_FALSE(run.expired());
  SealedMemTables::Runs installed;
  EXPECT_TRUE(sealed.Ended(group.get(), &installed));
  EXPECT_TRUE(group->runs.empty());
  EXPECT_FALSE(run.expired()) << "the caller must choose when the run is destroyed";
  installed.clear();
  EXPECT_TRUE(run.expired());
  EXPECT_EQ(sealed.running(), 0u);
}

}  // namespace
}  // namespace lava
