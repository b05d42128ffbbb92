// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

// Every allocation in a history fails once, in jobs and in calls: the process survives, no answer
// is wrong, and afterwards everything works again. The program's own malloc refuses memory.

#include <errno.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <new>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/guarded.h"
#include "db/components_for_test.h"
#include "db/version_store.h"
#include "db_test_util.h"
#include "fs/posix_directory_lock.h"
#include "fs/posix_test_util.h"
#include "host/host_impl.h"
#include "memory/large_memory.h"
#include "memory/page_pool.h"
#include "memtable/memtable.h"
#include "process/wal_registry.h"
#include "testing/chosen_file_system.h"
#include "testing/count.h"
#include "testing/fault_file_system.h"
#include "testing/variable.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define LAVA_OWN_MALLOC 0  // the sanitizers have their own malloc
#else
#define LAVA_OWN_MALLOC 1
#endif

extern "C" {
void* __libc_malloc(size_t);
void* __libc_realloc(void*, size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_memalign(size_t, size_t);
}

namespace {

/// The allocation that fails among those of participating threads: by number, from 0, and then at
/// an interval.
struct Plan {
  std::atomic<int64_t> left{-1};  // allocations until the next failure; below 0: no failure
  std::atomic<int64_t> every{0};  // 0: only once
  std::atomic<uint64_t> asked{0}, refused{0};
  std::atomic<bool> others{false};  // whether threads without an explicit choice participate
};
Plan plan;
thread_local int takes_part = 0;  // 1: yes, -1: never

bool Refuses() {
  const bool takes = takes_part == 1 || (takes_part == 0 && plan.others.load());
  if (!takes) return false;
  plan.asked.fetch_add(1);
  if (plan.left.load() < 0 || plan.left.fetch_sub(1) != 0) return false;
  const int64_t every = plan.every.load();
  if (every > 0) plan.left.store(every);
  plan.refused.fetch_add(1);
  errno = ENOMEM;
  return true;
}

}  // namespace

#if LAVA_OWN_MALLOC
extern "C" {
void* malloc(size_t bytes) { return Refuses() ? nullptr : __libc_malloc(bytes); }
void* calloc(size_t count, size_t bytes) {
  return Refuses() ? nullptr : __libc_calloc(count, bytes);
}
void* aligned_alloc(size_t alignment, size_t bytes) {
  return Refuses() ? nullptr : __libc_memalign(alignment, bytes);
}
int posix_memalign(void** out, size_t alignment, size_t bytes) {
  *out = Refuses() ? nullptr : __libc_memalign(alignment, bytes);
  return *out == nullptr ? ENOMEM : 0;
}
void* realloc(void* memory, size_t bytes) {
  return Refuses() ? nullptr : __libc_realloc(memory, bytes);
}
}
#endif

namespace lava::testing {
namespace {

/// The calling thread's allocations count while this object exists.
class Armed {
 public:
  Armed() { takes_part = 1; }
  ~Armed() { takes_part = -1; }
  Armed(const Armed&) = delete;
  Armed& operator=(const Armed&) = delete;
};

void Fail(int64_t at, int64_t every = 0) {
  plan.every = every;
  plan.refused = 0;
  plan.asked = 0;
  plan.left = at;
}
void FailNone() { plan.left = -1; }

std::string Value(int i) {
  std::string value = "value of " + std::to_string(i) + " ";
  value.resize(20 + static_cast<size_t>(i % 7) * 300 + (i % 31 == 0 ? 40'000 : 0), 'v');
  return value;
}

/// Applies a small history to a database and compares it with a map of the expected content.
class AllocationFailure : public ::testing::Test {
 protected:
  AllocationFailure() { takes_part = -1; }
  ~AllocationFailure() override {
    FailNone();
    plan.others = false;
  }

  using Call = std::function<Status()>;
  // A call that threw or failed must have changed nothing; a Busy one is repeated.
  bool Done(const Call& call) {
    for (int i = 0; i < 1000; ++i) {
      Status status;
      try {
        const Armed armed;
        status = call();
      } catch (const std::bad_alloc&) {
        return false;
      }
      if (status.ok()) return true;
      if (!status.IsBusy()) {
        EXPECT_GT(plan.refused.load(), 0u) << status.ToString();
        return false;
      }
      // a job that needs more allocations than occur between two failures waits
      if (i == 100) FailNone();
      db_->clock().Advance(10'000);
      RunJobs(1);
    }
    const DBStatistics s = db()->statistics();
    ADD_FAILURE() << "calls stay Busy for ever with " << s.sealed_runs << " sealed runs, "
                  << s.running_flushes << " flushes, " << s.running_compactions << " compactions, "
                  << s.running_collections << " collections and " << db_->executor().pending()
                  << " queued jobs";
    return false;
  }
  void RunJobs(uint64_t jobs_max) {
    for (uint64_t n = 0; n < jobs_max && db_->executor().pending() > 0; ++n) {
      db_->clock().Advance(10'000);
      try {
        const Armed armed;
        db_->executor().RunOne();
      } catch (...) {
        ADD_FAILURE() << "a job threw an exception";
      }
    }
  }
  DB* db() { return db_->get(); }

  void Open() {
    db_ = std::make_unique<SimDB>(3);
    db_->options().memtable_bytes = 1 << 20;
    db_->options().l0_compaction_trigger = 2;
    db_->options().value_file_bytes = 64 << 10;
    db_->options().collection_garbage_percent = 10;
    db_->environment().retry_us_min = 1;
    ASSERT_OK(db_->Open());
    map_ = *db()->CreateTable("map", {.kind = TableKind::kMap, .separation_bytes = 800});
    list_ = *db()->CreateTable("list", {.kind = TableKind::kList});
  }
  void Put(int key, int value) {
    if (Done([&] { return db()->Put(map_, {K(1, Key(key)), 3}, Value(value)); }))
      model_[Key(key)] = Value(value);
  }
  void Delete(int key) {
    if (Done([&] { return db()->Delete(map_, {K(1, Key(key)), 3}); })) model_.erase(Key(key));
  }
  void Append(int key, const std::string& element) {
    if (Done([&] { return db()->Append(list_, {K(1, Key(key))}, ListOf({element})); }))
      lists_[Key(key)].append(ListOf({element}));
  }
  // Deletes all keys with this first letter.
  void DeletePrefix(char letter) {
    const std::string prefix = K(1, std::string(1, letter) + "/");
    if (Done([&] { return db()->DeletePrefix(map_, prefix); }))
      std::erase_if(model_, [&](const auto& entry) { return entry.first[0] == letter; });
  }
  void DeleteRange(int from, int to) {
    if (Done([&] { return db()->DeleteRange(map_, K(1, Key(from)), K(1, Key(to))); }))
      std::erase_if(model_, [&](const auto& entry) {
        return entry.first >= Key(from) && entry.first < Key(to);
      });
  }
  static std::string Key(int i) {
    return std::string(1, static_cast<char>('a' + i % 4)) + "/" + std::to_string(1000 + i);
  }

  // Checks the content without failures.
  void Check(const std::string& when) {
    const int64_t left = plan.left.exchange(-1);
    std::vector<Model::Entry> entries;
    const Status scanned = db_->ScanAll(map_, {}, &entries);
    ASSERT_TRUE(scanned.ok()) << when << ": " << scanned.ToString();
    ASSERT_EQ(entries.size(), model_.size()) << when;
    for (const auto& [key, value] : model_) ASSERT_EQ(db_->Get(map_, K(1, key), 3), value) << when;
    for (const auto& [key, value] : lists_) ASSERT_EQ(db_->Get(list_, K(1, key)), value) << when;
    plan.left = left;
  }

  void Play() {
    for (int i = 0; i < 24; ++i) Put(i, i);
    for (int i = 0; i < 6; ++i) Append(i % 3, Value(i));
    for (int i = 0; i < 8; ++i) Put(i * 3, i * 3 + 1);
    DeletePrefix('b');
    Done([&, flush = FlushTicket()]() mutable { return db()->Flush(0, &flush); });
    RunJobs(4);
    ASSERT_NO_FATAL_FAILURE(Check("after a flush"));
    std::shared_ptr<Snapshot> snapshot;
    Done([&] {
      auto taken = db()->TakeSnapshot();
      if (taken.ok()) snapshot = *taken;
      return taken.status();
    });
    for (int i = 0; i < 24; i += 2) Put(i, i + 31);
    for (int i = 0; i < 6; ++i) Append(i % 3, "small" + std::to_string(i));
    DeleteRange(4, 9);
    Delete(2);
    if (snapshot != nullptr) Done([&] { return snapshot->WaitFlushed(0); });
    ASSERT_NO_FATAL_FAILURE(Check("beside a snapshot"));
    std::vector<Snapshot::File> files;
    std::string metadata;
    if (snapshot != nullptr) Done([&] { return snapshot->Files(&files, &metadata); });
    snapshot.reset();
    for (int i = 0; i < 10; ++i) Put(i, i + 62);
    Append(1, Value(3));
    Done([&, flush = FlushTicket()]() mutable { return db()->Flush(0, &flush); });
    RunJobs(100);
    uint64_t ticket = 0;
    Done([&] { return db()->CompactAll(0, &ticket); });
    RunJobs(100);
    ASSERT_NO_FATAL_FAILURE(Check("after compactions"));
  }

  // A call may report a job that failed before it; the next call must succeed.
  static void ToldAtMostOnce(const Call& call) {
    Status status = call();
    if (status.code() == Status::Code::kMemoryLimit) status = call();
    ASSERT_OK(status);
  }
  // Everything works again, and the content is complete after a reopen.
  void GoOn() {
    FailNone();
    ASSERT_NO_FATAL_FAILURE(Check("at the end"));
    Put(90, 90);
    ToldAtMostOnce([this] { return db_->Flush(); });
    ToldAtMostOnce([this] { return db_->CompactAll(); });
    db_->executor().RunUntilIdle();
    ASSERT_NO_FATAL_FAILURE(Check("after all went on"));
    ASSERT_OK(db_->Open());
    map_ = *db()->CreateTable("map", {.kind = TableKind::kMap, .separation_bytes = 800});
    list_ = *db()->CreateTable("list", {.kind = TableKind::kList});
    ASSERT_NO_FATAL_FAILURE(Check("opened again"));
    db_.reset();
    const HostStatistics s = Host::Get().statistics();
    ASSERT_EQ(s.charged_bytes, 0u)
        << "charges were left behind: memtables " << s.memtable_bytes << ", readers "
        << s.table_reader_bytes << ", metadata " << s.metadata_bytes << ", scans " << s.scan_bytes
        << ", jobs " << s.flush_job_bytes + s.compaction_job_bytes + s.collection_job_bytes
        << ", cache " << s.cache_used_bytes;
    model_.clear();
    lists_.clear();
  }

  std::unique_ptr<SimDB> db_;
  Table* map_ = nullptr;
  Table* list_ = nullptr;
  std::map<std::string, std::string> model_, lists_;
};

#if LAVA_OWN_MALLOC
TEST_F(AllocationFailure, NoneEndsTheProcessOrMakesAnAnswerWrong) {
  // This program's malloc must see large allocations as well, so the page pool serves none.
  large_bytes_min = SIZE_MAX;
  Fail(-1);
  ASSERT_NO_FATAL_FAILURE(Open());
  ASSERT_NO_FATAL_FAILURE(Play());
  const auto all = static_cast<int64_t>(plan.asked.load());
  ASSERT_NO_FATAL_FAILURE(GoOn());
  ASSERT_GT(all, 1000);
  const int64_t step = static_cast<int64_t>(Variable("LAVA_TEST_STEP", 7));
  uint64_t refused = 0;
  for (int64_t n = 0; n < all && !HasFatalFailure() && !HasNonfatalFailure(); n += step) {
    SCOPED_TRACE("allocation " + std::to_string(n));
    ASSERT_NO_FATAL_FAILURE(Open());
    // Sometimes several in succession, so that the handling of a failure fails as well.
    Fail(n, n % 5 == 0 ? 3 + n % 41 : 0);
    ASSERT_NO_FATAL_FAILURE(Play());
    refused += plan.refused;
    ASSERT_NO_FATAL_FAILURE(GoOn());
  }
  Count(refused, "allocations refused");
  EXPECT_GE(refused, static_cast<uint64_t>(all / step / 2));
}

/// Memory is exhausted while a memtable's entries are sorted: some are already in the tree, some
/// wait.
TEST_F(AllocationFailure, AnEntryIsPutInOrderOnceWhereverMemoryEnds) {
  constexpr int kEntries = 2000;  // enough for several chunks of the tree
  uint64_t ended_amid = 0;
  bool refused = true;
  for (int64_t n = 0; refused; ++n) {
    SCOPED_TRACE("allocation " + std::to_string(n));
    MemoryCounter counter;
    auto memtable = MemTable::Create(&counter);
    for (int i = 0; i < kEntries; ++i) memtable->Put(K(1, std::to_string(10'000 + i)), 3, "value");
    MemTable::Copied page;
    Fail(n);
    try {
      const Armed armed;
      memtable->CopyRange("", false, "", 1, true, &page);
    } catch (const std::bad_alloc&) {
      ++ended_amid;
    }
    refused = plan.refused > 0;
    FailNone();
    // Entries are erased both from the tree and from the waiting ones.
    for (int i = 0; i < kEntries; i += 2) memtable->Erase(K(1, std::to_string(10'000 + i)));
    auto it = memtable->NewIterator(true);
    int i = 1;
    for (it->Seek(""); it->Valid(); it->Next(), i += 2) {
      ASSERT_EQ(it->record().key, K(1, std::to_string(10'000 + i)));
    }
    ASSERT_OK(it->status());
    ASSERT_EQ(i, kEntries + 1);
    ASSERT_EQ(memtable->record_count(), static_cast<uint64_t>(kEntries / 2));
  }
  Count(ended_amid, "times that memory ended while a memtable was put in order");
  EXPECT_GE(ended_amid, 3u);
}

class LockAllocationFailure : public fs::PosixTest {
 protected:
  LockAllocationFailure() { takes_part = -1; }
  ~LockAllocationFailure() override { FailNone(); }
};

TEST_F(LockAllocationFailure, ADirectoryThatCouldNotBeLockedIsNotHeld) {
  uint64_t ended = 0;
  bool refused = true;
  for (int64_t n = 0; refused; ++n) {
    SCOPED_TRACE("allocation " + std::to_string(n));
    Fail(n);
    try {
      const Armed armed;
      if (!fs::LockPosixDirectory(directory_).ok()) ++ended;
    } catch (const std::bad_alloc&) {
      ++ended;
    }
    refused = plan.refused > 0;
    FailNone();
    ASSERT_OK(fs::LockPosixDirectory(directory_).status());
  }
  EXPECT_GE(ended, 2u);
}

/// An open that needs a log waits for another one that opens the log, even if that one runs out of
/// memory.
TEST_F(AllocationFailure, ALogThatCouldNotBeOpenedOpensTheNextTime) {
  uint64_t ended = 0;
  bool refused = true;
  for (int64_t n = 0; refused; ++n) {
    SCOPED_TRACE("allocation " + std::to_string(n));
    ChosenFileSystem files;
    MemoryCounter counter;
    WalRegistry registry(&counter, [](const std::function<void()>&) {});
    Fail(n);
    try {
      const Armed armed;
      if (!registry.Open(&files, nullptr, "/wal").ok()) ++ended;
    } catch (const std::bad_alloc&) {
      ++ended;
    }
    refused = plan.refused > 0;
    FailNone();
    ASSERT_OK(registry.Open(&files, nullptr, "/wal").status());
  }
  Count(ended, "times that memory ended while a log was opened");
  EXPECT_GE(ended, 20u);
}

/// On the host's own threads, where no caller catches exceptions.
TEST_F(AllocationFailure, InABackgroundThreadFailsItsJobAlone) {
  for (int64_t n = 0; n < 60 && !HasFatalFailure(); ++n) {
    SCOPED_TRACE("each " + std::to_string(n + 3) + "th allocation of a background thread");
    ChosenFileSystem files;
    DBOptions options;
    options.lease = *Host::Get().Acquire(64 << 20, 0.5);
    options.file_system = &files;
    options.memtable_bytes = 1 << 20;
    options.l0_compaction_trigger = 2;
    DBEnvironment environment;
    environment.retry_us_min = environment.retry_us_max = 1;
    auto db = OpenDB(options, "/db", {}, environment);
    ASSERT_OK(db.status());
    Table* const table =
        *(*db)->CreateTable("t", {.kind = TableKind::kMap, .separation_bytes = 800});
    Fail(n, n + 3);
    plan.others = true;
    for (int i = 0; i < 200; ++i) {
      Status status;
      do {
        status = (*db)->Put(table, {std::string(1, '\0') + Key(i)}, Value(i));
      } while (status.IsBusy() || status.code() == Status::Code::kMemoryLimit);
      ASSERT_OK(status);
      FlushTicket flush;
      if (i % 40 == 39) static_cast<void>((*db)->Flush(20, &flush));
    }
    plan.others = false;
    FailNone();
    UntilDone([&, flush = FlushTicket()]() mutable {
      const Status status = (*db)->Flush(100, &flush);
      return status.code() == Status::Code::kMemoryLimit ? Status::Busy() : status;
    });
    for (int i = 0; i < 200; ++i) {
      PinnedValue value;
      ASSERT_OK((*db)->Get(table, {std::string(1, '\0') + Key(i)}, &value, nullptr));
      ASSERT_EQ(value.data(), Value(i));
    }
    UntilDone([&] { return (*db)->Close(); });
  }
}
#endif

// Without this the caller would log the edit again, and its files would be in the version twice.
TEST_F(AllocationFailure, AnEditThatTheManifestHasIsNotReportedAsFailed) {
  ChosenFileSystem memory;
  FaultFileSystem files(&memory);
  ASSERT_OK(memory.CreateDurableDirectory("/v"));
  Counters counters;
  VersionStore store({.file_system = &files, .directory = "/v"}, &counters);
  MutexLock install(store.install_mutex());
  store.StartFresh();
  VersionEdit first;
  store.DrawOrigin(&first);
  ASSERT_OK(store.Begin(first));
  const auto adding = [&store] {
    store.install_mutex()->AssertHeld();
    auto file = std::make_shared<FileMeta>();
    file->id = store.NewFileId();
    file->bytes = file->records = 1;
    file->lower = "a";
    file->upper = "b";
    VersionEdit edit;
    edit.Add(0, {file, file->lower, file->upper});
    return edit;
  };
  // After the first failed edit, each safe edit looks for its files among those of failed edits.
  files.Arm({.fault = Fault::kNoSpace, .path_contains = "MANIFEST"});
  EXPECT_TRUE(store.Log(adding()).IsNoSpace());
  files.Disarm();
  bool refused = true;
  for (int64_t at = 0; refused; ++at) {
    const VersionEdit edit = adding();
    const size_t before = store.newest()->levels[0].size();
    bool ok = false;
    {
      const Armed armed;
      Fail(at);
      (void)Tried([&] {
        store.install_mutex()->AssertHeld();
        ok = store.Log(edit).ok();
      });
      FailNone();
    }
    refused = plan.refused > 0;
    EXPECT_EQ(store.state().version->levels[0].size(), before + (ok ? 1 : 0))
        << "allocation " << at;
    EXPECT_EQ(store.newest(), store.state().version) << "allocation " << at;
  }
}

// A logged edit is adopted by the next call that looks for it.
TEST_F(AllocationFailure, AnEditThatCouldNotBeAdoptedIsAdoptedOnceThereIsMemory) {
  uint64_t refusals = 0;
  bool refused = true;
  for (int64_t at = 0; refused; ++at) {
    ComponentsForTest parts;
    parts.Begin();
    ASSERT_OK(parts.Log(ComponentsForTest::Adding(parts.NewFile())));
    MutexLock state(parts.tree.mutex());
    bool adopted = false;
    {
      const Armed armed;
      Fail(at);
      adopted = Tried([&] {
        parts.tree.mutex()->AssertHeld();
        parts.tree.Adopt();
      });
      FailNone();
    }
    refused = plan.refused > 0;
    refusals += plan.refused;
    EXPECT_NE(adopted, refused) << "allocation " << at;
    parts.tree.AdoptLeft();
    EXPECT_EQ(parts.tree.version(), parts.tree.versions.newest()) << "allocation " << at;
  }
  EXPECT_EQ(refusals > 0, LAVA_OWN_MALLOC == 1);
}

}  // namespace
}  // namespace lava::testing
