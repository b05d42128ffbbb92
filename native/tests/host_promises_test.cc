// What the host promises of many instances in one process, on a real disk with the real threads.

#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <optional>
#include <thread>

#include "db_test_util.h"
#include "fs/posix_test_util.h"
#include "testing/chosen_file_system.h"
#include "testing/count.h"
#include "testing/random.h"

namespace lava::testing {
namespace {

constexpr uint64_t kIdleBytesMax = 64 << 10;
// What nine tenths of the cycles may add. Measured: 135 KiB of heap, which are malloc's caches of
// this thread (with glibc.malloc.tcache_count=0 not a byte is added), and 0.5 MiB resident.
constexpr uint64_t kCyclesHeapBytesMax = 256 << 10, kCyclesResidentBytesMax = 2 << 20;

size_t ThreadCount() {
  return static_cast<size_t>(std::distance(std::filesystem::directory_iterator("/proc/self/task"),
                                           std::filesystem::directory_iterator()));
}

// Under sanitizers, whose own malloc tells nothing, always 0.
uint64_t HeapBytes() {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

uint64_t ResidentBytes() {
  uint64_t pages = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> pages >> resident;
  return resident * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

template <typename Call>
void UntilDone(Call call) {
  Status status;
  do {
    status = call();
  } while (status.IsBusy());
  ASSERT_OK(status);
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

// What HostStatistics said at most, asked by a thread of its own all the time.
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
    const HostStatistics s = Host::Get().statistics();
    peak_.charged_bytes = std::max(peak_.charged_bytes, s.charged_bytes);
    peak_.cache_used_bytes = std::max(peak_.cache_used_bytes, s.cache_used_bytes);
    peak_.memtable_bytes = std::max(peak_.memtable_bytes, s.memtable_bytes);
    peak_.table_reader_bytes = std::max(peak_.table_reader_bytes, s.table_reader_bytes);
    peak_.file_buffer_bytes = std::max(peak_.file_buffer_bytes, s.file_buffer_bytes);
  }
  HostStatistics peak_;  // the thread's until Stop()
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
  // A cycle's work: files of two kinds, blocks in the cache, and a memtable that is never flushed.
  void Use(size_t instance) {
    for (uint64_t n = 0; n < 8; ++n) ASSERT_NO_FATAL_FAILURE(Put(instance, n, n % 2 * 1000));
    UntilDone([&] { return opened_[instance].db->Flush(100); });
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
  uint64_t heap = 0, resident = 0;  // of the first tenth
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
  EXPECT_EQ(ThreadCount(), threads);
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
  ASSERT_NO_FATAL_FAILURE(Open(kInstances));  // with what all share
  const uint64_t heap = HeapBytes();
  for (size_t n = 0; n < kInstances; ++n) ASSERT_NO_FATAL_FAILURE(Open(n));
  EXPECT_EQ(ThreadCount(), threads);
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
  EXPECT_GT(peak.memtable_bytes, kBudget / 3) << "there was no pressure";
  opened_.clear();
  options_.lease.reset();
  ExpectNothingLeft();
}

}  // namespace
}  // namespace lava::testing
