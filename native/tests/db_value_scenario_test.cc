// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include <functional>
#include <utility>

#include "base/coding.h"
#include "db_value_test_util.h"

// Difficult cases: which records may declare a value dead, where values are after rescaling, and
// which changes may happen while a collector runs.
namespace lava::testing {
namespace {

std::string Stamped(int64_t written_ms, std::string_view tag) {
  std::string bytes;
  PutBigEndian(&bytes, static_cast<uint64_t>(written_ms), 8);
  return bytes + Large(std::string(tag));
}

/// Puts k into a value file with enough garbage for a collection: x, y and z.
void PutBesideGarbage(ValueDB* db, Table* t, const std::string& value) {
  ASSERT_OK((*db)->Put(t, {K(1, "k")}, value));
  for (const char* key : {"x", "y", "z"}) ASSERT_OK((*db)->Put(t, {K(1, key)}, Large(key)));
  ASSERT_OK(db->Flush());
  for (const char* key : {"x", "y", "z"}) ASSERT_OK((*db)->Delete(t, {K(1, key)}));
  ASSERT_OK(db->CompactAll());
}

/// Runs other jobs during the next collection, when it has judged its first values and creates a
/// file.
void AmidTheNextFile(ValueDB* db, const std::shared_ptr<std::function<void()>>& work) {
  db->faults.SetHook([work](FileCall call) {
    if (call != FileCall::kCreate || !*work) return;
    const std::function<void()> now = std::exchange(*work, nullptr);
    now();
  });
}

// A compaction that dropped one of a key's values knows nothing about its newest value.
TEST(ValueScenario, AKeyWhoseOlderValueWasDroppedLives) {
  ValueDB db;
  db.options().collection_garbage_percent = 50;
  ASSERT_OK(db.Open());
  ASSERT_OK(db->Put(db.Values(), {K(1, "k")}, Large("old")));
  ASSERT_OK(db.Flush());
  // Flushed before the key is remembered, so it is beside values that soon become garbage.
  ASSERT_OK(db->Put(db.Values(), {K(1, "k")}, Large("new")));
  for (const char* key : {"x", "y", "z"}) ASSERT_OK(db->Put(db.Values(), {K(1, key)}, Large(key)));
  ASSERT_OK(db.Flush());
  ASSERT_OK(db.CompactAll());
  for (const char* key : {"x", "y", "z"}) ASSERT_OK(db->Delete(db.Values(), {K(1, key)}));
  ASSERT_OK(db.Settle());
  EXPECT_EQ(db->statistics().collections, 1u);
  EXPECT_GT(db->statistics().hot_value_file_bytes, 0u) << "the key must be remembered as hot";
  EXPECT_EQ(db.Get(db.Values(), K(1, "k")), Large("new"));
}

// A collector that asked the memtable would drop k, and a crash would undo the deletion.
TEST(ValueScenario, ADeletionInMemoryIsNoReasonToDropAValue) {
  for (const CrashMode mode : {CrashMode::kAll, CrashMode::kSyncedOnly}) {
    ValueDB db;
    db.options().sync = true;
    ASSERT_OK(db.Open());
    PutBesideGarbage(&db, db.Values(), Large("k"));
    ASSERT_OK(db.CollectFrom(50));
    ASSERT_OK(db->Delete(db.Values(), {K(1, "k")}));
    // in a sealed run, then in the active memtable as well
    const auto sealed = *db->TakeSnapshot();
    ASSERT_OK(db->Delete(db.Values(), {K(1, "k")}));
    const std::unique_ptr<CrashableFileSystem> before = db.files.CrashClone(mode);
    ASSERT_TRUE(db.RunUntilTold(EventKind::kCollectionEnd));
    const std::unique_ptr<CrashableFileSystem> after = db.files.CrashClone(mode);
    EXPECT_EQ(db.Get(db.Values(), K(1, "k")), "NotFound");
    for (CrashableFileSystem* crashed : {before.get(), after.get()}) {
      SimDB again(2, crashed);
      ASSERT_OK(again.Open());
      Table* t = *again->CreateTable("t", ValueDB::Separated());
      const std::string found = again.Get(t, K(1, "k"));
      EXPECT_TRUE(found == Large("k") || found == "NotFound") << found;
      std::vector<Model::Entry> entries;
      EXPECT_OK(again.ScanAll(t, {}, &entries));
      EXPECT_EQ(entries.size(), found == "NotFound" ? 0u : 1u);
      EXPECT_OK(again.CompactAll());
    }
  }
}

// The flush of the deletion has not run, so after the crash the key must have its value.
TEST(ValueScenario, AfterACrashAnUnflushedDeletionIsUndoneWhole) {
  ValueDB db;
  ASSERT_OK(db.Open());
  PutBesideGarbage(&db, db.Values(), Large("k"));
  ASSERT_OK(db.CollectFrom(50));
  ASSERT_OK(db->Delete(db.Values(), {K(1, "k")}));
  ASSERT_TRUE(db.RunUntilTold(EventKind::kCollectionEnd));
  ASSERT_EQ(db->statistics().flushes, 0u);
  const std::unique_ptr<CrashableFileSystem> crashed = db.files.CrashClone(CrashMode::kAll);
  SimDB again(2, crashed.get());
  ASSERT_OK(again.Open());
  EXPECT_EQ(again.Get(*again->CreateTable("t", ValueDB::Separated()), K(1, "k")), Large("k"));
}

// The newer record expires at a higher level than the older record, whose reference is stale by
// then.
TEST(ValueScenario, AnExpiredRecordHidesOneWhoseValueIsGone) {
  ValueDB db;
  ASSERT_OK(db.Open());
  TableOptions options = ValueDB::Separated();
  options.ttl_layout = TtlLayout::kValue;
  options.ttl_ms = 1000;
  const std::string old = Stamped(1'000'000'000, "old"), expired = Stamped(1, "expired");
  PutBesideGarbage(&db, db.Values("t", options), old);
  ASSERT_OK(db->Put(db.Values("t", options), {K(1, "k")}, expired));
  ASSERT_OK(db.Flush());
  ASSERT_OK(db.CollectFrom(50));
  db.executor().RunUntilIdle();
  ASSERT_EQ(db->statistics().collection_values_dead, 4u) << "the old value must be dead, too";
  ASSERT_EQ(db->statistics().value_files, 1u) << "only the file with the expired value may be left";
  // From now on, compactions move the records down level by level.
  db.options().l0_compaction_trigger = 1;
  db.options().level1_bytes = 1;
  db.options().level_multiplier = 2;
  ASSERT_OK(db.CollectFrom(101));
  Table* t = db.Values("t", options);
  db->SetTime(1'000'000);
  ASSERT_OK(db->Put(t, {K(9, "other")}, "v"));
  ASSERT_OK(db.Flush());
  for (bool more = true; more; more = db.executor().RunOne()) {
    const std::string found = db.Get(t, K(1, "k"));
    EXPECT_TRUE(found == expired || found == "NotFound") << found.substr(0, 60);
  }
  db.ForbidValueReads();
  ASSERT_OK(db.Settle());
  EXPECT_EQ(db.faults.fired(), 0u) << "the timestamp beside the reference must be sufficient";
  EXPECT_EQ(db.Get(t, K(1, "k")), "NotFound");
  EXPECT_EQ(db->statistics().records_expired, 1u);
  EXPECT_EQ(db->statistics().background_errors, 0u);
  EXPECT_TRUE(db.ValueFileNames().empty());
}

// References whose values are gone lie below a newer put, a newer small put, a deletion and a range
// deletion.
TEST(ValueScenario, GhostsAreNeverRead) {
  ValueDB db;
  ASSERT_OK(db.Open());
  Table* t = db.Values();
  for (const char* key : {"large", "small", "deleted", "in range", "kept"})
    ASSERT_OK(db->Put(t, {K(1, key)}, Large("old")));
  PutBesideGarbage(&db, t, Large("k"));
  ASSERT_OK(db->Put(t, {K(1, "large")}, Large("new")));
  ASSERT_OK(db->Put(t, {K(1, "small")}, "new"));
  ASSERT_OK(db->Delete(t, {K(1, "deleted")}));
  ASSERT_OK(db->DeleteRange(t, K(1, "in"), K(1, "io")));
  ASSERT_OK(db.Flush());
  ASSERT_OK(db.CollectFrom(10));
  db.executor().RunUntilIdle();
  ASSERT_EQ(db->statistics().value_raw_bytes, 3000u)
      << "only the values of kept, k and large may be left";
  t = db.Values();
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(db.Get(t, K(1, "large")), Large("new"));
    EXPECT_EQ(db.Get(t, K(1, "small")), "new");
    EXPECT_EQ(db.Get(t, K(1, "deleted")), "NotFound");
    EXPECT_EQ(db.Get(t, K(1, "in range")), "NotFound");
    EXPECT_EQ(db.Get(t, K(1, "kept")), Large("old"));
    std::vector<Model::Entry> entries;
    ASSERT_OK(db.ScanAll(t, {}, &entries));
    EXPECT_EQ(entries.size(), 4u);
    db.ForbidValueReads();
    ASSERT_OK(db.CompactAll());
    EXPECT_EQ(db.faults.fired(), 0u);
    db.faults.Disarm();
    EXPECT_EQ(db->statistics().background_errors, 0u);
  }
  // Without the stale references all figures are exact again, except inherited ones.
  EXPECT_EQ(db->statistics().garbage_bytes_min, 0u);
  EXPECT_EQ(db->statistics().value_raw_bytes, 3000u);
}

// Inheritance without bounds would send half of the keys to the other half's file.
TEST(ValueScenario, PartsThatWereCollectedSeparatelyAreUnited) {
  // bit 0: the low half was collected; bit 1: the high half
  for (const int collected : {0, 1, 2, 3}) {
    ValueDB db(static_cast<uint64_t>(collected) + 1);
    ASSERT_OK(db.Open());
    Table* t = db.Values();
    for (int p = 0; p < 16; ++p) {
      ASSERT_OK(db->Put(t, {K(p, "kept")}, Large("k" + std::to_string(p))));
      ASSERT_OK(db->Put(t, {K(p, "gone")}, Large("g" + std::to_string(p))));
    }
    ASSERT_OK(db.Flush());
    ASSERT_OK(db->Put(t, {K(5, "later")}, Large("later")));  // another blob file
    for (int p = 0; p < 16; ++p) ASSERT_OK(db->Delete(t, {K(p, "gone")}));
    ASSERT_OK(db.CompactAll());
    const std::string whole = db.TakeTo("/half0");
    ASSERT_EQ(db.TakeTo("/half1"), whole);
    std::vector<ImportSource> sources;
    for (const int half : {0, 1}) {
      const std::string path = "/half" + std::to_string(half);
      const uint32_t first = half == 0 ? 0 : 8, last = half == 0 ? 7 : 15;
      const ImportSource source{whole, first, last};
      db.options().collection_garbage_percent = (collected >> half) & 1 ? 25 : 101;
      ASSERT_OK(db.Open(std::span(&source, 1), path));
      db.executor().RunUntilIdle();
      EXPECT_EQ(db->statistics().collections, (collected >> half) & 1);
      t = db.Values();
      for (int p = 0; p < 16; ++p) {
        const bool shown = p / 8 == half;
        EXPECT_EQ(db.Get(t, K(p, "kept")), shown ? Large("k" + std::to_string(p)) : "NotFound");
      }
      ASSERT_OK(db->Put(t, {K(half == 0 ? 2 : 12, "own")}, Large("own" + std::to_string(half))));
      sources.push_back({db.TakeTo("/united", path), first, last});
    }
    db.options().collection_garbage_percent = 101;
    ASSERT_OK(db.Open(sources, "/united"));
    for (int round = 0; round < 4; ++round) {
      t = db.Values();
      for (int p = 0; p < 16; ++p) {
        EXPECT_EQ(db.Get(t, K(p, "kept")), Large("k" + std::to_string(p))) << round << ": " << p;
        EXPECT_EQ(db.Get(t, K(p, "gone")), "NotFound");
      }
      EXPECT_EQ(db.Get(t, K(5, "later")), Large("later"));
      EXPECT_EQ(db.Get(t, K(2, "own")), Large("own0"));
      EXPECT_EQ(db.Get(t, K(12, "own")), Large("own1"));
      std::vector<Model::Entry> entries;
      ASSERT_OK(db.ScanAll(t, {}, &entries));
      EXPECT_EQ(entries.size(), 19u);
      const DBStatistics now = db->statistics();
      EXPECT_LE(now.garbage_bytes_min, now.value_raw_bytes - 19 * 1000);
      EXPECT_GE(now.garbage_bytes_max, now.value_raw_bytes - 19 * 1000);
      if (round == 0) ASSERT_OK(db.CompactAll());
      if (round == 1) ASSERT_OK(db.CollectFrom(1, "/united"));
      db.executor().RunUntilIdle();
      if (round == 2) ASSERT_OK(db.CollectFrom(101, "/united"));
    }
    EXPECT_EQ(db->statistics().value_raw_bytes, 19'000u)
        << "the united parts must hold each value only once";
  }
}

// Two attempts restore one checkpoint; their new files must never share a name.
TEST(ValueScenario, OriginsAreNeverReused) {
  ValueDB db;
  ASSERT_OK(db.Open());
  ASSERT_OK(db->Put(db.Values(), {K(1, "a")}, Large("a")));
  const std::string checkpoint = db.TakeTo("/attempt1");
  db.TakeTo("/attempt2");
  const ImportSource source{checkpoint, 0, 15};
  std::set<std::string> names;
  size_t written = 0;
  for (const char* path : {"/attempt1", "/attempt2"}) {
    const std::vector<std::string> taken = db.ValueFileNames(path);
    ASSERT_EQ(taken.size(), 1u);
    ASSERT_OK(db.Open(std::span(&source, 1), path));
    for (int open = 0; open < 2; ++open) {
      if (open > 0) ASSERT_OK(db.Open({}, path));
      ASSERT_OK(db->Put(db.Values(), {K(1, "b" + std::to_string(open))}, Large("b")));
      ASSERT_OK(db.Flush());
    }
    for (const std::string& name : db.ValueFileNames(path)) {
      if (name == taken[0]) continue;
      names.insert(name.substr(name.rfind('/') + 1));
      ++written;
    }
  }
  EXPECT_EQ(written, 4u);
  EXPECT_EQ(names.size(), 4u);
  std::set<std::string> origins;
  for (const std::string& name : names) origins.insert(name.substr(0, name.find('-')));
  EXPECT_EQ(origins.size(), 4u) << "each open must have a new origin";
}

// A partially adopted file has bounds for its garbage until a compaction has rewritten its keys.
TEST(ValueScenario, GarbageOfFilesAdoptedInPart) {
  ValueDB db;
  ASSERT_OK(db.Open());
  for (int p = 0; p < 16; ++p)
    ASSERT_OK(db->Put(db.Values(), {K(p, "k")}, Large(std::to_string(p))));
  const std::string whole = db.TakeTo("/part");
  EXPECT_EQ(db->statistics().garbage_bytes_max, 0u);
  const ImportSource quarter{whole, 4, 7};
  ASSERT_OK(db.Open(std::span(&quarter, 1), "/part"));
  ASSERT_EQ(db->statistics().value_raw_bytes, 16'000u);
  EXPECT_LE(db->statistics().garbage_bytes_min, 12'000u);
  EXPECT_GE(db->statistics().garbage_bytes_max, 12'000u);
  ASSERT_OK(db.CompactAll());
  EXPECT_EQ(db->statistics().garbage_bytes_min, 12'000u);
  EXPECT_EQ(db->statistics().garbage_bytes_max, 12'000u);
  ASSERT_OK(db.CollectFrom(75, "/part"));
  db.executor().RunUntilIdle();
  EXPECT_EQ(db->statistics().value_raw_bytes, 4000u);
  EXPECT_EQ(db->statistics().garbage_bytes_min, 0u);
  for (int p = 4; p < 8; ++p) EXPECT_EQ(db.Get(db.Values(), K(p, "k")), Large(std::to_string(p)));
}

// All of a collector's blob files, or some of them, leave the version during its copy.
TEST(ValueScenario, BlobFilesMayGoWhileTheirFilesAreCollected) {
  for (const bool all : {false, true}) {
    ValueDB db;
    ASSERT_OK(db.Open());
    PutBesideGarbage(&db, db.Values(), Large("first"));
    ASSERT_OK(db->Put(db.Values(), {K(1, "second")}, Large("second")));
    ASSERT_OK(db->Put(db.Values(), {K(1, "x2")}, Large("x2")));
    ASSERT_OK(db.Flush());
    ASSERT_OK(db->Delete(db.Values(), {K(1, "x2")}));
    ASSERT_OK(db.CompactAll());
    ASSERT_EQ(db->statistics().value_files, 2u);
    const auto amid = std::make_shared<std::function<void()>>();
    AmidTheNextFile(&db, amid);
    ASSERT_OK(db.CollectFrom(50));
    Table* t = db.Values();
    std::shared_ptr<Snapshot> snapshot;
    *amid = [&] {
      EXPECT_EQ(db->statistics().running_collections, 1u);
      snapshot = *db->TakeSnapshot();
      EXPECT_OK(db->Put(t, {K(1, "k")}, Large("newer")));
      if (all) EXPECT_OK(db->Delete(t, {K(1, "second")}));
      EXPECT_OK(db.CompactAll());
    };
    ASSERT_EQ(db.executor().pending(), 1u) << "only the collection may be pending";
    db.executor().RunUntilIdle();
    ASSERT_FALSE(*amid);
    EXPECT_EQ(db->statistics().collections, 1u);
    EXPECT_EQ(db->statistics().background_errors, 0u);
    EXPECT_EQ(db.Get(t, K(1, "k")), Large("newer"));
    EXPECT_EQ(db.Get(t, K(1, "second")), all ? "NotFound" : Large("second"));
    EXPECT_EQ(db.Get(t, K(1, "k"), 0, snapshot.get()), Large("first"));
    EXPECT_EQ(db.Get(t, K(1, "second"), 0, snapshot.get()), Large("second"));
    snapshot.reset();
    ASSERT_OK(db.CollectFrom(101));
    EXPECT_EQ(db.ValueFileNames().size(), all ? 1u : 2u);
    t = db.Values();
    EXPECT_EQ(db.Get(t, K(1, "k")), Large("newer"));
    EXPECT_EQ(db.Get(t, K(1, "second")), all ? "NotFound" : Large("second"));
  }
}

// A collection in which every value died leaves no file, even before the next open.
TEST(ValueScenario, ACollectionInVainLeavesNoFile) {
  ValueDB db;
  ASSERT_OK(db.Open());
  PutBesideGarbage(&db, db.Values(), Large("k"));
  const auto amid = std::make_shared<std::function<void()>>();
  AmidTheNextFile(&db, amid);
  ASSERT_OK(db.CollectFrom(50));
  *amid = [&] {
    EXPECT_OK(db->Delete(db.Values(), {K(1, "k")}));
    EXPECT_OK(db.CompactAll());
  };
  db.executor().RunUntilIdle();
  ASSERT_FALSE(*amid);
  EXPECT_EQ(db->statistics().value_files, 0u);
  EXPECT_EQ(db->statistics().pinned_file_bytes, 0u);
  EXPECT_EQ(db->statistics().background_errors, 0u);
  EXPECT_TRUE(db.ValueFileNames().empty());
  ASSERT_OK(db.CollectFrom(50));
  EXPECT_EQ(db.Get(db.Values(), K(1, "k")), "NotFound");
}

// A flush, a move to another level and a snapshot with sealed runs happen during a collection.
TEST(ValueScenario, KeyFilesMayMoveWhileTheirValuesAreCollected) {
  ValueDB db;
  ASSERT_OK(db.Open());
  PutBesideGarbage(&db, db.Values(), Large("k"));
  const auto amid = std::make_shared<std::function<void()>>();
  AmidTheNextFile(&db, amid);
  ASSERT_OK(db.CollectFrom(50));
  Table* t = db.Values();
  std::shared_ptr<Snapshot> snapshot;
  *amid = [&] {
    EXPECT_OK(db->Put(t, {K(1, "sealed")}, Large("sealed")));
    snapshot = *db->TakeSnapshot();
    EXPECT_OK(db->Put(t, {K(1, "k2")}, Large("k2")));
  };
  db.executor().RunUntilIdle();
  ASSERT_FALSE(*amid);
  ASSERT_OK(db.Settle());
  for (Snapshot* at : {static_cast<Snapshot*>(nullptr), snapshot.get()}) {
    EXPECT_EQ(db.Get(t, K(1, "k"), 0, at), Large("k"));
    EXPECT_EQ(db.Get(t, K(1, "sealed"), 0, at), Large("sealed"));
    EXPECT_EQ(db.Get(t, K(1, "k2"), 0, at), at == nullptr ? Large("k2") : "NotFound");
  }
  EXPECT_EQ(db->statistics().value_raw_bytes, 3000u);
}

TEST(ValueScenario, ACollectionThatFailsLosesNothingAndIsTriedAgain) {
  const FaultFileSystem::Plan plans[] = {
      {.call = 1, .only = FileCall::kFlush, .path_contains = "MANIFEST"},
      {.fault = Fault::kNoSpace, .call = 1, .only = FileCall::kAppend, .path_contains = ".vsst"},
      {.call = 2, .only = FileCall::kRead, .path_contains = ".vsst"}};
  for (const FaultFileSystem::Plan& plan : plans) {
    ValueDB db;
    ASSERT_OK(db.Open());
    PutBesideGarbage(&db, db.Values(), Large("k"));
    ASSERT_OK(db.CollectFrom(50));
    const std::vector<std::string> old = db.ValueFileNames();
    db.faults.Arm(plan);
    db.executor().RunUntilIdle();
    ASSERT_EQ(db.faults.fired(), 1u);
    db.faults.Disarm();
    EXPECT_EQ(db->statistics().collections, 0u);
    EXPECT_EQ(db->statistics().background_errors, 1u);
    EXPECT_EQ(db->statistics().value_raw_bytes, 4000u);
    EXPECT_EQ(db.Get(db.Values(), K(1, "k")), Large("k"));
    db.clock().Advance(3'600'000);
    ASSERT_OK(db->Put(db.Values(), {K(1, "other")}, "v"));
    ASSERT_OK(db.Flush());
    db.executor().RunUntilIdle();
    EXPECT_EQ(db->statistics().collections, 1u);
    EXPECT_EQ(db->statistics().value_raw_bytes, 1000u);
    EXPECT_EQ(db->statistics().pinned_file_bytes, 0u);
    EXPECT_EQ(db.Get(db.Values(), K(1, "k")), Large("k"));
    ASSERT_EQ(db.ValueFileNames().size(), 1u);
    EXPECT_NE(db.ValueFileNames(), old);
  }
}

}  // namespace
}  // namespace lava::testing
