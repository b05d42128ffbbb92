// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

// The host's guarantees for many instances in one process, on a real disk with real threads.

#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <optional>
#include <thread>

#include "db_test_util.h"
#include "fs/posix_test_util.h"
#include "host/host_impl.h"
#include "memory/page_pool.h"
#include "memory/slot_heap.h"
#include "testing/chosen_file_system.h"
#include "testing/count.h"
#include "testing/random.h"

namespace lava::testing {
namespace {

constexpr uint64_t kIdleBytesMax = 64 << 10;
// Limits for the growth during nine tenths of the cycles. Measured: 135 KiB of heap, which are
// malloc's caches of this thread (without growth for glibc.malloc.tcache_count=0), and 0.5 MiB of
// resident memory.
constexpr uint64_t kCyclesHeapBytesMax = 256 << 10, kCyclesResidentBytesMax = 2 << 20;

size_t ThreadCount() {
  return static_cast<size_t>(std::distance(std::filesystem::directory_iterator("/proc/self/task"),
                                           std::filesystem::directory_iterator()));
}

// A joined thread may be listed for a moment longer. The host's thread that gives memory back to
// the system, which depends on the time, ends after 10 idle seconds.
void ExpectThreads(size_t threads) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (ThreadCount() != threads && std::chrono::steady_clock::now() < end)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_EQ(ThreadCount(), threads);
}

// Memory of malloc, which is unknown for that of sanitizers, and of the pool for large blocks.
uint64_t HeapBytes() {
  const struct mallinfo2 info = mallinfo2();
  SlotHeap::Process().GiveBackFree();  // otherwise memory of sizes that were used once would count
  return info.uordblks + info.hblkhd + PagePool::Process().used_bytes();
}

uint64_t ResidentBytes() {
  uint64_t pages = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> pages >> resident;
  return resident * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

void ExpectNothingLeft() {
  const HostStatistics s = Host::Get().statistics();
  EXPECT_EQ(s.charged_bytes, 0u);
  EXPECT_EQ(s.cache_capacity_bytes, 0u);
  EXPECT_EQ(s.cache_used_bytes, 0u);
  EXPECT_EQ(s.cache_pinned_bytes, 0u);
  EXPECT_EQ(s.memtable_bytes, 0u);
  EXPECT_EQ(s.table_reader_bytes, 0u);
  EXPECT_EQ(s.instances_open, 0u);
  EXPECT_EQ(s.leases_open, 0u);
  EXPECT_EQ(s.threads, 0u);
}

// Peaks of HostStatistics, sampled continuously by a separate thread.
class PeakWatch {
 public:
  PeakWatch()
      : thread_([this] {
          while (!stop_) {
            Look();
            std::this_thread::sleep_for(std::chrono::microseconds(200));
          }
        }) {}
  ~PeakWatch() { Stop(); }
  HostStatistics Stop() {
    stop_ = true;
    if (thread_.joinable()) thread_.join();
    return peak_;
  }

 private:
  void Look() {
    HostStatistics s = Host::Get().statistics();
    // A charge is counted before the cache frees memory for it, and before the memory is allocated.
    // A sample in between shows more than is really used, for a short time.
    for (int again = 0; s.charged_bytes > s.budget_bytes && again < 10; ++again) {
      std::this_thread::sleep_for(std::chrono::microseconds(200));
      s.charged_bytes = std::min(s.charged_bytes, Host::Get().statistics().charged_bytes);
    }
    peak_.charged_bytes = std::max(peak_.charged_bytes, s.charged_bytes);
    peak_.cache_used_bytes = std::max(peak_.cache_used_bytes, s.cache_used_bytes);
    peak_.memtable_bytes = std::max(peak_.memtable_bytes, s.memtable_bytes);
    peak_.table_reader_bytes = std::max(peak_.table_reader_bytes, s.table_reader_bytes);
    peak_.file_buffer_bytes = std::max(peak_.file_buffer_bytes, s.file_buffer_bytes);
  }
  HostStatistics peak_;  // belongs to the thread until Stop()
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

class HostPromises : public fs::PosixTest {
 protected:
  struct Opened {
    std::unique_ptr<DB> db;
    Table* table = nullptr;
  };
  HostPromises() {
    if (OnLavaFs()) volume_.emplace(directory_ + ".volume", /*direct=*/false);
  }
  void Lease(uint64_t bytes) { options_.lease = *Host::Get().Acquire(bytes, 0.5); }
  void Open(size_t instance) {
    if (volume_) options_.file_system = volume_->file_system();
    if (opened_.size() <= instance) opened_.resize(instance + 1);
    auto db = DB::Open(options_, Path(std::to_string(instance)));
    ASSERT_OK(db.status());
    opened_[instance].db = std::move(*db);
    auto table = opened_[instance].db->CreateTable("t", {.separation_bytes = 512});
    ASSERT_OK(table.status());
    opened_[instance].table = *table;
  }
  static std::string KeyOf(uint64_t n) { return K(static_cast<int>(n % 251), std::to_string(n)); }
  void Put(size_t instance, uint64_t n, size_t bytes) {
    Opened& it = opened_[instance];
    const std::string value = random_.Bytes(bytes);
    UntilDone([&] { return it.db->Put(it.table, {KeyOf(n)}, value); });
  }
  void Get(size_t instance, uint64_t n) {
    PinnedValue value;
    const Status status = opened_[instance].db->Get(opened_[instance].table, {KeyOf(n)}, &value);
    ASSERT_TRUE(status.ok() || status.IsNotFound()) << status.ToString();
  }
  void Scan(size_t instance) {
    ScanRequest request;
    ScanPage page;
    ASSERT_OK(opened_[instance].db->Scan(opened_[instance].table, request, &page));
  }
  void Snap(size_t instance) {
    auto snapshot = opened_[instance].db->TakeSnapshot();
    ASSERT_OK(snapshot.status());
    UntilDone([&] { return (*snapshot)->WaitFlushed(100); });
  }
  // The work of a cycle: files of two kinds, blocks in the cache, and a memtable that is never
  // flushed.
  void Use(size_t instance) {
    for (uint64_t n = 0; n < 8; ++n) ASSERT_NO_FATAL_FAILURE(Put(instance, n, n % 2 * 1000));
    UntilDone(
        [&, flush = FlushTicket()]() mutable { return opened_[instance].db->Flush(100, &flush); });
    ASSERT_NO_FATAL_FAILURE(Get(instance, 1));
    ASSERT_NO_FATAL_FAILURE(Scan(instance));
    ASSERT_NO_FATAL_FAILURE(Put(instance, 3, 100));
  }

  std::optional<FileVolume> volume_;
  DBOptions options_;
  std::vector<Opened> opened_;
  Random random_{4};
};

TEST_F(HostPromises, AThousandCyclesLeaveNothing) {
  const uint64_t cycles = Variable("LAVA_TEST_CYCLES", 1000);
  const size_t threads = ThreadCount();
  const bool measured = HeapBytes() > 0;
  uint64_t heap = 0, resident = 0;  // after the first tenth
  for (uint64_t n = 0; n < cycles; ++n) {
    if (n == cycles / 10) {
      heap = HeapBytes();
      resident = ResidentBytes();
    }
    Lease(8 << 20);
    ASSERT_NO_FATAL_FAILURE(Open(n % 4));
    ASSERT_NO_FATAL_FAILURE(Use(n % 4));
    if (n % 2 == 0) UntilDone([&] { return opened_[n % 4].db->Close(); });
    opened_.clear();
    options_.lease.reset();
    ASSERT_NO_FATAL_FAILURE(ExpectNothingLeft()) << "cycle " << n;
    if (HasFailure()) return;
  }
  ExpectThreads(threads);
  if (measured) {
    std::cout << "heap " << heap << " -> " << HeapBytes() << ", resident " << resident << " -> "
              << ResidentBytes() << "\n";
    EXPECT_LT(HeapBytes(), heap + kCyclesHeapBytesMax);
    EXPECT_LT(ResidentBytes(), resident + kCyclesResidentBytesMax);
  }
  Count(cycles, "open, use, close cycles");
}

TEST_F(HostPromises, AnIdleInstanceCostsLittleAndNoThread) {
  constexpr size_t kInstances = 200;
  const size_t threads = ThreadCount();
  Lease(64 << 20);
  ASSERT_NO_FATAL_FAILURE(Open(kInstances));  // includes what all share
  const uint64_t heap = HeapBytes();
  for (size_t n = 0; n < kInstances; ++n) ASSERT_NO_FATAL_FAILURE(Open(n));
  ExpectThreads(threads);
  EXPECT_LT(Host::Get().statistics().charged_bytes, kInstances * kIdleBytesMax);
  EXPECT_LT(HeapBytes() - heap, kInstances * kIdleBytesMax);
  opened_.clear();
  options_.lease.reset();
  ExpectNothingLeft();
}

// With more data than the budget, overwritten so that garbage is collected.
TEST_F(HostPromises, TrackedBytesStayWithinTheBudget) {
  constexpr uint64_t kBudget = 16 << 20, kInstances = 40, kKeys = 800, kRounds = 3;
  Lease(kBudget);
  for (size_t n = 0; n < kInstances; ++n) ASSERT_NO_FATAL_FAILURE(Open(n));
  PeakWatch watch;
  for (uint64_t i = 0; i < kRounds * kKeys * kInstances; ++i) {
    const size_t instance = i % kInstances;
    const uint64_t n = random_.Uniform(kKeys);
    ASSERT_NO_FATAL_FAILURE(Put(instance, n, n % 2 == 0 ? 100 : 1000));
    if (i % 4 == 0) {
      ASSERT_NO_FATAL_FAILURE(Get(instance, random_.Uniform(kKeys)));
    }
    if (i % 1000 == 0) {
      ASSERT_NO_FATAL_FAILURE(Scan(random_.Uniform(kInstances)));
    }
    if (i % 5000 == 0) {
      ASSERT_NO_FATAL_FAILURE(Snap(random_.Uniform(kInstances)));
    }
  }
  const HostStatistics peak = watch.Stop();
  EXPECT_LE(peak.charged_bytes, kBudget)
      << "memtables " << peak.memtable_bytes << ", cache " << peak.cache_used_bytes << ", readers "
      << peak.table_reader_bytes << ", file buffers " << peak.file_buffer_bytes;
  EXPECT_GT(peak.memtable_bytes, kBudget / 3) << "the test must put the budget under pressure";
  opened_.clear();
  options_.lease.reset();
  ExpectNothingLeft();
}

constexpr uint64_t kStays = 8 << 20, kEnds = 24 << 20;

// One of two leases ends while the other's instances use more than the other lease allows.
class HostLeaseEnds : public HostPromises {
 protected:
  HostLeaseEnds() {
    // This ensures that no compaction removes files with blocks in the cache.
    options_.l0_compaction_trigger = 1000;
    options_.l0_stall_trigger = 1001;
    Lease(kStays);
    ends_ = *Host::Get().Acquire(kEnds, 0.5);
  }
  // Inline values, so that they are in blocks of the cache.
  void FillCache(size_t instance, uint64_t keys, uint64_t cached_bytes, size_t bytes = 500) {
    for (uint64_t n = 0; n < keys; ++n) ASSERT_NO_FATAL_FAILURE(Put(instance, n, bytes));
    UntilDone(
        [&, flush = FlushTicket()]() mutable { return opened_[instance].db->Flush(100, &flush); });
    for (uint64_t n = 0; n < keys; ++n) ASSERT_NO_FATAL_FAILURE(Get(instance, n));
    ASSERT_GT(Host::Get().statistics().cache_used_bytes, cached_bytes);
  }
  /// / Waits until the charges fit the budget. No other work may happen in the meantime.
  static HostStatistics AwaitBudget() {
    HostStatistics s = Host::Get().statistics();
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (s.charged_bytes > s.budget_bytes && std::chrono::steady_clock::now() < until) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      s = Host::Get().statistics();
    }
    return s;
  }

  std::shared_ptr<lava::Lease> ends_;
};

TEST_F(HostLeaseEnds, TheCacheGivesItsBytesBackAtOnce) {
  ASSERT_NO_FATAL_FAILURE(Open(0));
  ASSERT_NO_FATAL_FAILURE(FillCache(0, 30'000, kStays));
  ends_.reset();
  const HostStatistics s = Host::Get().statistics();
  EXPECT_EQ(s.budget_bytes, kStays);
  EXPECT_LE(s.charged_bytes, kStays) << "the cache must shrink at once";
  EXPECT_EQ(s.over_budget_bytes, 0u);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST_F(HostLeaseEnds, ItsMemoryGoesBackToTheSystem) {
  constexpr uint64_t kLarge = 96 << 20;
  const uint64_t before = ResidentBytes();
  ends_ = *Host::Get().Acquire(kLarge, 0.5);
  ASSERT_NO_FATAL_FAILURE(Open(0));
  ASSERT_NO_FATAL_FAILURE(FillCache(0, 120'000, kLarge / 2));
  EXPECT_GT(ResidentBytes(), before + kLarge / 3) << "the test must fill the cache";
  ends_.reset();
  // The other lease's memory, the pool's reserve, and fragmentation of the heap.
  EXPECT_LT(ResidentBytes(), before + kStays + PagePool::kKeptBytesMin + (8 << 20));
}

// Separated values that are cached individually: too small for the page pool.
TEST_F(HostLeaseEnds, ItsSmallBlocksGoBackToTheSystem) {
  constexpr uint64_t kLarge = 64 << 20;
  const uint64_t before = ResidentBytes();
  ends_ = *Host::Get().Acquire(kLarge, 0.5);
  ASSERT_NO_FATAL_FAILURE(Open(0));
  ASSERT_NO_FATAL_FAILURE(FillCache(0, 60'000, kLarge / 2, 1000));
  EXPECT_GT(ResidentBytes(), before + kLarge / 3) << "the test must fill the cache";
  ends_.reset();
  EXPECT_LT(ResidentBytes(), before + kStays + PagePool::kKeptBytesMin + (8 << 20));
}
#endif

TEST_F(HostLeaseEnds, PinsThatOutlastItAreReportedUntilTheyGo) {
  const size_t threads = ThreadCount();
  ASSERT_NO_FATAL_FAILURE(Open(0));
  ASSERT_NO_FATAL_FAILURE(FillCache(0, 30'000, kStays));
  std::vector<PinnedValue> pins(30'000);
  for (uint64_t n = 0; n < pins.size(); ++n)
    ASSERT_OK(opened_[0].db->Get(opened_[0].table, {KeyOf(n)}, &pins[n]));
  ASSERT_GT(Host::Get().statistics().cache_pinned_bytes, kStays);
  ends_.reset();
  const HostStatistics pinned = Host::Get().statistics();
  EXPECT_GT(pinned.over_budget_bytes, 0u);
  EXPECT_EQ(pinned.over_budget_bytes, pinned.charged_bytes - kStays);
  EXPECT_LE(pinned.over_budget_bytes, pinned.cache_pinned_bytes);
  pins.clear();
  const HostStatistics s = AwaitBudget();
  EXPECT_LE(s.charged_bytes, kStays);
  EXPECT_EQ(s.over_budget_bytes, 0u);
  opened_.clear();
  options_.lease.reset();
  ExpectNothingLeft();
  ExpectThreads(threads);
}

TEST_F(HostLeaseEnds, MemtablesOfIdleInstancesGiveWay) {
  constexpr size_t kInstances = 6;
  for (size_t n = 0; n < kInstances; ++n) ASSERT_NO_FATAL_FAILURE(Open(n));
  ASSERT_NO_FATAL_FAILURE(FillCache(0, 30'000, kStays));
  for (uint64_t i = 0; Host::Get().statistics().memtable_bytes < kStays * 3 / 8; ++i)
    ASSERT_NO_FATAL_FAILURE(Put(i % kInstances, i, 400));
  for (size_t n = 0; n < kInstances; ++n)
    ASSERT_EQ(opened_[n].db->statistics().memtable_sealed_bytes, 0u);
  // As much as the metadata of many files, for which the other lease's cache was reduced.
  MemoryCounter* const metadata =
      Impl(options_.lease.get())->budget()->counter(MemoryPurpose::kMetadata);
  metadata->Charge(kStays * 3 / 4);
  ASSERT_GT(options_.lease->used_bytes(), kStays);
  ends_.reset();
  const HostStatistics s = AwaitBudget();
  EXPECT_LE(s.charged_bytes, kStays) << "memtables " << s.memtable_bytes;
  EXPECT_GT(s.memtable_bytes, 0u) << "no more memtables may be flushed than necessary";
  metadata->Release(kStays * 3 / 4);
}

}  // namespace
}  // namespace lava::testing
