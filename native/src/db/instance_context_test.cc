// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "db/instance_context.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "db/components_for_test.h"

namespace lava {
namespace {

using testing::ComponentsForTest;
using testing::EventKind;
using testing::FileCall;

using ChangeOptions = std::function<void(DBOptions*)>;

DBOptions ChangedOptions(ComponentsForTest* parts, const ChangeOptions& change) {
  DBOptions options = parts->instance.options;
  change(&options);
  return options;
}

class InstanceContextTest : public ::testing::Test {
 protected:
  Status OpenedWith(const ChangeOptions& change) { return With(change)->Open(); }
  std::unique_ptr<InstanceContext> With(const ChangeOptions& change,
                                        DBEnvironment environment = {}) {
    environment.executor = &parts_.held;
    return std::make_unique<InstanceContext>(ChangedOptions(&parts_, change), "/other",
                                             environment);
  }
  uint64_t Errors() const { return instance_.counters.background_errors; }

  ComponentsForTest parts_;
  InstanceContext& instance_ = parts_.instance;
};

TEST_F(InstanceContextTest, RefusesOptionsThatNoInstanceCanHave) {
  EXPECT_TRUE(OpenedWith([](DBOptions*) {}).ok());
  const std::vector<ChangeOptions> refused{
      [](DBOptions* o) { o->partition_bytes = 0; },
      [](DBOptions* o) { o->partition_bytes = 3; },
      [](DBOptions* o) { o->partition_first = 2, o->partition_last = 1; },
      [](DBOptions* o) { o->partition_last = 256; },
      [](DBOptions* o) { o->level_count = 1; },
      [](DBOptions* o) { o->level_count = kLevelCountMax + 1; },
      [](DBOptions* o) { o->sealed_runs_max = 0; },
      [](DBOptions* o) { o->l0_compaction_trigger = 0; },
      [](DBOptions* o) { o->l0_stall_trigger = o->l0_compaction_trigger; },
      [](DBOptions* o) { o->block_bytes = 0; },
      [](DBOptions* o) { o->index_partition_bytes = 0; },
      [](DBOptions* o) { o->target_file_bytes = 0; },
      [](DBOptions* o) { o->level1_bytes = 0; },
      [](DBOptions* o) { o->level_multiplier = 1; },
      [](DBOptions* o) { o->space_high_percent = 100; },
      [](DBOptions* o) { o->slowed_bytes_per_second = 0; },
      [](DBOptions* o) { o->memtable_bytes = (uint64_t{1} << 30) + 1; },
  };
  for (size_t n = 0; n < refused.size(); ++n) {
    const Status status = OpenedWith(refused[n]);
    EXPECT_TRUE(status.IsInvalidArgument()) << n << ": " << status.ToString();
  }
  EXPECT_TRUE(OpenedWith([](DBOptions* o) { o->partition_last = 255; }).ok());
  EXPECT_TRUE(OpenedWith([](DBOptions* o) {
                o->partition_bytes = 2;
                o->partition_last = 65535;
              }).ok());
  EXPECT_TRUE(OpenedWith([](DBOptions* o) { o->memtable_bytes = 1 << 30; }).ok());
  EXPECT_TRUE(OpenedWith([](DBOptions* o) { o->space_high_percent = 0; }).ok());
}

TEST_F(InstanceContextTest, TakesTheHostsExecutorUnlessTheEnvironmentHasOne) {
  EXPECT_EQ(instance_.executor, &parts_.held);
  EXPECT_EQ(instance_.own_executor, nullptr);
  const uint32_t open = Host::Get().statistics().instances_open;
  InstanceContext context(instance_.options, "/other", {});
  ASSERT_TRUE(context.Open().ok());
  EXPECT_NE(context.executor, nullptr);
  EXPECT_EQ(context.executor, context.own_executor.get());
  EXPECT_EQ(Host::Get().statistics().instances_open, open + 1);
  context.Close();
  EXPECT_EQ(Host::Get().statistics().instances_open, open);
}

TEST_F(InstanceContextTest, AJobRunsUnderTheCloseGuardAndNotOnceItIsClosed) {
  int runs = 0;
  instance_.Submit(os::Priority::kFlush, [&] {
    ++runs;
    EXPECT_FALSE(instance_.close_guard->Close(std::chrono::milliseconds(0)))
        << "the job is still inside the close guard";
  });
  instance_.Submit(os::Priority::kCollection, [&] { ++runs; });
  ASSERT_EQ(parts_.held.size(), 2u);
  EXPECT_EQ(parts_.held.PriorityOf(1), os::Priority::kCollection);
  parts_.held.RunAll();
  EXPECT_EQ(runs, 1);
  EXPECT_TRUE(instance_.close_guard->Close(std::chrono::milliseconds(0)))
      << "the job has left the close guard";
}

// A stalled write or a read may use the executor while another thread closes the instance.
TEST_F(InstanceContextTest, NothingIsAskedOfAnExecutorThatWasGivenBack) {
  InstanceContext context(instance_.options, "/other", {});
  ASSERT_TRUE(context.Open().ok());
  EXPECT_EQ(context.ThreadCount(), context.executor->thread_count());
  ASSERT_TRUE(context.close_guard->Close(std::chrono::milliseconds(0)));
  context.Close();
  context.RetryThreads();
  context.MakeUrgent(os::Priority::kFlush);
  context.Submit(os::Priority::kFlush,
                 [] { ADD_FAILURE() << "no job may run once the instance is closed"; });
  EXPECT_TRUE(context.TrySubmit(os::Priority::kFlush, [] { ADD_FAILURE(); }));
  EXPECT_EQ(context.ThreadCount(), 1u);
}

TEST_F(InstanceContextTest, AJobThatThrowsIsCountedAndLeavesTheCloseGuard) {
  instance_.Submit(os::Priority::kFlush, [] { throw std::bad_alloc(); });
  instance_.Submit(os::Priority::kFlush, [] { throw std::runtime_error("job"); });
  parts_.held.RunAll();
  EXPECT_EQ(Errors(), 2u);
  EXPECT_TRUE(instance_.close_guard->Close(std::chrono::milliseconds(0)));
}

TEST_F(InstanceContextTest, TheEndOfAJobDeliversItsEvents) {
  instance_.Submit(os::Priority::kFlush, [&] {
    instance_.notifier->Queue(&EventListener::OnTableDropped, [] { return TableDroppedInfo(); });
    EXPECT_EQ(parts_.listener->size(), 0u);
  });
  parts_.held.RunAll();
  EXPECT_EQ(parts_.listener->count(EventKind::kTableDropped), 1u);
}

TEST_F(InstanceContextTest, AJobThatIsNotQueuedIsToldAsTheCallerLikes) {
  parts_.held.Refuse(true);
  EXPECT_THROW(instance_.Submit(os::Priority::kFlush, [] {}), std::bad_alloc);
  EXPECT_FALSE(instance_.TrySubmit(os::Priority::kFlush, [] {}));
  EXPECT_EQ(parts_.held.size(), 0u);
  parts_.held.Refuse(false);
  EXPECT_TRUE(instance_.TrySubmit(os::Priority::kFlush, [] {}));
  EXPECT_EQ(parts_.held.size(), 1u);
}

TEST_F(InstanceContextTest, FilesSurviveAPowerCutIfTheOptionsOrTheLogAskForThat) {
  EXPECT_FALSE(With([](DBOptions* o) { o->sync = false; })->syncs());
  EXPECT_TRUE(With([](DBOptions* o) { o->sync = true; })->syncs());
  EXPECT_TRUE(With([](DBOptions* o) { o->wal = WalMode::kWal; })->syncs());
  EXPECT_TRUE(With([](DBOptions* o) { o->wal = WalMode::kWalSync; })->syncs());
}

TEST_F(InstanceContextTest, TheNameOfASegmentIsSyncedIfAcknowledgedWritesSurviveAPowerCut) {
  ASSERT_TRUE(parts_.memory.CreateDurableDirectory("/other").ok());
  const auto syncs = [this] { return parts_.files.calls(FileCall::kSyncDirectory); };
  const uint64_t before = syncs();
  for (const WalMode mode : {WalMode::kNone, WalMode::kWal})
    EXPECT_TRUE(With([mode](DBOptions* o) { o->wal = mode; })->SyncNameOfLogSegment().ok());
  EXPECT_EQ(syncs(), before);
  const auto synced = With([](DBOptions* o) { o->wal = WalMode::kWalSync; });
  EXPECT_TRUE(synced->SyncNameOfLogSegment().ok());
  EXPECT_EQ(syncs(), before + 1);
  parts_.files.Arm({.only = FileCall::kSyncDirectory, .path_contains = "/other"});
  EXPECT_FALSE(synced->SyncNameOfLogSegment().ok());
  parts_.files.Disarm();
}

TEST_F(InstanceContextTest, AMemtableTakesHalfOfTheWriteBuffersUnlessOptionsSayHowMuch) {
  EXPECT_EQ(With([](DBOptions* o) { o->memtable_bytes = 12345; })->memtable_bytes_max, 12345u);
  const auto of_lease = [](uint64_t bytes) {
    return [bytes](DBOptions* o) {
      o->memtable_bytes = 0;
      o->lease = Host::Get().Acquire(bytes, 0.5).value();
    };
  };
  EXPECT_EQ(With(of_lease(64 << 20))->memtable_bytes_max, 16u << 20);
  EXPECT_EQ(With(of_lease(1 << 20))->memtable_bytes_max, 1u << 20);
  EXPECT_EQ(With(of_lease(1 << 30))->memtable_bytes_max, 64u << 20);
}

TEST_F(InstanceContextTest, AValueIsOversizeAboveItsPartOfTheMemtable) {
  const auto memtable = [](uint64_t bytes) {
    return [bytes](DBOptions* o) { o->memtable_bytes = bytes; };
  };
  const auto small = With(memtable(1 << 20)), large = With(memtable(64 << 20));
  EXPECT_FALSE(small->IsOversize(kValueInMemoryAlways));
  EXPECT_TRUE(small->IsOversize(kValueInMemoryAlways + 1));
  EXPECT_FALSE(large->IsOversize(16 << 20));
  EXPECT_TRUE(large->IsOversize((16 << 20) + 1));
  DBEnvironment environment;
  environment.value_in_memory_bytes_max = 3;
  const auto chosen = With(memtable(64 << 20), environment);
  EXPECT_FALSE(chosen->IsOversize(Slice("abc")));
  EXPECT_TRUE(chosen->IsOversize(Slice("abcd")));
}

TEST_F(InstanceContextTest, AJobWorksOnTheInstancesFilesUntilItIsCancelled) {
  const JobContext job = instance_.MakeJobContext(0);
  EXPECT_EQ(job.file_system, instance_.files);
  EXPECT_EQ(job.directory, ComponentsForTest::kPath);
  EXPECT_EQ(job.cache, instance_.lease->host()->cache());
  EXPECT_FALSE(*job.cancelled);
  instance_.cancelled = true;
  EXPECT_TRUE(*job.cancelled);
  EXPECT_FALSE(job.next_file) << "the caller of MakeJobContext() sets next_file";
}

TEST_F(InstanceContextTest, TheLastLevelHasACompressionOfItsOwn) {
  const auto context = With([](DBOptions* o) {
    o->level_count = 4;
    o->compression = Compression::kLz4;
    o->bottom_compression = Compression::kZstd;
  });
  ASSERT_TRUE(context->Open().ok());
  for (uint32_t level = 0; level < 4; ++level)
    EXPECT_EQ(context->MakeJobContext(level).writer.compression,
              level == 3 ? Compression::kZstd : Compression::kLz4);
}

TEST_F(InstanceContextTest, FilesOfJobsAreSyncedAsTheInstanceIs) {
  for (const bool sync : {false, true}) {
    const auto context = With([sync](DBOptions* o) { o->sync = sync; });
    ASSERT_TRUE(context->Open().ok());
    EXPECT_EQ(context->MakeJobContext(0).writer.sync, sync);
    EXPECT_EQ(context->MakeJobContext(0).value_writer.sync, sync);
  }
}

TEST_F(InstanceContextTest, KeptIndexesAreASmallPartOfTheCache) {
  const uint64_t cache = instance_.lease->host()->cache()->capacity_bytes();
  EXPECT_LE(instance_.KeptIndexBytes(), cache / 16);
  EXPECT_LE(instance_.KeptIndexBytes(), 4u << 20);
  EXPECT_GT(instance_.KeptIndexBytes(), 0u);
}

TEST_F(InstanceContextTest, ChargesCountForTheLease) {
  MemoryCounter* const counter = instance_.budget.counter(MemoryPurpose::kMetadata);
  const uint64_t before = parts_.instance.lease->used_bytes();
  counter->Charge(1000);
  EXPECT_EQ(instance_.lease->used_bytes(), before + 1000);
  counter->Release(1000);
  EXPECT_EQ(instance_.lease->used_bytes(), before);
}

TEST_F(InstanceContextTest, FilesAreOfTheOptionsFileSystemOrOfThePosixOne) {
  EXPECT_EQ(instance_.files, &parts_.files);
  EXPECT_EQ(instance_.own_files, nullptr);
  const auto posix = With([](DBOptions* o) { o->file_system = nullptr; });
  EXPECT_EQ(posix->files, fs::FileSystem::Posix());
  EXPECT_EQ(posix->own_files, nullptr);
  const auto direct = With([](DBOptions* o) {
    o->file_system = nullptr;
    o->use_direct_reads = true;
  });
  ASSERT_NE(direct->own_files, nullptr);
  EXPECT_EQ(direct->files, direct->own_files.get());
  const auto elsewhere = With([](DBOptions* o) { o->use_direct_reads = true; });
  EXPECT_EQ(elsewhere->files, &parts_.files)
      << "direct I/O must not change the file system from the options";
}

TEST_F(InstanceContextTest, WithoutAVolumeTheProcessesLimitOfSpaceHolds) {
  EXPECT_EQ(instance_.quota, instance_.lease->host()->space());
}

}  // namespace
}  // namespace lava
