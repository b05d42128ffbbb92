// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "db_value_test_util.h"

// Separation of values by size: the automatic bound, and the statistics of each table.
namespace lava::testing {
namespace {

TableOptions Automatic() {
  return {.kind = TableKind::kMap, .separation_bytes = kSeparationAutomatic};
}

class AutomaticDB : public ValueDB {
 public:
  AutomaticDB() {
    options().memtable_bytes = 64 << 10;
    options().level1_bytes = 64 << 10;
    options().sealed_runs_max = 1000;
  }
  // Values of 600 bytes.
  void PutMany(Table* t, int from, int count) {
    for (int i = from; i < from + count; ++i) {
      const std::string key = K(1, "k" + std::to_string(100'000 + i));
      ASSERT_OK(Finish([&] { return get()->Put(t, {key}, Large(key, 600)); }));
    }
    ASSERT_OK(Flush());
  }
};

TEST(DBSeparation, TheBoundIsFoundOnceEnoughIsKnown) {
  AutomaticDB db;
  ASSERT_OK(db.Open());
  Table* t = db.Values("t", Automatic());
  EXPECT_EQ(db->table_statistics(t).separation_bytes, kSeparationDefault);
  db.PutMany(t, 0, 1000);
  EXPECT_EQ(db->table_statistics(t).separation_bytes, kSeparationDefault)
      << "there are too few records to choose a bound";
  EXPECT_EQ(db->statistics().value_files, 0u);
  db.PutMany(t, 1000, 11'000);
  EXPECT_EQ(db->table_statistics(t).separation_bytes, 512u) << "a deep tree needs a small bound";
  db.PutMany(t, 12'000, 100);
  EXPECT_GT(db->statistics().value_files, 0u);

  // Tables whose values are scanned often keep them with their keys.
  for (int i = 0; i < 20; ++i) {
    std::vector<Model::Entry> entries;
    ASSERT_OK(db.ScanAll(t, {}, &entries));
    ASSERT_EQ(entries.size(), 12'100u);
  }
  db.PutMany(t, 13'000, 100);
  EXPECT_GT(db->table_statistics(t).separation_bytes, 600u);
  const uint64_t value_files = db->statistics().value_files;
  db.PutMany(t, 14'000, 100);
  EXPECT_EQ(db->statistics().value_files, value_files);
}

TEST(DBSeparation, AGivenBoundStays) {
  AutomaticDB db;
  ASSERT_OK(db.Open());
  Table* t = db.Values("t", ValueDB::Separated(5000));
  db.PutMany(t, 0, 12'000);
  EXPECT_EQ(db->table_statistics(t).separation_bytes, 5000u);
  EXPECT_EQ(db->statistics().value_files, 0u);
}

TEST(DBSeparation, EachTableIsToldItsPartOfValueFilesAndGarbage) {
  ValueDB db;
  ASSERT_OK(db.Open());
  Table* a = db.Values("a");
  Table* b = db.Values("b");
  for (int i = 0; i < 8; ++i) {
    const std::string key = K(1, "k" + std::to_string(i));
    ASSERT_OK(db->Put(a, {key}, Large("a", 1000)));
    if (i < 2) {
      ASSERT_OK(db->Put(b, {key}, Large("b", 1000)));
    }
  }
  ASSERT_OK(db.Flush());
  ASSERT_EQ(db->statistics().value_files, 1u);
  EXPECT_EQ(db->table_statistics(a).value_raw_bytes, 8000u);
  EXPECT_EQ(db->table_statistics(b).value_raw_bytes, 2000u);
  EXPECT_EQ(db->table_statistics(a).garbage_bytes, 0u);
  for (int i = 0; i < 5; ++i) ASSERT_OK(db->Delete(a, {K(1, "k" + std::to_string(i))}));
  ASSERT_OK(db.CompactAll());
  EXPECT_EQ(db->table_statistics(a).garbage_bytes, 4000u)
      << "4,000 of the 5,000 bytes of garbage belong to this table";
  EXPECT_EQ(db->table_statistics(b).garbage_bytes, 1000u);
  EXPECT_EQ(db->table_statistics(a).value_files, 1u);

  ASSERT_OK(db.CollectFrom(25));
  a = db.Values("a");
  b = db.Values("b");
  db.executor().RunUntilIdle();
  EXPECT_EQ(db->table_statistics(a).value_raw_bytes, 3000u)
      << "the bytes must be exact after a collection";
  EXPECT_EQ(db->table_statistics(b).value_raw_bytes, 2000u);
  EXPECT_EQ(db->table_statistics(b).garbage_bytes, 0u);
}

}  // namespace
}  // namespace lava::testing
