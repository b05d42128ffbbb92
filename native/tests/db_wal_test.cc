// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "db_test_util.h"
#include "log/log_image.h"
#include "testing/fault_file_system.h"

// Instances with a write-ahead log: acknowledged data exists after the end of the process, or of
// the machine; data in files is not replayed.
namespace lava::testing {
namespace {

class WalDB : public SimDB {
 public:
  explicit WalDB(fs::FileSystem* files, WalMode mode = WalMode::kWal) : SimDB(1, files) {
    options().wal = mode;
  }
};

class DBWal : public ::testing::TestWithParam<WalMode> {
 protected:
  DBWal() { db_ = std::make_unique<WalDB>(&files_, GetParam()); }

  DB* db() { return db_->get(); }
  Table* Map() { return db_->table("map"); }
  Table* List() { return db_->table("list", TableKind::kList); }
  std::string Get(const std::string& key, Table* table = nullptr) {
    return db_->Get(table != nullptr ? table : Map(), K(1, key));
  }
  /// Continues with the files as another process finds them, on the same machine or after a power
  /// cut.
  void Crash(CrashMode mode) {
    std::unique_ptr<CrashableFileSystem> image =
        image_ != nullptr ? image_->CrashClone(mode) : files_.CrashClone(mode);
    db_.reset();  // before its files
    image_ = std::move(image);
    db_ = std::make_unique<WalDB>(image_.get(), GetParam());
    ASSERT_OK(db_->Open());
  }
  std::string Listed() {
    std::string names;
    for (const TableInfo& table : db()->ListTables()) names += table.name;
    return names;
  }
  /// The worst crash that the mode must survive.
  CrashMode Worst() const {
    return GetParam() == WalMode::kWalSync ? CrashMode::kSyncedOnly : CrashMode::kAll;
  }
  uint64_t LoggedBytes(fs::FileSystem* files) {
    log::LogImage image;
    EXPECT_OK(log::ReadLogImage(files, "/wal", &image));
    return image.index.live_bytes();
  }

  ChosenFileSystem files_;
  std::unique_ptr<CrashableFileSystem> image_;
  std::unique_ptr<WalDB> db_;
};

TEST_P(DBWal, NothingThatWasAcknowledgedIsLost) {
  ASSERT_OK(db_->Open());
  for (const char* key : {"a", "b", "m1", "m2", "r1", "r2", "r3"})
    ASSERT_OK(db()->Put(Map(), {K(1, key), key[0] == 'm' ? 2u : 0u}, std::string("value ") + key));
  ASSERT_OK(db()->Delete(Map(), {K(1, "a")}));
  ASSERT_OK(db()->DeletePrefix(Map(), K(1, "m")));
  ASSERT_OK(db()->DeleteRange(Map(), K(1, "r1"), K(1, "r3")));
  ASSERT_OK(db()->Append(List(), {K(1, "list")}, ListOf({"one"})));
  ASSERT_OK(db()->Append(List(), {K(1, "list")}, ListOf({"two"})));
  WriteBatch batch;
  batch.Put(Map(), {K(1, "c")}, "batched");
  batch.Delete(Map(), {K(1, "b")});
  ASSERT_OK(db()->Write(batch));
  for (int restart = 0; restart < 3; ++restart) {
    Crash(Worst());
    for (const char* gone : {"a", "b", "r1", "r2"}) EXPECT_EQ(Get(gone), "NotFound") << gone;
    EXPECT_EQ(db_->Get(Map(), K(1, "m1"), 2), "NotFound");
    EXPECT_EQ(Get("r3"), "value r3");
    EXPECT_EQ(Get("c"), "batched");
    EXPECT_EQ(Get("list", List()), ListOf({"one", "two"}));
  }
}

TEST_P(DBWal, WhatIsInFilesIsNotReplayed) {
  ASSERT_OK(db_->Open());
  ASSERT_OK(db()->Append(List(), {K(1, "list")}, ListOf({"one"})));
  ASSERT_OK(db_->Flush());
  EXPECT_EQ(LoggedBytes(&files_), 0u) << "the flush must trim the log";
  ASSERT_OK(db()->Append(List(), {K(1, "list")}, ListOf({"two"})));
  EXPECT_GT(LoggedBytes(&files_), 0u);
  Crash(Worst());
  EXPECT_EQ(Get("list", List()), ListOf({"one", "two"}));
  ASSERT_OK(db_->Flush());
  Crash(Worst());
  EXPECT_EQ(Get("list", List()), ListOf({"one", "two"}));
}

// The manifest tells which data is in files. The trim follows, and may be lost.
TEST_P(DBWal, ATrimThatIsLostIsNoMatter) {
  ASSERT_OK(db_->Open());
  ASSERT_OK(db()->Append(List(), {K(1, "list")}, ListOf({"one"})));
  std::unique_ptr<CrashableFileSystem> before_trim;
  uint64_t images = 0;
  files_.SetMutationHook([&](uint64_t) {
    const auto image = files_.CrashClone(CrashMode::kAll);
    WalDB again(image.get(), GetParam());
    ++images;
    ASSERT_OK(again.Open());
    EXPECT_EQ(again.Get(again.table("list", TableKind::kList), K(1, "list")), ListOf({"one"}));
  });
  ASSERT_OK(db_->Flush());
  files_.SetMutationHook(nullptr);
  EXPECT_GT(images, 5u);
}

TEST_P(DBWal, WhatIsLostOfAnUnsyncedLogIsASuffix) {
  ASSERT_OK(db_->Open());
  Table* const map = Map();
  for (int i = 0; i < 40; ++i)
    ASSERT_OK(db()->Put(map, {K(1, "k" + std::to_string(i))}, std::string(300, 'v')));
  for (uint64_t seed = 0; seed < 30; ++seed) {
    const auto image = files_.CrashClone(CrashMode::kTorn, seed);
    WalDB again(image.get(), GetParam());
    ASSERT_OK(again.Open());
    bool lost = false;
    for (int i = 0; i < 40; ++i) {
      const bool there = again.Get(again.table("map"), K(1, "k" + std::to_string(i))) != "NotFound";
      EXPECT_FALSE(there && lost) << "no write may survive if an earlier one is lost";
      lost = !there;
    }
    EXPECT_TRUE(!lost || GetParam() == WalMode::kWal);
  }
}

TEST_P(DBWal, InstancesOfAProcessShareALog) {
  WalDB other(&files_, GetParam());
  ASSERT_OK(db_->Open({}, "/one"));
  ASSERT_OK(other.Open({}, "/two"));
  for (int i = 0; i < 20; ++i) {
    ASSERT_OK(db()->Put(Map(), {K(1, "k" + std::to_string(i))}, "of one"));
    ASSERT_OK(other->Put(other.table("map"), {K(1, "k" + std::to_string(i))}, "of two"));
  }
  ASSERT_OK(db_->Flush());
  uint64_t logs = 0;
  for (const std::string& path : files_.Paths()) logs += path.starts_with("/wal/DATA-") ? 1 : 0;
  EXPECT_EQ(logs, 1u);
  const auto image = files_.CrashClone(Worst());
  for (const char* path : {"/two", "/one"}) {
    WalDB again(image.get(), GetParam());
    ASSERT_OK(again.Open({}, path));
    EXPECT_EQ(again.Get(again.table("map"), K(1, "k19")), std::string("of ") + (path + 1));
  }
}

TEST_P(DBWal, AWriteThatTheLogRefusesIsNotMade) {
  FaultFileSystem faults(&files_);
  db_ = std::make_unique<WalDB>(&faults, GetParam());
  ASSERT_OK(db_->Open());
  ASSERT_OK(db()->Put(Map(), {K(1, "a")}, "before"));
  faults.Arm({.fault = Fault::kNoSpace, .only = FileCall::kAppend, .path_contains = "/wal/DATA"});
  const Status refused = db()->Put(Map(), {K(1, "a")}, "refused");
  EXPECT_TRUE(refused.IsNoSpace()) << refused.ToString();
  EXPECT_NE(refused.message().find("/wal/DATA"), std::string_view::npos) << refused.ToString();
  EXPECT_EQ(Get("a"), "before");
  faults.Disarm();
  ASSERT_OK(db()->Put(Map(), {K(1, "a")}, "after"));
  Crash(Worst());
  EXPECT_EQ(Get("a"), "after");
}

TEST_P(DBWal, ATableThatWasDroppedStaysEmpty) {
  ASSERT_OK(db_->Open());
  ASSERT_OK(db()->Put(Map(), {K(1, "a")}, "old"));
  ASSERT_OK(db_->Flush());
  ASSERT_OK(db()->Put(Map(), {K(1, "b")}, "old"));
  ASSERT_OK(db()->DropTable(Map()));
  db_->Forget("map");
  Crash(Worst());
  EXPECT_EQ(Get("a"), "NotFound");
  EXPECT_EQ(Get("b"), "NotFound");
  ASSERT_OK(db()->Put(Map(), {K(1, "b")}, "new"));
  Crash(Worst());
  EXPECT_EQ(Get("b"), "new");
}

TEST_P(DBWal, ATableThatWasDroppedIsNotListedAgain) {
  ASSERT_OK(db_->Open());
  ASSERT_OK(db()->Put(Map(), {K(1, "a")}, "old"));
  ASSERT_OK(db()->Append(List(), {K(1, "list")}, ListOf({"one"})));
  ASSERT_OK(db_->Flush());
  ASSERT_OK(db()->DropTable(Map()));
  db_->Forget("map");
  for (int restart = 0; restart < 3; ++restart) {
    Crash(Worst());
    EXPECT_EQ(Listed(), "list");
    if (restart == 1) ASSERT_OK(db_->Flush());  // the log contains nothing more
  }
  EXPECT_EQ(Get("list", List()), ListOf({"one"}));
}

// As another kind, with other options, and before the drop is in files.
TEST_P(DBWal, ATableThatWasCreatedAnewBehindItsDropIsListed) {
  for (const bool flushed : {false, true}) {
    ASSERT_OK(db_->Open());
    ASSERT_OK(db()->Append(List(), {K(1, "list")}, ListOf({"old"})));
    ASSERT_OK(db()->DropTable(List()));
    if (flushed) ASSERT_OK(db_->Flush());
    const TableOptions options{.kind = TableKind::kMap, .ttl_ms = 1000};
    ASSERT_OK(db()->CreateTable("list", options).status());
    db_->Forget("list");
    for (int restart = 0; restart < 3; ++restart) {
      Crash(Worst());
      EXPECT_EQ(Listed(), "list");
      const std::vector<TableInfo> tables = db()->ListTables();
      ASSERT_EQ(tables.size(), 1u);
      EXPECT_EQ(tables[0].options.kind, TableKind::kMap);
      EXPECT_EQ(tables[0].options.ttl_ms, 1000);
      if (restart == 1) ASSERT_OK(db_->Flush());
    }
    Result<Table*> table = db()->CreateTable("list", options);
    ASSERT_OK(table.status());
    EXPECT_EQ(Get("list", *table), "NotFound")
        << "the new table must not show values of the dropped table";
    ASSERT_OK(db()->DropTable(*table));
    Crash(Worst());
    EXPECT_EQ(Listed(), "");
  }
}

TEST_P(DBWal, AnInstanceIsNotOpenedWithoutItsLog) {
  ASSERT_OK(db_->Open());
  ASSERT_OK(db()->Put(Map(), {K(1, "a")}, "value"));
  db_->CloseDB();
  db_->options().wal = WalMode::kNone;
  Status status = db_->Open();
  EXPECT_TRUE(status.IsInvalidArgument()) << status.ToString();
  db_->options().wal = GetParam();
  db_->options().wal_directory = "/elsewhere";
  status = db_->Open();
  EXPECT_TRUE(status.IsCorruption()) << status.ToString();
  EXPECT_NE(status.message().find("/elsewhere"), std::string_view::npos);
  db_->options().wal_directory.clear();
  ASSERT_OK(db_->Open());
  EXPECT_EQ(Get("a"), "value");
}

// A directory of an earlier instance with the same path, whose log still exists.
TEST_P(DBWal, ANewInstanceDoesNotReplayAnEarlierOnesLog) {
  ASSERT_OK(db_->Open());
  ASSERT_OK(db()->Put(Map(), {K(1, "a")}, "of the earlier"));
  db_->CloseDB();
  for (const std::string& path : files_.Paths())
    if (path.starts_with("/db/") && path != "/db/LOCK") ASSERT_OK(files_.Remove(path));
  ASSERT_OK(db_->Open());
  EXPECT_EQ(Get("a"), "NotFound");
}

TEST_P(DBWal, DestroyTakesTheLogToo) {
  ASSERT_OK(db_->Open());
  ASSERT_OK(db()->Put(Map(), {K(1, "a")}, "value"));
  ASSERT_OK(db_->Flush());
  ASSERT_OK(db()->Put(Map(), {K(1, "b")}, std::string(1000, 'v')));
  const DBOptions options = db_->options();
  const std::string path = "/db";
  EXPECT_TRUE(DB::Destroy(options, path).IsBusy()) << "the instance is open";
  EXPECT_EQ(Get("b"), std::string(1000, 'v'));
  db_->CloseDB();
  DBOptions without = options;
  without.wal = WalMode::kNone;
  EXPECT_TRUE(DB::Destroy(without, path).IsInvalidArgument());
  ASSERT_OK(files_.Create(path + "/not ours", 0).status());
  ASSERT_OK(DB::Destroy(options, path));
  const auto left = files_.List(path);
  ASSERT_OK(left.status());
  for (const std::string& name : *left) EXPECT_TRUE(name == "LOCK" || name == "not ours") << name;
  EXPECT_EQ(LoggedBytes(&files_), 0u);
  ASSERT_OK(DB::Destroy(options, path));
  ASSERT_OK(db_->Open());
  EXPECT_EQ(Get("a"), "NotFound");
  EXPECT_EQ(Get("b"), "NotFound");
}

// A crash at any point leaves the original instance, or none.
TEST_P(DBWal, ADestroyThatIsCutOffMakesNothingUp) {
  ASSERT_OK(db_->Open());
  ASSERT_OK(db()->Put(Map(), {K(1, "a")}, "value"));
  ASSERT_OK(db_->Flush());
  ASSERT_OK(db()->Put(Map(), {K(1, "b")}, "value"));
  const DBOptions options = db_->options();
  db_->CloseDB();
  int whole = 0, gone = 0;
  files_.SetMutationHook([&](uint64_t) {
    const auto image = files_.CrashClone(Worst());
    WalDB again(image.get(), GetParam());
    ASSERT_OK(again.Open());
    const std::string a = again.Get(again.table("map"), K(1, "a"));
    EXPECT_EQ(again.Get(again.table("map"), K(1, "b")), a);
    ++(a == "value" ? whole : gone);
  });
  ASSERT_OK(DB::Destroy(options, "/db"));
  files_.SetMutationHook(nullptr);
  EXPECT_GT(gone, 2);
}

constexpr int kLongReplayKeys = 150;

class DBWalReplay : public DBWal {
 protected:
  /// Writes more than fits a memtable of the instance that opens next.
  void WriteMany() {
    db_->options().memtable_bytes = 512 << 10;
    ASSERT_OK(db_->Open());
    for (int i = 0; i < kLongReplayKeys; ++i)
      ASSERT_OK(db()->Put(Map(), {K(1, "k" + std::to_string(i))}, value_));
  }
  static void ExpectMany(WalDB* db, const std::string& value) {
    for (int i = 0; i < kLongReplayKeys; ++i)
      ASSERT_EQ(db->Get(db->table("map"), K(1, "k" + std::to_string(i))), value) << i;
  }

  const std::string value_ = std::string(1000, 'v');
};

TEST_P(DBWalReplay, WhatDoesNotFitAMemtableGoesToFiles) {
  WriteMany();
  const auto image = files_.CrashClone(Worst());
  WalDB again(image.get(), GetParam());
  again.options().memtable_bytes = 16 << 10;
  ASSERT_OK(again.Open());
  EXPECT_GT(again.get()->statistics().flushes, 8u);
  log::LogImage log;
  ASSERT_OK(log::ReadLogImage(image.get(), "/wal", &log));
  EXPECT_GT(log.index.FindByName("/db")->trimmed_to(), kLongReplayKeys - 20u);
  ExpectMany(&again, value_);
}

// Regression (found by db_crash_test): a memtable sealed during a replay was taken for the whole
// content of the log.
TEST_P(DBWalReplay, ACrashAmidAReplayLosesNothing) {
  WriteMany();
  const auto image = files_.CrashClone(Worst());
  int images = 0;
  {
    WalDB again(image.get(), GetParam());
    again.options().memtable_bytes = 40 << 10;
    image->SetMutationHook([&](uint64_t) {
      if (++images % 8 != 0) return;
      const auto second = image->CrashClone(Worst());
      WalDB third(second.get(), GetParam());
      ASSERT_OK(third.Open());
      ExpectMany(&third, value_);
    });
    ASSERT_OK(again.Open());
    image->SetMutationHook(nullptr);
  }
  EXPECT_GT(images, 30);
}

TEST_P(DBWalReplay, AFlushThatFailsAmidItIsTold) {
  WriteMany();
  const auto image = files_.CrashClone(Worst());
  FaultFileSystem faulty(image.get());
  {
    WalDB again(&faulty, GetParam());
    again.options().memtable_bytes = 40 << 10;
    faulty.Arm({.forever = true, .only = FileCall::kAppend, .path_contains = ".ksst"});
    const Status status = again.Open();
    EXPECT_TRUE(status.IsIOError()) << status.ToString();
    EXPECT_NE(status.ToString().find("replay of write-ahead log"), std::string::npos)
        << status.ToString();
  }
  WalDB again(image.get(), GetParam());
  ASSERT_OK(again.Open());
  ExpectMany(&again, value_);
}

INSTANTIATE_TEST_SUITE_P(Modes, DBWal, ::testing::Values(WalMode::kWal, WalMode::kWalSync),
                         [](const auto& mode) {
                           return mode.param == WalMode::kWal ? "Wal" : "WalSync";
                         });

INSTANTIATE_TEST_SUITE_P(Modes, DBWalReplay, ::testing::Values(WalMode::kWal, WalMode::kWalSync),
                         [](const auto& mode) {
                           return mode.param == WalMode::kWal ? "Wal" : "WalSync";
                         });

}  // namespace
}  // namespace lava::testing
