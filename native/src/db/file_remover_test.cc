// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "db/file_remover.h"

#include <gtest/gtest.h>

#include "db/components_for_test.h"
#include "value_log/changelog_segment.h"

namespace lava {
namespace {

using testing::ComponentsForTest;
using testing::EventKind;
using testing::FileCall;

class FileRemoverTest : public ::testing::Test {
 protected:
  FileRemoverTest() { parts_.Begin(); }

  // Makes a file that left the version, and that only views hold. Returns its name.
  std::string Obsolete() {
    const std::shared_ptr<FileMeta> file = parts_.NewFile();
    parts_.Install(ComponentsForTest::Adding(file));
    parts_.Install(ComponentsForTest::Removing(file));
    return file->id.FileName();
  }
  uint64_t Removals() const { return parts_.files.calls(FileCall::kRemove); }
  std::vector<FileDeletedInfo> Told() {
    parts_.instance.notifier->Deliver();
    return parts_.listener->All<FileDeletedInfo>(EventKind::kFileDeleted);
  }
  uint64_t Errors() const { return parts_.instance.counters.background_errors; }
  void DropReleased(const Version& version) {
    MutexLock install(parts_.tree.versions.install_mutex());
    parts_.remover.DropReleased(version);
  }
  // Makes a changelog segment with one entry, as the writer does. Returns its id.
  FileId WriteEntry(ChangelogLog* changelog, const Origin& origin, uint64_t number) {
    const FileId id{origin, number};
    Result<std::shared_ptr<ChangelogSegment>> segment = ChangelogSegment::Create(
        &parts_.files, ComponentsForTest::PathOf(id.ValueFileName()), id, {.sync = true},
        parts_.instance.budget.counter(MemoryPurpose::kMemtables));
    EXPECT_TRUE(segment.ok()) << segment.status().ToString();
    changelog->BeginSegment(*segment);
    const ChangelogLog::Sequence sequence = changelog->TakeSequence();
    LoggedRecord logged;
    ValueReference reference;
    EXPECT_TRUE((*segment)
                    ->AppendEntry(sequence.number, sequence.skipped, "entry", nullptr,
                                  /*synced=*/true, &logged, &reference)
                    .ok());
    changelog->Logged();
    changelog->EndSegment();
    return id;
  }
  // Makes a segment of an earlier opening, and releases its entry. Returns its id.
  FileId ReleasedOfEarlierOpening() {
    const Origin earlier{3, 3}, own = parts_.tree.versions.origin();
    ChangelogLog of_earlier(&parts_.files, ComponentsForTest::kPath, WalMode::kWalSync);
    EXPECT_TRUE(of_earlier.Open(earlier, {earlier}, 0).ok());
    const FileId id = WriteEntry(&of_earlier, earlier, 1);
    of_earlier.Clear();
    EXPECT_TRUE(parts_.changelog.Open(own, {earlier, own}, 0).ok());
    EXPECT_TRUE(parts_.changelog.Holds(id.ValueFileName()));
    parts_.changelog.Release(1);
    return id;
  }

  ComponentsForTest parts_{[](DBOptions* options) { options->wal = WalMode::kWalSync; }};
  FileRemover& remover_ = parts_.remover;
};

TEST_F(FileRemoverTest, AFileStaysAsLongAsAViewHoldsIt) {
  std::shared_ptr<FileMeta> file = parts_.NewFile();
  const std::string name = file->id.FileName();
  parts_.Install(ComponentsForTest::Adding(file));
  {
    const ViewRef held = parts_.tree.view();
    parts_.Install(ComponentsForTest::Removing(std::exchange(file, nullptr)));
    remover_.RemoveObsolete();
    EXPECT_TRUE(parts_.IsThere(name));
  }
  EXPECT_TRUE(parts_.IsThere(name)) << "the end of a read must not remove the file";
  remover_.RemoveObsolete();
  EXPECT_FALSE(parts_.IsThere(name));
}

TEST_F(FileRemoverTest, RemovesWhatNobodyHoldsAndTellsListeners) {
  const std::string first = Obsolete(), second = Obsolete();
  const std::shared_ptr<FileMeta> lives = parts_.NewFile();
  parts_.Install(ComponentsForTest::Adding(lives));
  EXPECT_TRUE(parts_.IsThere(first));
  remover_.RemoveObsolete();
  EXPECT_FALSE(parts_.IsThere(first));
  EXPECT_FALSE(parts_.IsThere(second));
  EXPECT_TRUE(parts_.IsThere(lives->id.FileName()));
  const std::vector<FileDeletedInfo> told = Told();
  ASSERT_EQ(told.size(), 2u);
  EXPECT_EQ(told[0].file, first);
  EXPECT_EQ(told[1].file, second);
  EXPECT_EQ(told[0].path, ComponentsForTest::kPath);
  EXPECT_TRUE(told[0].status.ok());
  const uint64_t removals = Removals();
  remover_.RemoveObsolete();
  EXPECT_EQ(Removals(), removals) << "a second call must not remove the files again";
}

TEST_F(FileRemoverTest, AFileThatCannotBeRemovedIsLeftToTheNextOpening) {
  const std::string bad = Obsolete();
  parts_.files.Arm({.only = FileCall::kRemove});
  remover_.RemoveObsolete();
  parts_.files.Disarm();
  EXPECT_TRUE(parts_.IsThere(bad));
  EXPECT_EQ(Errors(), 1u);
  std::vector<BackgroundEvent> events = parts_.faults.TakeEvents();
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].code, Status::Code::kIOError);
  EXPECT_FALSE(events[0].over);
  ASSERT_EQ(Told().size(), 1u);
  EXPECT_FALSE(Told()[0].status.ok());

  const uint64_t removals = Removals();
  remover_.RemoveObsolete();
  EXPECT_EQ(Removals(), removals) << "a failed removal must not be repeated in this opening";
  const std::string good = Obsolete();
  remover_.RemoveObsolete();
  EXPECT_FALSE(parts_.IsThere(good));
  EXPECT_TRUE(parts_.IsThere(bad));
  events = parts_.faults.TakeEvents();
  ASSERT_EQ(events.size(), 1u);
  EXPECT_TRUE(events[0].over) << "the successful removal must end the failure";
}

TEST_F(FileRemoverTest, AFailureDoesNotKeepOtherFiles) {
  const std::string first = Obsolete(), second = Obsolete();
  parts_.files.Arm({.only = FileCall::kRemove});
  remover_.RemoveObsolete();
  parts_.files.Disarm();
  EXPECT_TRUE(parts_.IsThere(first));
  EXPECT_FALSE(parts_.IsThere(second));
}

TEST_F(FileRemoverTest, AFileThatIsGoneAlreadyIsNoFailure) {
  remover_.Remove("gone.ksst");
  EXPECT_EQ(Errors(), 0u);
  EXPECT_TRUE(parts_.faults.TakeEvents().empty());
  ASSERT_EQ(Told().size(), 1u);
  EXPECT_TRUE(Told()[0].status.IsNotFound());
}

TEST_F(FileRemoverTest, HoldsNoMutexWhileItWaitsForTheDisk) {
  int calls = 0;
  const auto is_free = [](Mutex* mutex) {
    const bool free = mutex->TryLock();
    if (free) mutex->Unlock();
    return free;
  };
  parts_.files.SetHook([&](FileCall call) {
    if (call != FileCall::kRemove) return;
    ++calls;
    EXPECT_TRUE(is_free(parts_.tree.mutex()));
    EXPECT_TRUE(is_free(parts_.tree.versions.install_mutex()));
    remover_.AddReplayed("later.vsst");  // would deadlock under the remover's mutex
  });
  Obsolete();
  remover_.RemoveObsolete();
  remover_.AddReplayed("now.vsst");
  remover_.RemoveReplayed(0);
  parts_.files.SetHook(nullptr);
  EXPECT_EQ(calls, 3);
}

class UnaskedSpaceMember : public SpaceMember {
 public:
  const std::string& space_name() const override { return name_; }
  void RequestSpace() override {}
  void RequestGiveUp(uint64_t) override {}
  void SpaceFreed() override {}

 private:
  const std::string name_ = ComponentsForTest::kPath;
};

TEST_F(FileRemoverTest, TheProcessIsToldOfTheSpaceThatFilesGiveBack) {
  Host& host = Host::Get();
  host.SetSpaceLimit(1 << 30, 1 << 29);
  UnaskedSpaceMember member;
  parts_.tree.space.Join(&member);
  const uint64_t before = host.statistics().space_used_bytes;
  Obsolete();
  EXPECT_GT(host.statistics().space_used_bytes, before)
      << "an obsolete file counts until it is removed from storage";
  remover_.RemoveObsolete();
  EXPECT_EQ(host.statistics().space_used_bytes, before);
  parts_.tree.space.Leave();
  host.SetSpaceLimit(0, 0);
}

TEST_F(FileRemoverTest, ReplayedSegmentsStayUntilTheLogOfEarlierOpeningsIsInFiles) {
  const std::vector<std::string> names{"one.vsst", "two.vsst"};
  for (const std::string& name : names) {
    ASSERT_TRUE(parts_.memory.SetContent(ComponentsForTest::PathOf(name), "values").ok());
    remover_.AddReplayed(name);
  }
  remover_.SetReplayedThrough(5);
  remover_.RemoveReplayed(4);
  for (const std::string& name : names) EXPECT_TRUE(parts_.IsThere(name));
  remover_.RemoveReplayed(5);
  for (const std::string& name : names) EXPECT_FALSE(parts_.IsThere(name));
  const uint64_t removals = Removals();
  remover_.RemoveReplayed(6);
  EXPECT_EQ(Removals(), removals) << "each segment must be removed only once";
}

TEST_F(FileRemoverTest, AHeldChangelogSegmentStaysUntilItIsReleased) {
  const Origin own = parts_.tree.versions.origin();
  ASSERT_TRUE(parts_.changelog.Open(own, {own}, 0).ok());
  const std::string name =
      WriteEntry(&parts_.changelog, own, parts_.tree.versions.NewFileId().number).ValueFileName();
  parts_.tree.versions.obsolete_files().Add(name, {});  // it left the version
  remover_.RemoveObsolete();
  EXPECT_TRUE(parts_.IsThere(name));
  EXPECT_TRUE(parts_.tree.versions.obsolete_files().Contains(name))
      << "the held segment must stay obsolete";
  DropReleased(Version());
  EXPECT_TRUE(parts_.changelog.Holds(name)) << "the segment's entry is not released yet";
  parts_.changelog.Release(1);
  DropReleased(Version());
  EXPECT_FALSE(parts_.changelog.Holds(name));
  EXPECT_TRUE(parts_.IsThere(name));
  remover_.RemoveObsolete();
  EXPECT_FALSE(parts_.IsThere(name));
}

TEST_F(FileRemoverTest, AReleasedSegmentOfAnEarlierOpeningGoesWithTheReplayedOnes) {
  const FileId id = ReleasedOfEarlierOpening();
  remover_.SetReplayedThrough(5);
  DropReleased(Version());
  EXPECT_FALSE(parts_.changelog.Holds(id.ValueFileName()));
  remover_.RemoveReplayed(4);
  EXPECT_TRUE(parts_.IsThere(id.ValueFileName())) << "records of the log may refer to the segment";
  remover_.RemoveReplayed(5);
  EXPECT_FALSE(parts_.IsThere(id.ValueFileName()));
}

TEST_F(FileRemoverTest, AReleasedSegmentOfAnEarlierOpeningThatTheVersionNamesStays) {
  const FileId id = ReleasedOfEarlierOpening();
  Version version;
  version.value_files[id].file = std::make_shared<ValueFileMeta>();
  DropReleased(version);
  EXPECT_FALSE(parts_.changelog.Holds(id.ValueFileName()));
  remover_.RemoveReplayed(UINT64_MAX);
  EXPECT_TRUE(parts_.IsThere(id.ValueFileName()));
}

}  // namespace
}  // namespace lava
