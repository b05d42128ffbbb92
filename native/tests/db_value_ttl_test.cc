// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "base/coding.h"
#include "db_value_test_util.h"

// Values with expiry in value files: they are dropped without being read, and their references read
// as absent.
namespace lava::testing {
namespace {

constexpr int64_t kTtlMs = 1000;

TableOptions Expiring(int64_t ttl_ms = kTtlMs) {
  return {.kind = TableKind::kMap,
          .ttl_layout = TtlLayout::kValue,
          .ttl_ms = ttl_ms,
          .separation_bytes = 100};
}

std::string Stamped(int64_t written_ms, const std::string& tag) {
  std::string bytes;
  PutBigEndian(&bytes, static_cast<uint64_t>(written_ms), 8);
  return bytes + Large(tag);
}

std::string KeyOf(int i) { return K(1, "k" + std::to_string(10 + i)); }

// Ten values written now, in a separate value file.
void PutTen(ValueDB* db, Table* t, int from = 0) {
  for (int i = from; i < from + 10; ++i)
    ASSERT_OK((*db)->Put(t, {KeyOf(i)}, Stamped(db->clock().WallMillis(), "v")));
  ASSERT_OK(db->Flush());
}

size_t Scanned(ValueDB* db, Table* t) {
  std::vector<Model::Entry> entries;
  EXPECT_OK(db->ScanAll(t, {}, &entries));
  return entries.size();
}

// Makes the instance check for due work.
void Stir(ValueDB* db, Table* t) {
  ASSERT_OK((*db)->Put(t, {K(9, "stir")}, "s"));
  ASSERT_OK(db->Flush());
  db->executor().RunUntilIdle();
}

TEST(DBValueTtl, AFileInWhichAllHasExpiredIsDroppedWholeAndUnread) {
  ValueDB db;
  db.options().collection_garbage_percent = 25;
  ASSERT_OK(db.Open());
  Table* t = db.Values("t", Expiring());
  PutTen(&db, t);
  db.clock().Advance(kTtlMs / 2);
  PutTen(&db, t, 10);
  ASSERT_EQ(db.ValueFileNames().size(), 2u);
  db.clock().Advance(kTtlMs / 2);
  db.ForbidValueReads();
  Stir(&db, t);
  EXPECT_EQ(db.faults.fired(), 0u) << "neither the file's values nor its index may be read";
  db.faults.Disarm();
  EXPECT_EQ(db->statistics().value_files_expired, 1u);
  EXPECT_EQ(db.ValueFileNames().size(), 1u);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(db.Get(t, KeyOf(i)) == "NotFound", i < 10) << i;
  EXPECT_EQ(Scanned(&db, t), 11u);
}

TEST(DBValueTtl, WhatWasDroppedStaysAbsentWhateverTheTtlBecomes) {
  ValueDB db;
  db.options().collection_garbage_percent = 25;
  ASSERT_OK(db.Open());
  Table* t = db.Values("t", Expiring());
  PutTen(&db, t);
  db.clock().Advance(kTtlMs);
  Stir(&db, t);
  ASSERT_TRUE(db.ValueFileNames().empty());
  for (const int64_t ttl_ms : {kTtlMs, 100 * kTtlMs, int64_t{0}}) {
    SCOPED_TRACE(ttl_ms);
    ASSERT_OK(db.Open());
    t = db.Values("t", Expiring(ttl_ms));
    EXPECT_EQ(db.Get(t, KeyOf(3)), "NotFound");
    EXPECT_EQ(Scanned(&db, t), 1u);
  }
  // References without values survive compactions until their own expiry drops them.
  ASSERT_OK(db.CompactAll());
  EXPECT_EQ(Scanned(&db, t), 1u);
  ASSERT_OK(db->Put(t, {KeyOf(3)}, Stamped(db.clock().WallMillis(), "new")));
  EXPECT_EQ(Scanned(&db, t), 2u);
}

TEST(DBValueTtl, ACheckpointCarriesWhatExpired) {
  ValueDB db;
  db.options().collection_garbage_percent = 25;
  ASSERT_OK(db.Open());
  Table* t = db.Values("t", Expiring());
  PutTen(&db, t);
  db.clock().Advance(kTtlMs);
  Stir(&db, t);
  ASSERT_TRUE(db.ValueFileNames().empty());
  const std::string metadata = db.TakeTo("/restored");
  const ImportSource source{metadata, 0, 15};
  ASSERT_OK(db.Open({&source, 1}, "/restored"));
  t = db.Values("t", Expiring(100 * kTtlMs));
  EXPECT_EQ(db.Get(t, KeyOf(3)), "NotFound");
  EXPECT_EQ(Scanned(&db, t), 1u);
}

TEST(DBValueTtl, TheCollectorLeavesBehindWhatHasExpired) {
  ValueDB db;
  ASSERT_OK(db.Open());
  Table* t = db.Values("t", Expiring());
  for (int i = 0; i < 10; ++i) {
    // Half of them expire earlier.
    const int64_t written_ms = db.clock().WallMillis() - (i < 5 ? kTtlMs / 2 : 0);
    ASSERT_OK(db->Put(t, {KeyOf(i)}, Stamped(written_ms, "v")));
  }
  for (int i = 10; i < 20; ++i)
    ASSERT_OK(db->Put(t, {KeyOf(i)}, Stamped(db.clock().WallMillis(), "v")));
  ASSERT_OK(db.Flush());
  for (int i = 10; i < 20; ++i) ASSERT_OK(db->Delete(t, {KeyOf(i)}));
  ASSERT_OK(db.CompactAll());
  db.clock().Advance(kTtlMs / 2);
  ASSERT_OK(db.CollectFrom(25));
  t = db.Values("t", Expiring());
  db.executor().RunUntilIdle();
  const DBStatistics s = db->statistics();
  EXPECT_EQ(s.collection_values_dead, 10u);
  EXPECT_EQ(s.records_expired, 5u);
  EXPECT_EQ(s.value_raw_bytes, 5 * Stamped(0, "v").size());
  for (int i = 0; i < 10; ++i) EXPECT_EQ(db.Get(t, KeyOf(i)) == "NotFound", i < 5) << i;
}

TEST(DBValueTtl, AFileWithOneValueThatNeverExpiresStays) {
  ValueDB db;
  db.options().collection_garbage_percent = 25;
  ASSERT_OK(db.Open());
  Table* t = db.Values("t", Expiring());
  Table* other = db.Values("other", ValueDB::Separated());
  ASSERT_OK(db->Put(other, {KeyOf(0)}, Large("stays")));
  PutTen(&db, t);
  ASSERT_EQ(db.ValueFileNames().size(), 1u);
  db.clock().Advance(100 * kTtlMs);
  Stir(&db, t);
  EXPECT_EQ(db->statistics().value_files_expired, 0u);
  EXPECT_EQ(db.Get(other, KeyOf(0)), Large("stays"));
}

TEST(DBValueTtl, ATableThatIsNotRegisteredYetKeepsItsValues) {
  ValueDB db;
  ASSERT_OK(db.Open());
  PutTen(&db, db.Values("t", Expiring()));
  db.clock().Advance(kTtlMs);
  ASSERT_OK(db.CollectFrom(25));
  Stir(&db, db.Values("another", ValueDB::Separated()));
  EXPECT_EQ(db.ValueFileNames().size(), 1u);
  Stir(&db, db.Values("t", Expiring()));
  EXPECT_TRUE(db.ValueFileNames().empty());
}

TEST(DBValueTtl, AValueThatIsLostIsStillCorruption) {
  ValueDB db;
  db.options().collection_garbage_percent = 25;
  ASSERT_OK(db.Open());
  Table* t = db.Values("t", Expiring());
  PutTen(&db, t);
  const std::vector<std::string> files = db.ValueFileNames();
  db.CloseDB();
  ASSERT_OK(db.files.Remove(files[0]));
  const Status status = db.Open();
  EXPECT_FALSE(status.ok()) << "no job dropped the file, so its loss must be reported";
  EXPECT_NE(status.message().find(files[0].substr(4)), Slice::npos) << status.ToString();
}

}  // namespace
}  // namespace lava::testing
