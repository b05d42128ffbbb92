// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include <map>
#include <string>
#include <vector>

#include "base/coding.h"
#include "db/verify_file.h"
#include "db_value_test_util.h"

// Values and lists that are too large for the memory: they are written directly to value files.
// Keys of several MiB.
namespace lava::testing {
namespace {

constexpr uint64_t kSmall = 1000;  // size of a value that may be in memory

class DBOversize : public ::testing::Test {
 protected:
  DBOversize() {
    db_.environment().value_in_memory_bytes_max = kSmall;
    EXPECT_OK(db_.Open());
  }
  // Separated only because of their size.
  Table* Values() { return db_.Values("v", {.kind = TableKind::kMap}); }
  Table* Lists() { return db_.Values("l", {.kind = TableKind::kList}); }
  Table* Expiring() {
    return db_.Values("e",
                      {.kind = TableKind::kList, .ttl_layout = TtlLayout::kList, .ttl_ms = 1000});
  }
  static std::string Stamped(int64_t written_ms, size_t bytes) {
    std::string element;
    PutBigEndian(&element, static_cast<uint64_t>(written_ms), 8);
    return element + std::string(bytes, 'e');
  }
  void ExpectAll(const std::map<std::string, std::string>& model, Table* table,
                 const std::string& when) {
    for (const auto& [key, value] : model)
      EXPECT_TRUE(db_.Get(table, key) == value) << when << " " << key.substr(1);
    std::vector<Model::Entry> entries;
    EXPECT_OK(db_.ScanAll(table, {}, &entries));
    EXPECT_TRUE(entries == (std::vector<Model::Entry>{model.begin(), model.end()})) << when;
  }
  void VerifyFiles() {
    for (const std::string& path : db_.files.Paths())
      if (path.ends_with(".ksst") || path.ends_with(".vsst")) {
        EXPECT_OK(VerifyStoredFile(&db_.files, path, {}));
      }
  }

  ValueDB db_;
};

TEST_F(DBOversize, AValueIsNeverInTheMemtableAndLivesThroughEverything) {
  std::map<std::string, std::string> model;
  const auto put = [&](const std::string& key, size_t bytes) {
    model[K(1, key)] = Large(key, bytes);
    ASSERT_OK(db_->Put(Values(), {K(1, key)}, model[K(1, key)]));
  };
  for (int i = 0; i < 5; ++i) put("k" + std::to_string(i), 100'000);
  put("small", kSmall);
  EXPECT_LT(db_->statistics().memtable_active_bytes, 50'000u);
  ExpectAll(model, Values(), "in memory");
  put("k3", 200'000);
  ASSERT_OK(db_.Flush());
  ExpectAll(model, Values(), "flushed");
  put("k1", 150'000);
  WriteBatch batch;
  model[K(1, "k2")] = Large("batch", 120'000);
  model[K(1, "borrowed")] = Large("borrowed", 300'000);
  batch.Put(Values(), {K(1, "k2")}, model[K(1, "k2")]);
  batch.Borrow(WriteBatch::Kind::kPut, Values(), {K(1, "borrowed")}, model[K(1, "borrowed")]);
  batch.Delete(Values(), {K(1, "k0")});
  model.erase(K(1, "k0"));
  ASSERT_OK(db_->Write(batch));
  ExpectAll(model, Values(), "written over");
  ASSERT_OK(db_.CompactAll());
  ExpectAll(model, Values(), "compacted");
  ASSERT_OK(db_.CollectFrom(1));
  Values();
  db_.executor().RunUntilIdle();
  ExpectAll(model, Values(), "collected");
  VerifyFiles();
  const std::string metadata = db_.TakeTo("/checkpoint");
  const ImportSource from{metadata, 0, 15};
  ASSERT_OK(db_.Open({&from, 1}, "/checkpoint"));
  ExpectAll(model, Values(), "restored");
}

TEST_F(DBOversize, AListGrowsInPiecesAndIsFoldedInTheirOrder) {
  std::map<std::string, std::string> model;
  const auto append = [&](const std::string& key, const std::string& element) {
    ASSERT_OK(db_->Append(Lists(), {K(1, key)}, ListOf({element})));
    model[K(1, key)] += ListOf({element});
  };
  for (int round = 0; round < 4; ++round) {
    append("l", "first " + std::to_string(round));
    append("l", Large("a" + std::to_string(round), 50'000));
    append("l", Large("b" + std::to_string(round), 70'000));
    append("l", "last");
    append("m", Large("m", 30'000));
    ExpectAll(model, Lists(), "in memory");
    if (round == 1) {
      ASSERT_OK(db_->Delete(Lists(), {K(1, "m")}));
      model.erase(K(1, "m"));
      append("m", Large("anew", 20'000));
    }
    if (round == 2) {
      model[K(1, "l")] = ListOf({Large("put", 60'000), "behind"});
      ASSERT_OK(db_->Put(Lists(), {K(1, "l")}, model[K(1, "l")]));
      append("l", Large("behind the put", 40'000));
    }
    if (round != 0) ASSERT_OK(db_.Flush());
    ExpectAll(model, Lists(), "round " + std::to_string(round));
  }
  EXPECT_LT(db_->statistics().memtable_active_bytes, 50'000u);
  ASSERT_OK(db_.CompactAll());
  ExpectAll(model, Lists(), "compacted");
  ASSERT_OK(db_.CollectFrom(1));
  Lists();
  db_.executor().RunUntilIdle();
  ExpectAll(model, Lists(), "collected");
  VerifyFiles();
}

// Like a merge of two windows.
TEST_F(DBOversize, ABatchMovesAListAsAWhole) {
  const std::string list = ListOf({Large("one", 50'000), Large("two", 50'000)});
  ASSERT_OK(db_->Append(Lists(), {K(1, "from")}, list));
  ASSERT_OK(db_->Append(Lists(), {K(1, "to")}, ListOf({"there"})));
  WriteBatch batch;
  batch.Delete(Lists(), {K(1, "from")});
  batch.Borrow(WriteBatch::Kind::kAppend, Lists(), {K(1, "to")}, list);
  db_.faults.Arm({.fault = Fault::kNoSpace,
                  .call = 1,
                  .forever = true,
                  .only = FileCall::kAppend,
                  .path_contains = ".vsst"});
  EXPECT_FALSE(db_->Write(batch).ok());
  EXPECT_GT(db_.faults.fired(), 0u);
  db_.faults.Disarm();
  EXPECT_EQ(db_.Get(Lists(), K(1, "from")), list)
      << "a failed move must leave its source unchanged";
  EXPECT_EQ(db_.Get(Lists(), K(1, "to")), ListOf({"there"}));
  ASSERT_OK(db_.Finish([&] { return db_->Write(batch); }));
  EXPECT_EQ(db_.Get(Lists(), K(1, "from")), "NotFound");
  EXPECT_EQ(db_.Get(Lists(), K(1, "to")), ListOf({"there"}) + list);
}

// A part in a value file is dropped when its last element has expired, and not before.
TEST_F(DBOversize, ElementsThatExpireGoWithTheirPart) {
  const int64_t begin = db_.clock().WallMillis();
  const std::string old = ListOf({Stamped(begin, 5'000), Stamped(begin + 400, 5'000)});
  const std::string young = ListOf({Stamped(begin + 600, 5'000)});
  const std::string small = ListOf({Stamped(begin, 10)});
  ASSERT_OK(db_->Append(Expiring(), {K(1, "l")}, old));
  ASSERT_OK(db_->Append(Expiring(), {K(1, "l")}, small));
  ASSERT_OK(db_->Append(Expiring(), {K(1, "l")}, young));
  ASSERT_OK(db_->Put(Expiring(), {K(1, "all")}, old));
  ASSERT_OK(db_.CompactAll());
  EXPECT_EQ(db_.Get(Expiring(), K(1, "l")), old + small + young);
  ASSERT_OK(db_.CollectFrom(1));
  Expiring();
  const auto at = [&](int64_t ms) {
    db_.clock().Advance(static_cast<uint64_t>(begin + ms - db_.clock().WallMillis()));
    // No older records are left in levels that a compaction would not touch.
    ASSERT_OK(db_->Put(Expiring(), {K(1, "z")}, ListOf({Stamped(begin + ms, 10)})));
    ASSERT_OK(db_.CompactAll());
    db_.executor().RunUntilIdle();
  };
  at(1200);
  EXPECT_EQ(db_.Get(Expiring(), K(1, "l")), old + young);
  at(1500);
  EXPECT_EQ(db_.Get(Expiring(), K(1, "l")), young);
  EXPECT_EQ(db_.Get(Expiring(), K(1, "all")), "NotFound");
  at(1700);
  EXPECT_EQ(db_.Get(Expiring(), K(1, "l")), "NotFound");
}

// Reads of a list need each of its parts until a compaction has removed the expired ones from it.
TEST_F(DBOversize, ACollectionLeavesExpiredPartsThatAListNames) {
  const int64_t begin = db_.clock().WallMillis();
  const std::string part = ListOf({Stamped(begin, 5'000)});
  ASSERT_OK(db_->Append(Expiring(), {K(1, "l")}, part));
  ASSERT_OK(db_->Append(Expiring(), {K(1, "l")}, part));
  ASSERT_OK(db_->Put(Expiring(), {K(1, "garbage")}, part));  // to the last segment
  ASSERT_OK(db_.Flush());
  ASSERT_OK(db_->Delete(Expiring(), {K(1, "garbage")}));
  ASSERT_OK(db_.CompactAll());
  db_.clock().Advance(1'500);
  ASSERT_OK(db_.CollectFrom(1));
  Expiring();
  ASSERT_OK(db_.RunJobs());
  EXPECT_GT(db_->statistics().collections, 0u);
  EXPECT_EQ(db_.Get(Expiring(), K(1, "l")), part + part);
  ASSERT_OK(db_->Put(Expiring(), {K(1, "z")}, ListOf({Stamped(begin + 1'500, 10)})));
  ASSERT_OK(db_.CompactAll());
  EXPECT_EQ(db_.Get(Expiring(), K(1, "l")), "NotFound");
}

TEST_F(DBOversize, AWriteThatFailsLeavesWhatWasThere) {
  ASSERT_OK(db_->Put(Values(), {K(1, "k")}, Large("before", 5'000)));
  ASSERT_OK(db_->Append(Lists(), {K(1, "l")}, ListOf({Large("before", 5'000)})));
  db_.faults.Arm({.fault = Fault::kIOError,
                  .call = 1,
                  .forever = true,
                  .only = FileCall::kAppend,
                  .path_contains = ".vsst"});
  EXPECT_FALSE(db_->Put(Values(), {K(1, "k")}, Large("after", 6'000)).ok());
  EXPECT_FALSE(db_->Append(Lists(), {K(1, "l")}, ListOf({Large("after", 6'000)})).ok());
  db_.faults.Disarm();
  EXPECT_EQ(db_.Get(Values(), K(1, "k")), Large("before", 5'000));
  EXPECT_EQ(db_.Get(Lists(), K(1, "l")), ListOf({Large("before", 5'000)}));
  ASSERT_OK(db_.Finish([&] { return db_->Put(Values(), {K(1, "k")}, Large("after", 6'000)); }));
  ASSERT_OK(db_.Flush());
  EXPECT_EQ(db_.Get(Values(), K(1, "k")), Large("after", 6'000));
  EXPECT_EQ(db_.Get(Lists(), K(1, "l")), ListOf({Large("before", 5'000)}));
}

// With a write-ahead log, acknowledged data is recovered.
TEST_F(DBOversize, TheWriteAheadLogBringsThemBack) {
  db_.options().wal = WalMode::kWalSync;
  ASSERT_OK(db_.Open({}, "/wal_db"));
  const std::string list = ListOf({Large("l", 20'000)});
  const std::string more = ListOf({Large("m", 30'000)});
  WriteBatch batch;
  batch.Put(Lists(), {K(1, "l")}, list);
  batch.Append(Lists(), {K(1, "l")}, more);
  batch.Put(Values(), {K(1, "k")}, Large("k", 40'000));
  ASSERT_OK(db_->Write(batch));
  ASSERT_OK(db_->Append(Lists(), {K(1, "l")}, more));
  ASSERT_OK(db_.Open({}, "/wal_db"));
  EXPECT_EQ(db_.Get(Lists(), K(1, "l")), list + more + more);
  EXPECT_EQ(db_.Get(Values(), K(1, "k")), Large("k", 40'000));
  ASSERT_OK(db_.Flush());
  ASSERT_OK(db_.Open({}, "/wal_db"));
  EXPECT_EQ(db_.Get(Lists(), K(1, "l")), list + more + more);
}

// The automatic bound, with values of several times the lease.
TEST(DBOversizeLease, ValuesAndListsOfSeveralTimesTheLeaseAreKept) {
  constexpr uint64_t kLeaseBytes = 16 << 20;
  ValueDB db;
  db.options().lease = *Host::Get().Acquire(kLeaseBytes, 0.5);
  ASSERT_OK(db.Open());
  Table* t = db.Values("t");
  Table* l = db.Values("l", {.kind = TableKind::kList});
  const std::string large = Large("64 MiB", 64 << 20);
  const std::string list = ListOf({Large("24 MiB", 24 << 20)});
  ASSERT_OK(db.Finish([&] { return db->Put(t, {K(1, "k")}, large); }));
  ASSERT_OK(db.Finish([&] { return db->Append(l, {K(1, "l")}, list); }));
  ASSERT_OK(db.Finish([&] { return db->Append(l, {K(1, "l")}, list); }));
  EXPECT_LT(db->statistics().memtable_active_bytes, 1u << 20);
  EXPECT_TRUE(db.Get(t, K(1, "k")) == large);
  ASSERT_OK(db.CompactAll());
  EXPECT_TRUE(db.Get(t, K(1, "k")) == large);
  EXPECT_TRUE(db.Get(l, K(1, "l")) == list + list);
  ScanPage page;
  ASSERT_OK(db->Scan(l, {}, &page));
  EXPECT_EQ(page.entries, 1u);
  EXPECT_GT(page.bytes.size(), 48u << 20);
}

// Lists that grow by add(): no write is too large, but the list as a whole is.
TEST(DBOversizeLease, AListThatGrowsBySmallAppendsIsNotBroughtTogether) {
  ValueDB db;
  db.options().lease = *Host::Get().Acquire(4 << 20, 0.5);
  ASSERT_OK(db.Open());
  Table* l = db.Values("l", {.kind = TableKind::kList});  // separates nothing by itself
  const std::string element = ListOf({Large("element", 100'000)});
  std::string list;
  for (int i = 0; i < 100; ++i) {
    ASSERT_OK(db.Finish([&] { return db->Append(l, {K(1, "l")}, element); }));
    list += element;
  }
  ASSERT_OK(db.CompactAll());
  EXPECT_TRUE(db.Get(l, K(1, "l")) == list);
  EXPECT_GT(db->statistics().value_raw_bytes, list.size() / 2)
      << "the parts of the list must be in value files";
  EXPECT_LT(db->statistics().bytes_at_level[1] + db->statistics().bytes_at_level[6], 2u << 20);
}

// Regression: keys above 1 MiB were refused. Keys of several MiB, including the longest, survive
// all operations with a lease that holds only a few of them.
class DBLongKeys : public ::testing::TestWithParam<WalMode> {
 protected:
  static std::string KeyOf(const std::string& prefix, size_t bytes) {
    std::string key = K(1, prefix);
    key.resize(bytes, 'k');
    return key;
  }
  Status Open() {
    db_.options().lease = lease_;
    db_.options().wal = GetParam();
    db_.options().collection_garbage_percent = 1;
    return db_.Open();
  }
  Table* Values() { return db_.Values("v"); }
  Table* Maps() { return db_.Values("m", {.kind = TableKind::kMap}); }
  Status Put(Table* table, KeyRef key, const std::string& value) {
    return db_.Finish([&] { return db_->Put(table, key, value); });
  }
  void ExpectAll(const std::map<std::string, std::string>& model, Table* table,
                 const std::string& when) {
    for (const auto& [key, value] : model)
      EXPECT_TRUE(db_.Get(table, key) == value) << when << ", key of " << key.size() << " bytes";
    std::vector<Model::Entry> entries;
    EXPECT_OK(db_.ScanAll(table, {}, &entries));
    EXPECT_TRUE(entries == (std::vector<Model::Entry>{model.begin(), model.end()})) << when;
  }

  static constexpr uint64_t kMiB = 1 << 20;
  const std::shared_ptr<Lease> lease_ = *Host::Get().Acquire(24 << 20, 0.5);
  ValueDB db_;
};

TEST_P(DBLongKeys, LiveThroughEverything) {
  ASSERT_OK(Open());
  std::map<std::string, std::string> values, maps;
  const auto put = [&](const std::string& name, size_t bytes, const std::string& value) {
    const std::string key = KeyOf(name, bytes);
    ASSERT_OK(Put(Values(), {key}, value));
    values[key] = value;
  };
  put("a", kMiB + 1, "inline");
  put("b", 2 * kMiB, Large("separated"));
  put("c", 3 * kMiB, Large("separated, too"));
  put("d", GetParam() == WalMode::kNone ? kKeyBytesMax : 4 * kMiB, "the longest");
  // Keys that differ only in their last byte, after a prefix of their length.
  const std::string prefix = KeyOf("p", 2 * kMiB);
  for (const char* end : {"1", "2", "3"}) {
    ASSERT_OK(Put(Maps(), {prefix + end, static_cast<uint32_t>(prefix.size())}, Large(end)));
    maps[prefix + end] = Large(end);
  }
  ExpectAll(values, Values(), "in memory");
  ExpectAll(maps, Maps(), "in memory");
  ASSERT_OK(db_.Flush());
  ExpectAll(values, Values(), "flushed");
  ExpectAll(maps, Maps(), "flushed");
  db_.TakeTo("/copy");
  put("b", 2 * kMiB, Large("written over"));
  ASSERT_OK(Put(Maps(), {prefix + "2", static_cast<uint32_t>(prefix.size())}, Large("over")));
  maps[prefix + "2"] = Large("over");
  ASSERT_OK(db_.Settle());
  ExpectAll(values, Values(), "compacted and collected");
  ExpectAll(maps, Maps(), "compacted and collected");
  ASSERT_OK(db_.Finish([&] { return db_->Delete(Values(), {KeyOf("c", 3 * kMiB)}); }));
  values.erase(KeyOf("c", 3 * kMiB));
  ASSERT_OK(db_.Finish([&] { return db_->DeletePrefix(Maps(), prefix); }));
  ExpectAll(values, Values(), "deleted");
  ExpectAll({}, Maps(), "deleted");
  if (GetParam() == WalMode::kNone) ASSERT_OK(db_.Flush());
  ASSERT_OK(Open());
  ExpectAll(values, Values(), "opened again");
  ExpectAll({}, Maps(), "opened again");
  ASSERT_OK(db_.Settle());
  ExpectAll(values, Values(), "at the end");
  for (const std::string& path : db_.files.Paths())
    if (path.starts_with("/db/") && (path.ends_with(".ksst") || path.ends_with(".vsst"))) {
      EXPECT_OK(VerifyStoredFile(&db_.files, path, {}));
    }
}

INSTANTIATE_TEST_SUITE_P(Modes, DBLongKeys, ::testing::Values(WalMode::kNone, WalMode::kWalSync));

}  // namespace
}  // namespace lava::testing
