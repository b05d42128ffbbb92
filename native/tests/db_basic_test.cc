// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "db_test_util.h"

namespace lava::testing {
namespace {

TEST(DBBasic, PutGetDeleteThroughFlushAndCompaction) {
  SimDB db(1);
  ASSERT_OK(db.Open());
  Table* t = db.table("t", TableKind::kValue);
  ASSERT_OK(db->Put(t, {K(1, "a")}, "1"));
  ASSERT_OK(db->Put(t, {K(2, "b")}, "2"));
  EXPECT_EQ(db.Get(t, K(1, "a")), "1");
  ASSERT_OK(db.Flush());
  EXPECT_EQ(db.Get(t, K(1, "a")), "1");
  ASSERT_OK(db->Put(t, {K(1, "a")}, "3"));
  ASSERT_OK(db->Delete(t, {K(2, "b")}));
  EXPECT_EQ(db.Get(t, K(1, "a")), "3");
  EXPECT_EQ(db.Get(t, K(2, "b")), "NotFound");
  ASSERT_OK(db.Flush());
  EXPECT_EQ(db.Get(t, K(2, "b")), "NotFound");
  ASSERT_OK(db.CompactAll());
  EXPECT_EQ(db.Get(t, K(1, "a")), "3");
  EXPECT_EQ(db.Get(t, K(2, "b")), "NotFound");
  EXPECT_EQ(db->statistics().live_files, 1u);
  EXPECT_EQ(db.FileNames().size(), 1u);
}

TEST(DBBasic, ReopenKeepsWhatWasFlushed) {
  SimDB db(2);
  ASSERT_OK(db.Open());
  Table* t = db.table("t");
  ASSERT_OK(db->Put(t, {K(1, "a")}, "1"));
  ASSERT_OK(db.Flush());
  ASSERT_OK(db->Put(t, {K(1, "b")}, "2"));
  ASSERT_OK(db.Open());
  EXPECT_EQ(db->ListTables().size(), 1u);
  t = db.table("t");
  EXPECT_EQ(db.Get(t, K(1, "a")), "1");
  EXPECT_EQ(db.Get(t, K(1, "b")), "NotFound");
}

TEST(DBBasic, ListsFoldOverRuns) {
  SimDB db(3);
  ASSERT_OK(db.Open());
  Table* t = db.table("l", TableKind::kList);
  for (const char* element : {"a", "b", "c"}) {
    ASSERT_OK(db->Append(t, {K(0, "k")}, ListOf({element})));
    ASSERT_OK(db.Flush());
  }
  EXPECT_EQ(db.Get(t, K(0, "k")), ListOf({"a", "b", "c"}));
  ASSERT_OK(db.CompactAll());
  EXPECT_EQ(db.Get(t, K(0, "k")), ListOf({"a", "b", "c"}));
}

TEST(DBBasic, ScanCrossesPartitionsAndOtherTables) {
  SimDB db(4);
  ASSERT_OK(db.Open());
  std::vector<Table*> tables = {db.table("a"), db.table("b"), db.table("c")};
  for (const int p : {0, 3, 7}) {
    for (Table* t : tables) ASSERT_OK(db->Put(t, {K(p, "x")}, t->name()));
  }
  for (int round = 0; round < 2; ++round) {
    for (Table* t : tables) {
      std::vector<Model::Entry> entries;
      ScanRequest request;
      request.entries_max = 1;
      ASSERT_OK(db.ScanAll(t, request, &entries));
      ASSERT_EQ(entries.size(), 3u);
      EXPECT_EQ(entries[1], Model::Entry(K(3, "x"), t->name()));
    }
    ASSERT_OK(db.Flush());
  }
}

TEST(DBBasic, ScansPastTheCacheFindTheSameAndKeepNothing) {
  SimDB db(5);
  ASSERT_OK(db.Open());
  Table* t = db.table("a");
  std::vector<Model::Entry> expected;
  for (int i = 0; i < 20'000; ++i) {
    expected.emplace_back(K(0, std::to_string(100'000 + i)), std::string(60, 'v'));
    ASSERT_OK(db->Put(t, {expected.back().first}, expected.back().second));
  }
  ASSERT_OK(db.Flush());
  ScanRequest request;
  request.entries_max = 4000;
  request.bytes_max = 512 << 10;
  request.fill_cache = false;
  const HostStatistics before = Host::Get().statistics();
  for (int round = 0; round < 2; ++round) {
    std::vector<Model::Entry> entries;
    ASSERT_OK(db.ScanAll(t, request, &entries));
    EXPECT_EQ(entries, expected);
  }
  const HostStatistics after = Host::Get().statistics();
  EXPECT_EQ(after.cache_data.used_bytes, before.cache_data.used_bytes);
  EXPECT_EQ(after.scan_bytes, 0u) << "the memory for reading ahead must be released";
}

}  // namespace
}  // namespace lava::testing
