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

}  // namespace
}  // namespace lava::testing
