// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <optional>
#include <thread>

#include "db/verify_file.h"
#include "db_test_util.h"
#include "testing/chosen_file_system.h"
#include "testing/fault_file_system.h"

// Opening, closing, limits, and what an instance costs.
namespace lava::testing {
namespace {

TEST(DBLifecycle, ClosingGivesEverythingBack) {
  const HostStatistics before = Host::Get().statistics();
  EXPECT_EQ(before.charged_bytes, 0u);
  {
    SimDB db(1);
    ASSERT_OK(db.Open());
    Table* t = db.table("t");
    for (int i = 0; i < 1000; ++i)
      ASSERT_OK(db->Put(t, {K(1, std::to_string(i))}, std::string(100, 'v')));
    ASSERT_OK(db.Flush());
    auto snapshot = *db->TakeSnapshot();
    ASSERT_OK(db->Put(t, {K(1, "x")}, "v"));
    auto unflushed = *db->TakeSnapshot();
    EXPECT_EQ(db.Get(t, K(1, "7")), std::string(100, 'v'));
    EXPECT_GT(Host::Get().statistics().table_reader_bytes, 0u);
    EXPECT_GT(Host::Get().statistics().cache_used_bytes, 0u);
    EXPECT_GT(Host::Get().statistics().memtable_bytes, 0u);
    EXPECT_EQ(db->LeftOpen(), "");
    ASSERT_OK(db->Close());
    ASSERT_OK(db->Close());
    EXPECT_TRUE(db->LeftOpen().starts_with("snapshots open: 2\n  taken ")) << db->LeftOpen();
    EXPECT_EQ(Host::Get().statistics().memtable_bytes, 0u)
        << "open snapshots must hold no memory after the close";
    EXPECT_EQ(Host::Get().statistics().table_reader_bytes, 0u);
    EXPECT_TRUE(db->Put(t, {K(1, "x")}, "v").IsClosed());
    PinnedValue value;
    EXPECT_TRUE(db->Get(t, {K(1, "x")}, &value).IsClosed());
    EXPECT_TRUE(db->Get(t, {K(1, "x")}, &value, snapshot.get()).IsClosed());
    ScanPage page;
    EXPECT_TRUE(db->Scan(t, {}, &page).IsClosed());
    EXPECT_TRUE(db->TakeSnapshot().status().IsClosed());
    FlushTicket flush;
    EXPECT_TRUE(db->Flush(0, &flush).IsClosed());
    uint64_t ticket = 0;
    EXPECT_TRUE(db->CompactAll(0, &ticket).IsClosed());
    EXPECT_TRUE(db->CreateTable("u", {}).status().IsClosed());
    EXPECT_TRUE(unflushed->WaitFlushed(0).IsClosed());
    std::vector<Snapshot::File> files;
    std::string metadata;
    EXPECT_TRUE(snapshot->Files(&files, &metadata).IsClosed());
    db.CloseDB();
    EXPECT_TRUE(unflushed->WaitFlushed(0).IsClosed())
        << "a snapshot must report the close even after the end of the DB object";
  }
  const HostStatistics after = Host::Get().statistics();
  EXPECT_EQ(after.charged_bytes, 0u);
  EXPECT_EQ(after.leases_open, 0u);
  EXPECT_EQ(after.instances_open, 0u);
}

TEST(DBLifecycle, WhatCallersLeaveOpenIsTold) {
  SimDB db(1);
  ASSERT_OK(db.Open());
  std::vector<std::shared_ptr<Snapshot>> kept;
  for (int i = 0; i < 10; ++i) kept.push_back(*db->TakeSnapshot());
  kept.erase(kept.begin() + 4);
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  ASSERT_OK(db->Close());
  const std::string text = db->LeftOpen();
  EXPECT_TRUE(text.starts_with("snapshots open: 9\n")) << text;
  EXPECT_TRUE(text.ends_with("  and 1 taken later\n")) << text;
  int described = 0;
  for (size_t at = text.find("  taken "); at != std::string::npos; at = text.find("  taken ", at)) {
    at += 8;
    EXPECT_GE(std::stoll(text.substr(at)), 5) << text;
    ++described;
  }
  EXPECT_EQ(described, 8);
  // The program's name appears in stacks, which release builds do not keep.
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").filename();
#ifdef NDEBUG
  EXPECT_EQ(text.find(self), std::string::npos) << text;
#else
  EXPECT_NE(text.find(self), std::string::npos) << text;
#endif
}

TEST(DBLifecycle, WhatCallersGaveBackIsNotTold) {
  SimDB db(1);
  ASSERT_OK(db.Open());
  ASSERT_OK((*db->TakeSnapshot())->WaitFlushed(0));
  ASSERT_OK(db->Close());
  EXPECT_EQ(db->LeftOpen(), "");
}

TEST(DBLifecycle, AnIdleInstanceIsSmallAndHasNoThread) {
  auto lease = *Host::Get().Acquire(64 << 20, 0.5);
  ChosenFileSystem memory;
  std::vector<std::unique_ptr<DB>> instances;
  for (int i = 0; i < 50; ++i) {
    DBOptions options;
    options.lease = lease;
    options.file_system = &memory;
    auto db = DB::Open(options, "/" + std::to_string(i));
    ASSERT_OK(db.status());
    instances.push_back(std::move(db).value());
  }
  EXPECT_EQ(Host::Get().statistics().instances_open, 50u);
  EXPECT_LT(lease->used_bytes(), 50u * (64 << 10));
  instances.clear();
  EXPECT_EQ(Host::Get().statistics().instances_open, 0u);
  EXPECT_EQ(lease->used_bytes(), 0u);
}

TEST(DBLifecycle, OneHolderOfADirectory) {
  SimDB db(1);
  ASSERT_OK(db.Open());
  SimDB other(2, &db.memory());
  const Status status = other.Open();
  EXPECT_TRUE(status.IsBusy()) << status.ToString();
  EXPECT_NE(status.message().find("/db"), std::string_view::npos);
  db.CloseDB();
  ASSERT_OK(other.Open());
}

TEST(DBLifecycle, OptionsAreChecked) {
  SimDB db(1);
  const DBOptions good = db.options();
  const auto refused = [&](auto change) {
    db.options() = good;
    change(&db.options());
    const Status status = db.Open();
    EXPECT_TRUE(status.IsInvalidArgument()) << status.ToString();
  };
  refused([](DBOptions* o) { o->partition_bytes = 3; });
  refused([](DBOptions* o) { o->partition_last = 256; });
  refused([](DBOptions* o) { o->partition_first = 16; });
  refused([](DBOptions* o) { o->level_count = 9; });
  refused([](DBOptions* o) { o->block_bytes = 0; });
  refused([](DBOptions* o) { o->lease = nullptr; });
  db.options() = good;
  db.options().create_if_missing = false;
  EXPECT_TRUE(db.Open().IsNotFound());
  db.options().create_if_missing = true;
  ASSERT_OK(db.Open());
  db.options().partition_bytes = 2;
  EXPECT_TRUE(db.Open().IsInvalidArgument()) << "the instance has one partition byte";
}

TEST(DBLifecycle, LimitsAreNamed) {
  SimDB db(1);
  ASSERT_OK(db.Open());
  Table* t = db.table("t");
  const auto message = [](const Status& status) {
    EXPECT_TRUE(status.IsInvalidArgument()) << status.ToString();
    return std::string(status.message());
  };
  const std::string largest = K(1, std::string(kKeyBytesMax - 1, 'k'));
  ASSERT_OK(db->Put(t, {largest}, "v"));
  EXPECT_EQ(db.Get(t, largest), "v");
  ASSERT_OK(db.Flush());
  EXPECT_EQ(db.Get(t, largest), "v");
  EXPECT_NE(message(db->Put(t, {largest + "k"}, "v")).find(std::to_string(kKeyBytesMax)),
            std::string::npos);
  EXPECT_NE(message(db->Put(t, {K(16, "k")}, "v")).find("0 to 15"), std::string::npos);
  message(db->Put(t, {""}, "v"));
  message(db->Put(t, {K(1, "k"), 9}, "v"));
  message(db->Append(t, {K(1, "k")}, "v"));
  EXPECT_NE(message(db->CreateTable(std::string(65536, 'n'), {}).status()).find("65535"),
            std::string::npos);
  message(db->CreateTable("t", {.kind = TableKind::kList}).status());
  ScanPage page;
  ScanRequest request;
  request.entries_max = 0;
  message(db->Scan(t, request, &page));
  request.entries_max = 1;
  request.lower = "ab";
  request.prefix_bytes = 3;
  message(db->Scan(t, request, &page));
  WriteBatch batch;
  batch.Put(t, {largest + "k"}, "v");
  message(db->Write(batch));
  // A slice that claims more than the limit is refused before any byte of it is read.
  const std::string one = "x";
  EXPECT_NE(
      message(db->Put(t, {K(1, "k")}, Slice(one.data(), kValueBytesMax + 1))).find("2143289344"),
      std::string::npos);
}

// Regression: empty names and those above 4,096 bytes were refused.
TEST(DBLifecycle, TablesHaveAnyNameThatFlinksFormatsCarry) {
  SimDB db(1);
  ASSERT_OK(db.Open());
  const std::vector<std::string> names = {"", std::string(1, '\0'), "\xed\xa0\x80",
                                          std::string(4097, 'n'), std::string(65535, 'n')};
  for (const std::string& name : names) ASSERT_OK(db->Put(db.table(name), {K(1, "k")}, name));
  ASSERT_OK(db.Flush());
  ASSERT_OK(db.Open());
  EXPECT_EQ(db->ListTables().size(), names.size());
  for (const std::string& name : names) EXPECT_EQ(db.Get(db.table(name), K(1, "k")), name);
}

TEST(DBLifecycle, ASmallLeaseHoldsSeveralTimesItsBytes) {
  constexpr uint64_t kLeaseBytes = 4 << 20;
  ChosenFileSystem memory;
  DBOptions options;
  options.file_system = &memory;
  options.lease = *Host::Get().Acquire(kLeaseBytes, 0.5);
  auto db = DB::Open(options, "/db");
  ASSERT_OK(db.status());
  auto table = (*db)->CreateTable("t", {.separation_bytes = 512});
  ASSERT_OK(table.status());
  const auto key = [](int i) { return K(i % 16, "key" + std::to_string(i)); };
  for (int i = 0; i < 16'000; ++i) {
    Status done;
    do {
      done = (*db)->Put(*table, {key(i)}, std::string(i % 4 == 0 ? 2000 : 300, 'v'));
    } while (done.IsBusy());
    ASSERT_OK(done);
  }
  PinnedValue value;
  for (int i = 0; i < 16'000; i += 7) {
    ASSERT_OK((*db)->Get(*table, {key(i)}, &value));
    ASSERT_EQ(value.data().size(), i % 4 == 0 ? 2000u : 300u);
  }
  EXPECT_LE(Host::Get().statistics().charged_bytes, kLeaseBytes);
}

TEST(DBLifecycle, UnnamedFilesAreRemovedAndMissingOnesNamed) {
  SimDB db(1);
  ASSERT_OK(db.Open());
  ASSERT_OK(db->Put(db.table("t"), {K(1, "k")}, "v"));
  ASSERT_OK(db.Flush());
  db.CloseDB();
  const std::string name = db.FileNames().at(0);
  ASSERT_OK(db.memory().SetContent("/db/00000000000000000000000000000000-7.ksst", "garbage"));
  ASSERT_OK(db.memory().SetContent("/db/MANIFEST-999", "garbage"));
  ASSERT_OK(db.memory().SetContent("/db/mine.txt", "not ours"));
  ASSERT_OK(db.Open());
  EXPECT_EQ(db.FileNames(), std::vector<std::string>{name});
  EXPECT_FALSE(*db.memory().Exists("/db/MANIFEST-999"));
  EXPECT_TRUE(*db.memory().Exists("/db/mine.txt"));
  db.CloseDB();
  const std::string content = *db.memory().Content("/db/" + name);
  ASSERT_OK(db.memory().SetContent("/db/" + name, content.substr(0, content.size() - 1)));
  const Status truncated = db.Open();
  EXPECT_TRUE(truncated.IsCorruption());
  EXPECT_NE(truncated.message().find(name), std::string_view::npos);
  EXPECT_NE(truncated.message().find("offset"), std::string_view::npos);
  ASSERT_OK(db.memory().Remove("/db/" + name));
  const Status missing = db.Open();
  EXPECT_TRUE(missing.IsCorruption());
  EXPECT_NE(missing.message().find(name), std::string_view::npos);
}

// All jobs ended while a read still used the files that they made obsolete.
TEST(DBLifecycle, WhatAReadHeldLastGoesWithTheNextFlush) {
  ChosenFileSystem memory;
  FaultFileSystem files(&memory);
  SimDB db(1, &files);
  bool reading = false;
  files.SetHook([&](FileCall call) {
    if (!reading || call != FileCall::kRead) return;
    reading = false;
    EXPECT_OK(db.CompactAll());
  });
  ASSERT_OK(db.Open());
  Table* t = db.table("t");
  for (int round = 0; round < 2; ++round) {
    ASSERT_OK(db->Put(t, {K(1, "k")}, std::string(100, static_cast<char>('a' + round))));
    ASSERT_OK(db.Flush());
  }
  const auto count = [&] {
    uint64_t n = 0;
    for (const std::string& path : memory.Paths()) n += path.ends_with(".ksst");
    return n;
  };
  ASSERT_EQ(count(), 2u);
  reading = true;
  EXPECT_EQ(db.Get(t, K(1, "k")), std::string(100, 'b'));
  ASSERT_FALSE(reading);
  EXPECT_EQ(db->statistics().live_files, 1u);
  ASSERT_GT(count(), 1u);
  ASSERT_OK(db.Flush());
  EXPECT_EQ(count(), 1u);
}

TEST(DBLifecycle, WritesAnswerBusyAndGoOn) {
  SimDB db(1);
  db.options().memtable_bytes = 1;
  db.options().sealed_runs_max = 2;
  ASSERT_OK(db.Open());
  Table* t = db.table("t");
  Status status;
  int written = 0;
  for (; written < 10 && status.ok(); ++written)
    status = db->Put(t, {K(1, std::to_string(written))}, "v");
  EXPECT_TRUE(status.IsBusy()) << status.ToString();
  EXPECT_EQ(written, 4) << "one write is active, two are sealed, and one was refused";
  EXPECT_EQ(db.Get(t, K(1, "3")), "NotFound") << "the refused write must not be visible";
  db.executor().RunUntilIdle();
  ASSERT_OK(db->Put(t, {K(1, "3")}, "v"));
}

// The flush that began before the write did not know of the space freed since.
TEST(DBLifecycle, AWriteIsNotToldOfAnAttemptThatBeganBeforeIt) {
  ChosenFileSystem memory;
  FaultFileSystem files(&memory);
  SimDB db(1, &files);
  db.options().memtable_bytes = 1;
  db.options().sealed_runs_max = 1;
  ASSERT_OK(db.Open());
  Table* t = db.table("t");
  bool flushing = false, refused = false;
  files.SetHook([&](FileCall call) {
    if (!flushing || call != FileCall::kCreate) return;
    flushing = false;
    db.clock().Advance(1000);
    refused = db->Put(t, {K(1, "c")}, "v").IsBusy();
    db.clock().Advance(1000);
  });
  ASSERT_OK(db->Put(t, {K(1, "a")}, "v"));
  ASSERT_OK(db->Put(t, {K(1, "b")}, "v"));
  flushing = true;
  files.Arm({.fault = Fault::kNoSpace, .only = FileCall::kCreate});
  db.executor().RunUntilIdle();
  ASSERT_TRUE(refused);
  ASSERT_EQ(files.fired(), 1u);
  const Status again = db->Put(t, {K(1, "c")}, "v");
  EXPECT_TRUE(again.IsBusy()) << again.ToString();
  db.executor().RunUntilIdle();
  ASSERT_OK(db->Put(t, {K(1, "c")}, "v"));
}

TEST(DBLifecycle, AFlushDoesNotReportAFailureThatIsOlder) {
  ChosenFileSystem memory;
  FaultFileSystem files(&memory);
  SimDB db(1, &files);
  ASSERT_OK(db.Open());
  Table* t = db.table("t");
  ASSERT_OK(db->Put(t, {K(1, "a")}, "v"));
  const std::shared_ptr<Snapshot> snapshot = *db->TakeSnapshot();
  files.Arm({.fault = Fault::kIOError, .only = FileCall::kCreate});
  EXPECT_TRUE(db.FlushSnapshot(snapshot.get()).IsIOError());
  ASSERT_EQ(files.fired(), 1u);
  ASSERT_OK(db->Put(t, {K(1, "b")}, "v"));
  EXPECT_OK(db.Flush());
  EXPECT_EQ(db->statistics().live_files, 2u);
}

TEST(DBLifecycle, ARepeatedFlushWaitsForWhatTheFirstCallSealed) {
  SimDB db(1);
  ASSERT_OK(db.Open());
  Table* t = db.table("t");
  ASSERT_OK(db->Put(t, {K(1, "a")}, "v"));
  FlushTicket flush;
  EXPECT_TRUE(db->Flush(0, &flush).IsBusy());
  ASSERT_OK(db->Put(t, {K(1, "b")}, "v"));
  EXPECT_TRUE(db->Flush(0, &flush).IsBusy());
  ASSERT_OK(db.RunJobs());
  EXPECT_OK(db->Flush(0, &flush));
  EXPECT_EQ(db->statistics().flushes, 1u);
  EXPECT_EQ(db->statistics().sealed_runs, 0u) << "the second call must not seal the second record";
}

TEST(DBLifecycle, AFlushReportsAFailureBetweenItsCalls) {
  ChosenFileSystem memory;
  FaultFileSystem files(&memory);
  SimDB db(1, &files);
  ASSERT_OK(db.Open());
  Table* t = db.table("t");
  ASSERT_OK(db->Put(t, {K(1, "a")}, "v"));
  FlushTicket first, second;
  EXPECT_TRUE(db->Flush(0, &first).IsBusy());
  ASSERT_OK(db->Put(t, {K(1, "b")}, "v"));
  EXPECT_TRUE(db->Flush(0, &second).IsBusy());
  files.Arm({.fault = Fault::kIOError, .forever = true, .only = FileCall::kCreate});
  ASSERT_OK(db.RunJobs());
  ASSERT_GT(files.fired(), 0u);
  EXPECT_TRUE(db->Flush(0, &first).IsIOError());
  EXPECT_TRUE(db->Flush(0, &second).IsIOError()) << "each caller must be told";
}

TEST(DBLifecycle, L0StallsUntilItIsCompacted) {
  SimDB db(1);
  db.options().l0_compaction_trigger = 2;
  db.options().l0_stall_trigger = 3;
  ASSERT_OK(db.Open());
  Table* t = db.table("t");
  // Flushes run first and compactions wait, like in a pool with too few threads.
  std::vector<std::shared_ptr<Snapshot>> snapshots;
  for (int i = 0; i < 3; ++i) {
    ASSERT_OK(db->Put(t, {K(1, "k")}, std::to_string(i)));
    snapshots.push_back(*db->TakeSnapshot());
  }
  while (db->statistics().files_at_level[0] < 3 && db.executor().RunOne()) {
  }
  if (db->statistics().files_at_level[0] == 3) {
    EXPECT_TRUE(db->Put(t, {K(1, "k")}, "x").IsBusy());
  }
  db.executor().RunUntilIdle();
  ASSERT_OK(db->Put(t, {K(1, "k")}, "x"));
  EXPECT_EQ(db.Get(t, K(1, "k")), "x");
}

TEST(DBLifecycle, AnotherInstancesMemtableIsSealedForTheLease) {
  auto lease = *Host::Get().Acquire(8 << 20, 0.5);
  SimDB idle(1), busy(2);
  for (SimDB* db : {&idle, &busy}) {
    db->options().lease = lease;
    db->options().memtable_bytes = 64 << 20;
    ASSERT_OK(db->Open());
  }
  const std::string value(1000, 'v');
  for (int i = 0; i < 3000; ++i)
    ASSERT_OK(idle->Put(idle.table("t"), {K(1, std::to_string(i))}, value));
  const uint64_t held = lease->write_buffer_used_bytes();
  EXPECT_GT(held, 2u << 20);
  for (int i = 0; i < 3000; ++i) {
    ASSERT_OK(
        busy.Finish([&] { return busy->Put(busy.table("t"), {K(1, std::to_string(i))}, value); }));
    idle.executor().RunUntilIdle();
    busy.executor().RunUntilIdle();
    EXPECT_LT(lease->write_buffer_used_bytes(), 7u << 20);
  }
  EXPECT_GT(idle->statistics().flushes + busy->statistics().flushes, 0u);
}

// While flushes cannot keep up, only full memtables become files of L0, not partially filled ones.
TEST(DBLifecycle, AFullLeaseSealsNothingSmallBesideRunsThatWaitForTheirFlush) {
  SimDB db(1);
  ASSERT_OK(db.Open());
  Table* t = db.table("t");
  const std::string value(1000, 'v');
  auto fill = [&, n = 0]() mutable {
    Status status;
    while (status.ok()) status = db->Put(t, {K(1, std::to_string(n++))}, value);
    return status;
  };
  EXPECT_TRUE(fill().IsBusy());
  EXPECT_EQ(db->statistics().sealed_runs, 2u);
  EXPECT_GT(db->statistics().memtable_active_bytes, 0u)
      << "the lease may be exceeded by an eighth before a small memtable is sealed";
  // The writer's calls also request memory.
  db.executor().RunUntilIdle();
  EXPECT_EQ(db->statistics().files_at_level[0], 2u);
  EXPECT_TRUE(fill().IsBusy());
  db.executor().RunUntilIdle();
  EXPECT_EQ(db->statistics().flushes, 4u);
}

// The largest memtable may belong to an instance whose flushes will free more memory than a seal.
TEST(DBLifecycle, TheLeaseAsksInstancesWithoutUnflushedRuns) {
  auto lease = *Host::Get().Acquire(16 << 20, 0.5);
  SimDB idle(1), busy(2);
  for (SimDB* db : {&idle, &busy}) {
    db->options().lease = lease;
    ASSERT_OK(db->Open());
  }
  const std::string value(1000, 'v');
  for (int i = 0; i < 1500; ++i)
    ASSERT_OK(idle->Put(idle.table("t"), {K(1, std::to_string(i))}, value));
  Status status;
  for (int i = 0; status.ok(); ++i)
    status = busy->Put(busy.table("t"), {K(1, std::to_string(i))}, value);
  EXPECT_TRUE(status.IsBusy()) << status.ToString();
  EXPECT_GT(busy->statistics().memtable_active_bytes, idle->statistics().memtable_active_bytes);
  idle.executor().RunUntilIdle();
  EXPECT_EQ(idle->statistics().flushes, 1u);
  ASSERT_OK(busy->Put(busy.table("t"), {K(1, "x")}, value));  // that was enough
}

// Each of them holds too little to justify a flush, but together they would hold many times the
// lease.
TEST(DBLifecycle, ManySmallInstancesStayWithinTheirLease) {
  constexpr int kInstances = 100;
  auto lease = *Host::Get().Acquire(16 << 20, 0.5);
  std::vector<std::unique_ptr<SimDB>> instances;
  for (int i = 0; i < kInstances; ++i) {
    auto& db = instances.emplace_back(std::make_unique<SimDB>(i));
    db->options().lease = lease;
    ASSERT_OK(db->Open());
  }
  const std::string value(1000, 'v');
  uint64_t most = 0;
  for (int n = 0; n < 400; ++n) {
    for (const auto& instance : instances) {
      SimDB& db = *instance;
      ASSERT_OK(
          db.Finish([&] { return db->Put(db.table("t"), {K(1, std::to_string(n))}, value); }));
      most = std::max(most, lease->write_buffer_used_bytes());
    }
    // One thread for all: an instance is flushed after the others.
    for (int i = 0; i < 10; ++i) instances[(n * 10 + i) % kInstances]->executor().RunUntilIdle();
  }
  // The policy's limit (JudgeWrite), and as much again for arenas, which grow by doubling.
  EXPECT_LT(most, (9u << 20) + kInstances * 2 * (64u << 10));
  EXPECT_GT(most, 8u << 20) << "the test must use the whole lease";
}

// Real files and real threads.
TEST(DBLifecycle, WorksOnDisk) {
  const std::string path = ::testing::TempDir() + "/lava_lifecycle_" + std::to_string(getpid());
  std::filesystem::remove_all(path);
  auto lease = *Host::Get().Acquire(64 << 20, 0.5);
  std::optional<FileVolume> volume;
  if (OnLavaFs()) volume.emplace(path + ".volume", /*direct=*/true);
  fs::FileSystem* const files = volume ? volume->file_system() : fs::FileSystem::Posix();
  DBOptions options;
  options.lease = lease;
  options.memtable_bytes = 256 << 10;
  if (volume) options.file_system = files;
  for (int round = 0; round < 3; ++round) {
    auto opened = DB::Open(options, path);
    ASSERT_OK(opened.status());
    DB* db = opened->get();
    Table* t = *db->CreateTable("t", {});
    for (int i = 0; i < 3000; ++i) {
      Status status;
      do {
        status = db->Put(t, {K(static_cast<int>(i % 7), std::to_string(i))},
                         std::string(100, static_cast<char>('a' + round)));
      } while (status.IsBusy());
      ASSERT_OK(status);
    }
    UntilDone([&, flush = FlushTicket()]() mutable { return db->Flush(100, &flush); });
    UntilDone([&] { return db->Close(); });
  }
  auto again = DB::Open(options, path);
  ASSERT_OK(again.status());
  Table* t = *(*again)->CreateTable("t", {});
  PinnedValue value;
  ASSERT_OK((*again)->Get(t, {K(3, "3")}, &value));
  EXPECT_EQ(value.data(), std::string(100, 'c'));
  value.Reset();
  const std::vector<TableInfo> tables = (*again)->ListTables();
  again->reset();
  const std::vector<std::string> names = *files->List(path);
  for (const std::string& name : names)
    if (name.ends_with(".ksst")) {
      const std::string file = path + "/" + name;
      EXPECT_OK(volume ? VerifyStoredFile(files, file, tables) : VerifyFile(file, tables));
    }
  std::filesystem::remove_all(path);
}

}  // namespace
}  // namespace lava::testing
