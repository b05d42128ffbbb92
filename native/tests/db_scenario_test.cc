// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include <set>

#include "base/coding.h"
#include "db_test_util.h"
#include "testing/fault_file_system.h"

// Cases that broke earlier designs, each under its own name.
namespace lava::testing {
namespace {

std::string Stamped(int64_t expires_ms, std::string_view value) {
  std::string bytes;
  PutBigEndian(&bytes, static_cast<uint64_t>(expires_ms), 8);
  return bytes + std::string(value);
}

// Every file moves down level by level until it is in the last one.
void SinkOneByOne(DBOptions* options) {
  options->l0_compaction_trigger = 1;
  options->level1_bytes = 1;
  options->level_multiplier = 2;
  options->level_count = 4;
}

uint32_t DeepestLevel(const DBStatistics& statistics) {
  uint32_t deepest = 0;
  for (uint32_t n = 0; n < 8; ++n)
    if (statistics.files_at_level[n] > 0) deepest = n;
  return deepest;
}

TEST(Scenario, ExpiredRecordStillHidesWhatIsDeeper) {
  SimDB db(1);
  SinkOneByOne(&db.options());
  ASSERT_OK(db.Open());
  Result<Table*> t = db->CreateTable(
      "t", {.kind = TableKind::kValue, .ttl_layout = TtlLayout::kValue, .ttl_ms = 1000});
  ASSERT_OK(t.status());
  const std::string alive = Stamped(1'000'000'000, "old"), expired = Stamped(1, "new");
  db->SetTime(1'000'000);
  ASSERT_OK(db->Put(*t, {K(1, "k")}, alive));
  ASSERT_OK(db.Flush());
  db.executor().RunUntilIdle();
  ASSERT_GE(DeepestLevel(db->statistics()), 2u);
  ASSERT_OK(db->Put(*t, {K(1, "k")}, expired));
  ASSERT_OK(db.Flush());
  for (bool more = true; more; more = db.executor().RunOne()) {
    const std::string found = db.Get(*t, K(1, "k"));
    EXPECT_TRUE(found == expired || found == "NotFound") << found;
  }
  ASSERT_OK(db.CompactAll());
  EXPECT_EQ(db.Get(*t, K(1, "k")), "NotFound");
  EXPECT_GE(db->statistics().records_expired, 1u);
}

TEST(Scenario, UnregisteredTablesAreNeverFiltered) {
  SimDB db(1);
  ASSERT_OK(db.Open());
  const TableOptions ttl{
      .kind = TableKind::kValue, .ttl_layout = TtlLayout::kValue, .ttl_ms = 1000};
  Result<Table*> t = db->CreateTable("t", ttl);
  ASSERT_OK(t.status());
  ASSERT_OK(db->Put(*t, {K(1, "k")}, Stamped(1, "v")));
  ASSERT_OK(db.Flush());
  ASSERT_OK(db.Open());
  db->SetTime(1'000'000);
  ASSERT_OK(db.CompactAll());
  EXPECT_EQ(db->statistics().estimated_records, 1u)
      << "the table is not registered in this opening";
  t = db->CreateTable("t", ttl);
  ASSERT_OK(t.status());
  EXPECT_EQ(db.Get(*t, K(1, "k")), Stamped(1, "v"));
  ASSERT_OK(db.CompactAll());
  EXPECT_EQ(db.Get(*t, K(1, "k")), "NotFound");
}

// Rescaling to two and back to one: the same file is imported twice, and the parts are merged.
TEST(Scenario, OneFileComesBackTwiceWithDisjointBounds) {
  SimDB db(2);
  ASSERT_OK(db.Open());
  Table* t = db.table("t");
  for (int p = 0; p < 16; ++p) ASSERT_OK(db->Put(t, {K(p, "k")}, "v" + std::to_string(p)));
  ASSERT_OK(db->DeleteRange(t, K(3, ""), K(12, "")));
  for (int p = 0; p < 16; ++p) ASSERT_OK(db->Put(t, {K(p, "l")}, "w" + std::to_string(p)));
  auto take = [&](const std::string& from, const std::string& to) {
    auto snapshot = *db->TakeSnapshot();
    EXPECT_OK(db.FlushSnapshot(snapshot.get()));
    std::vector<Snapshot::File> files;
    std::string metadata;
    EXPECT_OK(snapshot->Files(&files, &metadata));
    EXPECT_OK(db.memory().CreateDirectory(to));
    for (const Snapshot::File& file : files) {
      if (!*db.memory().Exists(to + "/" + file.name)) {
        EXPECT_OK(db.memory().Link(from + "/" + file.name, to + "/" + file.name));
      }
    }
    return metadata;
  };
  const std::string whole = take("/db", "/low");
  take("/db", "/high");
  std::vector<std::string> parts;
  const std::vector<ImportSource> halves = {{whole, 0, 7}, {whole, 8, 15}};
  for (int half = 0; half < 2; ++half) {
    const std::string path = half == 0 ? "/low" : "/high";
    ASSERT_OK(db.Open(std::span(&halves[half], 1), path));
    t = db.table("t");
    ASSERT_OK(db->Put(t, {K(half == 0 ? 1 : 9, "k")}, "changed"));
    EXPECT_EQ(db.Get(t, K(half == 0 ? 9 : 1, "k")), "NotFound")
        << "the import must exclude this key";
    parts.push_back(take(path, "/united"));
  }
  const std::vector<ImportSource> united = {{parts[0], 0, 7}, {parts[1], 8, 15}};
  ASSERT_OK(db.Open(united, "/united"));
  t = db.table("t");
  for (int round = 0; round < 2; ++round) {
    for (int p = 0; p < 16; ++p) {
      const std::string k = p == 1 || p == 9   ? "changed"
                            : p >= 3 && p < 12 ? "NotFound"
                                               : "v" + std::to_string(p);
      EXPECT_EQ(db.Get(t, K(p, "k")), k) << p;
      EXPECT_EQ(db.Get(t, K(p, "l")), "w" + std::to_string(p)) << p;
    }
    ASSERT_OK(db.CompactAll());
  }
}

// Rescaling from many to one: many files in L0 without overlapping keys.
TEST(Scenario, FilesOfDifferentPredecessorsDoNotStallWrites) {
  constexpr int kPredecessors = 5;
  SimDB db(2);
  db.options().l0_compaction_trigger = 10;
  std::vector<ImportSource> sources;
  ASSERT_OK(db.memory().CreateDirectory("/united"));
  for (int i = 0; i < kPredecessors; ++i) {
    const std::string path = "/p" + std::to_string(i);
    ASSERT_OK(db.Open({}, path));
    for (const char* value : {"1", "2"}) {
      for (int p = 3 * i; p < 3 * i + 3; ++p) ASSERT_OK(db->Put(db.table("t"), {K(p, "k")}, value));
      ASSERT_OK(db.Flush());
    }
    auto snapshot = *db->TakeSnapshot();
    ASSERT_OK(db.FlushSnapshot(snapshot.get()));
    std::vector<Snapshot::File> files;
    ImportSource source{.metadata = {}, .partition_first = 3u * i, .partition_last = 3u * i + 2};
    ASSERT_OK(snapshot->Files(&files, &source.metadata));
    sources.push_back(source);
    for (const Snapshot::File& file : files)
      ASSERT_OK(db.memory().Link(path + "/" + file.name, "/united/" + file.name));
  }
  db.options().l0_compaction_trigger = 2;
  db.options().l0_stall_trigger = 4;
  ASSERT_OK(db.Open(sources, "/united"));
  ASSERT_EQ(db->statistics().files_at_level[0], 2u * kPredecessors);
  ASSERT_OK(db->Put(db.table("t"), {K(1, "k")}, "3"));
  // No job has run. Only the files written from now on increase the number of files over the key.
  for (int i = 0; i < 2; ++i) {
    ASSERT_OK(db->Put(db.table("t"), {K(1, "k")}, "4"));
    auto snapshot = *db->TakeSnapshot();
    for (int job = 0; job < 100 && !snapshot->WaitFlushed(0).ok(); ++job) db.executor().RunOne();
    if (db->statistics().compactions > 0) return;  // the order of jobs let the compaction run first
  }
  EXPECT_TRUE(db->Put(db.table("t"), {K(1, "k")}, "5").IsBusy())
      << "four files over one key must stall writes";
}

TEST(Scenario, ListRulesWithinOneRun) {
  SimDB db(3);
  ASSERT_OK(db.Open());
  Table* t = db.table("l", TableKind::kList);
  ASSERT_OK(db->Put(t, {K(1, "a")}, ListOf({"old"})));
  ASSERT_OK(db->Put(t, {K(1, "b")}, ListOf({"old"})));
  ASSERT_OK(db->Put(t, {K(1, "c")}, ListOf({"old"})));
  ASSERT_OK(db->Put(t, {K(1, "d")}, ListOf({"old"})));
  ASSERT_OK(db.Flush());
  ASSERT_OK(db->Put(t, {K(1, "a")}, ListOf({"1"})));  // append on a put of this run: a put
  ASSERT_OK(db->Append(t, {K(1, "a")}, ListOf({"2"})));
  ASSERT_OK(db->Delete(t, {K(1, "b")}));  // on a delete of this run: a put
  ASSERT_OK(db->Append(t, {K(1, "b")}, ListOf({"3"})));
  ASSERT_OK(db->DeleteRange(t, K(1, "c"), K(1, "d")));  // on a range delete of this run: a put
  ASSERT_OK(db->Append(t, {K(1, "c")}, ListOf({"4"})));
  ASSERT_OK(db->Append(t, {K(1, "d")}, ListOf({"5"})));  // on nothing of this run: an operand
  for (int round = 0; round < 3; ++round) {
    EXPECT_EQ(db.Get(t, K(1, "a")), ListOf({"1", "2"}));
    EXPECT_EQ(db.Get(t, K(1, "b")), ListOf({"3"}));
    EXPECT_EQ(db.Get(t, K(1, "c")), ListOf({"4"}));
    EXPECT_EQ(db.Get(t, K(1, "d")), ListOf({"old", "5"}));
    if (round == 0) {
      ASSERT_OK(db.Flush());
    }
    if (round == 1) ASSERT_OK(db.CompactAll());
  }
}

// Such a list cannot be read, but flushes and compactions must not fail because of it.
TEST(Scenario, AListPastTheLimitHoldsUpNothing) {
  constexpr uint64_t kLimit = 5000;
  const std::string segment = ListOf({std::string(2000, 'e')});
  const std::string long_segment = ListOf({std::string(6000, 'e')});
  for (const bool has_base : {false, true}) {
    SimDB db(3);
    db.environment().list_bytes_max = kLimit;
    ASSERT_OK(db.Open());
    Table* t = db.table("l", TableKind::kList);
    const auto message = [&](const std::string& key) {
      std::string joined;
      return JoinList(db.Get(t, K(1, key)), &joined).ToString();
    };
    if (has_base) ASSERT_OK(db->Put(t, {K(1, "long")}, segment));
    ASSERT_OK(db->Put(t, {K(1, "short")}, segment));
    ASSERT_OK(db.Flush());
    for (int i = 0; i < 10; ++i) {
      if (i < 2) ASSERT_OK(db->Append(t, {K(1, "short")}, ListOf({"s"})));
      ASSERT_OK(db->Append(t, {K(1, "long")}, segment));
      ASSERT_OK(db.Flush());
    }
    ASSERT_OK(db->Append(t, {K(1, "once")}, long_segment));
    ASSERT_OK(db.Flush());
    ASSERT_OK(db.CompactAll());
    EXPECT_EQ(db->statistics().background_errors, 0u);
    for (const char* key : {"long", "once"}) {
      EXPECT_NE(message(key).find("the limit is " + std::to_string(kLimit)), std::string::npos)
          << key << ": " << message(key);
    }
    EXPECT_EQ(db.Get(t, K(1, "short")), segment + ListOf({"s", "s"}));
    ASSERT_OK(db->Append(t, {K(1, "long")}, segment));
    EXPECT_NE(message("long").find("the limit is"), std::string::npos) << message("long");
    ASSERT_OK(db->Put(t, {K(1, "long")}, segment));
    ASSERT_OK(db.CompactAll());
    EXPECT_EQ(db.Get(t, K(1, "long")), segment) << "a put must make the list readable again";
  }
}

TEST(Scenario, CompactAllAnswersWhoAsked) {
  SimDB db(4);
  ASSERT_OK(db.Open());
  Table* t = db.table("t");
  ASSERT_OK(db->Put(t, {K(1, "a")}, "1"));
  uint64_t given_up = 0;
  ASSERT_TRUE(db->CompactAll(0, &given_up).IsBusy());
  db.executor().RunUntilIdle();  // done, but not waited for
  ASSERT_OK(db->Put(t, {K(1, "b")}, "2"));
  ASSERT_OK(db.Flush());
  ASSERT_EQ(db->statistics().files_at_level[0], 1u);
  ASSERT_OK(db.CompactAll());
  EXPECT_EQ(db->statistics().files_at_level[0], 0u)
      << "the call must not get the answer of the earlier call";
  EXPECT_OK(db->CompactAll(0, &given_up));
  uint64_t unknown = 77;
  EXPECT_TRUE(db->CompactAll(0, &unknown).IsInvalidArgument());
  // Two concurrently: the second needs data written after the first began.
  uint64_t first = 0, second = 0;
  ASSERT_OK(db->Put(t, {K(1, "c")}, "3"));
  ASSERT_TRUE(db->CompactAll(0, &first).IsBusy());
  ASSERT_OK(db->Put(t, {K(1, "d")}, "4"));
  ASSERT_TRUE(db->CompactAll(0, &second).IsBusy());
  EXPECT_NE(first, second);
  ASSERT_OK(db.Finish([&] { return db->CompactAll(0, &second); }));
  EXPECT_EQ(db->statistics().files_at_level[0], 0u);
  EXPECT_OK(db->CompactAll(0, &first));
}

TEST(Scenario, CompactAllEndsBesideAWriter) {
  SimExecutor executor(5, SimExecutor::Order::kPriority);
  ChosenFileSystem memory;
  DBOptions options;
  options.lease = *Host::Get().Acquire(64 << 20, 0.5);
  options.file_system = &memory;
  options.l0_compaction_trigger = 100;
  options.l0_stall_trigger = 200;
  DBEnvironment environment;
  environment.executor = &executor;
  environment.wait_ms_max = 0;
  const auto db = std::move(OpenDB(options, "/db", {}, environment)).value();
  Table* t = *db->CreateTable("t", {});
  ASSERT_OK(db->Put(t, {K(1, "k")}, "v"));
  FlushTicket flush;
  ASSERT_TRUE(db->Flush(0, &flush).IsBusy());
  executor.RunUntilIdle();
  uint64_t ticket = 0;
  Status status;
  int calls = 0;
  for (; calls < 50; ++calls) {
    status = db->CompactAll(0, &ticket);
    if (!status.IsBusy()) break;
    // Each time a new file is in L0 before the compaction ends.
    ASSERT_OK(db->Put(t, {K(1, "k" + std::to_string(calls))}, "v"));
    const auto snapshot = *db->TakeSnapshot();
    ASSERT_TRUE(snapshot->WaitFlushed(0).IsBusy());
    ASSERT_TRUE(executor.RunOne());  // the flush goes first
    ASSERT_TRUE(executor.RunOne());
  }
  EXPECT_OK(status);
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(db->statistics().compactions, 1u);
  EXPECT_EQ(db->statistics().files_at_level[0], 1u)
      << "L0 may only have data that was written during the compaction";
  ASSERT_OK(db->Close());
}

TEST(Scenario, OnlyWhatAWriteWaitsForIsUrgent) {
  SimDB db(1);
  db.options().memtable_bytes = 16 << 10;
  db.options().sealed_runs_max = 2;
  db.options().l0_compaction_trigger = 2;
  db.options().l0_stall_trigger = 4;
  ASSERT_OK(db.Open());
  Table* t = db.table("t");
  const auto put_until_busy = [&](const std::function<bool()>& run_one) {
    Status status;
    for (int i = 0; i < 1000 && status.ok(); ++i) {
      EXPECT_EQ(db.executor().pending_urgent(), 0u);
      status = db->Put(t, {K(1, std::to_string(i))}, std::string(1000, 'v'));
      while (run_one()) {
      }
    }
    EXPECT_TRUE(status.IsBusy()) << status.ToString();
  };
  put_until_busy([] { return false; });
  EXPECT_GT(db.executor().pending_urgent(), 0u);
  EXPECT_EQ(db.executor().pending_urgent(), db.executor().pending())
      << "both flushes must be urgent";
  db.executor().RunUntilIdle();
  put_until_busy([&] { return db.executor().RunOne(os::Priority::kFlush); });
  EXPECT_GE(db->statistics().files_at_level[0], 4u);
  EXPECT_GT(db.executor().pending_urgent(), 0u) << "the compaction of L0 must be urgent";
  const DBStatistics s = db->statistics();
  EXPECT_EQ(s.flush_stall_us + s.compaction_stall_us, s.stall_us)
      << "each stall must have one cause";
  EXPECT_EQ(s.space_stall_us, 0u);
}

TEST(Scenario, RunsAreInstalledInSealOrder) {
  std::set<uint64_t> sealed_after_one_flush;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    SimDB db(seed);
    ASSERT_OK(db.Open());
    Table* t = db.table("t");
    ASSERT_OK(db->Put(t, {K(1, "k")}, "1"));
    auto first = *db->TakeSnapshot();
    ASSERT_OK(db->Put(t, {K(1, "k")}, "2"));
    auto second = *db->TakeSnapshot();
    ASSERT_EQ(db->statistics().sealed_runs, 2u);
    ASSERT_TRUE(second->WaitFlushed(0).IsBusy());
    ASSERT_TRUE(db.executor().RunOne());
    const DBStatistics after = db->statistics();
    EXPECT_EQ(after.flushes, 1u);
    EXPECT_EQ(after.sealed_runs + after.live_files, 2u)
        << "each run must be either sealed or in a file";
    sealed_after_one_flush.insert(after.sealed_runs);
    EXPECT_EQ(db.Get(t, K(1, "k")), "2");
    db.executor().RunUntilIdle();
    EXPECT_EQ(db->statistics().sealed_runs, 0u);
    EXPECT_EQ(db.Get(t, K(1, "k")), "2");
    EXPECT_EQ(db.Get(t, K(1, "k"), 0, first.get()), "1");
    EXPECT_EQ(db.Get(t, K(1, "k"), 0, second.get()), "2");
  }
  // 1: the older flush ran first; 2: the newer one ran first, and waited for the older.
  EXPECT_EQ(sealed_after_one_flush, (std::set<uint64_t>{1, 2}));
}

TEST(Scenario, RangeTombstonesHideOlderRunsOnly) {
  SimDB db(4);
  SinkOneByOne(&db.options());
  ASSERT_OK(db.Open());
  Table* t = db.table("t");
  ASSERT_OK(db->Put(t, {K(1, "a")}, "1"));
  ASSERT_OK(db->Put(t, {K(1, "b")}, "1"));
  ASSERT_OK(db.Flush());
  db.executor().RunUntilIdle();
  ASSERT_OK(db->Put(t, {K(1, "a")}, "2"));
  ASSERT_OK(db->DeleteRange(t, K(1, "a"), K(1, "c")));
  ASSERT_OK(db->Put(t, {K(1, "b")}, "3"));  // a range delete between two puts in one run
  ASSERT_OK(db->Put(t, {K(1, "c")}, "4"));
  ASSERT_OK(db.Flush());
  for (bool more = true; more; more = db.executor().RunOne()) {
    EXPECT_EQ(db.Get(t, K(1, "a")), "NotFound");
    EXPECT_EQ(db.Get(t, K(1, "b")), "3");
    EXPECT_EQ(db.Get(t, K(1, "c")), "4");
  }
  ASSERT_OK(db.CompactAll());
  EXPECT_EQ(db.Get(t, K(1, "a")), "NotFound");
  EXPECT_EQ(db.Get(t, K(1, "b")), "3");
}

TEST(Scenario, ClearingWhatIsNotThereWritesNothing) {
  SimDB db(5);
  ASSERT_OK(db.Open());
  Table* t = db.table("m");
  for (char c = 'a'; c < 'z'; c += 2)
    ASSERT_OK(db->Put(t, {K(1, std::string(1, c) + "x"), 2}, "v"));
  ASSERT_OK(db.Flush());
  const uint64_t blocks = db->statistics().block_reads;
  for (int i = 0; i < 100; ++i) {
    const std::string prefix = K(2, std::to_string(i));
    ASSERT_OK(db->Put(t, {prefix + "x", static_cast<uint32_t>(prefix.size())}, "v"));
    ASSERT_OK(db->DeletePrefix(t, prefix));
  }
  ASSERT_OK(db->DeletePrefix(t, K(1, "b")));
  EXPECT_EQ(db->statistics().estimated_records, 13u) << "only the flushed records must be left";
  EXPECT_LE(db->statistics().block_reads, blocks + 2)
      << "the deletions may read filters but no data";
  ASSERT_OK(db->DeletePrefix(t, K(1, "c")));
  EXPECT_EQ(db.Get(t, K(1, "cx"), 2), "NotFound");
  EXPECT_EQ(db.Get(t, K(1, "ex"), 2), "v");
  ASSERT_OK(db.CompactAll());
  EXPECT_EQ(db->statistics().estimated_records, 12u);
}

// The deletion is recorded at the prefix, before the begin of the scan.
TEST(Scenario, AScanFromWithinADeletedPrefixSeesTheDeletion) {
  SimDB db(5);
  ASSERT_OK(db.Open());
  Table* t = db.table("m");
  for (const char* key : {"pa", "pb", "pc", "q"}) ASSERT_OK(db->Put(t, {K(1, key), 2}, "v"));
  ASSERT_OK(db.Flush());
  ASSERT_OK(db->DeletePrefix(t, K(1, "p")));
  auto snapshot = *db->TakeSnapshot();  // the tombstone is in a sealed run
  const std::string lower = K(1, "pa");
  for (int round = 0; round < 2; ++round) {
    for (const bool exclusive : {false, true}) {
      ScanRequest request;
      request.lower = lower;
      request.lower_exclusive = exclusive;
      std::vector<Model::Entry> entries;
      ASSERT_OK(db.ScanAll(t, request, &entries));
      ASSERT_EQ(entries.size(), 1u);
      EXPECT_EQ(entries[0].first, K(1, "q"));
    }
    ASSERT_OK(db.Flush());
  }
}

// The active memtable contains only the deletion, and the page begins after the prefix itself.
TEST(Scenario, AScanBehindAPrefixSeesItsDeletion) {
  SimDB db(5);
  ASSERT_OK(db.Open());
  Table* t = db.table("m");
  for (const char* key : {"p", "pa", "pb"}) ASSERT_OK(db->Put(t, {K(1, key), 2}, "v"));
  ASSERT_OK(db.Flush());
  ASSERT_OK(db->DeletePrefix(t, K(1, "p")));
  for (const std::string& lower : {K(1, "p"), K(1, "pa")}) {
    for (const bool exclusive : {false, true}) {
      ScanRequest request;
      request.lower = lower;
      request.lower_exclusive = exclusive;
      request.prefix_bytes = 2;
      std::vector<Model::Entry> entries;
      ASSERT_OK(db.ScanAll(t, request, &entries));
      EXPECT_TRUE(entries.empty()) << lower.size() << exclusive;
    }
  }
  EXPECT_TRUE(db->ContainsPrefix(t, K(1, "p")).IsNotFound());
}

TEST(Scenario, ABatchNeverStraddlesASeal) {
  SimDB db(6);
  db.options().memtable_bytes = 64 << 10;
  ASSERT_OK(db.Open());
  Table* t = db.table("t");
  for (int round = 0; round < 60; ++round) {
    const std::string key = std::to_string(round);
    WriteBatch batch;
    for (int i = 0; i < 16; ++i) batch.Put(t, {K(i, key)}, std::string(700, 'v'));
    const uint64_t before = db->statistics().sealed_runs;
    ASSERT_OK(db->Write(batch));
    if (db->statistics().sealed_runs == before) continue;
    // The seal came before the batch: the disk after a crash now contains nothing of it.
    db.executor().RunUntilIdle();
    const std::unique_ptr<CrashableFileSystem> crashed = db.memory().CrashClone(CrashMode::kAll);
    SimDB again(1, crashed.get());
    ASSERT_OK(again.Open());
    std::vector<Model::Entry> entries;
    ASSERT_OK(again.ScanAll(again.table("t"), {}, &entries));
    EXPECT_EQ(entries.size(), static_cast<size_t>(16 * round));
  }
  EXPECT_GT(db->statistics().flushes, 3u);
}

TEST(Scenario, ABatchIsRefusedAsAWhole) {
  SimDB db(6);
  ASSERT_OK(db.Open());
  Table* t = db.table("t");
  WriteBatch batch;
  batch.Put(t, {K(1, "k")}, "v");
  batch.Put(t, {K(99, "k")}, "v");  // outside the instance's partitions
  EXPECT_TRUE(db->Write(batch).IsInvalidArgument());
  EXPECT_EQ(db.Get(t, K(1, "k")), "NotFound");
}

TEST(Scenario, CollidingTableIdsAreRefusedNamingBoth) {
  SimDB db(7);
  db.environment().table_id_of_name = [](std::string_view name) {
    return static_cast<uint64_t>(name.size());
  };
  ASSERT_OK(db.Open());
  ASSERT_OK(db->CreateTable("one", {}).status());
  const Status status = db->CreateTable("two", {}).status();
  EXPECT_TRUE(status.IsInvalidArgument());
  EXPECT_NE(status.message().find("'one' and 'two'"), std::string_view::npos);
  ASSERT_OK(db->CreateTable("three", {}).status());
  // The same with predecessors: tables are identified by ids, not by the order of registration.
  std::vector<ImportSource> sources(2);
  for (int i = 0; i < 2; ++i) {
    ASSERT_OK(db.Open({}, "/p" + std::to_string(i)));
    ASSERT_OK(db->CreateTable(i == 0 ? "abc" : "xyz", {}).status());
    auto snapshot = *db->TakeSnapshot();
    ASSERT_OK(db.FlushSnapshot(snapshot.get()));
    std::vector<Snapshot::File> files;
    ASSERT_OK(snapshot->Files(&files, &sources[i].metadata));
    sources[i].partition_first = i == 0 ? 0 : 8;
    sources[i].partition_last = i == 0 ? 7 : 15;
  }
  const Status import = db.Open(sources, "/united");
  EXPECT_TRUE(import.IsInvalidArgument());
  EXPECT_NE(import.message().find("'abc' and 'xyz'"), std::string_view::npos);
}

TEST(Scenario, AFailedFlushKeepsItsRunAndIsTriedAgain) {
  ChosenFileSystem memory;
  FaultFileSystem faults(&memory);
  SimDB db(8, &faults);
  ASSERT_OK(db.Open());
  Table* t = db.table("t");
  ASSERT_OK(db->Put(t, {K(1, "k")}, "v"));
  faults.Arm({.fault = Fault::kNoSpace, .forever = true, .path_contains = ".ksst"});
  auto snapshot = *db->TakeSnapshot();
  for (int i = 0; i < 3; ++i) {
    const Status status = db.FlushSnapshot(snapshot.get());
    EXPECT_TRUE(status.IsNoSpace()) << status.ToString();
    EXPECT_NE(status.message().find("/db"), std::string_view::npos) << status.ToString();
    EXPECT_EQ(db.Get(t, K(1, "k")), "v");
    EXPECT_EQ(db.Get(t, K(1, "k"), 0, snapshot.get()), "v");
  }
  faults.Disarm();
  ASSERT_OK(db.FlushSnapshot(snapshot.get()));
  std::vector<Snapshot::File> files;
  std::string metadata;
  ASSERT_OK(snapshot->Files(&files, &metadata));
  ASSERT_EQ(files.size(), 1u);
  EXPECT_FALSE(files[0].name.ends_with("-1.ksst"))
      << "the retry must use a new file number: " << files[0].name;
  size_t left = 0;
  for (const std::string& path : memory.Paths()) left += path.ends_with(".ksst");
  EXPECT_EQ(left, 1u);
}

TEST(Scenario, WritesGoOnWhenSpaceReturns) {
  ChosenFileSystem memory;
  FaultFileSystem faults(&memory);
  SimDB db(9, &faults);
  db.options().memtable_bytes = 32 << 10;
  ASSERT_OK(db.Open());
  Table* t = db.table("t");
  faults.Arm({.fault = Fault::kNoSpace, .forever = true});
  Status status;
  for (int i = 0; i < 2000 && status.ok(); ++i)
    status =
        db.Finish([&] { return db->Put(t, {K(1, std::to_string(i))}, std::string(500, 'v')); });
  EXPECT_TRUE(status.IsNoSpace()) << status.ToString();
  EXPECT_EQ(db.Get(t, K(1, "0")), std::string(500, 'v'));
  faults.Disarm();
  // Immediately, regardless of the number of failures and of the backoff: a microsecond is
  // sufficient.
  db.clock().AdvanceMicros(1);
  for (int i = 0; i < 500; ++i)
    ASSERT_OK(db.Finish([&] { return db->Put(t, {K(1, "n" + std::to_string(i))}, "w"); }));
  ASSERT_OK(db.Flush());
  EXPECT_EQ(db.Get(t, K(1, "0")), std::string(500, 'v'));
  EXPECT_EQ(db.Get(t, K(1, "n499")), "w");
}

TEST(Scenario, SnapshotsShareSealedRuns) {
  SimDB db(10);
  ASSERT_OK(db.Open());
  Table* t = db.table("t");
  ASSERT_OK(db->Put(t, {K(1, "k")}, "1"));
  auto a = *db->TakeSnapshot();
  auto b = *db->TakeSnapshot();
  EXPECT_EQ(db->statistics().sealed_runs, 1u) << "an empty memtable must not become a run";
  EXPECT_EQ(a->flushed().sealed_bytes, db->statistics().memtable_sealed_bytes);
  ASSERT_OK(db->Put(t, {K(1, "k")}, "2"));
  auto c = *db->TakeSnapshot();
  EXPECT_EQ(db->statistics().sealed_runs, 2u);
  const uint64_t sealed_bytes = db->statistics().memtable_sealed_bytes;
  EXPECT_GT(sealed_bytes, 0u);
  EXPECT_EQ(c->flushed().sealed_bytes, sealed_bytes);
  EXPECT_EQ(b->flushed().sealed_bytes, a->flushed().sealed_bytes);
  EXPECT_LT(b->flushed().sealed_bytes, sealed_bytes);
  EXPECT_EQ(c->flushed().file_bytes, 0u);
  ASSERT_OK(db.FlushSnapshot(c.get()));
  std::vector<std::vector<Snapshot::File>> files(3);
  std::string metadata;
  Snapshot* snapshots[] = {a.get(), b.get(), c.get()};
  for (int i = 0; i < 3; ++i) {
    ASSERT_OK(db.FlushSnapshot(snapshots[i]));
    ASSERT_OK(snapshots[i]->Files(&files[i], &metadata));
  }
  ASSERT_EQ(files[0].size(), 1u);
  ASSERT_EQ(files[1].size(), 1u);
  ASSERT_EQ(files[2].size(), 2u);
  EXPECT_EQ(files[0][0].name, files[1][0].name);
  for (int i = 0; i < 3; ++i) {
    uint64_t bytes = 0;
    for (const Snapshot::File& file : files[i]) bytes += file.bytes;
    EXPECT_EQ(snapshots[i]->flushed().file_bytes, bytes) << i;
  }
  auto d = *db->TakeSnapshot();
  EXPECT_EQ(d->flushed().sealed_bytes, 0u) << "all data is in files";
  ASSERT_OK(db.FlushSnapshot(d.get()));
  EXPECT_EQ(d->flushed().file_bytes, 0u);
  d.reset();
  EXPECT_EQ(db->statistics().flushes, 2u);
  // Memory is freed although the snapshots are still open; their files stay.
  EXPECT_EQ(db.options().lease->write_buffer_used_bytes(), db->statistics().memtable_active_bytes);
  ASSERT_OK(db.CompactAll());
  EXPECT_EQ(db.FileNames().size(), 3u);
  EXPECT_EQ(db.Get(t, K(1, "k"), 0, a.get()), "1");
  a.reset();
  EXPECT_EQ(db.FileNames().size(), 3u) << "snapshot b still names the file";
  b.reset();
  EXPECT_EQ(db.FileNames().size(), 3u) << "snapshot c still names the file";
  c.reset();
  EXPECT_EQ(db.FileNames().size(), 1u);
}

// A snapshot's files hide data in the version from which it was taken. A compaction that drops all
// of this data as expired, before the snapshot's own run is flushed, must not remove the run's
// deletions.
TEST(Scenario, ASnapshotKeepsItsDeletionsThoughTheVersionIsEmptyByThen) {
  int compacted_first = 0;
  for (uint64_t seed = 1; seed <= 16; ++seed) {
    SimDB db(seed);
    db.options().l0_compaction_trigger = 2;
    ASSERT_OK(db.Open());
    Result<Table*> t = db->CreateTable(
        "t", {.kind = TableKind::kValue, .ttl_layout = TtlLayout::kValue, .ttl_ms = 1000});
    ASSERT_OK(t.status());
    db->SetTime(1'000'000);
    const std::string value = Stamped(1'000'000, "v");
    ASSERT_OK(db->Put(*t, {K(1, "k")}, value));
    ASSERT_OK(db.Flush());
    ASSERT_OK(db->Put(*t, {K(1, "k")}, value));
    FlushTicket flush;
    EXPECT_TRUE(db->Flush(0, &flush).IsBusy());
    db.clock().Advance(1'000'000);
    db->SetTime(2'000'000);
    ASSERT_TRUE(db.executor().RunOne());
    ASSERT_EQ(db->statistics().files_at_level[0], 2u);
    ASSERT_OK(db->Delete(*t, {K(1, "k")}));
    auto snapshot = *db->TakeSnapshot();
    EXPECT_TRUE(snapshot->WaitFlushed(0).IsBusy());
    ASSERT_TRUE(db.executor().RunOne());
    compacted_first += db->statistics().compactions == 1 ? 1 : 0;
    ASSERT_OK(db.FlushSnapshot(snapshot.get()));
    std::vector<Snapshot::File> files;
    ImportSource source{.metadata = {}, .partition_first = 0, .partition_last = 15};
    ASSERT_OK(snapshot->Files(&files, &source.metadata));
    ASSERT_OK(db.memory().CreateDirectory("/copy"));
    for (const Snapshot::File& file : files)
      ASSERT_OK(db.memory().Link("/db/" + file.name, "/copy/" + file.name));
    snapshot.reset();
    ASSERT_OK(db.Open(std::span(&source, 1), "/copy"));
    t = db->CreateTable("t", {.kind = TableKind::kValue});
    ASSERT_OK(t.status());
    EXPECT_EQ(db.Get(*t, K(1, "k")), "NotFound") << "seed " << seed;
  }
  EXPECT_GT(compacted_first, 0) << "no seed tested the case";
}

TEST(Scenario, AdjacentRunsShareAFileButNotAcrossASnapshot) {
  SimDB db(11, nullptr);
  db.options().memtable_bytes = 1;
  db.options().sealed_runs_max = 100;
  ASSERT_OK(db.Open());
  Table* t = db.table("t");
  for (int i = 0; i < 8; ++i) ASSERT_OK(db->Put(t, {K(1, std::to_string(i))}, "1"));
  auto snapshot = *db->TakeSnapshot();
  for (int i = 0; i < 8; ++i) ASSERT_OK(db->Put(t, {K(1, std::to_string(i))}, "2"));
  ASSERT_OK(db.Flush());
  EXPECT_LT(db->statistics().flushes, 16u);
  for (int i = 0; i < 8; ++i) {
    EXPECT_EQ(db.Get(t, K(1, std::to_string(i))), "2");
    EXPECT_EQ(db.Get(t, K(1, std::to_string(i)), 0, snapshot.get()), "1");
  }
}

TEST(Scenario, ADroppedTableStaysDroppedOverRestart) {
  SimDB db(12);
  ASSERT_OK(db.Open());
  Table* t = db.table("t");
  ASSERT_OK(db->Put(t, {K(1, "k")}, "v"));
  ASSERT_OK(db.Flush());
  ASSERT_OK(db->DropTable(t));
  EXPECT_TRUE(db->Put(t, {K(1, "k")}, "v").IsClosed());
  EXPECT_TRUE(db->ListTables().empty());
  db.Forget("t");
  EXPECT_EQ(db.Get(db.table("t"), K(1, "k")), "NotFound");
  ASSERT_OK(db->DropTable(db.table("t")));
  ASSERT_OK(db.Flush());
  ASSERT_OK(db.Open());
  EXPECT_TRUE(db->ListTables().empty());
  EXPECT_EQ(db.Get(db.table("t"), K(1, "k")), "NotFound");
  ASSERT_OK(db.CompactAll());
  EXPECT_EQ(db->statistics().estimated_records, 0u);
}

}  // namespace
}  // namespace lava::testing
