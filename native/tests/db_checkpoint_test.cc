// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include <set>

#include "db_real_test_util.h"
#include "testing/fault_file_system.h"

// The asynchronous parts of checkpoints, and the operations that they do not affect.
namespace lava::testing {
namespace {

TEST(CheckpointParts, OverlappingCheckpointsShareRunsAndFiles) {
  SimDB db(25);
  ASSERT_OK(db.Open());
  Table* t = db.table("t");
  std::vector<std::shared_ptr<Snapshot>> snapshots;
  for (int i = 0; i < 4; ++i) {
    ASSERT_OK(db->Put(t, {K(1, "k" + std::to_string(i / 2))}, std::to_string(i)));
    snapshots.push_back(*db->TakeSnapshot());
    snapshots.push_back(*db->TakeSnapshot());
  }
  EXPECT_EQ(db->statistics().sealed_runs, 4u) << "two snapshots must share each run";
  // The last one's flush includes all earlier ones.
  ASSERT_OK(db.FlushSnapshot(snapshots.back().get()));
  EXPECT_EQ(db->statistics().flushes, 4u);
  std::vector<Snapshot::File> last;
  std::string metadata;
  ASSERT_OK(snapshots.back()->Files(&last, &metadata));
  std::set<std::string> names;
  for (const Snapshot::File& file : last) names.insert(file.name);
  for (size_t i = 0; i < snapshots.size(); ++i) {
    std::vector<Snapshot::File> files;
    ASSERT_OK(snapshots[i]->WaitFlushed(0));
    ASSERT_OK(snapshots[i]->Files(&files, &metadata));
    EXPECT_EQ(files.size(), i / 2 + 1);
    for (const Snapshot::File& file : files) EXPECT_TRUE(names.contains(file.name));
  }
}

TEST(CheckpointParts, RunsBetweenTwoCheckpointsFlushIntoOneFile) {
  SimDB db(26);
  db.options().memtable_bytes = 1;
  db.options().sealed_runs_max = 100;
  db.options().l0_compaction_trigger = 100;
  db.options().l0_stall_trigger = 200;
  ASSERT_OK(db.Open());
  Table* t = db.table("t");
  ASSERT_OK(db->Put(t, {K(1, "first")}, "v"));
  auto first = *db->TakeSnapshot();
  // No job runs in the meantime, but two flushes may have begun.
  for (int i = 0; i < 12; ++i) ASSERT_OK(db->Put(t, {K(1, std::to_string(i))}, "v"));
  auto second = *db->TakeSnapshot();
  ASSERT_GE(db->statistics().sealed_runs, 12u);
  ASSERT_OK(db.FlushSnapshot(second.get()));
  EXPECT_LE(db->statistics().flushes, 3u);
  std::vector<Snapshot::File> files;
  std::string metadata;
  ASSERT_OK(second->Files(&files, &metadata));
  EXPECT_EQ(files.size(), db->statistics().flushes);
  ASSERT_OK(first->Files(&files, &metadata));
  EXPECT_EQ(files.size(), 1u) << "the first checkpoint must not contain later writes";
}

TEST(CheckpointParts, ACheckpointNeitherTriggersNorWaitsForCompactionOrCollection) {
  SimDB db(27);
  db.options().l0_compaction_trigger = 4;
  ASSERT_OK(db.Open());
  auto table = db->CreateTable("t", {.kind = TableKind::kMap, .separation_bytes = 100});
  ASSERT_OK(table.status());
  Table* t = *table;
  const auto write = [&](int round) {
    for (int i = 0; i < 20; ++i)
      ASSERT_OK(
          db->Put(t, {K(1, std::to_string(i))}, std::string(500, static_cast<char>('a' + round))));
  };
  const auto checkpoint = [&] {
    auto snapshot = *db->TakeSnapshot();
    // Runs only flushes.
    for (int i = 0; i < 10 && snapshot->WaitFlushed(0).IsBusy(); ++i)
      ASSERT_TRUE(db.executor().RunOne(os::Priority::kFlush));
    ASSERT_OK(snapshot->WaitFlushed(0));
    std::vector<Snapshot::File> files;
    std::string metadata;
    ASSERT_OK(snapshot->Files(&files, &metadata));
    EXPECT_FALSE(files.empty());
  };
  write(0);
  checkpoint();
  EXPECT_EQ(db.executor().pending(), 0u) << "a single file in L0 must not be compacted";
  for (int round = 1; round < 6; ++round) {
    write(round);
    FlushTicket flush;
    ASSERT_TRUE(db->Flush(0, &flush).IsBusy());
    while (db.executor().RunOne(os::Priority::kFlush)) {
    }
  }
  const uint64_t waiting = db.executor().pending();
  ASSERT_GT(waiting, 0u) << "compactions are due";
  checkpoint();  // without new data
  EXPECT_EQ(db.executor().pending(), waiting);
  write(6);
  checkpoint();
  EXPECT_EQ(db->statistics().compactions, 0u);
  EXPECT_EQ(db.executor().pending_urgent(), 0u);
}

// Taking a snapshot wakes no thread; its first use and its end do.
TEST(CheckpointParts, WhatASnapshotSealedIsFlushedThoughNobodyWaitsForIt) {
  for (const bool read : {false, true}) {
    SimDB db(30);
    ASSERT_OK(db.Open());
    Table* t = db.table("t");
    ASSERT_OK(db->Put(t, {K(1, "k")}, "v"));
    auto snapshot = *db->TakeSnapshot();
    EXPECT_EQ(db.executor().pending(), 0u);
    EXPECT_EQ(db->statistics().sealed_runs, 1u);
    if (read) {
      EXPECT_EQ(db.Get(t, K(1, "k"), 0, snapshot.get()), "v");
    } else {
      snapshot.reset();
    }
    db.executor().RunUntilIdle();
    EXPECT_EQ(db->statistics().sealed_runs, 0u);
  }
}

// Each merge with L1 is uploaded. Therefore with checkpoints L0 gathers more files first.
TEST(CheckpointParts, WhatCheckpointsUploadIsRewrittenMoreSeldom) {
  for (const bool checkpoints : {false, true}) {
    SimDB db(29);
    db.options().l0_compaction_trigger = 2;
    db.options().compression = Compression::kNone;
    db.options().collection_upload_cost_percent = 300;
    ASSERT_OK(db.Open());
    Table* t = db.table("t");
    int next = 0;
    const auto write = [&](int keys) {
      for (int i = 0; i < keys; ++i)
        ASSERT_OK(db->Put(t, {K(1, std::to_string(next++))}, std::string(1000, 'v')));
      ASSERT_OK(db.Flush());
      db.executor().RunUntilIdle();
    };
    write(70);
    write(1);
    ASSERT_EQ(db->statistics().compactions, 1u) << "the first two files must go into L1";
    if (checkpoints) {
      auto snapshot = *db->TakeSnapshot();
      std::vector<Snapshot::File> files;
      std::string metadata;
      ASSERT_OK(snapshot->Files(&files, &metadata));
    }
    write(5);
    write(5);
    // While L0 waits, two of its files are combined.
    EXPECT_EQ(db->statistics().compactions, 2u);
    EXPECT_EQ(db->statistics().files_at_level[0], checkpoints ? 1u : 0u)
        << "with checkpoints L0 must wait, because L1 has seven times as many bytes";
    write(5);
    EXPECT_EQ(db->statistics().compactions, checkpoints ? 3u : 2u);
    EXPECT_EQ(db->statistics().files_at_level[0], checkpoints ? 0u : 1u)
        << "with checkpoints L0 must be compacted, because L1 has less than five times as many "
           "bytes";
  }
}

TEST(CheckpointParts, AFailedFlushFailsTheCheckpointAndTheNextOneSucceeds) {
  ChosenFileSystem memory;
  FaultFileSystem faults(&memory);
  SimDB db(28, &faults);
  ASSERT_OK(db.Open());
  Table* t = db.table("t");
  ASSERT_OK(db->Put(t, {K(1, "k")}, "v"));
  auto failed = *db->TakeSnapshot();
  faults.Arm({.fault = Fault::kIOError, .forever = true, .path_contains = ".ksst"});
  const Status status = db.FlushSnapshot(failed.get());
  EXPECT_TRUE(status.IsIOError()) << status.ToString();
  EXPECT_NE(status.message().find(".ksst"), std::string_view::npos) << status.ToString();
  EXPECT_EQ(db.Get(t, K(1, "k"), 0, failed.get()), "v")
      << "the run must stay readable after the failed flush";
  failed.reset();
  EXPECT_EQ(db.Get(t, K(1, "k")), "v");
  ASSERT_OK(db->Put(t, {K(1, "l")}, "w"));
  auto next = *db->TakeSnapshot();
  faults.Disarm();
  ASSERT_OK(db.FlushSnapshot(next.get()));
  std::vector<Snapshot::File> files;
  std::string metadata;
  ASSERT_OK(next->Files(&files, &metadata));
  EXPECT_EQ(db.Get(t, K(1, "k"), 0, next.get()), "v");
  EXPECT_EQ(db.Get(t, K(1, "l"), 0, next.get()), "w");
}

}  // namespace
}  // namespace lava::testing
