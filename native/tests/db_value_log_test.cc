// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <thread>

#include "db/verify_file.h"
#include "db_test_util.h"
#include "testing/fault_file_system.h"

// Large values of an instance with a write-ahead log: written once, at the put.
namespace lava::testing {
namespace {

class LoggingDB : public SimDB {
 public:
  explicit LoggingDB(fs::FileSystem* files, WalMode mode = WalMode::kWal) : SimDB(1, files) {
    options().wal = mode;
    options().large_value_bytes = 1000;
    options().collection_garbage_percent = 1;
  }
};

class DBValueLog : public ::testing::TestWithParam<WalMode> {
 protected:
  DBValueLog() {
    db_ = std::make_unique<LoggingDB>(&files_, GetParam());
    EXPECT_OK(db_->Open());
  }
  static Table* Map(LoggingDB* db) {
    return *(*db)->CreateTable("map", {.kind = TableKind::kMap, .separation_bytes = 100});
  }
  Table* Map() { return Map(db_.get()); }
  DB* db() { return db_->get(); }
  static std::string Value(int i, size_t bytes = 5000) {
    std::string value = std::to_string(i) + ":";
    Random random(static_cast<uint64_t>(i) + 1);
    return value + random.Bytes(bytes);
  }
  void Put(const std::string& key, const std::string& value, uint32_t prefix_bytes = 0) {
    ASSERT_OK(db_->Finish([&] { return db()->Put(Map(), {K(1, key), prefix_bytes}, value); }));
  }
  std::string Get(const std::string& key) { return db_->Get(Map(), K(1, key)); }
  /// Names of existing value files of any writer.
  static std::vector<std::string> ValueFiles(fs::FileSystem* files) {
    std::vector<std::string> names;
    const auto all = files->List("/db");
    EXPECT_OK(all.status());
    for (const std::string& name : *all)
      if (name.ends_with(".vsst")) names.push_back(name);
    return names;
  }
  uint64_t Written() {
    uint64_t bytes = 0;
    for (const std::string& path : files_.Paths())
      if (path.starts_with("/db/") || path.starts_with("/wal/"))
        bytes += files_.Content(path)->size();
    return bytes;
  }
  CrashMode Worst() const {
    return GetParam() == WalMode::kWalSync ? CrashMode::kSyncedOnly : CrashMode::kAll;
  }

  ChosenFileSystem files_;
  FaultFileSystem faults_{&files_};
  std::unique_ptr<LoggingDB> db_;
};

TEST_P(DBValueLog, AValueIsWrittenOnceAndReadFromWhereItIs) {
  for (int i = 0; i < 20; ++i) Put("k" + std::to_string(i), Value(i));
  Put("small", "value");
  Put("m/entry", Value(50), 3);
  ASSERT_EQ(ValueFiles(&files_).size(), 1u) << "the puts must create the segment before any flush";
  const std::string segment = ValueFiles(&files_).front();
  const auto check = [&](const std::string& when) {
    for (int i = 0; i < 20; ++i) ASSERT_EQ(Get("k" + std::to_string(i)), Value(i)) << when;
    std::vector<Model::Entry> entries;
    ASSERT_OK(db_->ScanAll(Map(), {}, &entries));
    ASSERT_EQ(entries.size(), 22u) << when;
    for (const auto& [key, value] : entries)
      EXPECT_EQ(value, db_->Get(Map(), key, key[1] == 'm' ? 3 : 0)) << when;
    ScanRequest keys;
    keys.keys_only = true;
    entries.clear();
    ASSERT_OK(db_->ScanAll(Map(), keys, &entries));
    EXPECT_EQ(entries.size(), 22u) << when;
    EXPECT_OK(db()->Contains(Map(), {K(1, "k3")}));
    EXPECT_OK(db()->ContainsPrefix(Map(), K(1, "m/")));
  };
  check("in memory");
  ASSERT_OK(db_->Flush());
  check("flushed");
  EXPECT_EQ(ValueFiles(&files_), std::vector<std::string>{segment})
      << "the flush must leave the values in their segment";
  EXPECT_LT(db()->statistics().flush_bytes_written, 5000u);
  EXPECT_EQ(db()->statistics().value_files, 1u);
  ASSERT_OK(db_->Open());
  check("opened again");
  ASSERT_OK(db_->CompactAll());
  check("compacted");
  EXPECT_OK(VerifyStoredFile(&files_, "/db/" + segment, {}));
}

// Includes the additional writes: the log's overhead, the files' ends, the manifest.
TEST_P(DBValueLog, LargeValuesCostTheirBytesOnce) {
  uint64_t user_bytes = 0;
  for (int i = 0; i < 40; ++i) {
    const std::string value = Value(i, 70'000);
    Put("k" + std::to_string(i), value);
    user_bytes += value.size();
  }
  ASSERT_OK(db_->Flush());
  EXPECT_LT(Written() * 100, user_bytes * 105);
  EXPECT_GT(Written(), user_bytes);
}

TEST_P(DBValueLog, WhatWasLoggedIsReplayed) {
  for (int i = 0; i < 8; ++i) Put("k" + std::to_string(i), Value(i));
  WriteBatch batch;
  batch.Put(Map(), {K(1, "batched")}, Value(100));
  batch.Put(Map(), {K(1, "inline")}, "small");
  batch.Delete(Map(), {K(1, "k1")});
  batch.Put(Map(), {K(1, "k2")}, Value(102));
  ASSERT_OK(db_->Finish([&] { return db()->Write(batch); }));
  auto image = files_.CrashClone(Worst());
  for (int restart = 0; restart < 3; ++restart) {
    {
      LoggingDB again(image.get(), GetParam());
      ASSERT_OK(again.Open());
      const auto get = [&](const std::string& key) { return again.Get(Map(&again), K(1, key)); };
      EXPECT_EQ(get("k0"), Value(0));
      EXPECT_EQ(get("k1"), "NotFound");
      EXPECT_EQ(get("k2"), Value(102));
      EXPECT_EQ(get("batched"), Value(100));
      EXPECT_EQ(get("inline"), "small");
      if (restart == 1) {
        ASSERT_OK(again.Flush());
        again.executor().RunUntilIdle();
        // The version does not contain the segment of the crashed run, and nothing needs it.
        EXPECT_EQ(ValueFiles(image.get()).size(), again->statistics().value_files);
      }
    }
    image = image->CrashClone(Worst());
  }
}

TEST_P(DBValueLog, WhatDiesBeforeTheFlushTakesNoSpaceBehindIt) {
  for (int i = 0; i < 30; ++i) Put("k" + std::to_string(i % 3), Value(i));
  ASSERT_OK(db_->Flush());
  db_->executor().RunUntilIdle();
  for (int i = 27; i < 30; ++i) EXPECT_EQ(Get("k" + std::to_string(i % 3)), Value(i));
  uint64_t bytes = 0;
  for (const std::string& name : ValueFiles(&files_))
    bytes += files_.Content("/db/" + name)->size();
  EXPECT_LT(bytes, 4 * 5002u) << "the flush must remove the dead values";
  EXPECT_EQ(ValueFiles(&files_).size(), db()->statistics().value_files);
  Put("k0", Value(1));
  ASSERT_OK(db()->Delete(Map(), {K(1, "k0")}));
  ASSERT_OK(db_->Flush());
  db_->executor().RunUntilIdle();
  EXPECT_EQ(ValueFiles(&files_).size(), db()->statistics().value_files)
      << "no value lived, so no file may be left";
}

TEST_P(DBValueLog, ASnapshotReadsWhatTheFlushWroteElsewhere) {
  for (int i = 0; i < 4; ++i) Put("k" + std::to_string(i), Value(i));
  auto snapshot = db()->TakeSnapshot();
  ASSERT_OK(snapshot.status());
  for (int round = 0; round < 3; ++round)
    for (int i = 0; i < 4; ++i) Put("k" + std::to_string(i), Value(100 + i));
  ASSERT_OK(db_->Flush());
  ASSERT_OK(db_->CompactAll());
  db_->executor().RunUntilIdle();
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(db_->Get(Map(), K(1, "k" + std::to_string(i)), 0, snapshot->get()), Value(i));
    EXPECT_EQ(Get("k" + std::to_string(i)), Value(100 + i));
  }
  snapshot->reset();
  db_->executor().RunUntilIdle();
}

TEST_P(DBValueLog, ItsGarbageIsCollectedAndWhatLivesStays) {
  for (int i = 0; i < 20; ++i) Put("k" + std::to_string(i), Value(i));
  ASSERT_OK(db_->Flush());
  for (int i = 0; i < 20; i += 2) Put("k" + std::to_string(i), "small now");
  ASSERT_OK(db_->Flush());
  ASSERT_OK(db_->CompactAll());
  db_->executor().RunUntilIdle();
  EXPECT_GT(db()->statistics().collections, 0u);
  for (int i = 0; i < 20; ++i)
    EXPECT_EQ(Get("k" + std::to_string(i)), i % 2 == 0 ? "small now" : Value(i)) << i;
  ASSERT_OK(db_->Open());
  for (int i = 1; i < 20; i += 2) EXPECT_EQ(Get("k" + std::to_string(i)), Value(i)) << i;
}

TEST_P(DBValueLog, ASegmentEndsAtItsBound) {
  db_->options().value_file_bytes = 16 << 10;
  ASSERT_OK(db_->Open());
  for (int i = 0; i < 20; ++i) Put("k" + std::to_string(i), Value(i));
  EXPECT_GE(ValueFiles(&files_).size(), 5u);
  ASSERT_OK(db_->Flush());
  for (int i = 0; i < 20; ++i) EXPECT_EQ(Get("k" + std::to_string(i)), Value(i));
}

TEST_P(DBValueLog, ListsAndTablesThatAreNotSeparatedStayInTheTree) {
  Table* list = *db()->CreateTable("list", {.kind = TableKind::kList, .separation_bytes = 100});
  Table* whole = *db()->CreateTable("whole", {.kind = TableKind::kMap});
  ASSERT_OK(db()->Put(list, {K(1, "l")}, ListOf({Value(1)})));
  ASSERT_OK(db()->Append(list, {K(1, "l")}, ListOf({Value(2)})));
  ASSERT_OK(db()->Put(whole, {K(1, "w")}, Value(3)));
  EXPECT_TRUE(ValueFiles(&files_).empty());
  EXPECT_EQ(db_->Get(list, K(1, "l")), ListOf({Value(1), Value(2)}));
  EXPECT_EQ(db_->Get(whole, K(1, "w")), Value(3));
}

// All separated values count, however large; flushes drive the adaptation.
TEST_P(DBValueLog, ATablesBoundFollowsWhatDiesInMemoryAndWhatScansShow) {
  db_->options().large_value_bytes = kLargeAutomatic;
  ASSERT_OK(db_->Open());
  const uint64_t first = GetParam() == WalMode::kWalSync ? 32 << 10 : 8 << 10;
  const auto bound = [&] { return db()->table_statistics(Map()).large_bytes; };
  const auto is_logged = [&](const std::string& key) {
    const uint64_t before = db()->statistics().values_logged;
    Put(key, Value(77, 40'000));
    return db()->statistics().values_logged > before;
  };
  EXPECT_EQ(bound(), first);
  EXPECT_TRUE(is_logged("a"));
  Table* whole = *db()->CreateTable("whole", {.kind = TableKind::kMap});
  EXPECT_EQ(db()->table_statistics(whole).large_bytes, 0u) << "all values of the table are inline";

  for (int i = 0; i < 1200; ++i) Put("k" + std::to_string(i % 10), Value(i, 200));
  EXPECT_EQ(bound(), first) << "only a flush tells which values live";
  ASSERT_OK(db_->Flush());
  EXPECT_EQ(bound(), 0u);
  EXPECT_FALSE(is_logged("b"));

  WriteBatch batch;
  for (int i = 0; i < 6000; ++i) batch.Put(Map(), {K(1, "n" + std::to_string(i))}, Value(i, 200));
  ASSERT_OK(db_->Finish([&] { return db()->Write(batch); }));
  ASSERT_OK(db_->Flush());
  EXPECT_EQ(bound(), first);
  EXPECT_TRUE(is_logged("c"));

  std::vector<Model::Entry> entries;
  for (int i = 0; i < 8; ++i) ASSERT_OK(db_->ScanAll(Map(), {}, &entries));
  Put("last", Value(0, 200));
  ASSERT_OK(db_->Flush());
  EXPECT_GE(bound(), 2 * first);
  EXPECT_LE(bound(), 512u << 10);

  ASSERT_OK(db_->Open());
  for (const char* key : {"a", "b", "c"}) EXPECT_EQ(Get(key), Value(77, 40'000)) << key;
  EXPECT_EQ(bound(), first) << "the adapted bound must not survive a reopen";
}

// A value that was partially written to the segment ends the segment: the next write begins another
// one.
TEST_P(DBValueLog, AWriteThatFailsIsToldAndTheNextGoesOn) {
  db_ = std::make_unique<LoggingDB>(&faults_, GetParam());
  ASSERT_OK(db_->Open());
  Put("a", Value(1));
  faults_.Arm({.fault = Fault::kShortWrite, .only = FileCall::kAppend, .path_contains = ".vsst"});
  const Status status = db()->Put(Map(), {K(1, "b")}, Value(2));
  EXPECT_FALSE(status.ok());
  EXPECT_NE(status.ToString().find(".vsst"), std::string::npos) << status.ToString();
  faults_.Disarm();
  EXPECT_EQ(Get("b"), "NotFound");
  Put("c", Value(3));
  const auto check = [&] {
    EXPECT_EQ(Get("a"), Value(1));
    EXPECT_EQ(Get("b"), "NotFound");
    EXPECT_EQ(Get("c"), Value(3));
  };
  check();
  ASSERT_OK(db_->Flush());
  check();
  ASSERT_OK(db_->Open());
  check();
  EXPECT_EQ(ValueFiles(&files_).size(), db()->statistics().value_files);
}

TEST_P(DBValueLog, TheFirstWriteToASegmentMayFail) {
  db_ = std::make_unique<LoggingDB>(&faults_, GetParam());
  ASSERT_OK(db_->Open());
  for (const FileCall call :
       {FileCall::kCreate, FileCall::kAppend, FileCall::kFlush, FileCall::kSync}) {
    faults_.Arm({.only = call, .path_contains = ".vsst"});
    const Status status = db()->Put(Map(), {K(1, "a")}, Value(1));
    const bool struck = faults_.fired() > 0;
    faults_.Disarm();
    EXPECT_NE(status.ok(), struck) << FileCallName(call) << ": " << status.ToString();
    Put("a", Value(static_cast<int>(call)));
    EXPECT_EQ(Get("a"), Value(static_cast<int>(call)));
    ASSERT_OK(db_->Flush());
    db_->executor().RunUntilIdle();
    EXPECT_EQ(ValueFiles(&files_).size(), db()->statistics().value_files) << FileCallName(call);
  }
}

// Scans on another thread than the writer's.
TEST_P(DBValueLog, AScanMeetsValuesThatAreLoggedMeanwhile) {
  for (int i = 0; i < 300; ++i) Put("m/k" + std::to_string(1000 + i), "small", 3);
  std::atomic<bool> stop{false};
  std::thread writer([&] {
    Table* const map = Map();
    for (int i = 0; !stop; ++i) {
      const std::string key = K(1, "m/k" + std::to_string(1000 + i % 300));
      const Status status = db()->Put(map, {key, 3}, i / 300 % 2 == 0 ? Value(i, 1100) : "small");
      if (!status.IsBusy()) EXPECT_OK(status);
      if (status.IsBusy()) std::this_thread::yield();
    }
  });
  const std::string prefix = K(1, "m/");
  ScanRequest request;
  request.lower = prefix;
  request.prefix_bytes = 3;
  for (int round = 0; round < 30; ++round) {
    request.keys_only = round % 3 == 0;
    std::vector<Model::Entry> entries;
    EXPECT_OK(db_->ScanAll(Map(), request, &entries));
    EXPECT_EQ(entries.size(), 300u);
    for (const auto& [key, value] : entries)
      EXPECT_EQ(value.empty(), request.keys_only) << value.size();
  }
  stop = true;
  writer.join();
}

TEST_P(DBValueLog, AFlushThatFailsLosesNothing) {
  for (uint64_t call = 1; call < 40; ++call) {
    db_ = nullptr;
    db_ = std::make_unique<LoggingDB>(&faults_, GetParam());
    ASSERT_OK(db_->Open());
    for (int i = 0; i < 5; ++i) Put("k" + std::to_string(i), Value(static_cast<int>(call) + i));
    faults_.Arm({.fault = Fault::kNoSpace, .call = call, .path_contains = "/db/"});
    static_cast<void>(db_->Flush());
    const bool struck = faults_.fired() > 0;
    faults_.Disarm();
    db_->clock().Advance(3'600'000);
    for (int i = 0; i < 5; ++i)
      EXPECT_EQ(Get("k" + std::to_string(i)), Value(static_cast<int>(call) + i)) << call;
    if (!struck) return;
  }
  FAIL() << "the flush makes more calls than the test tries";
}

/// Ten values in a segment that lost its second half, although the log refers to all of them.
class DBValueLogCut : public ::testing::Test {
 protected:
  void Log(WalMode mode) {
    LoggingDB db(&files_, mode);
    ASSERT_OK(db.Open());
    Table* const map = Map(&db);
    for (int i = 0; i < kValues; ++i) ASSERT_OK(db->Put(map, {Name(i)}, Value(i)));
    image_ = files_.CrashClone(CrashMode::kAll);
  }
  /// Simulates a power cut: unsynced data survives, except for half of the segment.
  void CutPower() {
    auto cut = files_.CrashClone(CrashMode::kSyncedOnly);
    for (const std::string& path : image_->Paths()) {
      if (!path.ends_with("/LOCK")) ASSERT_OK(cut->SetContent(path, *image_->Content(path)));
    }
    image_ = std::move(cut);
  }
  void CutSegment() {
    const std::vector<std::string> paths = image_->Paths();
    const auto segment = std::find_if(paths.begin(), paths.end(),
                                      [](const auto& path) { return path.ends_with(".vsst"); });
    ASSERT_NE(segment, paths.end());
    const std::string content = *image_->Content(*segment);
    // a file's size may be ahead of the written data
    const size_t end = content.find_last_not_of('\0');
    ASSERT_OK(image_->SetContent(*segment, content.substr(0, end / 2)));
  }
  static void ExpectDamage(const Status& status) {
    EXPECT_TRUE(status.IsCorruption()) << status.ToString();
    EXPECT_NE(status.ToString().find(".vsst"), std::string::npos) << status.ToString();
  }
  static Table* Map(LoggingDB* of) {
    return *(*of)->CreateTable("map", {.kind = TableKind::kMap, .separation_bytes = 100});
  }
  static std::string Name(int i) { return K(1, "k" + std::to_string(i)); }
  static std::string Value(int i) { return std::string(2000, static_cast<char>('a' + i)); }

  static constexpr int kValues = 10;
  ChosenFileSystem files_;
  std::unique_ptr<CrashableFileSystem> image_;
};

TEST_F(DBValueLogCut, APowerCutEndsTheLogThere) {
  ASSERT_NO_FATAL_FAILURE(Log(WalMode::kWal));
  ASSERT_NO_FATAL_FAILURE(CutPower());
  ASSERT_NO_FATAL_FAILURE(CutSegment());
  int found = 0;
  for (int opening = 0; opening < 3; ++opening) {
    LoggingDB again(image_.get());
    ASSERT_OK(again.Open());
    Table* const map = Map(&again);
    int now = 0;
    while (now < kValues && again.Get(map, Name(now)) == Value(now)) ++now;
    for (int i = now; i < kValues; ++i) EXPECT_EQ(again.Get(map, Name(i)), "NotFound") << i;
    if (opening == 0) found = now;
    EXPECT_EQ(now, found);
    EXPECT_GT(now, 0);
    EXPECT_LT(now, kValues);
    ASSERT_OK(again->Put(map, {K(1, "later" + std::to_string(opening))}, "value"));
    for (int i = 0; i <= opening; ++i)
      EXPECT_EQ(again.Get(map, K(1, "later" + std::to_string(i))), "value");
  }
}

// Regression (db_fault_test, seed 20782014): an unreadable value ended the log silently.
TEST_F(DBValueLogCut, WithoutAPowerCutItIsDamage) {
  ASSERT_NO_FATAL_FAILURE(Log(WalMode::kWal));
  ASSERT_NO_FATAL_FAILURE(CutSegment());
  for (const WalMode mode : {WalMode::kWal, WalMode::kWalSync}) {
    LoggingDB again(image_.get(), mode);
    ExpectDamage(again.Open());
  }
}

TEST_F(DBValueLogCut, WhatWasSyncedIsDamagedIfItIsNotThere) {
  ASSERT_NO_FATAL_FAILURE(Log(WalMode::kWalSync));
  ASSERT_NO_FATAL_FAILURE(CutPower());
  ASSERT_NO_FATAL_FAILURE(CutSegment());
  for (const WalMode mode : {WalMode::kWal, WalMode::kWalSync}) {
    LoggingDB again(image_.get(), mode);
    ExpectDamage(again.Open());
  }
}

// Only unsynced data may be missing, whatever the current mode is.
TEST_F(DBValueLogCut, AnotherModeOpensWhatAPowerCutLeft) {
  ASSERT_NO_FATAL_FAILURE(Log(WalMode::kWal));
  ASSERT_NO_FATAL_FAILURE(CutPower());
  ASSERT_NO_FATAL_FAILURE(CutSegment());
  LoggingDB again(image_.get(), WalMode::kWalSync);
  ASSERT_OK(again.Open());
  EXPECT_EQ(again.Get(Map(&again), Name(0)), Value(0));
}

INSTANTIATE_TEST_SUITE_P(Modes, DBValueLog, ::testing::Values(WalMode::kWal, WalMode::kWalSync),
                         [](const auto& mode) {
                           return mode.param == WalMode::kWal ? "Wal" : "WalSync";
                         });

}  // namespace
}  // namespace lava::testing
