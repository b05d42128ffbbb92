// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "db_value_test_util.h"

// Compactions that rewrite values (LavaStore 3.2.2): because of garbage, and in order, for scans.
namespace lava::testing {
namespace {

constexpr int kRuns = 10;

// Each run has values over the whole range: one value file per run, which overlaps all others.
void FillOverlapping(ValueDB* db, Table* t) {
  for (int run = 0; run < kRuns; ++run) {
    for (int i = 0; i < 10; ++i) {
      const std::string key = "k" + std::to_string(i) + std::to_string(run);
      ASSERT_OK((*db)->Put(t, {K(1, key)}, Large(key)));
    }
    ASSERT_OK(db->Flush());
  }
  ASSERT_EQ((*db)->statistics().value_files, uint64_t{kRuns});
}

void ExpectAll(ValueDB* db, Table* t) {
  std::vector<Model::Entry> entries;
  ASSERT_OK(db->ScanAll(t, {}, &entries));
  EXPECT_EQ(entries.size(), size_t{10 * kRuns});
  for (const Model::Entry& entry : entries) {
    EXPECT_EQ(entry.second, Large(entry.first.substr(1)));
    EXPECT_EQ(db->Get(t, entry.first), entry.second);
  }
}

TEST(DBValueMerge, WhatIsScannedIsBroughtInOrder) {
  ValueDB db;
  db.options().value_merge_scan_percent = 25;
  ASSERT_OK(db.Open());
  Table* t = db.Values();
  FillOverlapping(&db, t);
  for (int i = 0; i < 8; ++i) ExpectAll(&db, t);  // twice the amount that is merged
  ASSERT_OK(db.CompactAll());
  db.executor().RunUntilIdle();
  const DBStatistics s = db->statistics();
  EXPECT_EQ(s.value_files, 1u);
  EXPECT_EQ(s.merged_value_bytes, uint64_t{1000 * 10 * kRuns});
  EXPECT_EQ(s.garbage_bytes_max, 0u);
  EXPECT_EQ(db.ValueFileNames().size(), 1u) << "the old value files must be removed";
  ExpectAll(&db, t);
  db.CloseDB();
  ASSERT_OK(db.Open());
  ExpectAll(&db, db.Values());
}

// While it runs, both the old values and the new ones exist.
TEST(DBValueMerge, UnderARatioOfSpaceAMergeWritesAQuarterOfWhatThatAllowsAtMost) {
  ValueDB db;
  db.options().value_policy = ValuePolicy::kMerge;  // which would rewrite everything
  db.options().space_high_percent = 150;
  db.options().space_live_bytes_floor = 200'000;
  ASSERT_OK(db.Open());
  Table* t = db.Values();
  FillOverlapping(&db, t);
  ASSERT_OK(db.CompactAll());
  EXPECT_EQ(db->statistics().merged_value_bytes, 20'000u)
      << "25,000 bytes are allowed, and files have 10,000 bytes";
}

TEST(DBValueMerge, WhoDoesNotScanDoesNotPay) {
  ValueDB db;
  ASSERT_OK(db.Open());
  Table* t = db.Values();
  FillOverlapping(&db, t);
  for (int i = 0; i < 50; ++i) EXPECT_EQ(db.Get(t, K(1, "k00")), Large("k00"));
  ASSERT_OK(db.CompactAll());
  EXPECT_EQ(db->statistics().merged_value_bytes, 0u);
  EXPECT_EQ(db->statistics().value_files, uint64_t{kRuns});
}

TEST(DBValueMerge, ScansPayOnce) {
  ValueDB db;
  db.options().value_merge_scan_percent = 100;
  ASSERT_OK(db.Open());
  Table* t = db.Values();
  FillOverlapping(&db, t);
  ExpectAll(&db, t);
  ASSERT_OK(db.CompactAll());
  const uint64_t merged = db->statistics().merged_value_bytes;
  EXPECT_EQ(merged, uint64_t{1000 * 10 * kRuns});
  for (int run = 0; run < kRuns; ++run) {
    for (int i = 0; i < 10; ++i) {
      const std::string key = "k" + std::to_string(i) + std::to_string(run);
      ASSERT_OK(db->Put(t, {K(1, key)}, Large(key)));
    }
    ASSERT_OK(db.Flush());
  }
  ASSERT_OK(db.CompactAll());
  EXPECT_EQ(db->statistics().merged_value_bytes, merged);
}

TEST(DBValueMerge, WhatIsScannedComesInOrderThoughNobodyWritesAnyMore) {
  ValueDB db;
  db.options().value_merge_scan_percent = 25;
  db.options().value_file_bytes = 40'000;
  ASSERT_OK(db.Open());
  Table* t = db.Values();
  FillOverlapping(&db, t);
  ASSERT_OK(db.CompactAll());
  db.executor().RunUntilIdle();
  ASSERT_EQ(db->statistics().value_files, uint64_t{kRuns});
  const uint64_t compactions = db->statistics().compactions;
  for (int i = 0; i < 3; ++i) ExpectAll(&db, t);
  db.executor().RunUntilIdle();
  EXPECT_EQ(db->statistics().merged_value_bytes, 0u)
      << "the scans have paid for only three quarters";
  ExpectAll(&db, t);
  db.executor().RunUntilIdle();
  const DBStatistics s = db->statistics();
  EXPECT_EQ(s.merged_for_order_bytes, uint64_t{1000 * 10 * kRuns});
  EXPECT_EQ(s.merged_for_order_bytes, s.merged_value_bytes);
  EXPECT_EQ(s.value_overlap_at_level[0], 0u);
  EXPECT_EQ(s.value_overlap_at_level[1], 1u);
  EXPECT_GT(s.compactions, compactions);
  ExpectAll(&db, t);
  db.CloseDB();
  ASSERT_OK(db.Open());
  ExpectAll(&db, db.Values());
}

// Two keys of five were overwritten, so their values are hot and go to separate files: two hot
// files overlap three cold ones. Two sorted runs remain after the ordering, which is still the
// number that triggers one.
TEST(DBValueMerge, AnOrderingThatLeavesAsManySortedRunsIsNotRepeatedAtOnce) {
  ValueDB db;
  db.options().value_merge_scan_percent = 1'000'000;
  db.options().value_sorted_runs_max = 2;
  db.options().value_file_bytes = 20'000;
  ASSERT_OK(db.Open());
  Table* t = db.Values();
  FillOverlapping(&db, t);
  for (int run = 0; run < 4; ++run) {
    for (int i = 0; i < 10; ++i) {
      const std::string key = "k" + std::to_string(i) + std::to_string(run);
      ASSERT_OK(db->Put(t, {K(1, key)}, Large(key)));
    }
  }
  ASSERT_OK(db.CompactAll());
  constexpr uint64_t kScans = 5, kBytes = uint64_t{1000} * 10 * kRuns;
  for (uint64_t i = 0; i < kScans; ++i) {
    ExpectAll(&db, t);
    db.executor().RunUntilIdle();
  }
  const DBStatistics s = db->statistics();
  EXPECT_GE(s.merged_for_order_bytes, kBytes);
  EXPECT_LE(s.merged_for_order_bytes, kScans * kBytes)
      << "no more may be merged than the scans have read";
  EXPECT_EQ(s.value_overlap_at_level[1], 2u) << "a hot run and a cold run must be left";
}

TEST(DBValueMerge, OrderOfWhatACheckpointHasCostsItsUpload) {
  ValueDB db;
  db.options().value_merge_scan_percent = 100;
  db.options().collection_upload_cost_percent = 300;
  db.options().value_file_bytes = 40'000;
  ASSERT_OK(db.Open());
  Table* t = db.Values();
  FillOverlapping(&db, t);
  ASSERT_OK(db.CompactAll());
  {
    auto snapshot = *db->TakeSnapshot();
    std::vector<Snapshot::File> files;
    std::string metadata;
    ASSERT_OK(db.FlushSnapshot(snapshot.get()));
    ASSERT_OK(snapshot->Files(&files, &metadata));
  }
  for (int i = 0; i < 3; ++i) ExpectAll(&db, t);
  db.executor().RunUntilIdle();
  EXPECT_EQ(db->statistics().merged_value_bytes, 0u);
  ExpectAll(&db, t);
  db.executor().RunUntilIdle();
  EXPECT_EQ(db->statistics().merged_value_bytes, uint64_t{1000 * 10 * kRuns});
}

TEST(DBValueMerge, ValuesBelowARaisedBoundComeBackInline) {
  ValueDB db;
  db.options().value_merge_scan_percent = 100;
  ASSERT_OK(db.Open());
  Table* t = db.Values();
  FillOverlapping(&db, t);
  ExpectAll(&db, t);
  ASSERT_OK(db->SetTableOptions(t, ValueDB::Separated(5000)));
  ASSERT_OK(db.CompactAll());
  db.executor().RunUntilIdle();
  EXPECT_EQ(db->statistics().value_files, 0u);
  EXPECT_TRUE(db.ValueFileNames().empty());
  ExpectAll(&db, t);
}

TEST(DBValueMerge, GarbageThatTheCollectorHasNotReachedGoesWithACompaction) {
  ValueDB db;
  const TableOptions expiring = {.kind = TableKind::kMap,
                                 .ttl_layout = TtlLayout::kValue,
                                 .ttl_ms = 1,
                                 .separation_bytes = 100};
  ASSERT_OK(db.Open());
  Table* t = db.Values("t", expiring);
  for (const std::string file : {"a", "b"}) {
    for (int i = 0; i < 20; ++i) {
      const std::string key = file + std::to_string(10 + i);
      ASSERT_OK(db->Put(t, {K(1, key)}, Large(key)));
    }
    ASSERT_OK(db.Flush());
  }
  for (const std::string file : {"a", "b"})
    for (int i = 10; i < 20; ++i) ASSERT_OK(db->Delete(t, {K(1, file + std::to_string(10 + i))}));
  ASSERT_OK(db.CompactAll());
  ASSERT_EQ(db->statistics().garbage_bytes_min, 20'000u);

  // One of the two is queued for collection, and rewriting the keys also moves the other one's
  // values.
  db.options().value_file_bytes = 10'000;
  ASSERT_OK(db.CollectFrom(25));
  t = db.Values("t", expiring);
  ASSERT_EQ(db->statistics().running_collections, 1u);
  ASSERT_OK(db.CompactAll());
  db.executor().RunUntilIdle();
  EXPECT_EQ(db->statistics().merged_value_bytes, 10'000u);
  EXPECT_EQ(db->statistics().collections, 1u);
  EXPECT_EQ(db->statistics().garbage_bytes_min, 0u);
  for (const std::string file : {"a", "b"}) {
    for (int i = 0; i < 20; ++i) {
      const std::string key = file + std::to_string(10 + i);
      EXPECT_EQ(db.Get(t, K(1, key)), i < 10 ? Large(key) : "NotFound");
    }
  }
}

TEST(DBValueMerge, WithThatPolicyValuesGoDownWithTheirKeys) {
  ValueDB db;
  db.options().value_policy = ValuePolicy::kMerge;
  db.options().value_decisions_max = 2;
  ASSERT_OK(db.Open());
  Table* t = db.Values();
  FillOverlapping(&db, t);
  DBStatistics s = db->statistics();
  EXPECT_EQ(s.value_groups_at_level[0], uint64_t{kRuns});
  EXPECT_EQ(s.value_overlap_at_level[0], uint64_t{kRuns});
  EXPECT_TRUE(db->TakeValueDecisions().empty());
  ASSERT_OK(db.CompactAll());
  s = db->statistics();
  EXPECT_EQ(s.value_files, 1u) << "the values must be merged although there was no scan";
  EXPECT_EQ(s.merged_down_bytes, uint64_t{1000 * 10 * kRuns});
  EXPECT_EQ(s.merged_value_bytes, s.merged_down_bytes);
  EXPECT_EQ(s.value_groups_at_level[0], 0u);
  EXPECT_EQ(s.value_groups_at_level[1], 1u);
  EXPECT_EQ(s.value_overlap_at_level[1], 1u);
  const std::vector<std::string> decisions = db->TakeValueDecisions();
  ASSERT_EQ(decisions.size(), 2u) << "only the last two decisions must be kept";
  for (const char* part :
       {"compaction of L0 to L1, ", ".vsst of L0: of 10000 bytes 0 are garbage, ",
        "10000 are reached: merged, its keys move down"})
    EXPECT_NE(decisions[1].find(part), std::string::npos) << decisions[1];
  EXPECT_TRUE(db->TakeValueDecisions().empty());
  ExpectAll(&db, t);

  // The manifest contains level and group. Values already in the lower level stay when keys from
  // above are merged.
  ASSERT_OK(db.Open());
  t = db.Values();
  EXPECT_EQ(db->statistics().value_groups_at_level[1], 1u);
  for (int i = 0; i < 10; ++i) {
    const std::string key = "k" + std::to_string(i) + "0";
    ASSERT_OK(db->Put(t, {K(1, key)}, Large(key)));
  }
  ASSERT_OK(db.CompactAll());
  s = db->statistics();
  EXPECT_EQ(s.merged_value_bytes, 10'000u);
  EXPECT_EQ(s.value_groups_at_level[1], 2u);
  EXPECT_EQ(s.value_overlap_at_level[1], 2u);
  EXPECT_EQ(s.garbage_bytes_min, 10'000u);
  ExpectAll(&db, t);
}

TEST(DBValueMerge, WithThatPolicyDirtyFilesJoinTheNextCompactionAndNothingIsCollected) {
  ValueDB db;
  db.options().value_policy = ValuePolicy::kMerge;
  ASSERT_OK(db.CollectFrom(30));
  Table* t = db.Values();
  FillOverlapping(&db, t);
  ASSERT_OK(db.CompactAll());
  for (int i = 0; i < 4; ++i)
    for (int run = 0; run < kRuns; ++run)
      ASSERT_OK(db->Delete(t, {K(1, "k" + std::to_string(i) + std::to_string(run))}));
  ASSERT_OK(db.CompactAll());
  db.executor().RunUntilIdle();
  EXPECT_EQ(db->statistics().garbage_bytes_min, 40'000u);
  ASSERT_OK(db->Put(t, {K(1, "k99")}, Large("k99")));
  ASSERT_OK(db.CompactAll());
  db.executor().RunUntilIdle();
  const DBStatistics s = db->statistics();
  EXPECT_EQ(s.merged_for_garbage_bytes, 60'000u);
  EXPECT_EQ(s.garbage_bytes_min, 0u);
  EXPECT_EQ(s.collections, 0u);
  EXPECT_EQ(db.Get(t, K(1, "k00")), "NotFound");
  EXPECT_EQ(db.Get(t, K(1, "k59")), Large("k59"));
}

TEST(DBValueMerge, ValuesGoAlongAsTheyAreStored) {
  ValueDB db;
  db.options().value_policy = ValuePolicy::kMerge;
  db.options().value_compression = Compression::kZstd;
  ASSERT_OK(db.Open());
  FillOverlapping(&db, db.Values());
  const uint64_t bytes = db->statistics().value_file_bytes;
  ASSERT_LT(bytes, 50'000u);
  db.CloseDB();
  db.options().value_compression = Compression::kNone;
  ASSERT_OK(db.Open());
  Table* t = db.Values();
  ASSERT_OK(db.CompactAll());
  EXPECT_EQ(db->statistics().value_files, 1u);
  EXPECT_LE(db->statistics().value_file_bytes, bytes);
  ExpectAll(&db, t);
}

TEST(DBValueMerge, APolicyMayChangeWhileTheInstanceRuns) {
  ValueDB db;
  db.options().value_policy = ValuePolicy::kCollect;
  db.options().value_merge_scan_percent = 100;
  ASSERT_OK(db.Open());
  Table* t = db.Values();
  FillOverlapping(&db, t);
  ExpectAll(&db, t);
  ASSERT_OK(db.CompactAll());
  EXPECT_EQ(db->statistics().merged_value_bytes, 0u)
      << "this policy must merge nothing, although scans have paid";
  db->SetValuePolicy(ValuePolicy::kMerge);
  ASSERT_OK(db->Put(t, {K(1, "k00")}, Large("k00")));
  ASSERT_OK(db.CompactAll());
  EXPECT_EQ(db->statistics().merged_value_bytes, uint64_t{1000 * 10 * kRuns})
      << "all live values must be merged";
  EXPECT_EQ(db->statistics().value_groups_at_level[0], 0u);
  ExpectAll(&db, t);
}

TEST(DBValueMerge, AFileThatCannotBeReadFailsTheCompactionAndLosesNothing) {
  ValueDB db;
  db.options().value_merge_scan_percent = 100;
  ASSERT_OK(db.Open());
  Table* t = db.Values();
  FillOverlapping(&db, t);
  ExpectAll(&db, t);
  db.ForbidValueReads();
  EXPECT_FALSE(db.CompactAll().ok());
  EXPECT_GT(db.faults.fired(), 0u);
  db.faults.Disarm();
  ASSERT_OK(db.CompactAll());
  EXPECT_EQ(db->statistics().merged_value_bytes, uint64_t{1000 * 10 * kRuns})
      << "the failed compaction must not spend what scans have paid";
  ExpectAll(&db, t);
}

}  // namespace
}  // namespace lava::testing
