// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "db/verify_file.h"
#include "db_test_util.h"
#include "testing/fault_file_system.h"

// One log for two layers: entries of the layer above, at whose ends are values of the tree.
namespace lava::testing {
namespace {

class DBEntries : public ::testing::TestWithParam<WalMode> {
 protected:
  DBEntries() { Make(&files_); }
  void Make(fs::FileSystem* files) {
    db_ = nullptr;
    db_ = std::make_unique<SimDB>(1, files);
    db_->options().wal = GetParam();
    db_->options().large_value_bytes = 0;
    db_->options().collection_garbage_percent = 1;
    EXPECT_OK(db_->Open());
  }
  Table* Map(SimDB* db) {
    return *(*db)->CreateTable("map", {.kind = TableKind::kMap, .separation_bytes = 100});
  }
  Table* Map() { return Map(db_.get()); }
  DB* db() { return db_->get(); }
  static std::string Value(int i, size_t bytes = 5000) {
    Random random(static_cast<uint64_t>(i) + 1);
    return std::to_string(i) + ":" + random.Bytes(bytes);
  }
  static std::string EntryOf(const std::string& key, const std::string& value) {
    return "set " + key + " to " + value;
  }
  /// Like the layer above: first puts, then logs.
  Status PutThenLog(const std::string& key, const std::string& value, EntryLocation* location,
                    uint32_t prefix_bytes = 0, size_t lacks = 0) {
    LAVA_RETURN_IF_ERROR(db_->Finish([&] {
      return db()->Put(Map(), {K(1, key), prefix_bytes}, value);
    }));
    return db()->BindExternal(EntryOf(key, value.substr(lacks)), location);
  }
  void Bind(const std::string& key, const std::string& value) {
    ASSERT_OK(PutThenLog(key, value, &locations_.emplace_back()));
    entries_.push_back(EntryOf(key, value));
  }
  void ReadAllEntries() {
    for (size_t i = 0; i < entries_.size(); ++i) {
      std::string entry;
      ASSERT_OK(db()->ReadEntry(locations_[i], &entry));
      EXPECT_EQ(entry, entries_[i]) << i;
    }
  }
  std::string Get(const std::string& key, uint32_t prefix_bytes = 0) {
    return db_->Get(Map(), K(1, key), prefix_bytes);
  }
  std::vector<std::string> ValueFiles() {
    std::vector<std::string> names;
    const auto all = files_.List("/db");
    EXPECT_OK(all.status());
    for (const std::string& name : *all)
      if (name.ends_with(".vsst")) names.push_back(name);
    return names;
  }
  /// Puts are tracked from the first bind call on.
  void Watch() {
    EntryLocation location;
    EXPECT_TRUE(db()->BindExternal("nothing", &location).IsNotFound());
  }

  ChosenFileSystem files_;
  FaultFileSystem faults_{&files_};
  std::unique_ptr<SimDB> db_;
  std::vector<EntryLocation> locations_;
  std::vector<std::string> entries_;
};

/// With a write-ahead log: acknowledged data survives the process.
class DBEntriesLogged : public DBEntries {};

TEST_P(DBEntries, AValueIsStoredInItsEntryAlone) {
  Watch();
  uint64_t bytes = 0;
  for (int i = 0; i < 20; ++i) {
    Bind("k" + std::to_string(i), Value(i));
    bytes += entries_.back().size();
  }
  EntryLocation map_entry;
  ASSERT_OK(PutThenLog("m/entry", std::string(1, '\0') + Value(50), &map_entry, 3, /*lacks=*/1));
  const auto check = [&](const std::string& when) {
    for (int i = 0; i < 20; ++i) ASSERT_EQ(Get("k" + std::to_string(i)), Value(i)) << when;
    EXPECT_EQ(Get("m/entry", 3), std::string(1, '\0') + Value(50)) << when;
    std::vector<Model::Entry> entries;
    ASSERT_OK(db_->ScanAll(Map(), {}, &entries));
    EXPECT_EQ(entries.size(), 21u) << when;
  };
  check("in memory");
  ReadAllEntries();
  std::string entry;
  ASSERT_OK(db()->ReadEntry(map_entry, &entry));
  EXPECT_EQ(entry, EntryOf("m/entry", Value(50)));
  EXPECT_EQ(db()->statistics().external_values, 21u);
  EXPECT_LT(db()->statistics().memtable_active_bytes, 64u << 10)
      << "the memtable must hold references instead of values";

  ASSERT_OK(db_->Flush());
  check("flushed");
  ReadAllEntries();
  ASSERT_EQ(ValueFiles().size(), 1u) << "the segment must be the only value file";
  EXPECT_EQ(ValueFiles()[0], db()->ChangelogSegmentName(map_entry.segment));
  EXPECT_LT(files_.Content("/db/" + ValueFiles()[0])->size() * 100, (bytes + 5000) * 103);
  EXPECT_EQ(db()->statistics().garbage_bytes_max, 0u);
  ASSERT_OK(db()->ReleaseEntries(map_entry.sequence));
  EXPECT_OK(VerifyStoredFile(&files_, "/db/" + ValueFiles()[0], {}));
  ASSERT_OK(db_->Open());
  check("opened again");
  ASSERT_OK(db_->CompactAll());
  check("compacted");
}

TEST_P(DBEntries, WhatIsNotTheLastPutIsNotBound) {
  Watch();
  EntryLocation location;
  const auto is_bound = [&](const std::string& entry) {
    const Status status = db()->BindExternal(entry, &location);
    EXPECT_TRUE(status.ok() || status.IsNotFound()) << status.ToString();
    return status.ok();
  };
  const auto put = [&](const std::string& key, const std::string& value) {
    ASSERT_OK(db_->Finish([&] { return db()->Put(Map(), {K(1, key), 0}, value); }));
  };
  put("a", Value(1));
  EXPECT_FALSE(is_bound(EntryOf("a", Value(2)))) << "the entry ends with another value";
  EXPECT_FALSE(is_bound(EntryOf("a", Value(1)))) << "only the first attempt after a put may bind";
  put("a", Value(1));
  EXPECT_FALSE(is_bound(EntryOf("a", Value(1).substr(2))))
      << "the entry lacks two bytes of the value";
  put("a", Value(1, 50));
  EXPECT_FALSE(is_bound(EntryOf("a", Value(1, 50)))) << "the value is too small";
  put("a", Value(1));
  ASSERT_OK(db()->Delete(Map(), {K(1, "a"), 0}));
  EXPECT_FALSE(is_bound(EntryOf("a", Value(1)))) << "the key was deleted in the meantime";
  put("a", Value(1));
  ASSERT_OK(db_->Flush());
  EXPECT_FALSE(is_bound(EntryOf("a", Value(1)))) << "the value was flushed in the meantime";
  put("a", Value(1));
  put("b", Value(2, 50));
  EXPECT_FALSE(is_bound(EntryOf("a", Value(1)))) << "another key was put last";
  put("a", Value(1));
  put("a", "small");
  EXPECT_FALSE(is_bound(EntryOf("a", "small")))
      << "the last value is too small, although the previous one was not";
  put("a", Value(1));
  Table* list = *db()->CreateTable("list", {.kind = TableKind::kList, .separation_bytes = 100});
  ASSERT_OK(db()->Put(list, {K(1, "l")}, ListOf({Value(1)})));
  EXPECT_FALSE(is_bound("list " + ListOf({Value(1)})));
  put("b", Value(3));
  EXPECT_TRUE(is_bound(EntryOf("b", Value(3))));
  EXPECT_EQ(Get("a"), Value(1));
  EXPECT_EQ(Get("b"), Value(3));
  EXPECT_EQ(db()->statistics().external_values, 1u);
}

TEST_P(DBEntries, EntriesAreHeldUntilBothLayersAreDoneWithThem) {
  Watch();
  for (int i = 0; i < 8; ++i) Bind("k" + std::to_string(i), Value(i));
  const uint64_t first = locations_.back().segment;
  EXPECT_EQ(locations_.back().sequence, 8u);
  ASSERT_OK(db()->RollEntries());
  for (int i = 8; i < 12; ++i) Bind("k" + std::to_string(i), Value(i));
  const uint64_t second = locations_.back().segment;
  ASSERT_GT(second, first);
  // All values in the first segment die in memory; the other layer still needs its entries.
  for (int i = 0; i < 8; ++i) ASSERT_OK(db()->Put(Map(), {K(1, "k" + std::to_string(i))}, "small"));
  ASSERT_OK(db_->Flush());
  ASSERT_OK(db_->CompactAll());
  db_->executor().RunUntilIdle();
  ReadAllEntries();
  EXPECT_EQ(ValueFiles().size(), 2u);
  EXPECT_EQ(db()->statistics().value_files, 1u);

  ASSERT_OK(db()->ReleaseEntries(locations_[7].sequence - 1));
  EXPECT_EQ(ValueFiles().size(), 2u) << "one entry of the first segment is not released";
  ASSERT_OK(db()->ReleaseEntries(locations_[7].sequence));
  EXPECT_EQ(ValueFiles(), std::vector<std::string>{db()->ChangelogSegmentName(second)});
  std::string entry;
  EXPECT_TRUE(db()->ReadEntry(locations_[0], &entry).IsNotFound());
  ASSERT_OK(db()->ReadEntry(locations_[9], &entry));

  // The tree no longer uses the second one, but its entries are held.
  for (int i = 8; i < 12; ++i)
    ASSERT_OK(db()->Put(Map(), {K(1, "k" + std::to_string(i))}, "small"));
  ASSERT_OK(db_->Flush());
  ASSERT_OK(db_->CompactAll());
  db_->executor().RunUntilIdle();
  EXPECT_EQ(db()->statistics().value_files, 0u);
  ASSERT_OK(db()->ReadEntry(locations_[9], &entry));
  EXPECT_EQ(entry, entries_[9]);
  ASSERT_OK(db()->ReleaseEntries(locations_.back().sequence));
  EXPECT_TRUE(ValueFiles().empty());
}

TEST_P(DBEntries, ASegmentIsEndedBeforeItsFlushAndKeptAsItIs) {
  db_->options().collection_garbage_percent = 90;
  ASSERT_OK(db_->Open());
  Watch();
  for (int i = 0; i < 8; ++i) Bind("k" + std::to_string(i % 7), Value(i));
  const uint64_t segment = locations_.back().segment;
  EXPECT_FALSE(db()->FinishEntries(segment).ok()) << "the segment still gets entries";
  ASSERT_OK(db()->RollEntries());
  ASSERT_OK(db()->FinishEntries(segment));
  ASSERT_OK(db()->FinishEntries(segment));
  const std::string path = "/db/" + db()->ChangelogSegmentName(segment);
  const std::string whole = *files_.Content(path);
  EXPECT_OK(VerifyStoredFile(&files_, path, {}));
  ASSERT_OK(db()->Put(Map(), {K(1, "k4")}, "small"));  // one of seven live ones dies
  for (int i = 0; i < 4; ++i) EXPECT_EQ(Get("k" + std::to_string(i)), Value(i == 0 ? 7 : i));
  ASSERT_OK(db_->Flush());
  EXPECT_EQ(*files_.Content(path), whole)
      << "the flush must not change the segment after it was finished";
  EXPECT_EQ(db()->statistics().value_files, 1u);
  EXPECT_EQ(db()->statistics().garbage_bytes_max, Value(4).size());
  EXPECT_EQ(db()->statistics().garbage_bytes_min, Value(4).size());
  for (int i = 0; i < 4; ++i) EXPECT_EQ(Get("k" + std::to_string(i)), Value(i == 0 ? 7 : i));
  EXPECT_FALSE(db()->FinishEntries(segment + 100).ok());
  std::vector<std::string> entries;
  const uint64_t end = locations_.back().offset + locations_.back().bytes;
  ASSERT_OK(
      DecodeEntries(db()->ChangelogSegmentName(segment), 0, Slice(whole).substr(0, end), &entries));
  EXPECT_EQ(entries, entries_) << "the copied segment must contain all entries";
  EXPECT_TRUE(DecodeEntries("0-1.vsst", 0, Slice(whole).substr(0, end), &entries).IsCorruption());
}

TEST_P(DBEntries, WhatMostlyDiedIsWrittenAnew) {
  Watch();
  for (int i = 0; i < 30; ++i) Bind("k" + std::to_string(i % 3), Value(i));
  ASSERT_OK(db()->ReleaseEntries(locations_.back().sequence));
  ASSERT_OK(db_->Flush());
  db_->executor().RunUntilIdle();
  for (int i = 27; i < 30; ++i) EXPECT_EQ(Get("k" + std::to_string(i % 3)), Value(i));
  ASSERT_EQ(ValueFiles().size(), 1u);
  EXPECT_NE(ValueFiles()[0], db()->ChangelogSegmentName(locations_.back().segment));
  EXPECT_LT(files_.Content("/db/" + ValueFiles()[0])->size(), 4 * 5010u);
}

TEST_P(DBEntries, AMemtableIsSealedOnceItsEntriesAreMany) {
  db_->options().value_file_bytes = 16 << 10;
  db_->options().memtable_bytes = 64 << 10;
  ASSERT_OK(db_->Open());
  Watch();
  for (int i = 0; i < 200; ++i) {
    Bind("k", Value(i));
    ASSERT_OK(db()->ReleaseEntries(locations_.back().sequence));
    db_->executor().RunUntilIdle();
  }
  EXPECT_GE(db()->statistics().flushes, 4u);
  EXPECT_LE(ValueFiles().size(), 12u) << "dead values must not take space for long";
  EXPECT_EQ(Get("k"), Value(199));
}

TEST_P(DBEntries, ReadsAreTargetedAndNamelessEntriesStandBetween) {
  EntryLocation plain, external, value_at;
  ASSERT_OK(db()->AppendEntry("a change without a value", &plain));
  const std::string value = Value(1);
  ASSERT_OK(db_->Finish([&] {
    return db()->PutExternal(Map(), {K(1, "k"), 0}, value, EntryOf("k", value), &external);
  }));
  EXPECT_EQ(external.segment, plain.segment);
  EXPECT_EQ(external.offset, plain.offset + plain.bytes);
  std::string read;
  ASSERT_OK(db()->ReadEntry(plain, &read));
  EXPECT_EQ(read, "a change without a value");
  ASSERT_OK(db()->ReadEntry(external, &read));
  EXPECT_EQ(read, EntryOf("k", value));
  for (const bool flushed : {false, true}) {
    if (flushed) ASSERT_OK(db_->Flush());
    ASSERT_OK(db()->GetExternal(Map(), {K(1, "k"), 0}, &value_at));
    EXPECT_GT(value_at.offset, external.offset) << "the value must come after the entry's head";
    EXPECT_EQ(value_at.offset + value_at.bytes, external.offset + external.bytes);
    ASSERT_OK(db()->ReadEntryValue(value_at, &read));
    EXPECT_EQ(read, value) << flushed;
    EXPECT_EQ(Get("k"), value);
  }
  EXPECT_TRUE(db()->GetExternal(Map(), {K(1, "none"), 0}, &value_at).IsNotFound());
  ASSERT_OK(db_->Finish([&] { return db()->Put(Map(), {K(1, "k"), 0}, Value(2)); }));
  EXPECT_TRUE(db()->GetExternal(Map(), {K(1, "k"), 0}, &value_at).IsNotFound());

  EXPECT_TRUE(db()->ReadEntry({external.segment, external.offset + 1, 100}, &read).IsCorruption());
  EXPECT_TRUE(db()->ReadEntry({external.segment, external.offset, 100}, &read).IsCorruption());
  EXPECT_TRUE(db()->ReadEntryValue(plain, &read).IsCorruption());
  EXPECT_FALSE(db()->ReadEntry({external.segment, 1ull << 60, 1ull << 60}, &read).ok());
  const Status odd = db()->PutExternal(Map(), {K(1, "k"), 0}, value, "another end", &external);
  EXPECT_FALSE(odd.ok());
  EXPECT_NE(odd.ToString().find("does not end with its value"), std::string::npos);
}

// Two phases: the log's own state, then the tree from its last flushed position.
TEST_P(DBEntriesLogged, WhatWasAcknowledgedIsThereAfterACrash) {
  Watch();
  EntryLocation location;
  for (int i = 0; i < 6; ++i) Bind("bound" + std::to_string(i), Value(i));
  ASSERT_OK(db_->Flush());
  for (int i = 0; i < 6; ++i) {
    const std::string key = "put" + std::to_string(i), value = Value(100 + i);
    ASSERT_OK(db_->Finish([&] {
      return db()->PutExternal(Map(), {K(1, key), 0}, value, EntryOf(key, value), &location);
    }));
  }
  for (int i = 0; i < 3; ++i) Bind("bound" + std::to_string(i), Value(200 + i));
  auto image =
      files_.CrashClone(GetParam() == WalMode::kWalSync ? CrashMode::kSyncedOnly : CrashMode::kAll);
  for (int restart = 0; restart < 3; ++restart) {
    {
      SimDB again(1, image.get());
      again.options().wal = GetParam();
      ASSERT_OK(again.Open());
      const auto get = [&](const std::string& key) { return again.Get(Map(&again), K(1, key)); };
      for (int i = 0; i < 6; ++i) {
        EXPECT_EQ(get("bound" + std::to_string(i)), Value(i < 3 ? 200 + i : i));
        EXPECT_EQ(get("put" + std::to_string(i)), Value(100 + i));
      }
      if (restart == 1) ASSERT_OK(again.Flush());
    }
    image = image->CrashClone(CrashMode::kAll);
  }
}

/// Entries of earlier openings, as the layer above reads them after an open.
class DBEntriesRecovery : public DBEntries {
 protected:
  DBEntriesRecovery() { db_ = nullptr; }
  CrashMode Worst() const {
    return GetParam() == WalMode::kWalSync ? CrashMode::kSyncedOnly : CrashMode::kAll;
  }
  /// Alternately logs an entry with a value, one bound to a put, and one without a value.
  void Log(SimDB* db, int count) {
    for (int i = 0; i < count; ++i) {
      const std::string key = "k" + std::to_string(entries_.size() % 7);
      const int number = static_cast<int>(entries_.size());
      std::string entry = EntryOf(key, Value(number));
      EntryLocation& location = locations_.emplace_back();
      if (number % 3 == 0) {
        entry = "no value " + std::to_string(number);
        ASSERT_OK((*db)->AppendEntry(entry, &location));
      } else {
        ASSERT_OK(db->Finish([&] {
          return (*db)->PutExternal(Map(db), {K(1, key), 0}, Value(number), entry, &location);
        }));
      }
      entries_.push_back(std::move(entry));
      if (number % 5 == 4) ASSERT_OK((*db)->RollEntries());
    }
  }
  static Status Recover(SimDB* db, uint64_t after, std::vector<std::string>* entries) {
    entries->clear();
    uint64_t last = after;
    return (*db)->RecoverEntries(after, [&](uint64_t sequence, Slice entry) {
      EXPECT_GT(sequence, last);
      last = sequence;
      entries->emplace_back(entry);
      return Status::OK();
    });
  }
  std::unique_ptr<SimDB> OpenAgain(fs::FileSystem* files) {
    auto db = std::make_unique<SimDB>(1, files);
    db->options().wal = GetParam();
    db->options().large_value_bytes = 0;
    EXPECT_OK(db->Open());
    return db;
  }
  std::vector<std::string> From(size_t first) const {
    return {entries_.begin() + static_cast<std::ptrdiff_t>(first), entries_.end()};
  }
};

TEST_P(DBEntriesRecovery, WhatIsNotReleasedIsReadAgainAfterEachCrash) {
  std::unique_ptr<CrashableFileSystem> image;  // outlives the instance that is open in it
  std::unique_ptr<SimDB> db = OpenAgain(&files_);
  std::vector<std::string> read;
  for (int run = 0; run < 4; ++run) {
    ASSERT_OK(Recover(db.get(), 0, &read));
    EXPECT_EQ(read, entries_) << "run " << run;
    ASSERT_NO_FATAL_FAILURE(Log(db.get(), 13));
    if (run == 1) {
      ASSERT_OK(db->Flush());  // the files that became value files also exist
      ASSERT_OK(db->CompactAll());
    }
    auto next = image != nullptr ? image->CrashClone(Worst()) : files_.CrashClone(Worst());
    db = nullptr;
    image = std::move(next);
    db = OpenAgain(image.get());
  }
  ASSERT_OK(Recover(db.get(), locations_[20].sequence, &read));
  EXPECT_EQ(read, From(21));
  for (size_t i = entries_.size() - 7; i < entries_.size(); ++i) {
    size_t last = i;
    while (last % 3 == 0) last -= 7;
    EXPECT_EQ(db->Get(Map(db.get()), K(1, "k" + std::to_string(i % 7))),
              Value(static_cast<int>(last)));
  }

  // The durable position of the layer above: earlier entries are removed once the tree does not use
  // them.
  ASSERT_OK((*db)->ReleaseEntries(locations_[29].sequence));
  ASSERT_OK(db->Flush());
  ASSERT_OK(Recover(db.get(), locations_[29].sequence, &read));
  EXPECT_EQ(read, From(30));
  ASSERT_OK((*db)->ReleaseEntries(locations_.back().sequence));
  for (int i = 0; i < 7; ++i)
    ASSERT_OK((*db)->Delete(Map(db.get()), {K(1, "k" + std::to_string(i)), 0}));
  ASSERT_OK(db->Flush());
  ASSERT_OK(db->CompactAll());
  db->executor().RunUntilIdle();
  ASSERT_OK((*db)->ReleaseEntries(locations_.back().sequence));
  EXPECT_EQ((*db)->statistics().value_files, 0u);
  for (const std::string& path : image->Paths()) EXPECT_FALSE(path.ends_with(".vsst")) << path;
  ASSERT_NO_FATAL_FAILURE(Log(db.get(), 1));
}

TEST_P(DBEntriesRecovery, AnEntryThatFailedIsNoGap) {
  std::unique_ptr<SimDB> db = OpenAgain(&faults_);
  ASSERT_NO_FATAL_FAILURE(Log(db.get(), 3));
  for (const FileCall call : {FileCall::kAppend, FileCall::kFlush, FileCall::kSync}) {
    faults_.Arm({.only = call, .path_contains = ".vsst"});
    EntryLocation location;
    static_cast<void>((*db)->AppendEntry("fails, or not", &location));
    if (faults_.fired() == 0) {
      locations_.push_back(location);
      entries_.push_back("fails, or not");
    }
    faults_.Disarm();
    ASSERT_NO_FATAL_FAILURE(Log(db.get(), 3));
  }
  const auto image = files_.CrashClone(Worst());
  const std::unique_ptr<SimDB> again = OpenAgain(image.get());
  std::vector<std::string> read;
  ASSERT_OK(Recover(again.get(), 0, &read));
  // Entries whose calls failed may exist.
  size_t at = 0;
  for (const std::string& entry : read) {
    if (at < entries_.size() && entry == entries_[at])
      ++at;
    else
      EXPECT_EQ(entry, "fails, or not");
  }
  EXPECT_EQ(at, entries_.size());
}

TEST_P(DBEntriesRecovery, DamageIsToldAndATornEndIsNot) {
  std::unique_ptr<SimDB> db = OpenAgain(&files_);
  ASSERT_NO_FATAL_FAILURE(Log(db.get(), 13));
  const auto image = files_.CrashClone(Worst());
  std::vector<std::string> segments;
  for (const std::string& path : image->Paths())
    if (path.ends_with(".vsst")) segments.push_back(path);
  ASSERT_EQ(segments.size(), 3u);
  const bool synced = GetParam() == WalMode::kWalSync;
  int told = 0, torn = 0;
  for (const std::string& path : segments) {
    const std::string whole = *image->Content(path);
    const size_t end = whole.find_last_not_of('\0') + 1;
    for (size_t at = 1; at < end; at += at + 80 < end ? 97 : 9) {
      for (const bool cut : {false, true}) {
        std::string damaged = whole.substr(0, cut ? at : end);
        if (!cut) damaged[at] = static_cast<char>(damaged[at] ^ 1);
        const auto copy = image->CrashClone(CrashMode::kAll);
        ASSERT_OK(copy->SetContent(path, damaged));
        SimDB again(1, copy.get());
        again.options().wal = GetParam();
        Status status = again.Open();
        std::vector<std::string> read;
        if (status.ok()) status = Recover(&again, 0, &read);
        if (!status.ok()) {
          EXPECT_TRUE(status.IsCorruption()) << status.ToString();
          EXPECT_NE(status.ToString().find(".vsst"), std::string::npos) << status.ToString();
          ++told;
          continue;
        }
        ++torn;
        ASSERT_LE(read.size(), entries_.size());
        for (size_t i = 0; i < read.size(); ++i) ASSERT_EQ(read[i], entries_[i]) << path << at;
        if (synced && !cut) {
          EXPECT_GE(read.size(), entries_.size() - 1)
              << path << " " << at << ": entries were lost without an error";
        }
      }
    }
  }
  EXPECT_GT(told, 0);
  EXPECT_GT(torn, 0);
}

TEST_P(DBEntries, AWriteThatFailsLeavesThePutAsItWas) {
  for (const FileCall call : {FileCall::kCreate, FileCall::kAppend, FileCall::kFlush}) {
    Make(&faults_);
    Watch();
    EntryLocation location;
    faults_.Arm({.fault = Fault::kNoSpace, .only = call, .path_contains = ".vsst"});
    const Status status = PutThenLog("a", Value(1), &location);
    const bool struck = faults_.fired() > 0;
    faults_.Disarm();
    EXPECT_EQ(status.ok(), !struck) << status.ToString();
    EXPECT_EQ(Get("a"), Value(1)) << FileCallName(call);
    ASSERT_OK(PutThenLog("b", Value(2), &location));
    ASSERT_OK(db_->Flush());
    ASSERT_OK(db()->ReleaseEntries(UINT64_MAX));
    db_->executor().RunUntilIdle();
    EXPECT_EQ(Get("a"), Value(1));
    EXPECT_EQ(Get("b"), Value(2));
    EXPECT_EQ(ValueFiles().size(), db()->statistics().value_files) << FileCallName(call);
  }
}

// Its record may be in the segment, but the key has its previous value.
TEST_P(DBEntriesLogged, AnExternalPutThatFailsLeavesTheValueOfBefore) {
  Make(&faults_);
  const auto put = [&](const std::string& key, int i) {
    EntryLocation location;
    return db_->Finish([&] {
      return db()->PutExternal(Map(), {K(1, key), 0}, Value(i), EntryOf(key, Value(i)), &location);
    });
  };
  // Most of the segment is live, so that it is kept.
  for (int i = 0; i < 8; ++i) ASSERT_OK(put("a" + std::to_string(i), i));
  ASSERT_OK(put("k", 20));
  faults_.Arm({.fault = Fault::kNoSpace, .forever = true, .path_contains = "/wal/"});
  for (int i = 21; i < 23; ++i) {
    EXPECT_FALSE(put("k", i).ok());
    EXPECT_FALSE(put("new", i).ok());
  }
  faults_.Disarm();
  ASSERT_OK(db_->Flush());
  for (int opening = 0; opening < 3; ++opening) {
    EXPECT_EQ(Get("a1"), Value(1));
    EXPECT_EQ(Get("k").substr(0, 100), Value(20).substr(0, 100)) << opening;
    EXPECT_EQ(Get("new"), "NotFound");
    ASSERT_OK(db_->Open());
    if (opening == 1) ASSERT_OK(db_->CompactAll());
  }
}

TEST_P(DBEntries, AFlushThatFailsLosesNothing) {
  for (uint64_t call = 1; call < 60; ++call) {
    Make(&faults_);
    Watch();
    locations_.clear();
    entries_.clear();
    for (int i = 0; i < 5; ++i) Bind("k" + std::to_string(i), Value(i));
    faults_.Arm({.fault = Fault::kNoSpace, .call = call, .path_contains = "/db/"});
    ASSERT_OK(db()->RollEntries());
    if (call % 2 == 0) static_cast<void>(db()->FinishEntries(locations_[0].segment));
    static_cast<void>(db_->Flush());
    const bool struck = faults_.fired() > 0;
    faults_.Disarm();
    db_->clock().Advance(3'600'000);
    for (int i = 0; i < 5; ++i) EXPECT_EQ(Get("k" + std::to_string(i)), Value(i)) << call;
    ReadAllEntries();
    // After a failed sync a manifest accepts no further edits.
    if (!db_->Flush().ok()) ASSERT_OK(db_->Open());
    const bool kept = GetParam() != WalMode::kNone || db()->statistics().flushes > 0;
    for (int i = 0; kept && i < 5; ++i) EXPECT_EQ(Get("k" + std::to_string(i)), Value(i)) << call;
    if (!struck) return;
  }
  FAIL() << "the flush makes more calls than the test tries";
}

// A snapshot from before the flush reads the segment, although the tree no longer uses it.
TEST_P(DBEntries, ASnapshotReadsSegmentsThatTheTreeHasLeft) {
  Watch();
  for (int i = 0; i < 4; ++i) Bind("k" + std::to_string(i), Value(i));
  auto snapshot = db()->TakeSnapshot();
  ASSERT_OK(snapshot.status());
  for (int i = 0; i < 4; ++i) Bind("k" + std::to_string(i), Value(100 + i));
  ASSERT_OK(db()->ReleaseEntries(UINT64_MAX));
  ASSERT_OK(db_->Flush());
  ASSERT_OK(db_->CompactAll());
  db_->executor().RunUntilIdle();
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(db_->Get(Map(), K(1, "k" + std::to_string(i)), 0, snapshot->get()), Value(i));
    EXPECT_EQ(Get("k" + std::to_string(i)), Value(100 + i));
  }
  std::vector<Snapshot::File> files;
  std::string metadata;
  ASSERT_OK((*snapshot)->Files(&files, &metadata));
  EXPECT_TRUE(std::any_of(files.begin(), files.end(), [&](const Snapshot::File& file) {
    return file.name == db()->ChangelogSegmentName(locations_[0].segment);
  })) << "the checkpoint must name the segment";
  snapshot->reset();
  db_->executor().RunUntilIdle();
}

TEST_P(DBEntries, ClosedIsTold) {
  EntryLocation location;
  ASSERT_OK(db()->AppendEntry("an entry", &location));
  ASSERT_OK(db()->Close());
  std::string text;
  for (const Status& status :
       {db()->AppendEntry("late", &location), db()->BindExternal("late", &location),
        db()->RollEntries(), db()->FinishEntries(location.segment), db()->ReleaseEntries(1)})
    EXPECT_TRUE(status.IsClosed()) << status.ToString();
}

std::string NameOf(const ::testing::TestParamInfo<WalMode>& mode) {
  switch (mode.param) {
    case WalMode::kNone:
      return "none";
    case WalMode::kWal:
      return "wal";
    case WalMode::kWalSync:
      return "wal_sync";
  }
  return "";
}

INSTANTIATE_TEST_SUITE_P(Modes, DBEntriesLogged,
                         ::testing::Values(WalMode::kWal, WalMode::kWalSync), NameOf);
INSTANTIATE_TEST_SUITE_P(Modes, DBEntriesRecovery,
                         ::testing::Values(WalMode::kWal, WalMode::kWalSync), NameOf);
INSTANTIATE_TEST_SUITE_P(Modes, DBEntries,
                         ::testing::Values(WalMode::kNone, WalMode::kWal, WalMode::kWalSync),
                         NameOf);

}  // namespace
}  // namespace lava::testing
