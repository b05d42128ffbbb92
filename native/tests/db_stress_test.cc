// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "base/coding.h"
#include "db/environment.h"
#include "host/scheduler.h"
#include "lava/db.h"
#include "lava/list_format.h"
#include "testing/chosen_file_system.h"
#include "testing/count.h"
#include "testing/fault_file_system.h"
#include "testing/model.h"
#include "testing/random.h"
#include "testing/variable.h"

// Short runs with all kinds of threads and a close at any moment. Threads yield at random wherever
// the engine calls a file system or an executor. Also built with ThreadSanitizer. In some runs one
// call to the file system fails: threads that get the error stop, and the remaining data is still
// consistent.
//
// The writer's batches keep three invariants, which every consistent view must show: the balances
// sum to 0; the list has as many elements as the counter says; all entries of a map that is
// rewritten as a whole have one version, and their number is that of the version.
namespace lava::testing {
namespace {

#if defined(__SANITIZE_THREAD__)
constexpr uint64_t kRuns = 300;
#elif defined(__SANITIZE_ADDRESS__)
constexpr uint64_t kRuns = 150;
#else
constexpr uint64_t kRuns = 1000;
#endif
constexpr uint64_t kAccounts = 12;
constexpr uint64_t kSlots = 60;
constexpr uint32_t kScratchPrefix = 2;

// Each thread has its own generator.
void Yield(uint64_t seed) {
  static std::atomic<uint64_t> threads{0};
  thread_local Random random(seed + 7919 * ++threads);
  const uint64_t dice = random.Uniform(16);
  if (dice < 4) std::this_thread::yield();
  if (dice == 4) std::this_thread::sleep_for(std::chrono::microseconds(random.Uniform(100)));
}

class YieldingExecutor final : public os::Executor {
 public:
  YieldingExecutor(uint32_t threads, uint64_t seed)
      : seed_(seed), scheduler_(threads), jobs_(scheduler_.NewClient()) {}
  void Submit(os::Priority priority, std::function<void()> job) override {
    Yield(seed_);
    jobs_->Submit(priority, [seed = seed_, job = std::move(job)] {
      Yield(seed);
      job();
    });
  }
  void MakeUrgent(os::Priority priority) override {
    Yield(seed_);
    jobs_->MakeUrgent(priority);
  }
  void RetryThreads() override { jobs_->RetryThreads(); }
  uint32_t thread_count() const override { return jobs_->thread_count(); }
  os::Pacer* pacer() override { return jobs_->pacer(); }
  Scheduler& scheduler() { return scheduler_; }

 private:
  const uint64_t seed_;
  Scheduler scheduler_;
  const std::unique_ptr<os::Executor> jobs_;
};

std::string NumberKey(uint64_t partition, uint64_t n) {
  std::string key(1, static_cast<char>(partition));
  key.push_back('n');
  PutBigEndian(&key, n, 1);
  return key;
}

std::string Number(uint64_t n) {
  std::string bytes;
  PutBigEndian(&bytes, n, 8);
  return bytes;
}

uint64_t NumberOf(Slice bytes) { return bytes.size() == 8 ? DecodeBigEndian(bytes.data(), 8) : 0; }

class StressRun {
 public:
  explicit StressRun(uint64_t seed)
      : seed_(seed),
        random_(seed),
        files_(&memory_),
        executor_(static_cast<uint32_t>(random_.Between(1, 3)), seed) {
    if (random_.OneIn(8)) executor_.scheduler().SetCpu(0.2);
    files_.SetHook([seed](FileCall) { Yield(seed); });
    DrawOptions(seed);
    // As on a real file system: an open file can be read after its removal.
    memory_.SetRemovedFilesReadable(true);
  }

  void Play() {
    lease_ = *Host::Get().Acquire(lease_bytes_, 0.5);
    ASSERT_TRUE(OpenAs("/db", {}, &db_).ok());
    const uint64_t writes = random_.Uniform(250);
    std::vector<std::thread> threads;
    threads.emplace_back([this, seed = random_.Next()] { WriteOn(seed); });
    threads.emplace_back([this, seed = random_.Next()] { ReadOn(seed); });
    threads.emplace_back([this, seed = random_.Next()] { SnapshotOn(seed); });
    threads.emplace_back([this, seed = random_.Next()] { MaintainOn(seed); });
    const uint64_t administrator = random_.Next();
    // These runs take several times as long.
    if (seed_ % 4 == 0)
      threads.emplace_back([this, administrator] { AdministerOn(administrator); });
    if (faulty_) files_.Arm({.fault = fault_, .call = random_.Between(20, 600)});
    // A thread that only yields takes half of the processors' time from the threads for which it
    // waits.
    while (writes_ < writes && !writer_ended_ && !::testing::Test::HasFailure())
      std::this_thread::sleep_for(std::chrono::microseconds(20));
    if (random_.OneIn(2)) {
      stop_ = true;
      for (std::thread& thread : threads) thread.join();
      threads.clear();
      stop_ = false;
      if (!faulty_) CheckFilesAtRest();
    }
    collections_ += db_->statistics().collections;
    logged_ += db_->statistics().values_logged;
    Status closed;
    do {
      closed = db_->Close();
    } while (closed.IsBusy());
    EXPECT_TRUE(closed.ok()) << closed.ToString();
    for (std::thread& thread : threads) thread.join();
    db_.reset();
    faults_met_ += files_.fired();
    files_.Disarm();
    faulty_ = false;
    // Flushed data is consistent.
    if (!::testing::Test::HasFailure()) {
      const Status opened = OpenAs("/db", {}, &db_);
      ASSERT_TRUE(opened.ok()) << opened.ToString();
      CheckAll(nullptr);
    }
    db_.reset();
    lease_.reset();
  }

  /// Collections of value files in all runs.
  static inline uint64_t collections_ = 0, logged_ = 0;
  static inline uint64_t faults_met_ = 0;

 private:
  // Drawn from the seed by a separate generator, so that a run's other choices do not change.
  void DrawOptions(uint64_t seed) {
    Random random(seed * 31 + 7);
    const auto pick = [&random](std::initializer_list<uint64_t> values) {
      return values.begin()[random.Uniform(values.size())];
    };
    lease_bytes_ = pick({16 << 20, 16 << 20, 512 << 10, 64 << 10});
    options_.memtable_bytes = pick({4 << 10, 16 << 10, 16 << 10, 64 << 10});
    options_.block_bytes = static_cast<uint32_t>(pick({64, 256, 4096}));
    options_.target_file_bytes = pick({1 << 10, 4 << 10, 64 << 10});
    options_.level1_bytes = 8 << 10;
    options_.level_multiplier = 3;
    options_.level_count = static_cast<uint32_t>(pick({2, 3, 7}));
    options_.l0_compaction_trigger = static_cast<uint32_t>(pick({1, 2, 4}));
    options_.value_file_bytes = pick({300, 2 << 10, 64 << 10});
    options_.collection_garbage_percent = static_cast<uint32_t>(pick({0, 10, 10, 40}));
    options_.value_sorted_runs_max = static_cast<uint32_t>(pick({0, 1, 8}));
    options_.value_merge_scan_percent = 1'000'000;
    options_.space_high_percent = static_cast<uint32_t>(pick({0, 0, 101, 150}));
    options_.space_live_bytes_floor = pick({0, 10'000});
    options_.slowed_bytes_per_second = 64 << 20;
    options_.sync = random.OneIn(3);
    faulty_ = random.OneIn(4);
    fault_ = random.OneIn(2) ? Fault::kIOError : Fault::kNoSpace;
    options_.wal = static_cast<WalMode>(pick({0, 0, 0, 1, 2}));
    options_.large_value_bytes = pick({1, 10, 100});
  }
  Status OpenAs(const std::string& path, std::span<const ImportSource> imports,
                std::unique_ptr<DB>* db) {
    DBOptions options = options_;
    options.lease = lease_;
    options.file_system = &files_;
    DBEnvironment environment;
    environment.executor = &executor_;
    environment.wait_ms_max = 5;
    LAVA_ASSIGN_OR_RETURN(*db, OpenDB(options, path, imports, environment));
    return Status::OK();
  }
  // When no job runs, the instance names every existing file.
  void CheckFilesAtRest() {
    size_t there = 0, named = 0;
    for (int i = 0; i < 2000; ++i) {
      Ended(Retry([&, flush = FlushTicket()]() mutable { return db_->Flush(5, &flush); }));
      auto names = memory_.List("/db");
      ASSERT_TRUE(names.ok());
      there = std::count_if(names->begin(), names->end(), [](const std::string& name) {
        return name.ends_with(".ksst") || name.ends_with(".vsst");
      });
      named = db_->statistics().live_files;
      if (there == named) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    ADD_FAILURE() << there << " files exist, but the instance names " << named << " files";
  }
  struct Tables {
    Table *balances, *log, *map, *separated;
  };
  static Result<Tables> TablesOf(DB* db) {
    Tables tables{};
    LAVA_ASSIGN_OR_RETURN(tables.balances, db->CreateTable("balances", {}));
    LAVA_ASSIGN_OR_RETURN(tables.log, db->CreateTable("log", {.kind = TableKind::kList}));
    LAVA_ASSIGN_OR_RETURN(tables.map, db->CreateTable("map", {.kind = TableKind::kMap}));
    LAVA_ASSIGN_OR_RETURN(tables.separated, db->CreateTable("separated", {.separation_bytes = 1}));
    return tables;
  }
  template <typename Call>
  static Status Retry(Call call) {
    while (true) {
      const Status status = call();
      if (!status.IsBusy()) return status;
    }
  }
  // For a run with a failing call: a thread that got the error stops.
  bool Ended(const Status& status) const {
    EXPECT_TRUE(status.ok() || status.IsClosed() || (faulty_ && files_.fired() > 0))
        << status.ToString();
    return !status.ok() || stop_;
  }

  void WriteOn(uint64_t seed) {
    Random random(seed);
    auto tables = TablesOf(db_.get());
    if (!tables.ok()) {
      Ended(tables.status());
      writer_ended_ = true;
      return;
    }
    std::vector<uint64_t> balances(kAccounts, 0);
    for (uint64_t version = 1;; ++version) {
      const uint64_t from = random.Uniform(kAccounts), to = random.Uniform(kAccounts);
      const uint64_t amount = random.Uniform(1000);
      balances[from] -= amount;
      balances[to] += amount;
      WriteBatch batch;
      for (const uint64_t account : {from, to})
        batch.Put(tables->balances, {NumberKey(account % 3, account)}, Number(balances[account]));
      std::string element;
      AppendListSegment(ListSegment::kElement, random.Bytes(random.Uniform(40)), &element);
      batch.Append(tables->log, {NumberKey(1, 0)}, element);
      const std::string prefix = NumberKey(2, 0);
      if (version % 4 == 0) batch.DeletePrefix(tables->map, prefix);
      if (version % 4 == 0) {
        for (uint64_t i = 0; i <= version % 7; ++i)
          batch.Put(
              tables->map,
              {prefix + std::string(1, static_cast<char>(i)), static_cast<uint32_t>(prefix.size())},
              Number(version) + std::string(version % 50, 'v'));
      }
      // Some values are rewritten soon, some late, so that a value file dies gradually.
      const uint64_t slot = random.OneIn(4) ? random.Uniform(kSlots) : version % 4;
      batch.Put(tables->separated, {NumberKey(3, slot)}, Number(version) + std::string(slot, 's'));
      batch.Put(tables->balances, {NumberKey(0, 200)}, Number(version));
      // A Busy write has written nothing.
      if (Ended(Retry([&] { return db_->Write(batch); }))) break;
      ++writes_;
    }
    writer_ended_ = true;
  }

  void ReadOn(uint64_t seed) {
    Random random(seed);
    auto tables = TablesOf(db_.get());
    if (!tables.ok()) {
      Ended(tables.status());
      return;
    }
    uint64_t last = 0;
    PinnedValue value;
    while (true) {
      const Status status = db_->Get(tables->balances, {NumberKey(0, 200)}, &value);
      if (!status.IsNotFound()) {
        if (Ended(status)) return;
        const uint64_t version = NumberOf(value.data());
        EXPECT_GE(version, last) << "a value must not become older";
        last = version;
      } else {
        EXPECT_EQ(last, 0u) << "a value must not disappear";
      }
      ScanPage page;
      ScanRequest request;
      request.entries_max = static_cast<uint32_t>(random.Between(1, 5));
      if (Ended(db_->Scan(tables->balances, request, &page))) return;
      static_cast<void>(db_->statistics());
      if (random.OneIn(4)) std::this_thread::yield();
    }
  }

  void SnapshotOn(uint64_t seed) {
    Random random(seed);
    for (uint64_t n = 0;; ++n) {
      auto snapshot = db_->TakeSnapshot();
      if (Ended(snapshot.status())) return;
      if (!CheckAll(snapshot->get())) return;
      if (random.OneIn(2)) {
        if (Ended(Retry([&] { return (*snapshot)->WaitFlushed(5); }))) return;
        if (!CheckAll(snapshot->get())) return;
        if (random.OneIn(3) && !Import(snapshot->get(), "/copy" + std::to_string(n))) return;
      }
      std::this_thread::yield();
    }
  }

  bool Import(Snapshot* snapshot, const std::string& path) {
    std::vector<Snapshot::File> files;
    ImportSource source;
    if (Ended(snapshot->Files(&files, &source.metadata))) return false;
    if (Ended(files_.CreateDirectory(path))) return false;
    for (const Snapshot::File& file : files) {
      const Status linked = files_.Link("/db/" + file.name, path + "/" + file.name);
      if (linked.ok()) continue;
      if (!linked.IsNotFound() && Ended(linked)) return false;
      // A close unpins files, so only a snapshot that still works must have its files.
      if (!Ended(snapshot->Files(&files, &source.metadata)))
        ADD_FAILURE() << "a pinned file is missing: " << linked.ToString();
      return false;
    }
    std::unique_ptr<DB> copy;
    if (Ended(OpenAs(path, {&source, 1}, &copy))) return false;
    return Check(copy.get(), nullptr);
  }

  void MaintainOn(uint64_t seed) {
    Random random(seed);
    while (true) {
      uint64_t ticket = 0;
      const Status status =
          random.OneIn(3)
              ? Retry([&] { return db_->CompactAll(5, &ticket); })
              : Retry([&, flush = FlushTicket()]() mutable { return db_->Flush(5, &flush); });
      if (Ended(status)) return;
      if (random.OneIn(8))
        executor_.scheduler().SetThreadCount(static_cast<uint32_t>(random.Between(1, 3)));
      std::this_thread::sleep_for(std::chrono::microseconds(random.Uniform(500)));
    }
  }

  // A second writer, whose tables come and go, and requests for statistics.
  void AdministerOn(uint64_t seed) {
    Random random(seed);
    int64_t now_ms = 1'000'000;
    for (uint64_t n = 1;; ++n) {
      TableOptions options;
      options.separation_bytes = random.OneIn(2) ? 1 : 0;
      auto created = db_->CreateTable("scratch", options);
      if (Ended(created.status())) return;
      options.ttl_layout = TtlLayout::kValue;
      options.ttl_ms = 10;
      auto fading = db_->CreateTable("fading", options);
      if (Ended(fading.status())) return;
      // The content left by the previous round.
      const std::string first = NumberKey(5, 0), behind = NumberKey(5, 200);
      if (Ended(Retry([&] { return db_->DeleteRange(*created, first, behind); }))) return;
      const uint64_t keys = random.Between(1, 20);
      for (uint64_t i = 0; i < keys; ++i) {
        const auto put = [&](Table* table) {
          return Retry([&] {
            return db_->Put(table, {NumberKey(5, i), kScratchPrefix},
                            Number(static_cast<uint64_t>(now_ms)) + "s");
          });
        };
        if (Ended(put(*created)) || Ended(put(*fading))) return;
      }
      db_->SetTime(now_ms += 4);
      if (!CheckScratch(*created, keys)) return;
      options = (*created)->options();
      options.separation_bytes = kSeparationAutomatic;
      if (Ended(db_->SetTableOptions(*created, options))) return;
      const std::string from = NumberKey(5, keys / 2);
      if (Ended(Retry([&] { return db_->DeleteRange(*created, from, behind); }))) return;
      if (!CheckScratch(*created, keys / 2)) return;
      static_cast<void>(db_->table_statistics(*fading));
      if (random.OneIn(3) && Ended(Retry([&] { return db_->DropTable(*created); }))) return;
      if (random.OneIn(3)) {
        auto again = db_->CreateTable("scratch", {});
        if (Ended(again.status())) return;
        if (random.OneIn(2) && Ended(Retry([&] { return db_->DropTable(*again); }))) return;
      }
      // Otherwise this would take most of a run's time.
      std::this_thread::sleep_for(std::chrono::microseconds(random.Uniform(4000)));
    }
  }

  // Checks a table with a single writer: the keys below the number exist, the next one does not.
  bool CheckScratch(Table* table, uint64_t keys) {
    std::vector<std::string> bytes;
    for (uint64_t i = 0; i <= keys; ++i) bytes.push_back(NumberKey(5, i));
    PinnedValue value;
    for (uint64_t i = 0; i <= keys; ++i) {
      const Status got = db_->Get(table, {bytes[i], kScratchPrefix}, &value);
      if (!got.IsNotFound() && Ended(got)) return false;
      EXPECT_EQ(got.ok(), i < keys) << i << " of " << keys;
    }
    const Status contained = db_->Contains(table, {bytes[0], kScratchPrefix});
    if (!contained.IsNotFound() && Ended(contained)) return false;
    EXPECT_EQ(contained.ok(), keys > 0);
    const Status prefix = db_->ContainsPrefix(table, NumberKey(5, 0).substr(0, kScratchPrefix));
    if (!prefix.IsNotFound() && Ended(prefix)) return false;
    EXPECT_EQ(prefix.ok(), keys > 0);
    return true;
  }

  bool CheckAll(Snapshot* snapshot) { return Check(db_.get(), snapshot); }

  // Returns false when the instance was closed in the meantime.
  bool Check(DB* db, Snapshot* snapshot) {
    auto tables = TablesOf(db);
    if (!tables.ok()) return !Ended(tables.status());
    std::vector<Model::Entry> balances, entries;
    if (Ended(ScanWhole(db, tables->balances, snapshot, &balances))) return false;
    uint64_t sum = 0, version = 0;
    for (const Model::Entry& entry : balances) {
      if (entry.first == NumberKey(0, 200)) {
        version = NumberOf(entry.second);
      } else {
        sum += NumberOf(entry.second);
      }
    }
    EXPECT_EQ(sum, 0u) << "a batch must not be visible in part";
    PinnedValue log;
    const Status status = db->Get(tables->log, {NumberKey(1, 0)}, &log, snapshot);
    if (!status.IsNotFound() && Ended(status)) return false;
    const auto elements = ListElements(status.ok() ? log.data() : Slice());
    EXPECT_TRUE(elements.ok());
    if (elements.ok()) {
      EXPECT_EQ(elements.value().size(), version) << "number of list elements";
    }
    if (Ended(ScanWhole(db, tables->separated, snapshot, &entries))) return false;
    uint64_t newest = 0;
    for (const Model::Entry& entry : entries) {
      newest = std::max(newest, NumberOf(Slice(entry.second).substr(0, 8)));
      EXPECT_EQ(entry.second.size(), 8 + static_cast<unsigned char>(entry.first.back()));
    }
    EXPECT_EQ(newest, version) << "version of the values in value files";
    entries.clear();
    if (Ended(ScanWhole(db, tables->map, snapshot, &entries))) return false;
    const uint64_t rewritten = version / 4 * 4;
    EXPECT_EQ(entries.size(), rewritten == 0 ? 0 : rewritten % 7 + 1) << "number of map entries";
    for (const Model::Entry& entry : entries)
      EXPECT_EQ(NumberOf(Slice(entry.second).substr(0, 8)), rewritten);
    return !::testing::Test::HasFailure();
  }

  static Status ScanWhole(DB* db, Table* table, Snapshot* snapshot,
                          std::vector<Model::Entry>* entries) {
    ScanRequest request;
    request.entries_max = 1000;
    request.bytes_max = 1 << 20;
    ScanPage page;
    LAVA_RETURN_IF_ERROR(db->Scan(table, request, &page, snapshot));
    EXPECT_TRUE(page.done);
    return ParsePage(page, entries);
  }

  const uint64_t seed_;
  Random random_;
  ChosenFileSystem memory_;
  FaultFileSystem files_;
  YieldingExecutor executor_;
  std::shared_ptr<Lease> lease_;
  std::unique_ptr<DB> db_;
  DBOptions options_;
  uint64_t lease_bytes_ = 0;
  std::atomic<bool> faulty_{false};
  Fault fault_ = Fault::kIOError;
  std::atomic<uint64_t> writes_{0};
  std::atomic<bool> writer_ended_{false};
  std::atomic<bool> stop_{false};  // the other threads may stop
};

TEST(DBStress, WhateverRunsBesideWhatever) {
  const uint64_t first = Variable("LAVA_TEST_SEED", 1);
  const uint64_t runs = Variable("LAVA_TEST_RUNS", kRuns);
  uint64_t played = 0;
  for (uint64_t seed = first; seed < first + runs && !HasFailure(); ++seed) {
    SCOPED_TRACE("LAVA_TEST_SEED=" + std::to_string(seed));
    StressRun(seed).Play();
    EXPECT_EQ(Host::Get().statistics().charged_bytes, 0u) << "LAVA_TEST_SEED=" << seed;
    ++played;
  }
  Count(played, "interleaved runs with a close at random");
  EXPECT_GT(StressRun::collections_, 0u);
  Count(StressRun::collections_, "collections of value files in interleaved runs");
  EXPECT_GT(StressRun::logged_, 0u);
  Count(StressRun::logged_, "values of interleaved runs logged as they were put");
  EXPECT_GT(StressRun::faults_met_, 0u);
  Count(StressRun::faults_met_, "calls that failed in interleaved runs");
}

}  // namespace
}  // namespace lava::testing
