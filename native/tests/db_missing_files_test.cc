// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include <set>

#include "base/coding.h"
#include "db_value_test_util.h"

// On-demand restore: an instance opens from metadata, and its files arrive while it works.
namespace lava::testing {
namespace {

/// An instance of imported files, some of which wait in another directory.
class RestoredDB : public ValueDB {
 public:
  /// Takes a checkpoint of the open instance into the directory of waiting files.
  void Checkpoint() {
    metadata_ = TakeTo("/origin");
    MetadataInfo info = *ReadMetadata(metadata_);
    names_.clear();
    for (const Snapshot::File& file : info.files) names_.push_back(file.name);
  }
  /// Opens an instance of the checkpoint, without the files for which missing(name) is true.
  template <typename IsMissing>
  Status Restore(IsMissing missing, uint32_t first = 0, uint32_t last = 15,
                 const std::string& path = "/new") {
    path_ = path;
    EXPECT_OK(files.CreateDirectory(path));
    ImportSource source{metadata_, first, last};
    for (const std::string& name : names_) {
      if (missing(name)) {
        source.missing.push_back(name);
      } else {
        EXPECT_OK(files.Link("/origin/" + name, path + "/" + name));
      }
    }
    return Open({&source, 1}, path);
  }
  Status RestoreWithout(std::string_view suffix) {
    return Restore([&](const std::string& name) { return name.ends_with(suffix); });
  }
  Status Bring(const std::string& name) {
    LAVA_RETURN_IF_ERROR(files.Link("/origin/" + name, path_ + "/" + name));
    return get()->FileArrived(name);
  }
  void BringAll() {
    for (const Snapshot::File& file : get()->MissingFiles()) ASSERT_OK(Bring(file.name));
  }
  /// Provides the files that the call requests until it requests no more; counts them.
  template <typename Call>
  Status WithFiles(Call call, std::set<std::string>* brought) {
    while (true) {
      Status status = call();
      if (!status.IsNeedsFile()) return status;
      const std::string name(status.message());
      EXPECT_TRUE(brought->insert(name).second) << "the call requested a file twice: " << name;
      LAVA_RETURN_IF_ERROR(Bring(name));
    }
  }
  const std::vector<std::string>& names() const { return names_; }
  const std::string& metadata() const { return metadata_; }

 private:
  std::string metadata_, path_ = "/new";
  std::vector<std::string> names_;
};

std::string KeyOf(int partition, int i) { return K(partition, "k" + std::to_string(100 + i)); }

// Small and large values of every partition, with separate files for each group of four partitions.
void Fill(RestoredDB* db, Table* t) {
  for (int p = 0; p < 16; ++p) {
    for (int i = 0; i < 10; ++i) {
      ASSERT_OK((*db)->Put(t, {KeyOf(p, i)}, i % 2 == 0 ? "small" : Large(std::to_string(p))));
    }
    if (p % 4 == 3) ASSERT_OK(db->Flush());
  }
}

// The only key file.
std::string KeyFileOf(RestoredDB* db) {
  for (const std::string& path : db->files.Paths())
    if (path.ends_with(".ksst")) return path.substr(path.rfind('/') + 1);
  return {};
}

size_t CountScanned(RestoredDB* db, Table* t) {
  std::vector<Model::Entry> entries;
  EXPECT_OK(db->ScanAll(t, {}, &entries));
  return entries.size();
}

TEST(DBMissingFiles, NothingIsOpenedAndReadsAskForWhatTheyNeed) {
  RestoredDB db;
  ASSERT_OK(db.Open());
  ASSERT_NO_FATAL_FAILURE(Fill(&db, db.Values()));
  db.Checkpoint();
  ASSERT_EQ(db.names().size(), 8u);
  db.faults.Arm({.fault = Fault::kIOError,
                 .call = 1,
                 .forever = true,
                 .only = FileCall::kOpenRandom,
                 .path_contains = "sst"});
  ASSERT_OK(db.RestoreWithout("sst"));
  EXPECT_EQ(db.faults.fired(), 0u) << "the open must read nothing but the metadata";
  db.faults.Disarm();
  EXPECT_EQ(db->MissingFiles().size(), 8u);
  EXPECT_TRUE(db->MissingFiles()[3].name.ends_with(".ksst"))
      << "key files must come first, because most reads need them";
  Table* t = db.Values();

  PinnedValue value;
  std::set<std::string> brought;
  const std::string small = KeyOf(1, 0), large = KeyOf(1, 1);
  ASSERT_TRUE(db->Get(t, {small}, &value).IsNeedsFile());
  ASSERT_OK(db.WithFiles([&] { return db->Get(t, {small}, &value); }, &brought));
  EXPECT_EQ(value.data(), "small");
  EXPECT_EQ(brought.size(), 1u);
  EXPECT_OK(db->Contains(t, {large}));  // needs no value file
  ASSERT_OK(db.WithFiles([&] { return db->Get(t, {large}, &value); }, &brought));
  EXPECT_EQ(value.data(), Large("1"));
  EXPECT_EQ(brought.size(), 2u);
  EXPECT_OK(db->Get(t, {KeyOf(2, 1)}, &value));  // in the same files
  EXPECT_TRUE(db->Get(t, {KeyOf(9, 0)}, &value).IsNeedsFile());
  // Records in memory hide those in files.
  ASSERT_OK(db->Put(t, {KeyOf(9, 0)}, "new"));
  EXPECT_OK(db->Get(t, {KeyOf(9, 0)}, &value));
  EXPECT_EQ(db->MissingFiles().size(), 6u);
  ASSERT_NO_FATAL_FAILURE(db.BringAll());
  EXPECT_TRUE(db->MissingFiles().empty());
  EXPECT_EQ(CountScanned(&db, t), 160u);
}

TEST(DBMissingFiles, EveryKindOfReadAsks) {
  RestoredDB db;
  ASSERT_OK(db.Open());
  Table* t = db.Values();
  ASSERT_OK(db->Put(t, {K(1, "prefixkey"), 7}, Large("value")));
  ASSERT_OK(db.Flush());
  db.Checkpoint();
  const std::string key = K(1, "prefixkey"), prefix = K(1, "prefix");
  PinnedValue value;
  ScanPage page;
  ScanRequest keys_only, of_prefix;
  keys_only.keys_only = true;
  of_prefix.lower = prefix;
  of_prefix.prefix_bytes = 7;
  std::shared_ptr<Snapshot> snapshot;
  const std::vector<std::function<Status(Table*)>> reads = {
      [&](Table* table) {
        return db->Get(table, {key, 7}, &value);
      },
      [&](Table* table) {
        return db->Get(table, {key, 7}, &value, snapshot.get());
      },
      [&](Table* table) {
        return db->Contains(table, {key, 7});
      },
      [&](Table* table) { return db->ContainsPrefix(table, prefix); },
      [&](Table* table) { return db->Scan(table, {}, &page); },
      [&](Table* table) { return db->Scan(table, keys_only, &page); },
      [&](Table* table) { return db->Scan(table, of_prefix, &page, snapshot.get()); },
  };
  for (size_t i = 0; i < reads.size(); ++i) {
    // Operations that return values also request the value file.
    const size_t needed = i == 2 || i == 3 || i == 5 ? 1 : 2;
    const std::string path = "/new" + std::to_string(i);
    ASSERT_OK(db.Restore([](const std::string&) { return true; }, 0, 15, path));
    t = db.Values();
    snapshot = *db->TakeSnapshot();
    std::set<std::string> brought;
    EXPECT_OK(db.WithFiles([&] { return reads[i](t); }, &brought));
    EXPECT_EQ(brought.size(), needed) << i;
    snapshot.reset();
  }
}

TEST(DBMissingFiles, WritesAskForNothing) {
  RestoredDB db;
  ASSERT_OK(db.Open());
  ASSERT_NO_FATAL_FAILURE(Fill(&db, db.Values()));
  db.Checkpoint();
  ASSERT_OK(db.RestoreWithout("sst"));
  Table* t = db.Values();
  ASSERT_OK(db->Put(t, {KeyOf(1, 0)}, "new"));
  ASSERT_OK(db->Delete(t, {KeyOf(1, 1)}));
  ASSERT_OK(db->DeletePrefix(t, K(2, "x")));
  ASSERT_OK(db->DeleteRange(t, K(3, ""), K(4, "")));
  ASSERT_OK(db.Flush());
  EXPECT_EQ(db->MissingFiles().size(), 8u);
  ASSERT_NO_FATAL_FAILURE(db.BringAll());
  EXPECT_EQ(db.Get(t, KeyOf(1, 0)), "new");
  EXPECT_EQ(db.Get(t, KeyOf(1, 1)), "NotFound");
  EXPECT_EQ(db.Get(t, KeyOf(3, 0)), "NotFound");
  EXPECT_EQ(CountScanned(&db, t), 160u - 1 - 10);
}

// A scan that skipped a missing file would show records that a deletion in it hides.
TEST(DBMissingFiles, WhatAMissingFileHidesIsNeverShown) {
  RestoredDB db;
  ASSERT_OK(db.Open());
  Table* t = db.Values();
  for (int p = 0; p < 16; ++p) ASSERT_OK(db->Put(t, {KeyOf(p, 0)}, "old"));
  ASSERT_OK(db.Flush());
  const std::string below = KeyFileOf(&db);
  ASSERT_OK(db->DeleteRange(t, K(2, ""), K(9, "")));
  ASSERT_OK(db.Flush());
  db.Checkpoint();
  ASSERT_OK(db.Restore([&](const std::string& name) { return name != below; }));
  t = db.Values();
  ScanPage page;
  PinnedValue value;
  EXPECT_TRUE(db->Scan(t, {}, &page).IsNeedsFile());
  EXPECT_TRUE(db->Get(t, {KeyOf(5, 0)}, &value).IsNeedsFile());
  EXPECT_OK(db->Get(t, {KeyOf(1, 0)}, &value));  // outside the deletion's bounds
  ASSERT_NO_FATAL_FAILURE(db.BringAll());
  EXPECT_EQ(CountScanned(&db, t), 9u);
}

TEST(DBMissingFiles, CompactionsLeaveMissingFilesAlone) {
  RestoredDB db;
  ASSERT_OK(db.Open());
  ASSERT_NO_FATAL_FAILURE(Fill(&db, db.Values()));
  db.Checkpoint();
  db.options().l0_compaction_trigger = 1;
  ASSERT_OK(db.RestoreWithout("sst"));
  Table* t = db.Values();
  ASSERT_OK(db->Put(t, {KeyOf(1, 0)}, "new"));
  ASSERT_OK(db.Flush());
  db.executor().RunUntilIdle();
  uint64_t ticket = 0;
  EXPECT_TRUE(db->CompactAll(0, &ticket).IsBusy());
  db.executor().RunUntilIdle();
  EXPECT_TRUE(db->CompactAll(0, &ticket).IsBusy()) << "the request waits for missing files";
  EXPECT_EQ(db->statistics().compactions + db->statistics().trivial_moves, 0u);
  std::vector<Snapshot::File> missing = db->MissingFiles();
  for (size_t i = 0; i < missing.size(); ++i) {
    // Value files may be missing: no value is moved.
    if (!missing[i].name.ends_with(".ksst")) continue;
    EXPECT_EQ(db->statistics().compactions, 0u);
    ASSERT_OK(db.Bring(missing[i].name));
    db.executor().RunUntilIdle();
  }
  EXPECT_GT(db->statistics().compactions, 0u) << "the last key file must start the compaction";
  ASSERT_OK(db.Finish([&] { return db->CompactAll(0, &ticket); }));
  EXPECT_EQ(db->statistics().background_errors, 0u);
  EXPECT_EQ(db->MissingFiles().size(), 4u);
  ASSERT_NO_FATAL_FAILURE(db.BringAll());
  EXPECT_EQ(db.Get(t, KeyOf(1, 0)), "new");
  EXPECT_EQ(CountScanned(&db, t), 160u);
}

TEST(DBMissingFiles, CollectionsWaitForAllKeyFilesAndPassMissingValueFilesBy) {
  RestoredDB db;
  ASSERT_OK(db.Open());
  Table* t = db.Values();
  for (int round = 0; round < 2; ++round) {
    for (int p = 0; p < 16; ++p) ASSERT_OK(db->Put(t, {KeyOf(p, round)}, Large("a")));
    for (int p = 0; p < 8; ++p) ASSERT_OK(db->Put(t, {KeyOf(p, round + 10)}, Large("b")));
    ASSERT_OK(db.Flush());
  }
  ASSERT_EQ(db.ValueFileNames().size(), 2u);
  for (int round = 0; round < 2; ++round)
    for (int p = 0; p < 16; ++p) ASSERT_OK(db->Delete(t, {KeyOf(p, round)}));
  ASSERT_OK(db.CompactAll());
  // A separate key file for a key without a value file.
  ASSERT_OK(db->Put(t, {KeyOf(15, 99)}, "small"));
  ASSERT_OK(db.Flush());
  db.Checkpoint();
  db.options().collection_garbage_percent = 25;
  std::vector<std::string> keys, values;
  for (const std::string& name : db.names())
    (name.ends_with(".ksst") ? keys : values).push_back(name);
  ASSERT_EQ(keys.size(), 2u);
  ASSERT_OK(db.Restore(
      [&](const std::string& name) { return name == keys.back() || name == values.back(); }));
  t = db.Values();
  db.executor().RunUntilIdle();
  EXPECT_EQ(db->statistics().collections, 0u) << "a key file is missing";
  ASSERT_OK(db.Bring(keys.back()));
  db.executor().RunUntilIdle();
  EXPECT_EQ(db->statistics().collections, 1u);
  EXPECT_EQ(db->MissingFiles().size(), 1u) << "the missing value file must be left alone";
  ASSERT_OK(db.Bring(values.back()));
  db.executor().RunUntilIdle();
  EXPECT_EQ(db->statistics().collections, 2u);
  EXPECT_EQ(db->statistics().background_errors, 0u);
  EXPECT_EQ(CountScanned(&db, t), 17u);
}

TEST(DBMissingFiles, OnlyTheRightFileArrives) {
  RestoredDB db;
  ASSERT_OK(db.Open());
  ASSERT_NO_FATAL_FAILURE(Fill(&db, db.Values()));
  db.Checkpoint();
  ASSERT_OK(db.RestoreWithout("sst"));
  Table* t = db.Values();
  for (const std::string& name : db.names()) {
    const Status absent = db->FileArrived(name);
    EXPECT_TRUE(absent.IsIOError()) << absent.ToString();
    const std::string whole = *db.files.Content("/origin/" + name);
    const std::string other = name.substr(0, name.rfind('-')) + "-9" + name.substr(name.rfind('.'));
    for (const std::string& wrong : {whole.substr(0, whole.size() - 1), std::string(whole + "x"),
                                     std::string(whole.size(), '\0'), std::string()}) {
      const auto file = db.files.Create("/new/" + name, 512);
      ASSERT_OK((*file)->Append(wrong));
      ASSERT_OK((*file)->Close());
      const Status status = db->FileArrived(name);
      EXPECT_TRUE(status.IsCorruption()) << status.ToString();
      EXPECT_NE(status.ToString().find(name), std::string::npos) << status.ToString();
      ASSERT_OK(db.files.Remove("/new/" + name));
    }
    EXPECT_TRUE(db->FileArrived(other + "x").IsInvalidArgument());
    PinnedValue value;
    ASSERT_OK(db.Bring(name));
    EXPECT_TRUE(db->FileArrived(name).IsInvalidArgument()) << "the file has already arrived";
  }
  EXPECT_EQ(CountScanned(&db, t), 160u);
}

// Another file of the same size with this name.
TEST(DBMissingFiles, AFileThatTheMetadataDoesNotDescribeIsRefused) {
  RestoredDB db;
  db.options().compression = db.options().bottom_compression = Compression::kNone;
  ASSERT_OK(db.Open());
  Table* t = db.Values();
  ASSERT_OK(db->Put(t, {K(1, "a")}, "one"));
  ASSERT_OK(db.Flush());
  ASSERT_OK(db->Put(t, {K(1, "b")}, "two"));
  ASSERT_OK(db.Flush());
  db.Checkpoint();
  ASSERT_OK(db.RestoreWithout("sst"));
  const std::vector<Snapshot::File> missing = db->MissingFiles();
  ASSERT_EQ(missing.size(), 2u);
  ASSERT_EQ(missing[0].bytes, missing[1].bytes);
  ASSERT_OK(db.files.Link("/origin/" + missing[1].name, "/new/" + missing[0].name));
  EXPECT_TRUE(db->FileArrived(missing[0].name).IsCorruption());
  ASSERT_OK(db.files.Remove("/new/" + missing[0].name));
  ASSERT_NO_FATAL_FAILURE(db.BringAll());
  EXPECT_EQ(db.Get(db.Values(), K(1, "a")), "one");
}

TEST(DBMissingFiles, WhatNothingNamesAnyMoreIsNotWaitedForAndRemoved) {
  RestoredDB db;
  ASSERT_OK(db.Open());
  Table* t = db.Values();
  for (int i = 0; i < 10; ++i) ASSERT_OK(db->Put(t, {KeyOf(1, i)}, Large("v")));
  ASSERT_OK(db.Flush());
  db.Checkpoint();
  ASSERT_OK(db.RestoreWithout(".vsst"));
  t = db.Values();
  ASSERT_OK(db->DeleteRange(t, K(1, ""), K(2, "")));
  const std::vector<Snapshot::File> missing = db->MissingFiles();
  ASSERT_EQ(missing.size(), 1u);
  ASSERT_OK(db.Settle());
  EXPECT_TRUE(db->MissingFiles().empty()) << "nothing references the missing file any more";
  ASSERT_OK(db.files.Link("/origin/" + missing[0].name, "/new/" + missing[0].name));
  EXPECT_EQ(db->FileArrived(missing[0].name).code(), Status::Code::kNotFound);
  EXPECT_FALSE(*db.files.Exists("/new/" + missing[0].name));
  EXPECT_TRUE(db->FileArrived(missing[0].name).IsInvalidArgument());
}

TEST(DBMissingFiles, ASnapshotKeepsWhatItNeedsThoughItIsMissing) {
  RestoredDB db;
  ASSERT_OK(db.Open());
  Table* t = db.Values();
  for (int i = 0; i < 10; ++i) ASSERT_OK(db->Put(t, {KeyOf(1, i)}, Large("v")));
  ASSERT_OK(db.Flush());
  db.Checkpoint();
  ASSERT_OK(db.RestoreWithout(".vsst"));
  t = db.Values();
  const std::string name = db->MissingFiles().at(0).name;
  auto snapshot = *db->TakeSnapshot();
  ASSERT_OK(db->DeleteRange(t, K(1, ""), K(2, "")));
  ASSERT_OK(db.Settle());
  EXPECT_TRUE(db->MissingFiles().empty());
  PinnedValue value;
  std::set<std::string> brought;
  ASSERT_OK(
      db.WithFiles([&] { return db->Get(t, {KeyOf(1, 1)}, &value, snapshot.get()); }, &brought));
  EXPECT_EQ(value.data(), Large("v"));
  EXPECT_EQ(brought, std::set<std::string>{name});
  value.Reset();
  snapshot.reset();
  ASSERT_OK(db.Flush());
  EXPECT_FALSE(*db.files.Exists("/new/" + name))
      << "the file must be removed with the last snapshot that needs it";
}

TEST(DBMissingFiles, AMissingFileInWhichAllHasExpiredIsDropped) {
  RestoredDB db;
  db.options().collection_garbage_percent = 25;
  const TableOptions expiring{.kind = TableKind::kMap,
                              .ttl_layout = TtlLayout::kValue,
                              .ttl_ms = 1000,
                              .separation_bytes = 100};
  ASSERT_OK(db.Open());
  Table* t = db.Values("t", expiring);
  std::string stamp;
  PutBigEndian(&stamp, static_cast<uint64_t>(db.clock().WallMillis()), 8);
  for (int i = 0; i < 10; ++i) ASSERT_OK(db->Put(t, {KeyOf(1, i)}, stamp + Large("v")));
  ASSERT_OK(db.Flush());
  db.Checkpoint();
  ASSERT_OK(db.RestoreWithout(".vsst"));
  t = db.Values("t", expiring);
  EXPECT_EQ(db->MissingFiles().size(), 1u);
  db.clock().Advance(2000);
  ASSERT_OK(db->Put(t, {K(9, "stir")}, stamp));
  ASSERT_OK(db.Flush());
  db.executor().RunUntilIdle();
  EXPECT_EQ(db->statistics().value_files_expired, 1u);
  EXPECT_TRUE(db->MissingFiles().empty());
  EXPECT_EQ(db.Get(t, KeyOf(1, 1)), "NotFound");
}

TEST(DBMissingFiles, ACheckpointSaysWhichOfItsFilesAreMissing) {
  RestoredDB db;
  ASSERT_OK(db.Open());
  ASSERT_NO_FATAL_FAILURE(Fill(&db, db.Values()));
  db.Checkpoint();
  ASSERT_OK(db.RestoreWithout("sst"));
  Table* t = db.Values();
  ASSERT_OK(db->Put(t, {KeyOf(1, 0)}, "new"));
  ASSERT_OK(db.Bring(db->MissingFiles()[0].name));
  const auto snapshot = *db->TakeSnapshot();
  ASSERT_OK(db.FlushSnapshot(snapshot.get()));
  std::vector<Snapshot::File> named;
  std::string metadata;
  ASSERT_OK(snapshot->Files(&named, &metadata));
  std::set<std::string> missing;
  for (const Snapshot::File& file : named) {
    EXPECT_EQ(file.missing, !*db.files.Exists("/new/" + file.name)) << file.name;
    if (file.missing) missing.insert(file.name);
  }
  EXPECT_EQ(missing.size(), 7u);
  const MetadataInfo described = *ReadMetadata(metadata);
  for (const Snapshot::File& file : described.files) EXPECT_FALSE(file.missing);
  // The checkpoint can be restored, again without the files that never arrived.
  ASSERT_OK(db.files.CreateDirectory("/again"));
  for (const Snapshot::File& file : named) {
    if (!file.missing) {
      ASSERT_OK(db.files.Link("/new/" + file.name, "/again/" + file.name));
    }
  }
  ImportSource source{metadata, 0, 15, {missing.begin(), missing.end()}};
  ASSERT_OK(db.Open({&source, 1}, "/again"));
  t = db.Values();
  for (const Snapshot::File& file : db->MissingFiles()) {
    ASSERT_OK(db.files.Link("/origin/" + file.name, "/again/" + file.name));
    ASSERT_OK(db->FileArrived(file.name));
  }
  EXPECT_EQ(db.Get(t, KeyOf(1, 0)), "new");
  EXPECT_EQ(CountScanned(&db, t), 160u);
}

TEST(DBMissingFiles, AfterACloseItDoesNotOpenWithoutThem) {
  RestoredDB db;
  ASSERT_OK(db.Open());
  ASSERT_NO_FATAL_FAILURE(Fill(&db, db.Values()));
  db.Checkpoint();
  ASSERT_OK(db.RestoreWithout("sst"));
  const std::vector<Snapshot::File> missing = db->MissingFiles();
  ASSERT_OK(db->Close());
  EXPECT_TRUE(db->MissingFiles().empty());
  EXPECT_TRUE(db->FileArrived(missing[0].name).IsClosed());
  const Status status = db.Open({}, "/new");
  EXPECT_TRUE(status.IsCorruption()) << status.ToString();
  EXPECT_NE(status.ToString().find(missing[0].name), std::string::npos) << status.ToString();
  for (const Snapshot::File& file : missing)
    ASSERT_OK(db.files.Link("/origin/" + file.name, "/new/" + file.name));
  ASSERT_OK(db.Open({}, "/new"));
  EXPECT_EQ(CountScanned(&db, db.Values()), 160u);
}

TEST(DBMissingFiles, OnlyFilesOfTheSourceMayBeMissing) {
  RestoredDB db;
  ASSERT_OK(db.Open());
  ASSERT_NO_FATAL_FAILURE(Fill(&db, db.Values()));
  db.Checkpoint();
  ImportSource source{db.metadata(), 0, 15, {"nothing-1.ksst"}};
  const Status status = db.Open({&source, 1}, "/new");
  EXPECT_TRUE(status.IsInvalidArgument()) << status.ToString();
  // Files that are not listed as missing must exist.
  source.missing = {db.names()[0]};
  EXPECT_TRUE(db.Open({&source, 1}, "/new").IsCorruption());
}

TEST(DBMissingFiles, APartAsksForNothingOutsideItsBounds) {
  RestoredDB db;
  ASSERT_OK(db.Open());
  ASSERT_NO_FATAL_FAILURE(Fill(&db, db.Values()));
  db.Checkpoint();
  ASSERT_OK(db.Restore([](const std::string&) { return true; }, 0, 5));
  EXPECT_EQ(db->MissingFiles().size(), 4u)
      << "the part needs two key files and their two value files";
  ASSERT_NO_FATAL_FAILURE(db.BringAll());
  EXPECT_EQ(CountScanned(&db, db.Values()), 60u);
}

// Rescaling to fewer subtasks: two parts name the same files, each for its own keys.
TEST(DBMissingFiles, AFileOfTwoPartsComesOnce) {
  RestoredDB db;
  ASSERT_OK(db.Open());
  Table* t = db.Values();
  for (int p = 0; p < 16; ++p) ASSERT_OK(db->Put(t, {KeyOf(p, 0)}, Large(std::to_string(p))));
  ASSERT_OK(db.Flush());
  db.Checkpoint();
  std::vector<ImportSource> halves(2);
  for (uint32_t half = 0; half < 2; ++half)
    halves[half] = {db.metadata(), 8 * half, 8 * half + 7, db.names()};
  ASSERT_OK(db.Open(halves, "/new"));
  EXPECT_EQ(db->MissingFiles().size(), 2u);
  t = db.Values();
  std::set<std::string> brought;
  PinnedValue value;
  for (int p = 0; p < 16; ++p) {
    ASSERT_OK(db.WithFiles([&] { return db->Get(t, {KeyOf(p, 0)}, &value); }, &brought));
    EXPECT_EQ(value.data(), Large(std::to_string(p)));
  }
  EXPECT_EQ(brought.size(), 2u);
  ASSERT_OK(db.Settle());
  EXPECT_EQ(CountScanned(&db, t), 16u);
}

// Missing files may contain garbage, so the instance must not report that there is no garbage.
TEST(DBMissingFiles, AFullInstanceWaitsForFilesBeforeItSaysSo) {
  RestoredDB db;
  db.options().collection_garbage_percent = 25;
  ASSERT_OK(db.Open());
  Table* t = db.Values();
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 50; ++i) ASSERT_OK(db->Put(t, {KeyOf(1, i)}, Large("v")));
    ASSERT_OK(db.Flush());
  }
  db.Checkpoint();
  db.options().space_high_bytes = 90 << 10;
  ASSERT_OK(db.RestoreWithout(".ksst"));
  t = db.Values();
  const auto put = [&] { return db->Put(t, {K(1, "new")}, "v"); };
  for (int i = 0; i < 20; ++i) {
    db.executor().RunUntilIdle();
    ASSERT_TRUE(put().IsBusy()) << i;
    db.clock().Advance(60'000);
  }
  ASSERT_NO_FATAL_FAILURE(db.BringAll());
  EXPECT_OK(db.Finish(put));
  EXPECT_EQ(CountScanned(&db, t), 51u);
}

// Regression from a history of metamorphic_test: writes waited for ever. A missing file left the
// version before any call had requested it, so the file was never provided.
TEST(DBMissingFiles, AFullInstanceDoesNotWaitForWhatNothingNamesAnyMore) {
  RestoredDB db;
  ASSERT_OK(db.Open());
  Table* t = db.Values();
  for (int i = 0; i < 10; ++i) ASSERT_OK(db->Put(t, {KeyOf(1, i)}, Large("v")));
  for (int i = 0; i < 50; ++i) ASSERT_OK(db->Put(t, {KeyOf(2, i)}, "small"));
  ASSERT_OK(db.Flush());
  db.Checkpoint();
  db.options().space_high_bytes = 1;
  ASSERT_OK(db.RestoreWithout(".vsst"));
  t = db.Values();
  ASSERT_OK(db->DeleteRange(t, K(1, ""), K(2, "")));
  ASSERT_OK(db.Settle());
  ASSERT_TRUE(db->MissingFiles().empty());
  const Status status = db.Finish([&] { return db->Put(t, {K(1, "new")}, "v"); });
  EXPECT_TRUE(status.IsNoSpace()) << status.ToString();
}

TEST(DBMissingFiles, ListsOfManyPartsArePutTogetherWhenTheseAreThere) {
  RestoredDB db;
  ASSERT_OK(db.Open());
  const TableOptions options = {.kind = TableKind::kList, .separation_bytes = 100};
  Table* list = db.Values("list", options);
  std::string whole;
  for (int i = 0; i < 20; ++i) {
    ASSERT_OK(db->Append(list, {K(1, "k")}, ListOf({Large(std::to_string(i))})));
    whole += ListOf({Large(std::to_string(i))});
    ASSERT_OK(db.Flush());
  }
  db.Checkpoint();
  ASSERT_OK(db.RestoreWithout(".vsst"));
  list = db.Values("list", options);
  ASSERT_OK(db.CompactAll());
  EXPECT_EQ(db->statistics().merged_value_bytes, 0u);
  EXPECT_EQ(db->statistics().background_errors, 0u);
  std::set<std::string> brought;
  PinnedValue value;
  ASSERT_OK(db.WithFiles([&] { return db->Get(list, {K(1, "k")}, &value); }, &brought));
  EXPECT_EQ(std::string(value.data()), whole);
  EXPECT_EQ(brought.size(), 20u);
  ASSERT_OK(db->Append(list, {K(1, "k")}, ListOf({"more"})));
  ASSERT_OK(db.CompactAll());
  EXPECT_GT(db->statistics().merged_value_bytes, 8'000u);
  EXPECT_EQ(db.Get(list, K(1, "k")), whole + ListOf({"more"}));
}

}  // namespace
}  // namespace lava::testing
