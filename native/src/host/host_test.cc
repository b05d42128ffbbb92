// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "cache/block_for_test.h"
#include "host/host_impl.h"

namespace lava {
namespace {

class Member : public LeaseMember {
 public:
  uint64_t active_bytes() const override { return bytes; }
  void RequestSeal() override { ++requests; }
  void MemoryFreed() override {}
  uint64_t bytes = 0;
  int requests = 0;
};

TEST(Host, LeasesAddUpAndTakeTheirCacheAway) {
  Host& host = Host::Get();
  EXPECT_EQ(host.statistics().leases_open, 0u);
  {
    auto a = host.Acquire(1000, 0.25);
    auto b = host.Acquire(2000, 0.5);
    ASSERT_TRUE(a.ok() && b.ok());
    EXPECT_EQ((*a)->write_buffer_bytes(), 250u);
    EXPECT_EQ((*a)->capacity_bytes(), 1000u);
    EXPECT_EQ(host.statistics().cache_capacity_bytes, 3000u - 3000u / 16);
    EXPECT_EQ(host.statistics().leases_open, 2u);
    Impl(a->get())->budget()->counter(MemoryPurpose::kMemtables)->Charge(10);
    Impl(a->get())->budget()->counter(MemoryPurpose::kReaders)->Charge(5);
    EXPECT_EQ((*a)->used_bytes(), 15u);
    EXPECT_EQ((*a)->write_buffer_used_bytes(), 10u);
    EXPECT_EQ(host.statistics().charged_bytes, 15u);
    EXPECT_EQ(host.statistics().cache_capacity_bytes, 3000u - 3000u / 16 - 15u);
    Impl(a->get())->budget()->counter(MemoryPurpose::kMemtables)->Release(10);
    Impl(a->get())->budget()->counter(MemoryPurpose::kReaders)->Release(5);
  }
  EXPECT_EQ(host.statistics().leases_open, 0u);
  EXPECT_EQ(host.statistics().cache_capacity_bytes, 0u);
  EXPECT_EQ(host.statistics().charged_bytes, 0u);
}

TEST(Host, RefusesRatiosOutsideZeroToOne) {
  for (const double ratio : {0.0, 1.0, -1.0, 2.0})
    EXPECT_TRUE(Host::Get().Acquire(1000, ratio).status().IsInvalidArgument());
  EXPECT_TRUE(Host::Get().Acquire(0, 0.5).status().IsInvalidArgument());
  EXPECT_EQ(Host::Get().statistics().leases_open, 0u);
}

TEST(Host, PressureSealsTheLargestMemtable) {
  auto lease = Host::Get().Acquire(1000, 0.5);
  ASSERT_TRUE(lease.ok());
  LeaseImpl* impl = Impl(lease->get());
  Member small, large;
  small.bytes = 10;
  large.bytes = 20;
  impl->Join(&small);
  impl->Join(&large);
  EXPECT_EQ(impl->member_count(), 2u);
  MemoryCounter* memtables = impl->budget()->counter(MemoryPurpose::kMemtables);
  memtables->Charge(100);
  impl->RelievePressure(15);
  EXPECT_EQ(large.requests, 1);
  impl->RelievePressure(15);
  EXPECT_EQ(large.requests, 1) << "no memory was charged since the last request";
  memtables->Charge(15);
  impl->RelievePressure(15);
  EXPECT_EQ(large.requests, 2);
  memtables->Charge(1000);
  impl->RelievePressure(100);
  EXPECT_EQ(large.requests, 2) << "the largest memtable is too small for this minimum";
  impl->Leave(&large);
  memtables->Release(1);
  impl->RelievePressure(1);
  EXPECT_EQ(small.requests, 1);
  memtables->Release(1114);
  impl->Leave(&small);
  EXPECT_EQ(impl->member_count(), 0u);
}

TEST(Host, ALeaseBeyondItsLimitSealsWhatItTakes) {
  auto lease = Host::Get().Acquire(1600, 0.5);
  ASSERT_TRUE(lease.ok());
  LeaseImpl* impl = Impl(lease->get());
  Member members[4];
  for (Member& member : members) impl->Join(&member);
  for (size_t n = 0; n < 3; ++n) members[n].bytes = 100 * (n + 1);
  const auto requests = [&] {
    std::vector<int> out;
    for (const Member& member : members) out.push_back(member.requests);
    return out;
  };
  MemoryCounter* memtables = impl->budget()->counter(MemoryPurpose::kMemtables);
  MemoryCounter* metadata = impl->budget()->counter(MemoryPurpose::kMetadata);
  memtables->Charge(700);  // 100 of these are being flushed
  metadata->Charge(800);
  impl->Relieve();
  EXPECT_EQ(requests(), (std::vector<int>{0, 0, 0, 0})) << "1500 bytes are the limit";
  metadata->Charge(100);
  impl->Relieve();
  EXPECT_EQ(requests(), (std::vector<int>{0, 0, 0, 0})) << "the running flushes free enough";
  metadata->Charge(100);
  impl->Relieve();
  EXPECT_EQ(requests(), (std::vector<int>{0, 0, 1, 0}));
  metadata->Charge(2000);
  impl->Relieve();
  EXPECT_EQ(requests(), (std::vector<int>{0, 1, 2, 0}))
      << "memtables may keep a quarter of 800 bytes";
  memtables->Release(700);
  impl->Relieve();
  EXPECT_EQ(requests(), (std::vector<int>{0, 1, 2, 0})) << "the memtables do not cause the excess";
  metadata->Release(3000);
  for (Member& member : members) impl->Leave(&member);
}

TEST(Host, WhatBindingsKeepIsTakenFromTheCache) {
  Host& host = Host::Get();
  host.CountBindingBytes(300);
  EXPECT_EQ(host.statistics().over_budget_bytes, 0u) << "without a lease there is no budget";
  {
    auto lease = host.Acquire(1600, 0.5);
    ASSERT_TRUE(lease.ok());
    EXPECT_EQ(host.statistics().cache_capacity_bytes, 1500u - 300u);
    EXPECT_EQ((*lease)->used_bytes(), 0u);
    host.CountBindingBytes(1400);
    EXPECT_EQ(host.statistics().binding_bytes, 1700u);
    EXPECT_EQ(host.statistics().charged_bytes, 1700u);
    EXPECT_EQ(host.statistics().over_budget_bytes, 100u);
    host.CountBindingBytes(-1400);
    EXPECT_EQ(host.statistics().cache_capacity_bytes, 1500u - 300u);
  }
  host.CountBindingBytes(-300);
  EXPECT_EQ(host.statistics().charged_bytes, 0u);
}

#if !defined(__SANITIZE_ADDRESS__)
TEST(Host, FreedPagesStayWhileTheBudgetHasMemoryForThem) {
  constexpr uint64_t kMiB = 1 << 20;
  PagePool& pool = PagePool::Process();
  const auto free_pages = [&] {
    std::vector<char*> chunks;
    for (int i = 0; i < 64; ++i) chunks.push_back(pool.Allocate(kMiB));
    for (char* chunk : chunks) pool.Free(chunk, kMiB);
    return pool.statistics().kept_bytes;
  };
  {
    const auto lease = Host::Get().Acquire(128 * kMiB, 0.5);
    ASSERT_TRUE(lease.ok());
    EXPECT_GE(free_pages(), 64 * kMiB);
    MemoryCounter* const readers = Impl(lease->get())->budget()->counter(MemoryPurpose::kReaders);
    readers->Charge(80 * kMiB);
    EXPECT_LE(pool.statistics().kept_bytes, (120 + 4 - 80) * kMiB) << "the budget is 120 MiB";
    EXPECT_GT(pool.statistics().kept_bytes, (120 + 4 - 80 - 4) * kMiB);
    readers->Release(80 * kMiB);
    EXPECT_GE(free_pages(), 64 * kMiB);
    BlockCache* const cache = Impl(lease->get())->host()->cache();
    const uint64_t file = cache->NewFileId();
    for (uint64_t i = 0; i < 100; ++i)
      cache->Insert({file, i}, kData, std::make_shared<TestBlock>(i, kMiB));
    EXPECT_LE(pool.statistics().kept_bytes, (120 + 4 - 100) * kMiB);
    cache->EraseFile(file);
    EXPECT_LE(free_pages(), (120 + 4 - 100) * kMiB)
        << "malloc may still have the memory that the cache freed";
  }
  EXPECT_LE(pool.statistics().kept_bytes, PagePool::kKeptBytesMin)
      << "without a budget the pool keeps only the minimum";
  const auto next = Host::Get().Acquire(128 * kMiB, 0.5);
  EXPECT_GE(free_pages(), 64 * kMiB) << "the heap's free memory must have been given back";
}
#endif

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
struct HeapBlock final : CachedBlock {
  explicit HeapBlock(size_t size) : bytes(size, 'b') {}
  size_t charge() const override { return bytes.size(); }
  std::string bytes;
};

uint64_t ResidentBytes() {
  uint64_t pages = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> pages >> resident;
  return resident * PagePool::kPageBytes;
}

// Small blocks come from malloc, larger ones from the page pool.
void EvictForOthers(uint64_t block_bytes) {
  constexpr uint64_t kMiB = 1 << 20;
  const auto lease = Host::Get().Acquire(128 * kMiB, 0.5);
  ASSERT_TRUE(lease.ok());
  HostImpl* const host = Impl(lease->get())->host();
  std::unique_ptr<os::Executor> client = host->InstanceOpened();
  BlockCache* const cache = host->cache();
  const uint64_t file = cache->NewFileId();
  std::vector<std::string> between;  // keep the heap's end from moving down
  for (uint64_t i = 0; i * block_bytes < 110 * kMiB; ++i) {
    cache->Insert({file, i}, kData, std::make_shared<HeapBlock>(block_bytes));
    if (i % 16 == 0) between.emplace_back(100, 'x');
  }
  const uint64_t before = ResidentBytes();
  MemoryCounter* const readers = Impl(lease->get())->budget()->counter(MemoryPurpose::kReaders);
  readers->Charge(60 * kMiB);
  const auto gone = [&] { return before - std::min(before, ResidentBytes()); };
  for (int i = 0; i < 10'000 && gone() < 30 * kMiB; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_GE(gone(), 30 * kMiB) << "at least 30 of the 50 MiB that were evicted must be given back";
  readers->Release(60 * kMiB);
  cache->EraseFile(file);
  host->InstanceClosed(std::move(client));
}

TEST(Host, WhatTheCacheEvictsForOthersDoesNotStayResident) {
  for (const uint64_t block_bytes : {1000, 4000}) EvictForOthers(block_bytes);
}

TEST(Host, WhatOthersFreedDoesNotStayResidentWhileTheBudgetIsUsed) {
  constexpr uint64_t kMiB = 1 << 20;
  const auto lease = Host::Get().Acquire(128 * kMiB, 0.5);
  ASSERT_TRUE(lease.ok());
  HostImpl* const host = Impl(lease->get())->host();
  std::unique_ptr<os::Executor> client = host->InstanceOpened();
  std::vector<std::string> others, between;  // the latter keep the heap's end where it is
  for (uint64_t i = 0; i < 64 * 1024; ++i) {
    others.emplace_back(1000, 'x');
    if (i % 16 == 0) between.emplace_back(100, 'x');
  }
  const uint64_t before = ResidentBytes();
  others.clear();
  MemoryCounter* const readers = Impl(lease->get())->budget()->counter(MemoryPurpose::kReaders);
  const auto gone = [&] { return before - std::min(before, ResidentBytes()); };
  for (int i = 0; i < 10'000 && gone() < 30 * kMiB; ++i) {
    readers->Charge(1000);
    readers->Release(1000);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_GE(gone(), 30 * kMiB) << "at least 30 of the 62 MiB that were freed must be given back";
  host->InstanceClosed(std::move(client));
}
#endif

TEST(Host, ThePoolLivesFromTheFirstInstanceToTheLast) {
  auto lease = Host::Get().Acquire(1000, 0.5);
  ASSERT_TRUE(lease.ok());
  HostImpl* host = Impl(lease->get())->host();
  std::unique_ptr<os::Executor> first = host->InstanceOpened();
  std::unique_ptr<os::Executor> second = host->InstanceOpened();
  EXPECT_EQ(host->statistics().instances_open, 2u);
  host->SetBackgroundThreads(3);
  EXPECT_EQ(first->thread_count(), 3u);
  EXPECT_EQ(second->thread_count(), 3u);
  host->SetBackgroundThreads(2);
  host->InstanceClosed(std::move(first));
  EXPECT_EQ(host->statistics().threads, 2u);
  host->InstanceClosed(std::move(second));
  EXPECT_EQ(host->statistics().instances_open, 0u);
  EXPECT_EQ(host->statistics().threads, 0u);
}

}  // namespace
}  // namespace lava
