// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include <atomic>
#include <mutex>
#include <set>
#include <system_error>
#include <thread>

#include "db_test_util.h"
#include "host/scheduler.h"
#include "lava/list_format.h"
#include "testing/fault_file_system.h"
#include "testing/random.h"
#include "testing/recording_listener.h"

// One writer, readers, snapshots and real threads concurrently; also built with ThreadSanitizer.
namespace lava::testing {
namespace {

std::unique_ptr<DB> OpenSmall(CrashableFileSystem* memory, const std::shared_ptr<Lease>& lease,
                              DBOptions options = {}) {
  options.lease = lease;
  options.file_system = memory;
  options.memtable_bytes = 64 << 10;
  options.block_bytes = 512;
  options.target_file_bytes = 16 << 10;
  options.level1_bytes = 32 << 10;
  options.level_multiplier = 3;
  Result<std::unique_ptr<DB>> db = DB::Open(options, "/db");
  EXPECT_OK(db.status());
  return db.ok() ? std::move(db).value() : nullptr;
}

template <typename Call>
Status Retry(Call call) {
  while (true) {
    const Status status = call();
    if (!status.IsBusy()) return status;
  }
}

// Every key's value is "<key>:<n>", and n never decreases for a reader.
TEST(DBConcurrency, ReadersSeeEachKeyGoForwardOnly) {
  ChosenFileSystem memory;
  memory.SetRemovedFilesReadable(true);
  auto lease = *Host::Get().Acquire(32 << 20, 0.5);
  const std::unique_ptr<DB> db = OpenSmall(&memory, lease);
  ASSERT_NE(db, nullptr);
  Table* t = *db->CreateTable("t", {.kind = TableKind::kMap});
  constexpr int kKeys = 50, kRounds = 60;
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int r = 0; r < 2; ++r) {
    threads.emplace_back([&, r] {
      std::vector<int> last(kKeys, -1);
      Random random(static_cast<uint64_t>(r));
      PinnedValue value;
      while (!stop) {
        const auto k = static_cast<int>(random.Uniform(kKeys));
        const std::string key = K(static_cast<int>(k % 5), std::to_string(k));
        const Status status = db->Get(t, {key}, &value);
        if (status.IsNotFound()) {
          ASSERT_EQ(last[k], -1);
          continue;
        }
        ASSERT_OK(status);
        const int n = std::stoi(std::string(value.data()));
        ASSERT_GE(n, last[k]);
        last[k] = n;
      }
    });
  }
  threads.emplace_back([&] {
    while (!stop) {
      ScanPage page;
      ScanRequest request;
      std::string from;
      int count = 0;
      do {
        request.lower = from;
        request.lower_exclusive = !from.empty();
        request.entries_max = 7;
        ASSERT_OK(db->Scan(t, request, &page));
        count += static_cast<int>(page.entries);
        from = page.last_key;
      } while (!page.done);
      ASSERT_LE(count, kKeys);
      static_cast<void>(db->statistics());
    }
  });
  threads.emplace_back([&] {
    while (!stop) {
      auto snapshot = db->TakeSnapshot();
      ASSERT_OK(snapshot.status());
      PinnedValue first, second;
      const std::string key = K(0, "0");
      const Status status = db->Get(t, {key}, &first, snapshot->get());
      const Status flushed = Retry([&] { return (*snapshot)->WaitFlushed(100); });
      ASSERT_OK(flushed);
      const Status again = db->Get(t, {key}, &second, snapshot->get());
      ASSERT_EQ(status.code(), again.code());
      if (status.ok()) {
        ASSERT_EQ(first.data(), second.data());
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  });
  for (int n = 0; n < kRounds; ++n) {
    for (int k = 0; k < kKeys; ++k) {
      const std::string key = K(static_cast<int>(k % 5), std::to_string(k));
      std::string value = std::to_string(n) + ":" + std::string(static_cast<size_t>(k) * 10, 'v');
      ASSERT_OK(Retry([&] { return db->Put(t, {key}, value); }));
    }
    if (n % 20 == 19) {
      uint64_t ticket = 0;
      ASSERT_OK(Retry([&] { return db->CompactAll(100, &ticket); }));
    }
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
  ASSERT_OK(Retry([&, flush = FlushTicket()]() mutable { return db->Flush(100, &flush); }));
  EXPECT_EQ(db->statistics().background_errors, 0u);
}

// One thread logs, puts and binds, while the layer above copies rolled segments. Flushes,
// collections, readers and, at the end, the close run concurrently.
TEST(DBConcurrency, SegmentsOfEntriesAreBroughtAwayBesideTheirWriter) {
  for (const WalMode wal : {WalMode::kNone, WalMode::kWal, WalMode::kWalSync}) {
    ChosenFileSystem memory;
    memory.SetRemovedFilesReadable(true);
    auto lease = *Host::Get().Acquire(32 << 20, 0.5);
    DBOptions options;
    options.wal = wal;
    options.large_value_bytes = 0;
    options.value_file_bytes = 16 << 10;
    options.collection_garbage_percent = 10;
    const std::unique_ptr<DB> db = OpenSmall(&memory, lease, options);
    ASSERT_NE(db, nullptr);
    Table* t = *db->CreateTable("t", {.separation_bytes = 100});
    Table* list = *db->CreateTable("list", {.kind = TableKind::kList, .separation_bytes = 100});
    constexpr uint64_t kKeys = 20, kRounds = 4000;
    struct Logged {
      EntryLocation location;
      std::string entry;
    };
    std::mutex mutex;
    std::vector<Logged> rolled, held;  // guarded by mutex: to be copied, and not released
    std::atomic<bool> stop{false};
    std::atomic<uint64_t> finished{0}, read{0}, found{0};
    std::vector<std::thread> threads;
    const auto ended = [&](const Status& status) {
      EXPECT_TRUE(status.ok() || (stop && status.IsClosed())) << status.ToString();
      return !status.ok();
    };
    threads.emplace_back([&] {
      while (!stop) {
        std::vector<Logged> mine;
        {
          std::lock_guard<std::mutex> lock(mutex);
          mine = std::exchange(rolled, {});
        }
        if (mine.empty()) std::this_thread::yield();
        std::string entry;
        std::set<uint64_t> segments;
        for (const Logged& logged : mine) segments.insert(logged.location.segment);
        for (const uint64_t segment : segments) {
          if (ended(db->FinishEntries(segment))) return;
          ++finished;
          const auto whole = memory.Content("/db/" + db->ChangelogSegmentName(segment));
          ASSERT_OK(whole.status());
          for (const Logged& logged : mine) {
            if (logged.location.segment != segment) continue;
            std::vector<std::string> alone;
            ASSERT_OK(DecodeEntries(
                db->ChangelogSegmentName(segment), logged.location.offset,
                Slice(*whole).substr(logged.location.offset, logged.location.bytes), &alone));
            ASSERT_EQ(alone, std::vector<std::string>{logged.entry});
          }
        }
        if (segments.empty()) continue;
        {
          std::lock_guard<std::mutex> lock(mutex);
          std::erase_if(held, [&](const Logged& logged) {
            return logged.location.sequence <= mine.back().location.sequence;
          });
        }
        if (ended(db->ReleaseEntries(mine.back().location.sequence))) return;
      }
    });
    threads.emplace_back([&] {
      Random random(7);
      while (!stop) {
        std::string entry;
        std::unique_lock<std::mutex> lock(mutex);
        if (!held.empty()) {
          // Entries that were released in the meantime may be gone.
          const Logged& logged = held[random.Uniform(held.size())];
          ASSERT_OK(db->ReadEntry(logged.location, &entry));
          ASSERT_EQ(entry, logged.entry);
          ++read;
        }
        lock.unlock();
        EntryLocation at;
        PinnedValue value;
        const std::string key = K(1, std::to_string(random.Uniform(kKeys)));
        const Status got = db->Get(t, {key}, &value);
        EXPECT_TRUE(!got.ok() || value.data().starts_with(key.substr(1) + ":"));
        if (!got.IsNotFound() && ended(got)) return;
        const Status of_list = db->Get(list, {key}, &value);
        if (of_list.ok()) {
          Slice rest = value.data(), element;
          ListSegment kind;
          while (!rest.empty()) {
            ASSERT_OK(NextListSegment(&rest, &kind, &element));
            EXPECT_TRUE(element.starts_with(key.substr(1) + ":"));
          }
        }
        if (!of_list.IsNotFound() && ended(of_list)) return;
        const Status external = db->GetExternal(t, {key}, &at);
        if (external.ok()) ++found;
        if (!external.IsNotFound() && ended(external)) return;
      }
    });
    threads.emplace_back([&] {
      while (!stop) {
        if (ended(Retry([&, flush = FlushTicket()]() mutable { return db->Flush(100, &flush); })))
          return;
        auto snapshot = db->TakeSnapshot();
        if (ended(snapshot.status())) return;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
    });
    Random random(3);
    std::vector<Logged> mine;
    // Without a time limit, because the other threads are slow on a busy machine.
    const auto done = [&](uint64_t n) {
      return n >= kRounds && ((finished > 0 && read > 0 && found > 0) || n >= 100 * kRounds);
    };
    for (uint64_t n = 0; !done(n) && !HasFailure(); ++n) {
      const std::string name = std::to_string(random.Uniform(kKeys)), key = K(1, name);
      const std::string value = name + ":" + std::to_string(n) + std::string(500, 'v');
      Logged logged{{}, "set " + value};
      Status status;
      if (n % 7 == 0) {
        ASSERT_OK(Retry([&] { return db->Append(list, {key}, ListOf({value})); }));
        status = db->BindExternal(logged.entry, &logged.location);
      } else if (n % 3 == 0) {
        status = Retry([&] { return db->AppendEntry(logged.entry, &logged.location); });
      } else if (n % 3 == 1) {
        status =
            Retry([&] { return db->PutExternal(t, {key}, value, logged.entry, &logged.location); });
      } else {
        ASSERT_OK(Retry([&] { return db->Put(t, {key}, value); }));
        status = db->BindExternal(logged.entry, &logged.location);
      }
      if (!status.IsNotFound()) {
        ASSERT_OK(status);
        std::lock_guard<std::mutex> lock(mutex);
        held.push_back(logged);
        mine.push_back(logged);
      }
      if (n % 10 != 9) continue;
      ASSERT_OK(db->RollEntries());
      std::lock_guard<std::mutex> lock(mutex);
      rolled.insert(rolled.end(), mine.begin(), mine.end());
      mine.clear();
    }
    stop = true;
    ASSERT_OK(Retry([&] { return db->Close(); }));
    for (std::thread& thread : threads) thread.join();
    EXPECT_GT(finished, 0u);
    EXPECT_GT(read, 0u);
    EXPECT_GT(found, 0u);
  }
}

// A release of earlier entries examines segments while the next one is created.
TEST(DBConcurrency, ASegmentIsHeldFromItsFirstEntryOn) {
  ChosenFileSystem memory;
  auto lease = *Host::Get().Acquire(32 << 20, 0.5);
  const std::unique_ptr<DB> db = OpenSmall(&memory, lease);
  ASSERT_NE(db, nullptr);
  std::atomic<uint64_t> released{0};
  std::atomic<bool> stop{false};
  std::thread other([&] {
    while (!stop) ASSERT_OK(db->ReleaseEntries(released));
  });
  // Each creates a file, which takes longer on LavaFS.
  const int rounds = OnLavaFs() ? 500 : 6000;
  for (int i = 0; i < rounds && !HasFailure(); ++i) {
    EntryLocation location;
    EXPECT_OK(Retry([&] { return db->AppendEntry("an entry", &location); }));
    EXPECT_OK(db->RollEntries());
    EXPECT_OK(db->FinishEntries(location.segment));
    released = location.sequence;
  }
  stop = true;
  other.join();
}

TEST(DBConcurrency, CloseWhileBusy) {
  for (int round = 0; round < 20; ++round) {
    ChosenFileSystem memory;
    memory.SetRemovedFilesReadable(true);
    auto lease = *Host::Get().Acquire(32 << 20, 0.5);
    std::unique_ptr<DB> db = OpenSmall(&memory, lease);
    ASSERT_NE(db, nullptr);
    Table* t = *db->CreateTable("t", {});
    std::shared_ptr<Snapshot> snapshot;
    std::atomic<bool> started{false};
    std::thread writer([&] {
      for (int i = 0;; ++i) {
        const Status status = db->Put(t, {K(1, std::to_string(i % 500))}, std::string(1000, 'v'));
        if (status.IsClosed()) return;
        ASSERT_TRUE(status.ok() || status.IsBusy()) << status.ToString();
        if (i == 200) started = true;
      }
    });
    std::thread reader([&] {
      PinnedValue value;
      ScanPage page;
      while (true) {
        const Status status = db->Get(t, {K(1, "7")}, &value);
        if (status.IsClosed()) return;
        ASSERT_TRUE(status.ok() || status.IsNotFound()) << status.ToString();
        const Status scan = db->Scan(t, {}, &page);
        ASSERT_TRUE(scan.ok() || scan.IsClosed()) << scan.ToString();
      }
    });
    while (!started) std::this_thread::yield();
    snapshot = *db->TakeSnapshot();
    std::thread waiter([&] {
      Status status;
      do {
        status = snapshot->WaitFlushed(100);
      } while (status.IsBusy());
      ASSERT_TRUE(status.ok() || status.IsClosed()) << status.ToString();
    });
    if (round % 2 == 1) std::this_thread::sleep_for(std::chrono::milliseconds(round));
    ASSERT_OK(Retry([&] { return db->Close(); }));
    writer.join();
    reader.join();
    waiter.join();
    snapshot.reset();
    db.reset();
    lease.reset();
    EXPECT_EQ(Host::Get().statistics().charged_bytes, 0u);
    EXPECT_EQ(Host::Get().statistics().instances_open, 0u);
  }
}

// A flush looks for unused files at its end. After a close, which releases all versions, the flush
// must not take a file that moved to another level for unused.
TEST(DBConcurrency, AFlushThatReturnsAfterTheCloseTakesNoFile) {
  ChosenFileSystem memory;
  FaultFileSystem slow(&memory);
  // Each flush takes long enough for the callers below to wait for it.
  slow.SetHook([](FileCall call) {
    if (call == FileCall::kCreate) std::this_thread::sleep_for(std::chrono::microseconds(300));
  });
  auto lease = *Host::Get().Acquire(32 << 20, 0.5);
  for (int round = 0; round < 200; ++round) {
    DBOptions options;
    options.lease = lease;
    options.file_system = &slow;
    options.l0_compaction_trigger = 1;
    const auto heard = std::make_shared<RecordingListener>();
    options.listeners = {heard};
    std::unique_ptr<DB> db = DB::Open(options, "/db" + std::to_string(round)).value();
    Table* t = *db->CreateTable("t", {});
    ASSERT_OK(db->Put(t, {K(1, "moved")}, "v"));
    ASSERT_OK(Retry([&, flush = FlushTicket()]() mutable { return db->Flush(100, &flush); }));
    ASSERT_TRUE(heard->WaitFor<CompactionInfo>(
        EventKind::kCompactionEnd, [](const CompactionInfo& info) { return info.trivial_move; }));
    std::vector<std::thread> callers;
    for (int i = 0; i < 4; ++i) {
      callers.emplace_back([&] {
        Status status;
        while (!status.IsClosed()) {
          static_cast<void>(db->Put(t, {K(1, "z")}, "v"));
          FlushTicket flush;
          status = db->Flush(100, &flush);
          ASSERT_TRUE(status.ok() || status.IsBusy() || status.IsClosed()) << status.ToString();
        }
      });
    }
    std::this_thread::sleep_for(std::chrono::microseconds(round * 5));
    ASSERT_OK(Retry([&] { return db->Close(); }));
    for (std::thread& caller : callers) caller.join();
    db.reset();
    auto again = DB::Open(options, "/db" + std::to_string(round));
    ASSERT_OK(again.status());
  }
}

// The system had no thread for the flush, and no other job is submitted that would start one.
TEST(DBConcurrency, AFlushRunsOnceThereAreThreadsAgain) {
  ChosenFileSystem memory;
  std::atomic<bool> refuse{true};
  const auto start = [&](std::function<void()> body) {
    if (refuse) throw std::system_error(EAGAIN, std::generic_category());
    return std::thread(std::move(body));
  };
  DBOptions options;
  options.lease = *Host::Get().Acquire(32 << 20, 0.5);
  options.file_system = &memory;
  options.memtable_bytes = 16 << 10;
  options.sealed_runs_max = 1;
  DBEnvironment environment;
  environment.wait_ms_max = 10;
  for (const bool by_flush : {true, false}) {
    Scheduler scheduler(2, {.start = start});
    const std::unique_ptr<os::Executor> executor = scheduler.NewClient();
    environment.executor = executor.get();
    auto db = OpenDB(options, by_flush ? "/a" : "/b", {}, environment);
    ASSERT_OK(db.status());
    Table* t = *(*db)->CreateTable("t", {});
    refuse = true;
    Status status;
    for (int i = 0; i < 100 && status.ok(); ++i)
      status = (*db)->Put(t, {K(1, std::to_string(i))}, std::string(1000, 'v'));
    ASSERT_TRUE(status.IsBusy()) << status.ToString();
    FlushTicket flush;
    if (by_flush) {
      ASSERT_TRUE((*db)->Flush(10, &flush).IsBusy());
    }
    refuse = false;
    for (int tries = 0; tries < 500 && status.IsBusy(); ++tries)
      status =
          by_flush ? (*db)->Flush(10, &flush) : (*db)->Put(t, {K(1, "k")}, std::string(1000, 'v'));
    EXPECT_OK(status);
    ASSERT_OK(Retry([&] { return (*db)->Close(); }));
  }
}

// A file system whose syncs end when the test releases them.
class SlowSyncs final : public FaultFileSystem {
 public:
  using FaultFileSystem::FaultFileSystem;
  Result<std::unique_ptr<fs::AppendFile>> Create(const std::string& path,
                                                 size_t buffer_bytes) override {
    LAVA_ASSIGN_OR_RETURN(auto file, FaultFileSystem::Create(path, buffer_bytes));
    if (!path.ends_with(".ksst")) return file;
    return std::unique_ptr<fs::AppendFile>(std::make_unique<File>(this, std::move(file)));
  }
  std::atomic<bool> blocked{false}, inside{false};

 private:
  class File final : public fs::AppendFile {
   public:
    File(SlowSyncs* owner, std::unique_ptr<fs::AppendFile> base)
        : owner_(owner), base_(std::move(base)) {}
    Status Append(Slice bytes) override { return base_->Append(bytes); }
    Status Flush() override { return base_->Flush(); }
    Status Sync() override {
      owner_->inside = true;
      while (owner_->blocked) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      return base_->Sync();
    }
    Status Close() override { return base_->Close(); }
    uint64_t size() const override { return base_->size(); }

   private:
    SlowSyncs* const owner_;
    const std::unique_ptr<fs::AppendFile> base_;
  };
};

TEST(DBConcurrency, CloseIsBoundedWhileAJobIsAmidASync) {
  ChosenFileSystem memory;
  SlowSyncs slow(&memory);
  DBOptions options;
  options.lease = *Host::Get().Acquire(32 << 20, 0.5);
  options.file_system = &slow;
  options.sync = true;
  auto db = DB::Open(options, "/db");
  ASSERT_OK(db.status());
  Table* t = *(*db)->CreateTable("t", {});
  ASSERT_OK((*db)->Put(t, {K(1, "k")}, "v"));
  slow.blocked = true;
  const auto snapshot = *(*db)->TakeSnapshot();
  ASSERT_TRUE(snapshot->WaitFlushed(0).IsBusy());
  while (!slow.inside) std::this_thread::yield();
  std::thread waiter([&] {
    Status status;
    do {
      status = snapshot->WaitFlushed(100);
    } while (status.IsBusy());
    EXPECT_TRUE(status.IsClosed()) << status.ToString();
  });
  for (int i = 0; i < 3; ++i) {
    const Status status = (*db)->Close();
    EXPECT_TRUE(status.IsBusy()) << status.ToString();
    EXPECT_TRUE((*db)->Put(t, {K(1, "k")}, "v").IsClosed());
  }
  waiter.join();
  slow.blocked = false;
  EXPECT_OK(Retry([&] { return (*db)->Close(); }));
  EXPECT_OK((*db)->Close());
  EXPECT_EQ(Host::Get().statistics().charged_bytes, 0u);
  EXPECT_EQ(Host::Get().statistics().instances_open, 0u);
}

// A clock that stands still, so that debts are never repaid.
class FrozenTime final : public SchedulerTime {
 public:
  uint64_t NowMicros() override { return 0; }
  uint64_t ThreadCpuMicros() override { return used_us += expensive ? 1'000'000 : 0; }
  void Wait(CondVar* changed, Mutex* mutex, uint64_t) override LAVA_REQUIRES(mutex) {
    waits = waits + expensive;
    changed->WaitFor(mutex, std::chrono::milliseconds(1));
  }
  std::atomic<bool> expensive{false};
  std::atomic<uint64_t> used_us{0}, waits{0};
};

TEST(DBConcurrency, CloseEndsTheSleepOfAJobThatIsAheadOfItsBudget) {
  ChosenFileSystem memory;
  FaultFileSystem files(&memory);
  FrozenTime time;
  Scheduler scheduler(1, {.time = &time});
  scheduler.SetCpu(0.5);
  const std::unique_ptr<os::Executor> executor = scheduler.NewClient();
  DBOptions options;
  options.lease = *Host::Get().Acquire(32 << 20, 0.5);
  options.file_system = &files;
  DBEnvironment environment;
  environment.executor = executor.get();
  auto db = OpenDB(options, "/db", {}, environment);
  ASSERT_OK(db.status());
  Table* t = *(*db)->CreateTable("t", {});
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 2000; ++i)
      ASSERT_OK((*db)->Put(t, {K(1, std::to_string(i))}, std::string(1000, 'v')));
    ASSERT_OK(Retry([&, flush = FlushTicket()]() mutable { return (*db)->Flush(10, &flush); }));
  }
  // From the compaction's output on, all running jobs go into debt.
  files.SetHook([&](FileCall call) {
    if (call == FileCall::kCreate) time.expensive = true;
  });
  uint64_t ticket = 0;
  ASSERT_TRUE((*db)->CompactAll(1, &ticket).IsBusy());
  while (time.waits == 0) std::this_thread::yield();
  EXPECT_EQ((*db)->statistics().compactions, 0u);
  ASSERT_OK(Retry([&] { return (*db)->Close(); }));
}

TEST(DBConcurrency, ManyInstancesShareTheHost) {
  ChosenFileSystem memory;
  memory.SetRemovedFilesReadable(true);
  auto lease = *Host::Get().Acquire(32 << 20, 0.5);
  std::vector<std::thread> threads;
  for (int n = 0; n < 4; ++n) {
    threads.emplace_back([&, n] {
      DBOptions options;
      options.lease = lease;
      options.file_system = &memory;
      options.memtable_bytes = 64 << 10;
      for (int round = 0; round < 2; ++round) {
        auto db = DB::Open(options, "/" + std::to_string(n));
        ASSERT_OK(db.status());
        Table* t = *(*db)->CreateTable("t", {});
        for (int i = 0; i < 500; ++i)
          ASSERT_OK(Retry(
              [&] { return (*db)->Put(t, {K(1, std::to_string(i))}, std::string(300, 'v')); }));
        ASSERT_OK(
            Retry([&, flush = FlushTicket()]() mutable { return (*db)->Flush(100, &flush); }));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(Host::Get().statistics().instances_open, 0u);
  EXPECT_EQ(lease->used_bytes(), 0u);
}

}  // namespace
}  // namespace lava::testing
