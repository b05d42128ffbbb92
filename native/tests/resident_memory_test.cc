// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

// Compares the resident memory of a process with its budget, using the system's malloc: several
// instances with separate threads, values from a few bytes to 1 MiB, snapshots that are read
// completely like savepoints, and restores from them. Freed memory that malloc keeps is not
// charged, so large blocks must not be allocated from it.

#include <gtest/gtest.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

#include "db_test_util.h"
#include "fs/posix_test_util.h"
#include "lava/host.h"
#include "memory/page_pool.h"
#include "testing/count.h"
#include "testing/random.h"

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
extern "C" {
void* __libc_malloc(size_t);
void __libc_free(void*);
}

namespace lava::testing {
namespace {

constexpr uint64_t kMiB = 1 << 20;
constexpr uint64_t kBudget = 64 * kMiB;
constexpr size_t kInstances = 4, kReaders = 3;
constexpr size_t kLargeBytesMax = kMiB, kKeys = 10'000, kLargeKeys = 32;
// Stacks, tables of the system's libraries, and pages of the program that only the run needs.
constexpr uint64_t kBesideBytesMax = 3 * kMiB;

uint64_t ResidentBytes() {
  uint64_t pages = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> pages >> resident;
  return resident * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

/// Samples resident memory continuously.
class ResidentWatch {
 public:
  ResidentWatch()
      : thread_([this] {
          while (!stop_) {
            peak_ = std::max(peak_, ResidentBytes());
            ++samples_;
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
          }
        }) {}
  ~ResidentWatch() { Stop(); }
  uint64_t Stop() {
    stop_ = true;
    if (thread_.joinable()) thread_.join();
    return peak_;
  }
  uint64_t samples() const { return samples_; }

 private:
  uint64_t peak_ = 0, samples_ = 0;  // belongs to the thread until Stop()
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

/// One instance and the thread that uses it. Each call allocates and frees buffers, like the
/// bindings for large values. Separate threads read snapshots, as in Flink.
class User {
 public:
  User(DBOptions options, std::string directory, uint64_t seed)
      : options_(std::move(options)), directory_(std::move(directory)), random_(seed) {
    value_ = random_.Bytes(kLargeBytesMax);
  }

  void Run(int rounds, int operations) {
    ASSERT_NO_FATAL_FAILURE(Open({}));
    for (int round = 0; round < rounds; ++round) {
      std::vector<std::thread> readers;
      for (uint64_t reader = 0; reader < kReaders; ++reader)
        readers.emplace_back([this, operations, seed = random_.Next()] {
          Random random(seed);
          for (int i = 0; i < operations && !::testing::Test::HasFatalFailure(); ++i) Get(&random);
        });
      for (int i = 0; i < operations && !::testing::Test::HasFatalFailure(); ++i) Put();
      for (std::thread& reader : readers) reader.join();
      ASSERT_FALSE(::testing::Test::HasFatalFailure());
      auto snapshot = db_->TakeSnapshot();
      ASSERT_OK(snapshot.status());
      UntilDone([&] { return (*snapshot)->WaitFlushed(100); });
      std::thread([&] { Save(snapshot->get()); }).join();
      ASSERT_FALSE(::testing::Test::HasFatalFailure());
      if (round % 2 == 0) continue;
      ASSERT_NO_FATAL_FAILURE(Restore(std::move(*snapshot)));
    }
    UntilDone([&] { return db_->Close(); });
    db_.reset();
    std::filesystem::remove_all(PathOf(opened_));
  }

 private:
  std::string PathOf(int n) const { return directory_ + "/" + std::to_string(n); }
  void Open(std::span<const ImportSource> imports) {
    auto db = DB::Open(options_, PathOf(opened_), imports);
    ASSERT_OK(db.status());
    db_ = std::move(*db);
    auto table = db_->CreateTable("t", {.separation_bytes = 4096});
    ASSERT_OK(table.status());
    table_ = *table;
  }
  static std::string KeyOf(size_t n) { return K(static_cast<int>(n % 251), std::to_string(n)); }

  // One of 16 operations uses a large value.
  static std::string KeyOf(Random* random, bool large) {
    return KeyOf(large ? random->Uniform(kLargeKeys) : kLargeKeys + random->Uniform(kKeys));
  }
  void Get(Random* random) {
    PinnedValue got;
    const Status status = db_->Get(table_, {KeyOf(random, random->OneIn(16))}, &got);
    ASSERT_TRUE(status.ok() || status.IsNotFound()) << status.ToString();
  }
  // Three of four of the others are small.
  void Put() {
    const bool large = random_.OneIn(16);
    const std::string key = KeyOf(&random_, large);
    const size_t most = large ? kLargeBytesMax : random_.Uniform(4) == 0 ? 16384 : 200;
    const size_t bytes = (large ? kLargeBytesMax / 2 : 16) + random_.Uniform(most / 2);
    const std::string value = value_.substr(random_.Uniform(kLargeBytesMax - bytes), bytes);
    UntilDone([&] { return db_->Put(table_, {key}, value); });
  }

  // Reads it like a canonical savepoint.
  void Save(Snapshot* snapshot) {
    ScanRequest request;
    request.bytes_max = kMiB / 2;
    request.fill_cache = false;
    std::string last;
    bool done = false;
    while (!done) {
      ScanPage page;
      request.lower = last;
      ASSERT_OK(db_->Scan(table_, request, &page, snapshot));
      last = page.last_key;
      done = page.done;
      request.lower_exclusive = true;
    }
  }

  void Restore(std::shared_ptr<Snapshot> snapshot) {
    std::vector<Snapshot::File> files;
    ImportSource source;
    ASSERT_OK(snapshot->Files(&files, &source.metadata));
    source.partition_last = 250;
    std::filesystem::create_directories(PathOf(opened_ + 1));
    for (const Snapshot::File& file : files)
      std::filesystem::create_hard_link(PathOf(opened_) + "/" + file.name,
                                        PathOf(opened_ + 1) + "/" + file.name);
    snapshot.reset();
    UntilDone([&] { return db_->Close(); });
    db_.reset();
    std::filesystem::remove_all(PathOf(opened_));
    ++opened_;
    ASSERT_NO_FATAL_FAILURE(Open({&source, 1}));
  }

  DBOptions options_;
  const std::string directory_;
  Random random_;
  std::string value_;
  std::unique_ptr<DB> db_;
  Table* table_ = nullptr;
  int opened_ = 0;
};

class ResidentMemory : public fs::PosixTest {
 protected:
  void Run(uint64_t budget, int rounds, int operations) {
    // Freeing a large block, as a JVM does, raises glibc's threshold for mapping allocations
    // separately and doubles the memory that each arena may keep.
    __libc_free(__libc_malloc(31 * kMiB));
    Host::Get().SetBackgroundThreads(4);
    DBOptions options;
    options.lease = *Host::Get().Acquire(budget, 0.5);
    options.partition_first = 0;
    options.partition_last = 250;
    std::vector<std::unique_ptr<User>> users;
    for (size_t n = 0; n < kInstances; ++n) {
      const std::string directory = Path(std::to_string(budget) + "-" + std::to_string(n));
      std::filesystem::create_directories(directory);
      users.push_back(std::make_unique<User>(options, directory, n + 1));
    }
    options.lease.reset();
    base_ = ResidentBytes();
    ResidentWatch watch;
    std::vector<std::thread> threads;
    for (auto& user : users)
      threads.emplace_back([&user, rounds, operations] { user->Run(rounds, operations); });
    for (std::thread& thread : threads) thread.join();
    peak_ = watch.Stop();
    samples_ = watch.samples();
  }

  // For the last run: the peak of resident memory, less that before the run.
  uint64_t above() const { return peak_ - std::min(base_, peak_); }

  uint64_t base_ = 0, peak_ = 0, samples_ = 0;
};

/// A group of processes with this limit for additional memory; none if the test may not create one
/// (cgroup v1 only).
class MemoryLimit {
 public:
  explicit MemoryLimit(uint64_t bytes)
      : directory_("/sys/fs/cgroup/memory/lava-test-" + std::to_string(getpid())) {
    std::error_code error;
    made_ = std::filesystem::create_directory(directory_, error) && !error &&
            Write("memory.limit_in_bytes", std::to_string(bytes));
  }
  ~MemoryLimit() {
    std::error_code ignored;
    std::filesystem::remove(directory_, ignored);
  }
  bool made() const { return made_; }
  /// Moves the calling process into the group.
  bool Join() const { return Write("cgroup.procs", "0"); }

 private:
  bool Write(const char* file, const std::string& text) const {
    std::ofstream out(directory_ + "/" + file);
    return static_cast<bool>(out << text << std::flush);
  }
  const std::string directory_;
  bool made_ = false;
};

bool IsOnDisk(const std::string& directory) {
  struct statfs facts {};
  constexpr auto kTmpfs = 0x01021994;
  return statfs(directory.c_str(), &facts) == 0 && facts.f_type != kTmpfs;
}

// Memory that the process had before does not count towards the limit. Pages of files do, but are
// dropped when the limit is reached; the kernel's own memory counts as well. If the machine does
// not allow a test to set such a limit, or files are in memory, only samples enforce it. Must be
// the first test, because no thread may run yet.
TEST_F(ResidentMemory, AProcessWithThatLimitIsNotKilled) {
  constexpr uint64_t kKernelBytes = 8 * kMiB;
  constexpr uint64_t kLimit = kBudget + kBudget / 20 + kBesideBytesMax + kKernelBytes;
  const MemoryLimit limit(kLimit);
  const bool is_limited = limit.made() && IsOnDisk(directory_);
  Count(is_limited ? 1 : 0, "processes with a limit of memory");
  EXPECT_EXIT(
      {
        if (is_limited && !limit.Join()) std::exit(2);
        Run(kBudget, 2, 2500);
        std::exit(HasFailure() ? 1 : above() > kLimit ? 3 : 0);
      },
      ::testing::ExitedWithCode(0), "");
}

TEST_F(ResidentMemory, StaysWithinTheBudgetWithWhateverMallocThereIs) {
  Run(16 * kMiB, 2, 300);  // loads the code's pages and creates threads' arenas
  ASSERT_FALSE(HasFailure());
  Run(kBudget, 6, 3000);
  Count(samples_, "samples");
  Count(above() >> 10, "KiB resident above the base at most");
  EXPECT_LE(above(), kBudget + kBudget / 20 + kBesideBytesMax) << "of a budget of " << kBudget;
  EXPECT_GT(above(), kBudget / 2) << "the test must use at least half of the budget";
}

}  // namespace
}  // namespace lava::testing
#endif
