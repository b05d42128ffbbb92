// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "base/coding.h"
#include "db/verify_file.h"
#include "db_value_test_util.h"

// Values in value files from the user's perspective: reads, freed space, and its time.
namespace lava::testing {
namespace {

/// Values of k0 to k<count - 1> in one value file, of which the first `live` are still referenced.
void FillWithGarbage(ValueDB* db, int count, int live, size_t bytes = 1000) {
  Table* t = db->Values();
  for (int i = 0; i < count; ++i) {
    const std::string key = "k" + std::to_string(i);
    ASSERT_OK((*db)->Put(t, {K(1, key)}, Large(key, bytes)));
  }
  ASSERT_OK(db->Flush());
  for (int i = live; i < count; ++i) ASSERT_OK((*db)->Delete(t, {K(1, "k" + std::to_string(i))}));
  ASSERT_OK(db->Settle());
  ASSERT_EQ((*db)->statistics().value_files, 1u);
}

// Calls that read references only.
void AskForKeysOnly(ValueDB* db, Table* t, Snapshot* snapshot) {
  EXPECT_OK((*db)->Contains(t, {K(1, "pa"), 2}, snapshot));
  EXPECT_OK((*db)->Contains(t, {K(1, "pb"), 2}, snapshot));
  EXPECT_TRUE((*db)->Contains(t, {K(1, "pc"), 2}, snapshot).IsNotFound());
  EXPECT_OK((*db)->ContainsPrefix(t, K(1, "p"), snapshot));
  EXPECT_OK((*db)->ContainsPrefix(t, K(1, "q"), snapshot));
  EXPECT_TRUE((*db)->ContainsPrefix(t, K(1, "r"), snapshot).IsNotFound());
  const std::string prefix = K(1, "p");
  for (const bool by_prefix : {false, true}) {
    ScanRequest request;
    request.keys_only = true;
    if (by_prefix) {
      request.lower = prefix;
      request.prefix_bytes = 2;
    }
    std::vector<Model::Entry> entries;
    EXPECT_OK(db->ScanAll(t, request, &entries, snapshot));
    EXPECT_EQ(entries.size(), by_prefix ? 2u : 3u);
    for (const Model::Entry& entry : entries) EXPECT_EQ(entry.second, "");
  }
}

TEST(DBValue, WhoAsksForKeysOnlyNeverReadsAValueFile) {
  ValueDB db;
  ASSERT_OK(db.Open());
  Table* t = db.Values();
  for (const char* key : {"pa", "pb", "q"}) ASSERT_OK(db->Put(t, {K(1, key), 2}, Large(key)));
  ASSERT_OK(db.Flush());
  const auto one_file = *db->TakeSnapshot();
  ASSERT_OK(db->Put(t, {K(1, "pb"), 2}, Large("new")));
  ASSERT_OK(db.Flush());
  db.ForbidValueReads();
  AskForKeysOnly(&db, t, one_file.get());  // nothing to merge
  AskForKeysOnly(&db, t, nullptr);         // two files
  EXPECT_EQ(db.faults.fired(), 0u);
  PinnedValue value;
  EXPECT_FALSE(db->Get(t, {K(1, "pb"), 2}, &value).ok())
      << "the values must be in value files, which cannot be read";
  EXPECT_GT(db.faults.fired(), 0u);
}

TEST(DBValue, AWarmGetIsOneReadOfTheRecord) {
  ValueDB db;
  ASSERT_OK(db.Open());
  Table* t = db.Values();
  for (int i = 0; i < 50; ++i) {
    const std::string key = "key" + std::to_string(100 + i);
    ASSERT_OK(db->Put(t, {K(1, key)}, Large(key, 300'000)));
  }
  ASSERT_OK(db.Flush());
  ASSERT_EQ(db.ValueFileNames().size(), 1u);
  for (int i = 0; i < 50; ++i) {  // every block of the index
    const std::string key = "key" + std::to_string(100 + i);
    ASSERT_EQ(db.Get(t, K(1, key)), Large(key, 300'000));
  }
  const RecordLocation location = LocationOf(&db.files, db.ValueFileNames()[0], "key117");
  ASSERT_GT(location.bytes, 300'000u);
  const DBStatistics before = db->statistics();
  const uint64_t reads = db.faults.calls(FileCall::kRead);
  EXPECT_EQ(db.Get(t, K(1, "key117")), Large("key117", 300'000));
  EXPECT_EQ(db.faults.calls(FileCall::kRead) - reads, 1u);
  EXPECT_EQ(db->statistics().value_reads - before.value_reads, 1u);
  EXPECT_EQ(db->statistics().value_bytes_read - before.value_bytes_read, location.bytes);
}

TEST(DBValue, ADamagedRecordFailsItsKeyAloneAndIsNamed) {
  ValueDB db;
  ASSERT_OK(db.Open());
  Table* t = db.Values();
  for (const char* key : {"a", "b", "c"}) ASSERT_OK(db->Put(t, {K(1, key)}, Large(key)));
  ASSERT_OK(db.Flush());
  const std::string path = db.ValueFileNames().at(0);
  const RecordLocation location = LocationOf(&db.files, path, "b");
  std::string content = *db.files.Content(path);
  content[location.offset + location.bytes / 2] ^= 4;
  ASSERT_OK(db.files.SetContent(path, content));
  const std::string offset = "offset " + std::to_string(location.offset);
  const auto names_it = [&](const Status& status) {
    return status.IsCorruption() && status.message().find(path) != Slice::npos &&
           status.message().find(offset) != Slice::npos;
  };
  for (int round = 0; round < 2; ++round) {
    PinnedValue value;
    const Status got = db->Get(t, {K(1, "b")}, &value);
    EXPECT_TRUE(names_it(got)) << got.ToString();
    EXPECT_EQ(db.Get(t, K(1, "a")), Large("a"));
    EXPECT_EQ(db.Get(t, K(1, "c")), Large("c"));
    std::vector<Model::Entry> entries;
    const Status scanned = db.ScanAll(t, {}, &entries);
    EXPECT_TRUE(names_it(scanned)) << scanned.ToString();
    ASSERT_OK(db.CompactAll());  // moves no value
  }
  const Status verified = VerifyStoredFile(&db.files, path, {});
  EXPECT_TRUE(names_it(verified)) << verified.ToString();
  ASSERT_OK(db->Put(t, {K(1, "b")}, "healed"));
  EXPECT_EQ(db.Get(t, K(1, "b")), "healed");
}

TEST(DBValue, OverwrittenAndDeletedInMemoryReachesNoValueFile) {
  ValueDB db;
  ASSERT_OK(db.Open());
  Table* t = db.Values();
  ASSERT_OK(db->Put(t, {K(1, "a")}, Large("first")));
  ASSERT_OK(db->Put(t, {K(1, "a")}, Large("second")));
  ASSERT_OK(db->Put(t, {K(1, "b")}, Large("gone")));
  ASSERT_OK(db->Delete(t, {K(1, "b")}));
  ASSERT_OK(db.Flush());
  EXPECT_EQ(db->statistics().value_raw_bytes, 1000u);
  EXPECT_EQ(db->statistics().garbage_bytes_max, 0u);
  EXPECT_GE(db->statistics().memtable_killed_bytes, 2000u);
  EXPECT_LT(db->statistics().memtable_killed_bytes, 2100u);
  EXPECT_EQ(db.Get(t, K(1, "a")), Large("second"));
}

TEST(DBValue, AFileThatNothingNamesIsDeletedUnread) {
  ValueDB db;
  db.options().collection_garbage_percent = 25;
  ASSERT_OK(db.Open());
  Table* t = db.Values();
  for (const char* key : {"a", "b", "c"}) ASSERT_OK(db->Put(t, {K(1, key)}, Large(key)));
  ASSERT_OK(db.Flush());
  ASSERT_EQ(db.ValueFileNames().size(), 1u);
  ASSERT_OK(db->DeleteRange(t, K(1, "a"), K(1, "d")));
  db.ForbidValueReads();
  ASSERT_OK(db.Settle());
  EXPECT_EQ(db.faults.fired(), 0u);
  EXPECT_EQ(db->statistics().collections, 0u);
  EXPECT_EQ(db->statistics().value_files, 0u);
  EXPECT_EQ(db->statistics().background_errors, 0u);
  EXPECT_TRUE(db.ValueFileNames().empty());
}

// Live values of a file in a checkpoint would be uploaded again; without a checkpoint only garbage
// counts.
TEST(DBValue, WhatACheckpointHasGathersMoreGarbageBeforeItIsCollected) {
  for (const bool checkpoint : {false, true}) {
    ValueDB db;
    db.options().collection_garbage_percent = 25;
    db.options().collection_upload_cost_percent = 300;  // which means up to 57 % of garbage
    ASSERT_OK(db.Open());
    Table* t = db.Values();
    const auto key = [](int i) { return K(1, "k" + std::to_string(i)); };
    for (int i = 0; i < 100; ++i) ASSERT_OK(db->Put(t, {key(i)}, Large("v")));
    ASSERT_OK(db.Flush());
    if (checkpoint) db.TakeTo("/checkpoint");
    for (int i = 0; i < 40; ++i) ASSERT_OK(db->Delete(t, {key(i)}));
    ASSERT_OK(db.Settle());
    EXPECT_EQ(db->statistics().collections, checkpoint ? 0u : 1u);
    for (int i = 40; i < 60; ++i) ASSERT_OK(db->Delete(t, {key(i)}));
    ASSERT_OK(db.Settle());
    EXPECT_EQ(db->statistics().collections, checkpoint ? 1u : 2u);
    EXPECT_EQ(db->statistics().value_raw_bytes, 40'000u);
  }
}

TEST(DBValue, OneLiveValueDoesNotKeepALargeFile) {
  ValueDB db;
  ASSERT_OK(db.Open());
  FillWithGarbage(&db, 100, 1);
  const DBStatistics before = db->statistics();
  EXPECT_EQ(before.value_raw_bytes, 100'000u);
  EXPECT_EQ(before.garbage_bytes_min, 99'000u);
  EXPECT_EQ(before.garbage_bytes_max, 99'000u);
  ASSERT_OK(db.CollectFrom(50));
  db.executor().RunUntilIdle();
  const DBStatistics after = db->statistics();
  EXPECT_EQ(after.collections, 1u);
  EXPECT_EQ(after.collection_values_dead, 99u);
  EXPECT_LT(after.collection_bytes_read, 1100u) << "dead values must not be read";
  EXPECT_EQ(after.value_raw_bytes, 1000u);
  EXPECT_EQ(after.value_files, 1u);
  EXPECT_EQ(db.ValueFileNames().size(), 1u);
  EXPECT_EQ(db.Get(db.Values(), K(1, "k0")), Large("k0"));
  ASSERT_OK(db.CollectFrom(1));
  db.executor().RunUntilIdle();
  EXPECT_EQ(db->statistics().collections, 0u) << "the output of a collection has no garbage";
}

// A compaction was planned with a version that still contains the file, and does not need it.
TEST(DBValue, WhatIsCollectedGoesWhileACompactionWaits) {
  ValueDB db;
  ASSERT_OK(db.Open());
  FillWithGarbage(&db, 100, 1);
  const std::vector<std::string> before = db.ValueFileNames();
  db.options().l0_compaction_trigger = 1;
  ASSERT_OK(db.CollectFrom(50));
  ASSERT_EQ(db->statistics().running_collections, 1u);
  ASSERT_OK(db->Put(db.Values(), {K(1, "k0")}, "inline"));
  ASSERT_OK(db->Put(db.Values(), {K(1, "k1")}, "inline"));
  FlushTicket flush;
  EXPECT_TRUE(db->Flush(0, &flush).IsBusy());
  ASSERT_TRUE(db.executor().RunOne(os::Priority::kFlush));
  ASSERT_EQ(db->statistics().running_compactions, 1u);
  ASSERT_TRUE(db.executor().RunOne(os::Priority::kCollection));
  EXPECT_EQ(db->statistics().collections, 1u);
  for (const std::string& name : db.ValueFileNames())
    EXPECT_EQ(std::count(before.begin(), before.end(), name), 0) << name;
  ASSERT_TRUE(db.executor().RunOne(os::Priority::kL0Compaction));
  EXPECT_EQ(db->statistics().compactions, 1u);
  EXPECT_EQ(db.Get(db.Values(), K(1, "k0")), "inline");
}

TEST(DBValue, BelowTheThresholdNothingIsCollected) {
  ValueDB db;
  ASSERT_OK(db.Open());
  FillWithGarbage(&db, 10, 8);
  ASSERT_OK(db.CollectFrom(21));
  db.executor().RunUntilIdle();
  EXPECT_EQ(db->statistics().collections, 0u);
  ASSERT_OK(db.CollectFrom(20));
  db.executor().RunUntilIdle();
  EXPECT_EQ(db->statistics().collections, 1u);
}

/// `count` keys with one letter and a digit.
void PutRow(ValueDB* db, char letter, int count) {
  for (int i = 0; i < count; ++i) {
    const std::string key = std::string(1, letter) + std::to_string(i);
    ASSERT_OK((*db)->Put(db->Values(), {K(1, key)}, Large(key)));
  }
}

// Garbage of a blob file may be in another file than the one chosen for it.
TEST(DBValue, ACollectionThatFreesNothingIsNotRepeated) {
  ValueDB db;
  ASSERT_OK(db.Open());
  PutRow(&db, 'a', 10);
  PutRow(&db, 'c', 8);
  PutRow(&db, 'x', 13);
  ASSERT_OK(db.Flush());
  PutRow(&db, 'b', 10);
  PutRow(&db, 'y', 9);
  ASSERT_OK(db.Flush());
  ASSERT_OK(db->DeleteRange(db.Values(), K(1, "x"), K(1, "z")));
  ASSERT_OK(db.CompactAll());
  ASSERT_OK(db.CollectFrom(25));  // both blob files into one file
  db.executor().RunUntilIdle();
  ASSERT_EQ(db->statistics().value_raw_bytes, 28'000u);
  ASSERT_EQ(db->statistics().value_files, 1u);
  ASSERT_OK(db.CollectFrom(101));
  ASSERT_OK(db->DeleteRange(db.Values(), K(1, "c"), K(1, "d")));
  ASSERT_OK(db.CompactAll());
  db.options().value_file_bytes = 13'000;
  ASSERT_OK(db.CollectFrom(25));  // a and the first part of b, and the rest of b
  db.executor().RunUntilIdle();
  ASSERT_EQ(db->statistics().value_files, 2u);
  for (const char* b : {"b0", "b1", "b2"}) ASSERT_OK(db->Delete(db.Values(), {K(1, b)}));
  ASSERT_OK(db.CompactAll());
  EXPECT_LT(db.executor().RunUntilIdle(1000), 10u);
  EXPECT_LE(db->statistics().collections, 2u);
  EXPECT_EQ(db.Get(db.Values(), K(1, "b2")), "NotFound");
  for (int i = 3; i < 10; ++i) {
    const std::string key = "b" + std::to_string(i);
    EXPECT_EQ(db.Get(db.Values(), K(1, key)), Large(key));
  }
}

TEST(DBValue, DroppingATableFreesItsValueFiles) {
  for (const bool shared : {false, true}) {
    ValueDB db;
    db.options().collection_garbage_percent = 25;
    ASSERT_OK(db.Open());
    Table* gone = db.Values("gone");
    Table* kept = db.Values("kept");
    for (int i = 0; i < 10; ++i)
      ASSERT_OK(db->Put(gone, {K(i, "k")}, Large("g" + std::to_string(i))));
    if (!shared) ASSERT_OK(db.Flush());
    ASSERT_OK(db->Put(kept, {K(3, "k")}, Large("kept")));
    ASSERT_OK(db.Flush());
    ASSERT_EQ(db.ValueFileNames().size(), shared ? 1u : 2u);
    ASSERT_OK(db->DropTable(gone));
    ASSERT_OK(db.Settle());
    EXPECT_EQ(db.ValueFileNames().size(), 1u) << shared;
    EXPECT_EQ(db->statistics().value_raw_bytes, 1000u) << shared;
    EXPECT_EQ(db->statistics().collections, shared ? 1u : 0u);
    EXPECT_EQ(db.Get(kept, K(3, "k")), Large("kept"));
  }
}

TEST(DBValue, ASnapshotReadsWhatWasCollectedSince) {
  ValueDB db;
  ASSERT_OK(db.Open());
  FillWithGarbage(&db, 4, 2);
  ASSERT_OK(db.CollectFrom(50));
  Table* t = db.Values();
  ASSERT_OK(db->Put(t, {K(1, "k1")}, Large("sealed only")));
  auto snapshot = *db->TakeSnapshot();
  const std::vector<std::string> old = db.ValueFileNames();
  ASSERT_TRUE(db.RunUntilTold(EventKind::kCollectionEnd));
  db.executor().RunUntilIdle();
  ASSERT_OK(db->Put(t, {K(1, "k0")}, "small now"));
  ASSERT_OK(db->Delete(t, {K(1, "k1")}));
  ASSERT_OK(db.Settle());
  EXPECT_EQ(db->statistics().value_files, 0u);
  EXPECT_GT(db->statistics().pinned_file_bytes, 0u);
  EXPECT_EQ(db.Get(t, K(1, "k0"), 0, snapshot.get()), Large("k0"));
  EXPECT_EQ(db.Get(t, K(1, "k1"), 0, snapshot.get()), Large("sealed only"));
  std::vector<Model::Entry> entries;
  ASSERT_OK(db.ScanAll(t, {}, &entries, snapshot.get()));
  EXPECT_EQ(entries, (std::vector<Model::Entry>{{K(1, "k0"), Large("k0")},
                                                {K(1, "k1"), Large("sealed only")}}));
  ASSERT_OK(db.FlushSnapshot(snapshot.get()));
  std::vector<Snapshot::File> named;
  std::string metadata;
  ASSERT_OK(snapshot->Files(&named, &metadata));
  size_t value_files = 0;
  for (const Snapshot::File& file : named) {
    EXPECT_EQ(*db.files.FileSize("/db/" + file.name), file.bytes);
    value_files += file.name.ends_with(".vsst") ? 1 : 0;
  }
  EXPECT_EQ(value_files, 2u) << "the snapshot names the collected file and the file of the flush";
  EXPECT_EQ(db.Get(t, K(1, "k0")), "small now");
  snapshot.reset();
  EXPECT_TRUE(db.ValueFileNames().empty()) << "nothing references the value files any more";
  EXPECT_EQ(db->statistics().pinned_file_bytes, 0u);
}

TEST(DBValue, AMissingOrForeignValueFileIsNamedAtOpen) {
  ValueDB db;
  ASSERT_OK(db.Open());
  ASSERT_OK(db->Put(db.Values(), {K(1, "a")}, Large("a")));
  ASSERT_OK(db.Flush());
  ASSERT_OK(db->Put(db.Values(), {K(1, "b")}, Large("b")));
  ASSERT_OK(db.Flush());
  const std::vector<std::string> paths = db.ValueFileNames();
  ASSERT_EQ(paths.size(), 2u);
  db.CloseDB();
  const std::string first = *db.files.Content(paths[0]);
  const auto refused = [&] {
    const Status status = db.Open();
    return status.IsCorruption() && status.message().find(paths[0]) != Slice::npos;
  };
  ASSERT_OK(db.files.SetContent(paths[0], *db.files.Content(paths[1])));
  EXPECT_TRUE(refused()) << "the file has the content of another file";
  ASSERT_OK(db.files.SetContent(paths[0], first.substr(1)));
  EXPECT_TRUE(refused()) << "the file has another length";
  ASSERT_OK(db.files.Remove(paths[0]));
  EXPECT_TRUE(refused()) << "the file is missing";
}

TEST(DBValue, ValueFilesThatNoManifestNamesAreRemovedAtOpen) {
  ValueDB db;
  ASSERT_OK(db.Open());
  ASSERT_OK(db->Put(db.Values(), {K(1, "a")}, Large("a")));
  ASSERT_OK(db.Flush());
  const std::vector<std::string> paths = db.ValueFileNames();
  db.CloseDB();
  const std::string stray = "/db/" + FileId{{1, 2}, 3}.ValueFileName();
  ASSERT_OK(db.files.Link(paths.at(0), stray));
  ASSERT_OK(db.Open());
  EXPECT_EQ(db.ValueFileNames(), paths);
  EXPECT_EQ(db.Get(db.Values(), K(1, "a")), Large("a"));
}

// A failed install keeps its files for the retry, in which they do not count as left over.
TEST(DBValue, FilesOfAFailedInstallCountOnceTheyAreInstalled) {
  ValueDB db;
  ASSERT_OK(db.Open());
  Table* t = db.Values();
  ASSERT_OK(db->Put(t, {K(1, "a")}, Large("a")));
  db.faults.Arm(
      {.fault = Fault::kIOError, .call = 1, .only = FileCall::kFlush, .path_contains = "MANIFEST"});
  EXPECT_FALSE(db.Flush().ok());
  ASSERT_EQ(db.faults.fired(), 1u);
  EXPECT_OK(db.Flush());
  EXPECT_EQ(db.Get(t, K(1, "a")), Large("a"));
  EXPECT_EQ(db->statistics().value_files, 1u);
  EXPECT_EQ(db->statistics().pinned_file_bytes, 0u);
}

}  // namespace
}  // namespace lava::testing
