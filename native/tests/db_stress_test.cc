#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "base/coding.h"
#include "db/environment.h"
#include "lava/db.h"
#include "lava/list_format.h"
#include "testing/count.h"
#include "testing/fault_file_system.h"
#include "testing/mem_file_system.h"
#include "testing/model.h"
#include "testing/random.h"
#include "testing/variable.h"

// Short runs with all kinds of threads and a close at any moment, which yield at random wherever
// the engine calls a file system or an executor. Built with ThreadSanitizer too.
//
// The writer's batches keep three things true, and so must whatever anybody sees at one moment:
// the balances sum to 0, the list has as many elements as the counter says, and all entries of a
// map that is rewritten as a whole are of one version, as many as that version has.
namespace lava::testing {
namespace {

#if defined(__SANITIZE_THREAD__)
constexpr uint64_t kRuns = 2000;
#elif defined(__SANITIZE_ADDRESS__)
constexpr uint64_t kRuns = 300;
#else
constexpr uint64_t kRuns = 2000;
#endif
constexpr uint64_t kAccounts = 12;
constexpr uint64_t kSlots = 60;

// Each thread has a generator of its own.
void Yield(uint64_t seed) {
  static std::atomic<uint64_t> threads{0};
  thread_local Random random(seed + 7919 * ++threads);
  const uint64_t dice = random.Uniform(16);
  if (dice < 4) std::this_thread::yield();
  if (dice == 4) std::this_thread::sleep_for(std::chrono::microseconds(random.Uniform(100)));
}

class YieldingExecutor final : public os::Executor {
 public:
  YieldingExecutor(uint32_t threads, uint64_t seed) : seed_(seed), pool_(ThreadPool(threads)) {}
  void Submit(os::Priority priority, std::function<void()> job) override {
    Yield(seed_);
    pool_->Submit(priority, [seed = seed_, job = std::move(job)] {
      Yield(seed);
      job();
    });
  }
  void Poke() override { pool_->Poke(); }
  uint32_t thread_count() const override { return pool_->thread_count(); }
  void SetThreadCount(uint32_t count) override { pool_->SetThreadCount(count); }

 private:
  const uint64_t seed_;
  const std::unique_ptr<os::Executor> pool_;
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
    files_.SetHook([seed](FileCall) { Yield(seed); });
    // As on a real file system: what is open can be read after it was removed.
    memory_.SetRemovedFilesReadable(true);
  }

  void Play() {
    lease_ = *Host::Get().Acquire(16 << 20, 0.5);
    ASSERT_TRUE(OpenAs("/db", {}, &db_).ok());
    const uint64_t writes = random_.Uniform(250);
    std::vector<std::thread> threads;
    threads.emplace_back([this, seed = random_.Next()] { WriteOn(seed); });
    threads.emplace_back([this, seed = random_.Next()] { ReadOn(seed); });
    threads.emplace_back([this, seed = random_.Next()] { SnapshotOn(seed); });
    threads.emplace_back([this, seed = random_.Next()] { MaintainOn(seed); });
    while (writes_ < writes && !::testing::Test::HasFailure()) std::this_thread::yield();
    if (random_.OneIn(2)) {
      stop_ = true;
      for (std::thread& thread : threads) thread.join();
      threads.clear();
      stop_ = false;
      CheckFilesAtRest();
    }
    collections_ += db_->statistics().gc_jobs;
    Status closed;
    do {
      closed = db_->Close();
    } while (closed.IsBusy());
    EXPECT_TRUE(closed.ok()) << closed.ToString();
    for (std::thread& thread : threads) thread.join();
    db_.reset();
    // What was flushed is whole.
    if (!::testing::Test::HasFailure()) {
      const Status opened = OpenAs("/db", {}, &db_);
      ASSERT_TRUE(opened.ok()) << opened.ToString();
      CheckAll(nullptr);
    }
    db_.reset();
    lease_.reset();
  }

  /// Of value files, in all runs.
  static inline uint64_t collections_ = 0;

 private:
  Status OpenAs(const std::string& path, std::span<const ImportSource> imports,
                std::unique_ptr<DB>* db) {
    DBOptions options;
    options.lease = lease_;
    options.file_system = &files_;
    options.memtable_bytes = 16 << 10;
    options.block_bytes = 256;
    options.target_file_bytes = 4 << 10;
    options.level1_bytes = 8 << 10;
    options.level_multiplier = 3;
    options.l0_compaction_trigger = 2;
    options.value_file_bytes = 2 << 10;
    options.gc_garbage_percent = 10;
    DBEnvironment environment;
    environment.executor = &executor_;
    environment.wait_ms_max = 5;
    LAVA_ASSIGN_OR_RETURN(*db, OpenDB(options, path, imports, environment));
    return Status::OK();
  }
  // With nobody at work every file is one that the instance names.
  void CheckFilesAtRest() {
    size_t there = 0, named = 0;
    for (int i = 0; i < 2000; ++i) {
      Ended(Retry([&] { return db_->Flush(5); }));
      auto names = memory_.List("/db");
      ASSERT_TRUE(names.ok());
      there = std::count_if(names->begin(), names->end(), [](const std::string& name) {
        return name.ends_with(".ksst") || name.ends_with(".vsst");
      });
      named = db_->statistics().live_files;
      if (there == named) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    ADD_FAILURE() << there << " files are there, " << named << " are named";
  }
  struct Tables {
    Table *balances, *log, *map, *apart;
  };
  static Result<Tables> TablesOf(DB* db) {
    Tables tables{};
    LAVA_ASSIGN_OR_RETURN(tables.balances, db->CreateTable("balances", {}));
    LAVA_ASSIGN_OR_RETURN(tables.log, db->CreateTable("log", {.kind = TableKind::kList}));
    LAVA_ASSIGN_OR_RETURN(tables.map, db->CreateTable("map", {.kind = TableKind::kMap}));
    LAVA_ASSIGN_OR_RETURN(tables.apart, db->CreateTable("apart", {.separation_bytes = 1}));
    return tables;
  }
  template <typename Call>
  static Status Retry(Call call) {
    while (true) {
      const Status status = call();
      if (!status.IsBusy()) return status;
    }
  }
  bool Ended(const Status& status) const {
    EXPECT_TRUE(status.ok() || status.IsClosed()) << status.ToString();
    return !status.ok() || stop_;
  }

  void WriteOn(uint64_t seed) {
    Random random(seed);
    auto tables = TablesOf(db_.get());
    if (!tables.ok()) {
      Ended(tables.status());
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
      // Some are written again soon, some late: what a value file holds dies bit by bit.
      const uint64_t slot = random.OneIn(4) ? random.Uniform(kSlots) : version % 4;
      batch.Put(tables->apart, {NumberKey(3, slot)}, Number(version) + std::string(slot, 's'));
      batch.Put(tables->balances, {NumberKey(0, 200)}, Number(version));
      // Nothing that is Busy was written.
      if (Ended(Retry([&] { return db_->Write(batch); }))) return;
      ++writes_;
    }
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
        EXPECT_GE(version, last) << "a value went back";
        last = version;
      } else {
        EXPECT_EQ(last, 0u) << "a value went away";
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
    EXPECT_TRUE(files_.CreateDirectory(path).ok());
    for (const Snapshot::File& file : files) {
      const Status linked = files_.Link("/db/" + file.name, path + "/" + file.name);
      if (linked.ok()) continue;
      // A close unpins, so only a snapshot that still answers must have its files.
      if (!Ended(snapshot->Files(&files, &source.metadata)))
        ADD_FAILURE() << "a pinned file is gone: " << linked.ToString();
      return false;
    }
    std::unique_ptr<DB> copy;
    const Status opened = OpenAs(path, {&source, 1}, &copy);
    EXPECT_TRUE(opened.ok()) << opened.ToString();
    return opened.ok() && Check(copy.get(), nullptr);
  }

  void MaintainOn(uint64_t seed) {
    Random random(seed);
    while (true) {
      uint64_t ticket = 0;
      const Status status = random.OneIn(3) ? Retry([&] { return db_->CompactAll(5, &ticket); })
                                            : Retry([&] { return db_->Flush(5); });
      if (Ended(status)) return;
      std::this_thread::sleep_for(std::chrono::microseconds(random.Uniform(500)));
    }
  }

  bool CheckAll(Snapshot* snapshot) { return Check(db_.get(), snapshot); }

  // False when the instance was closed meanwhile.
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
    EXPECT_EQ(sum, 0u) << "a batch was seen in part";
    PinnedValue log;
    const Status status = db->Get(tables->log, {NumberKey(1, 0)}, &log, snapshot);
    if (!status.IsNotFound() && Ended(status)) return false;
    const auto elements = ListElements(status.ok() ? log.data() : Slice());
    EXPECT_TRUE(elements.ok());
    if (elements.ok()) {
      EXPECT_EQ(elements.value().size(), version) << "elements of the list";
    }
    if (Ended(ScanWhole(db, tables->apart, snapshot, &entries))) return false;
    uint64_t newest = 0;
    for (const Model::Entry& entry : entries) {
      newest = std::max(newest, NumberOf(Slice(entry.second).substr(0, 8)));
      EXPECT_EQ(entry.second.size(), 8 + static_cast<unsigned char>(entry.first.back()));
    }
    EXPECT_EQ(newest, version) << "values in value files";
    entries.clear();
    if (Ended(ScanWhole(db, tables->map, snapshot, &entries))) return false;
    const uint64_t rewritten = version / 4 * 4;
    EXPECT_EQ(entries.size(), rewritten == 0 ? 0 : rewritten % 7 + 1) << "entries of the map";
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
  MemFileSystem memory_;
  FaultFileSystem files_;
  YieldingExecutor executor_;
  std::shared_ptr<Lease> lease_;
  std::unique_ptr<DB> db_;
  std::atomic<uint64_t> writes_{0};
  std::atomic<bool> stop_{false};  // nobody need go on
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
}

}  // namespace
}  // namespace lava::testing
