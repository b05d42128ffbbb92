// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

// Compares the memory that jobs charge before they begin with the memory that they use, as counted
// by the program's own malloc.

#include <gtest/gtest.h>
#include <malloc.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <iostream>
#include <string>
#include <vector>

#include "base/zstd_contexts.h"
#include "db/environment.h"
#include "db_test_util.h"
#include "fs/posix_test_util.h"
#include "host/host_impl.h"
#include "memory/large_memory.h"
#include "testing/random.h"
#include "testing/sim_executor.h"

extern "C" {
void* __libc_malloc(size_t);
void __libc_free(void*);
void* __libc_realloc(void*, size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_memalign(size_t, size_t);
}

namespace {

// Counts for the only relevant thread, since the watch began.
struct Watch {
  bool on = false;
  int64_t heap = 0, heap_peak = 0;
  const lava::MemoryCounter* charges[3] = {};
  uint64_t charged_peak = 0;
};
thread_local Watch watch;

void Count(int64_t bytes) {
  if (!watch.on) return;
  watch.heap += bytes;
  watch.heap_peak = std::max(watch.heap_peak, watch.heap);
  for (const lava::MemoryCounter* counter : watch.charges)
    if (counter != nullptr) watch.charged_peak = std::max(watch.charged_peak, counter->used());
}

void* Counted(void* memory) {
  if (memory != nullptr) Count(static_cast<int64_t>(malloc_usable_size(memory)));
  return memory;
}

}  // namespace

extern "C" {
void* malloc(size_t bytes) { return Counted(__libc_malloc(bytes)); }
void* calloc(size_t count, size_t bytes) { return Counted(__libc_calloc(count, bytes)); }
void* aligned_alloc(size_t alignment, size_t bytes) {
  return Counted(__libc_memalign(alignment, bytes));
}
int posix_memalign(void** out, size_t alignment, size_t bytes) {
  *out = Counted(__libc_memalign(alignment, bytes));
  return *out == nullptr ? ENOMEM : 0;
}
void* realloc(void* memory, size_t bytes) {
  if (memory != nullptr) Count(-static_cast<int64_t>(malloc_usable_size(memory)));
  return Counted(__libc_realloc(memory, bytes));
}
void free(void* memory) {
  if (memory != nullptr) Count(-static_cast<int64_t>(malloc_usable_size(memory)));
  __libc_free(memory);
}
}

// Makes malloc serve all allocations instead of the page pool; the amounts are the same.
namespace {
const bool all_from_malloc = [] {
  lava::large_bytes_min = SIZE_MAX;
  return true;
}();
}  // namespace

namespace lava::testing {
namespace {

struct Case {
  const char* name;
  uint64_t value_bytes_min, value_bytes_max;
  uint64_t separation_bytes;
  Compression compression;
  uint64_t list_keys = 0;  // otherwise values of many keys
  ValuePolicy policy = ValuePolicy::kAutomatic;
};

class WorkingSets : public fs::PosixTest, public ::testing::WithParamInterface<Case> {
 protected:
  WorkingSets() : executor_(7) {
    options_.lease = *Host::Get().Acquire(256 << 20, 0.5);
    // Lists have many parts, which are combined.
    options_.memtable_bytes = GetParam().list_keys > 0 ? 512 << 10 : 4 << 20;
    options_.target_file_bytes = 16 << 20;
    options_.value_file_bytes = 16 << 20;
    options_.level1_bytes = 16 << 20;
    options_.value_policy = GetParam().policy;
    options_.compression = options_.bottom_compression = options_.value_compression =
        GetParam().compression;
  }

  void Open() {
    DBEnvironment environment;
    environment.executor = &executor_;
    auto db = OpenDB(options_, directory_, {}, environment);
    ASSERT_OK(db.status());
    db_ = std::move(*db);
    auto table = db_->CreateTable(
        "t", {.kind = GetParam().list_keys > 0 ? TableKind::kList : TableKind::kValue,
              .separation_bytes = GetParam().separation_bytes});
    ASSERT_OK(table.status());
    table_ = *table;
  }

  // Half of each value is compressible, and all values have a common part.
  std::string Value() {
    const Case& c = GetParam();
    const uint64_t bytes =
        c.value_bytes_min + random_.Uniform(c.value_bytes_max - c.value_bytes_min + 1);
    std::string value = random_.Bytes(bytes / 2);
    while (value.size() < bytes) value += "{\"name\": \"something\", \"more\": 17}";
    value.resize(bytes);
    return value;
  }

  void Fill(uint64_t bytes, uint64_t keys) {
    for (uint64_t n = 0; n < bytes;) {
      const std::string key = K(static_cast<int>(random_.Uniform(16)),
                                "a key of usual length " + std::to_string(random_.Uniform(keys)));
      const std::string value = Value();
      n += key.size() + value.size();
      const auto write = [&] {
        return GetParam().list_keys > 0 ? db_->Append(table_, {key}, ListOf({value}))
                                        : db_->Put(table_, {key}, value);
      };
      Status status = write();
      while (status.IsBusy()) {
        ASSERT_TRUE(RunJobs(1));
        status = write();
      }
      ASSERT_OK(status);
    }
  }

  static uint64_t Grown(uint64_t from, uint64_t to) { return to - std::min(from, to); }

  struct Peak {
    uint64_t jobs = 0, heap = 0, charged = 0;
  };
  // Runs queued jobs under the watch, and compares each with its charge.
  bool RunJobs(uint64_t jobs_max) {
    LeaseImpl* const lease = Impl(options_.lease.get());
    constexpr MemoryPurpose kPurposes[] = {MemoryPurpose::kFlushes, MemoryPurpose::kCompactions,
                                           MemoryPurpose::kCollections};
    bool any = false;
    for (uint64_t n = 0; n < jobs_max && executor_.pending() > 0; ++n) {
      any = true;
      const MemoryCounter* charges[3];
      for (int i = 0; i < 3; ++i) charges[i] = lease->budget()->counter(kPurposes[i]);
      const uint64_t readers = lease->budget()->counter(MemoryPurpose::kReaders)->used();
      const uint64_t cached = lease->host()->cache()->used_bytes();
      // Removes the contexts kept for reuse, because each job is charged as if it needed new ones.
      for (auto& kept = ZstdContexts<ZSTD_CCtx>::Get(); kept.kept() > 0;) kept.Take();
      watch = {.on = true};
      std::copy(charges, charges + 3, watch.charges);
      executor_.RunOne();
      watch.on = false;
      const uint64_t charged = watch.charged_peak;
      // Memory that stays is charged elsewhere: new files' readers, blocks in the cache.
      const uint64_t elsewhere =
          Grown(readers, lease->budget()->counter(MemoryPurpose::kReaders)->used()) +
          Grown(cached, lease->host()->cache()->used_bytes());
      const uint64_t peak =
          Grown(elsewhere, static_cast<uint64_t>(std::max<int64_t>(watch.heap_peak, 0)));
      if (charged == 0) continue;  // a move, or nothing to do
      EXPECT_LE(peak, charged) << GetParam().name;
      worst_.jobs += 1;
      if (peak * worst_.charged >= worst_.heap * charged || worst_.charged == 0) {
        worst_.heap = peak;
        worst_.charged = charged;
      }
      heap_ += peak;
      charged_ += charged;
    }
    return any;
  }

  SimExecutor executor_;
  DBOptions options_;
  std::unique_ptr<DB> db_;
  Table* table_ = nullptr;
  Random random_{3};
  Peak worst_;
  uint64_t heap_ = 0, charged_ = 0;
};

TEST_P(WorkingSets, AreWhatJobsTake) {
  ASSERT_NO_FATAL_FAILURE(Open());
  const uint64_t list_keys = GetParam().list_keys;
  const int rounds = list_keys > 0 ? 3 : 6;  // takes long with small memtables
  for (int round = 0; round < rounds; ++round) {
    const uint64_t keys = list_keys > 0 ? list_keys : 10'000'000 / (GetParam().value_bytes_max + 1);
    ASSERT_NO_FATAL_FAILURE(Fill(10 << 20, keys));
    RunJobs(1000);
  }
  std::cout << GetParam().name << ": " << worst_.jobs
            << " jobs; the one nearest to its charge took " << (worst_.heap >> 10) << " of "
            << (worst_.charged >> 10) << " KiB, all " << (heap_ >> 10) << " of " << (charged_ >> 10)
            << std::endl;
  EXPECT_GT(worst_.jobs, 10u);
  EXPECT_EQ(db_->statistics().merged_value_bytes > 0,
            list_keys > 0 || GetParam().policy == ValuePolicy::kMerge);
  // An estimate that is far too large makes jobs wait unnecessarily.
  EXPECT_LT(charged_, 12 * heap_ + worst_.jobs * (1 << 20));
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, WorkingSets,
    ::testing::Values(
        Case{"small inline", 8, 100, 0, Compression::kLz4},
        Case{"inline zstd", 50, 500, 0, Compression::kZstd},
        Case{"1 KiB separated", 1000, 1100, 512, Compression::kLz4},
        Case{"1 KiB separated zstd", 1000, 1100, 512, Compression::kZstd},
        Case{"16 KiB separated", 16000, 17000, 512, Compression::kLz4},
        Case{"1 KiB merged", 1000, 1100, 512, Compression::kLz4, 0, ValuePolicy::kMerge},
        Case{"32 KiB merged", 30000, 34000, 512, Compression::kLz4, 0, ValuePolicy::kMerge},
        Case{"small separated", 16, 64, 16, Compression::kLz4},
        Case{"large separated", 1000, 1 << 20, 4096, Compression::kZstd},
        Case{"large inline", 1000, 1 << 20, 0, Compression::kLz4},
        Case{"lists separated", 8000, 9000, 4096, Compression::kLz4, 2},
        Case{"lists separated zstd", 100, 50000, 4096, Compression::kZstd, 1}),
    [](const auto& it) {
      std::string name = it.param.name;
      std::replace(name.begin(), name.end(), ' ', '_');
      return name;
    });

}  // namespace
}  // namespace lava::testing
