// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "db_value_test_util.h"
#include "testing/random.h"

// Space limits: the effect on writes when files take too much space, and how space is freed.
namespace lava::testing {
namespace {

/// Overwritten values of 1000 bytes; compactions and collections happen only because of the limits.
class SpaceDB : public ValueDB {
 public:
  SpaceDB() {
    options().memtable_bytes = 32 << 10;
    options().value_file_bytes = 16 << 10;
    options().collection_garbage_percent = 100;
    options().space_live_bytes_floor = 0;
  }
  void Start() {
    ASSERT_OK(Open());
    t = Values();
  }
  /// One attempt; Busy when it must wait.
  Status Put(int i, int round) {
    return get()->Put(t, {K(1, Name(i))}, Large(Name(i) + "." + std::to_string(round)));
  }
  /// Writes every key once, however long it takes.
  Status Round(int keys, int round) {
    for (int i = 0; i < keys; ++i) {
      LAVA_RETURN_IF_ERROR(Finish([&] { return Put(i, round); }));
      executor().RunUntilIdle(2);
      most_used_ = std::max(most_used_, get()->statistics().live_file_bytes);
    }
    return Status::OK();
  }
  void ExpectAll(int keys, int round) {
    for (int i = 0; i < keys; ++i)
      ASSERT_EQ(Get(t, K(1, Name(i))), Large(Name(i) + "." + std::to_string(round)));
  }
  uint64_t most_used() const { return most_used_; }
  static std::string Name(int i) { return "k" + std::to_string(i); }
  Table* t = nullptr;

 private:
  uint64_t most_used_ = 0;
};

constexpr int kKeys = 200;
constexpr uint64_t kLiveBytes = kKeys * 1000;

TEST(DBSpace, WithoutALimitNothingIsDoneForIt) {
  SpaceDB db;
  db.Start();
  for (int round = 0; round < 8; ++round) ASSERT_OK(db.Round(kKeys, round));
  EXPECT_GT(db.most_used(), 4 * kLiveBytes);
  EXPECT_EQ(db->statistics().space_stall_us, 0u);
  EXPECT_EQ(db->statistics().space_pressure_percent, 0u);
}

TEST(DBSpace, ARatioOfLiveDataIsHeldWhileValuesAreOverwritten) {
  SpaceDB db;
  db.options().space_high_percent = 150;
  db.Start();
  for (int round = 0; round < 12; ++round) ASSERT_OK(db.Round(kKeys, round));
  // Above the limit: data in memory when the limit was reached, and one file being written.
  const uint64_t slack = 5 * db.options().memtable_bytes + 2 * db.options().value_file_bytes;
  EXPECT_LT(db.most_used(), kLiveBytes * 3 / 2 + slack);
  EXPECT_GT(db->statistics().collections, 0u);
  EXPECT_GT(db->statistics().compactions, 0u) << "a compaction must expose the hidden garbage";
  ASSERT_OK(db.Flush());
  db.ExpectAll(kKeys, 11);
}

TEST(DBSpace, DataThatOnlyGrowsIsNotHeldUpByARatio) {
  SpaceDB db;
  db.options().space_high_percent = 110;
  db.Start();
  ASSERT_OK(db.Round(3 * kKeys, 0));
  db.ExpectAll(3 * kKeys, 0);
}

TEST(DBSpace, ALimitInBytesIsAnErrorOnceNothingCanBeFreed) {
  SpaceDB db;
  db.options().space_high_bytes = 300'000;
  db.Start();
  Status status;
  int keys = 0;
  while (keys < 1000 && (status = db.Finish([&] { return db.Put(keys, 0); })).ok()) ++keys;
  EXPECT_TRUE(status.IsNoSpace()) << status.ToString();
  EXPECT_NE(status.ToString().find("the limit is 300000"), std::string::npos) << status.ToString();
  EXPECT_GE(keys, 280);
  EXPECT_LT(keys, 500) << "only data in memory may exceed the limit";
  for (int i = 0; i < keys; ++i)
    ASSERT_EQ(db.Get(db.t, K(1, SpaceDB::Name(i))), Large(SpaceDB::Name(i) + ".0"));
  // Deletes are accepted, and afterwards writes are, too.
  for (int i = 0; i < keys; ++i) ASSERT_OK(db->Delete(db.t, {K(1, SpaceDB::Name(i))}));
  ASSERT_OK(db.Settle());
  ASSERT_OK(db.Round(kKeys, 1));
}

TEST(DBSpace, ARatioThatCannotBeHeldDoesNotSwitchTheLimitInBytesOff) {
  SpaceDB db;
  db.options().collection_garbage_percent = 101;  // nothing is ever collected
  db.options().space_high_percent = 120;
  db.options().space_high_bytes = 2 * kLiveBytes;
  db.Start();
  ASSERT_OK(db.Round(kKeys, 0));
  // In random order, so that each file keeps a live value for a long time.
  Random random(5);
  Status status;
  for (int i = 0; i < 10 * kKeys && status.ok(); ++i) {
    const auto key = static_cast<int>(random.Uniform(kKeys));
    status = db.Finish([&] { return db.Put(key, i); });
  }
  EXPECT_TRUE(status.IsNoSpace()) << status.ToString();
}

TEST(DBSpace, GarbageIsFreedBeforeALimitInBytesIsAnError) {
  SpaceDB db;
  db.options().space_high_bytes = 2 * kLiveBytes;
  db.Start();
  for (int round = 0; round < 12; ++round) ASSERT_OK(db.Round(kKeys, round));
  EXPECT_LT(db.most_used(), 2 * kLiveBytes + 6 * db.options().memtable_bytes);
  db.ExpectAll(kKeys, 11);
}

TEST(DBSpace, ACollectionThatAWriteWaitsForIsUrgent) {
  SpaceDB db;
  db.options().space_high_bytes = 2 * kLiveBytes;
  db.Start();
  Status status;
  for (int i = 0; i < 10 * kKeys && db.executor().pending_urgent() == 0; ++i) {
    status = db.Put(i % kKeys, i);
    while (db.executor().RunOne(os::Priority::kFlush)) {
    }
    db.clock().Advance(1000);  // writes that are only slowed continue
  }
  ASSERT_TRUE(status.IsBusy()) << status.ToString();
  EXPECT_GT(db.executor().pending_urgent(), 0u);
  EXPECT_EQ(db.executor().pending_urgent(), db.executor().pending());
  db.executor().RunUntilIdle();
  EXPECT_OK(db.Finish([&] { return db.Put(0, 0); }));
}

TEST(DBSpace, WritesAreSlowedBetweenTheLimits) {
  SpaceDB db;
  db.options().space_low_bytes = 100'000;
  db.options().space_high_bytes = 10'000'000;
  db.options().slowed_bytes_per_second = 1'000'000;
  db.Start();
  ASSERT_OK(db.Round(kKeys, 0));
  ASSERT_OK(db.Flush());
  ASSERT_GT(db->statistics().live_file_bytes, 100'000u);
  db.clock().Advance(1000);
  ASSERT_OK(db.Put(0, 1));
  EXPECT_TRUE(db.Put(1, 1).IsBusy());
  EXPECT_OK(db->Delete(db.t, {K(1, SpaceDB::Name(2))}));  // deletes never wait for space
  db.clock().AdvanceMicros(900);
  EXPECT_TRUE(db.Put(1, 1).IsBusy()) << "1000 bytes must take 1 ms";
  db.clock().AdvanceMicros(400);
  EXPECT_OK(db.Put(1, 1));
}

// A slow upload at the limit fails the checkpoint, not the job.
TEST(DBSpace, WhatSnapshotsKeepIsWaitedForThenTheOldestIsGivenUp) {
  SpaceDB db;
  db.options().space_high_bytes = 300'000;
  db.Start();
  ASSERT_OK(db.Round(kKeys, 0));
  auto snapshot = *db->TakeSnapshot();
  ASSERT_OK(db.FlushSnapshot(snapshot.get()));
  std::vector<Snapshot::File> files;
  std::string metadata;
  ASSERT_OK(snapshot->Files(&files, &metadata));
  // Everything is overwritten and collected; only the snapshot still has the old files.
  PinnedValue value;
  int busy = 0;
  for (int i = 0; db->statistics().snapshots_given_up == 0 && busy < 100;) {
    ASSERT_OK(db->Get(db.t, {K(1, SpaceDB::Name(0))}, &value, snapshot.get()));
    const Status status = db.Put(i, 1);
    db.executor().RunUntilIdle();
    if (status.ok()) {
      i = (i + 1) % kKeys;
      continue;
    }
    ASSERT_TRUE(status.IsBusy()) << status.ToString();
    ++busy;
    db.clock().Advance(1000);
  }
  EXPECT_GT(busy, 30) << "the snapshot must not be given up before half a minute";
  EXPECT_EQ(db->statistics().snapshots_given_up, 1u);
  EXPECT_EQ(db->statistics().pinned_file_bytes, 0u);
  const auto released = db.heard().All<SnapshotInfo>(EventKind::kSnapshotReleased);
  ASSERT_EQ(released.size(), 1u);
  EXPECT_EQ(released[0].end, SnapshotEnd::kGivenUp);
  auto young = *db->TakeSnapshot();
  ASSERT_OK(db.FlushSnapshot(young.get()));
  // Every call returns the reason, and the files are gone.
  Status status = snapshot->Files(&files, &metadata);
  EXPECT_TRUE(status.IsNoSpace()) << status.ToString();
  EXPECT_NE(status.ToString().find("given up"), std::string::npos);
  EXPECT_TRUE(snapshot->WaitFlushed(0).IsNoSpace());
  EXPECT_TRUE(db->Get(db.t, {K(1, SpaceDB::Name(0))}, &value, snapshot.get()).IsNoSpace());
  ScanPage page;
  EXPECT_TRUE(db->Scan(db.t, {}, &page, snapshot.get()).IsNoSpace());
  size_t left = 0;
  for (const Snapshot::File& file : files) left += *db.files.Exists("/db/" + file.name) ? 1 : 0;
  EXPECT_LT(left, files.size());
  // A younger snapshot keeps its files.
  EXPECT_OK(young->Files(&files, &metadata));
  snapshot.reset();
  young.reset();
  ASSERT_OK(db.Round(kKeys, 2));
  db.ExpectAll(kKeys, 2);
}

TEST(DBSpace, AFailingCollectionIsToldToTheWriteThatWaitsForIt) {
  SpaceDB db;
  db.options().space_high_bytes = 2 * kLiveBytes;
  db.Start();
  ASSERT_OK(db.Round(kKeys, 0));
  db.ForbidValueReads();
  Status status;
  for (int i = 0; status.ok() && i < 10 * kKeys; ++i)
    status = db.Finish([&] { return db.Put(i % kKeys, 1 + i / kKeys); });
  EXPECT_TRUE(status.IsIOError()) << status.ToString();
  EXPECT_NE(status.ToString().find(".vsst"), std::string::npos) << status.ToString();
  db.faults.Disarm();
  ASSERT_OK(db.Round(kKeys, 20));
  db.ExpectAll(kKeys, 20);
}

TEST(DBSpace, SeveralCollectionsRunWhenSpaceIsShortAndOneWhenItIsNot) {
  for (const bool shortage : {false, true}) {
    SpaceDB db;
    db.options().collection_garbage_percent = 101;
    ASSERT_OK(db.Open());
    db.t = db.Values();
    ASSERT_OK(db.Round(kKeys, 0));
    for (int i = 0; i < kKeys; i += 2) ASSERT_OK(db->Delete(db.t, {K(1, SpaceDB::Name(i))}));
    ASSERT_OK(db.Settle());
    db.options().collection_jobs_max = 3;
    if (shortage) db.options().space_high_bytes = 150'000;
    const uint64_t value_file_bytes = db->statistics().value_file_bytes;
    ASSERT_OK(db.CollectFrom(25));
    EXPECT_EQ(db->statistics().running_collections, shortage ? 3u : 1u);
    db.executor().RunUntilIdle();
    EXPECT_EQ(db->statistics().running_collections, 0u);
    EXPECT_LE(db->statistics().collection_input_bytes, value_file_bytes)
        << "no file may be collected twice";
    EXPECT_LT(db->statistics().value_raw_bytes, 110'000u);
    db.t = db.Values();
    for (int i = 0; i < kKeys; ++i)
      EXPECT_EQ(db.Get(db.t, K(1, SpaceDB::Name(i))),
                i % 2 == 0 ? "NotFound" : Large(SpaceDB::Name(i) + ".0"));
  }
}

TEST(DBSpace, OptionsThatContradictAreRefused) {
  SpaceDB db;
  db.options().space_high_percent = 100;
  EXPECT_TRUE(db.Open().IsInvalidArgument());
  db.options().space_high_percent = 0;
  db.options().slowed_bytes_per_second = 0;
  EXPECT_TRUE(db.Open().IsInvalidArgument());
}

}  // namespace
}  // namespace lava::testing
