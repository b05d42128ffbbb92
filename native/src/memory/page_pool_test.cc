// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "memory/page_pool.h"

#include <errno.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>
#include <random>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define LAVA_OWN_UNMAP 0  // sanitizers replace munmap themselves
#else
#define LAVA_OWN_UNMAP 1
namespace {
// Simulates a process that has reached its limit of mappings.
std::atomic<bool> kernel_refuses{false};
int Refusal() {
  errno = ENOMEM;
  return -1;
}
}  // namespace
extern "C" {
int munmap(void* memory, size_t bytes) noexcept {
  return kernel_refuses ? Refusal() : static_cast<int>(syscall(SYS_munmap, memory, bytes));
}
int madvise(void* memory, size_t bytes, int advice) noexcept {
  if (kernel_refuses && advice == MADV_DONTNEED) return Refusal();
  return static_cast<int>(syscall(SYS_madvise, memory, bytes, advice));
}
}
#endif

namespace lava {
namespace {

constexpr size_t kPage = PagePool::kPageBytes, kMax = size_t{1} << 20;

TEST(PagePool, RoundsToPages) {
  EXPECT_EQ(PagePool::RoundUp(1), kPage);
  EXPECT_EQ(PagePool::RoundUp(kPage), kPage);
  EXPECT_EQ(PagePool::RoundUp(kPage + 1), 2 * kPage);
  EXPECT_EQ(PagePool::RoundUp(5 * kPage), 5 * kPage);
  EXPECT_EQ(PagePool::RoundUp(kMax + 1), kMax + kPage);
}

TEST(PagePool, AllocationsDoNotOverlapAndKeepTheirContents) {
  PagePool pool;
  std::mt19937 random(1);
  std::map<char*, std::pair<size_t, char>> held;
  for (int i = 0; i < 3000; ++i) {
    if (held.size() > 40 || (!held.empty() && random() % 3 == 0)) {
      auto it = std::next(held.begin(), static_cast<long>(random() % held.size()));
      const auto [bytes, mark] = it->second;
      ASSERT_EQ(it->first[0], mark);
      ASSERT_EQ(it->first[bytes - 1], mark);
      pool.Free(it->first, bytes);
      held.erase(it);
      continue;
    }
    const size_t bytes = 1 + random() % (random() % 8 == 0 ? 2 * kMax : 8 * kPage);
    const bool zeroed = random() % 2 == 0;
    char* memory = pool.Allocate(bytes, zeroed);
    ASSERT_EQ(reinterpret_cast<uintptr_t>(memory) % kPage, 0u);
    if (zeroed) {
      ASSERT_TRUE(std::all_of(memory, memory + bytes, [](char c) { return c == 0; }));
    }
    const char mark = static_cast<char>(random());
    std::memset(memory, mark, bytes);
    held[memory] = {bytes, mark};
  }
  uint64_t sum = 0;
  for (const auto& [memory, what] : held) sum += PagePool::RoundUp(what.first);
  EXPECT_EQ(pool.statistics().used_bytes, sum);
  for (const auto& [memory, what] : held) pool.Free(memory, what.first);
  EXPECT_EQ(pool.statistics().used_bytes, 0u);
}

#if !defined(__SANITIZE_ADDRESS__)
size_t ResidentPages(char* memory, size_t bytes) {
  std::vector<unsigned char> pages(bytes / kPage);
  EXPECT_EQ(mincore(memory, bytes, pages.data()), 0);
  return static_cast<size_t>(
      std::count_if(pages.begin(), pages.end(), [](unsigned char page) { return page & 1; }));
}

TEST(PagePool, FreedPagesGoBackToTheSystemButForAFew) {
  PagePool pool;
  constexpr size_t kBytes = 64 << 10, kCount = 512;  // 32 MiB
  std::vector<char*> chunks;
  for (size_t i = 0; i < kCount; ++i) {
    chunks.push_back(pool.Allocate(kBytes));
    std::memset(chunks.back(), 1, kBytes);
  }
  for (char* chunk : chunks) pool.Free(chunk, kBytes);
  size_t resident = 0;
  for (char* chunk : chunks) resident += ResidentPages(chunk, kBytes);
  EXPECT_LE(resident * kPage, PagePool::kKeptBytesMin);
  EXPECT_EQ(pool.statistics().kept_bytes, PagePool::kKeptBytesMin);
  const uint64_t reserved = pool.statistics().reserved_bytes;
  // The pool reuses the same addresses, whether their pages were kept or returned.
  for (size_t i = 0; i < kCount; ++i) {
    chunks[i] = pool.Allocate(kBytes, true);
    ASSERT_TRUE(std::all_of(chunks[i], chunks[i] + kBytes, [](char c) { return c == 0; }));
  }
  EXPECT_EQ(pool.statistics().reserved_bytes, reserved);
  EXPECT_EQ(pool.statistics().kept_bytes, 0u);
  for (char* chunk : chunks) pool.Free(chunk, kBytes);
}

struct LimitForTest : PagePool::KeptPagesLimit {
  uint64_t KeptBytesMax() const override { return bytes; }
  uint64_t bytes = 0;
};

TEST(PagePool, KeepsWhatTheLimitAllows) {
  LimitForTest limit;
  PagePool pool(&limit);
  constexpr size_t kBytes = 64 << 10, kCount = 512;  // 32 MiB
  std::vector<char*> chunks;
  const auto resident_bytes = [&] {
    size_t pages = 0;
    for (char* chunk : chunks) pages += ResidentPages(chunk, kBytes);
    return pages * kPage;
  };
  for (size_t i = 0; i < kCount; ++i) {
    chunks.push_back(pool.Allocate(kBytes));
    std::memset(chunks.back(), 1, kBytes);
  }
  limit.bytes = 16 << 20;
  for (char* chunk : chunks) pool.Free(chunk, kBytes);
  EXPECT_EQ(pool.statistics().kept_bytes, 16u << 20);
  EXPECT_EQ(resident_bytes(), 16u << 20);
  pool.Fit();
  EXPECT_EQ(pool.statistics().kept_bytes, 16u << 20)
      << "the limit allows the pool to keep this memory";
  limit.bytes = 12 << 20;
  pool.Fit();
  EXPECT_EQ(pool.statistics().kept_bytes, limit.bytes - PagePool::kFitBytes);
  EXPECT_EQ(resident_bytes(), limit.bytes - PagePool::kFitBytes);
  limit.bytes = 0;
  pool.Fit();
  EXPECT_EQ(pool.statistics().kept_bytes, 0u);
}

TEST(PagePool, HugePiecesAreWholeHugePagesAndGoBackLikeOthers) {
  PagePool pool;
  constexpr size_t kHuge = PagePool::kHugeBytes, kCount = 12;
  std::vector<char*> pieces;
  for (size_t i = 0; i < kCount; ++i) {
    pieces.push_back(pool.Allocate(kHuge));
    ASSERT_EQ(reinterpret_cast<uintptr_t>(pieces.back()) % kHuge, 0u);
    std::memset(pieces.back(), 1, kHuge);
  }
  EXPECT_EQ(pool.statistics().used_bytes, kCount * kHuge);
  for (char* piece : pieces) pool.Free(piece, kHuge);
  EXPECT_EQ(pool.statistics().kept_bytes, PagePool::kKeptBytesMin);
  size_t resident = 0;
  for (char* piece : pieces) resident += ResidentPages(piece, kHuge);
  EXPECT_EQ(resident * kPage, PagePool::kKeptBytesMin);
  char* const zeroed = pool.Allocate(kHuge, true);
  EXPECT_TRUE(std::all_of(zeroed, zeroed + kHuge, [](char c) { return c == 0; }));
  pool.Free(zeroed, kHuge);
}

TEST(PagePool, WhatIsTooLargeForItIsMappedByItself) {
  PagePool pool;
  constexpr size_t kBytes = SpanHeap::kSpanBytesMax + kPage;
  const uint64_t before = pool.statistics().reserved_bytes;
  char* memory = pool.Allocate(kBytes);
  EXPECT_EQ(pool.statistics().reserved_bytes, before + kBytes);
  pool.Free(memory, kBytes);
  EXPECT_EQ(pool.statistics().reserved_bytes, before);
  EXPECT_EQ(pool.statistics().kept_bytes, 0u);
}

TEST(PagePool, FreeNeighboursServeALargerPiece) {
  LimitForTest limit;
  limit.bytes = 64 << 20;
  PagePool pool(&limit);
  std::vector<char*> pieces;
  for (int i = 0; i < 64; ++i) pieces.push_back(pool.Allocate(16 * kPage));
  for (int i = 0; i < 64; i += 2) pool.Free(pieces[static_cast<size_t>(i)], 16 * kPage);
  for (int i = 1; i < 64; i += 2) pool.Free(pieces[static_cast<size_t>(i)], 16 * kPage);
  EXPECT_EQ(pool.statistics().kept_bytes, 64 * 16 * kPage);
  char* const all = pool.Allocate(64 * 16 * kPage);
  EXPECT_EQ(all, *std::min_element(pieces.begin(), pieces.end()));
  EXPECT_EQ(pool.statistics().kept_bytes, 0u);
  pool.Free(all, 64 * 16 * kPage);
}

TEST(PagePool, WhatIsUsedAndKeptIsWhatIsResident) {
  LimitForTest limit;
  PagePool pool(&limit);
  std::mt19937 random(3);
  std::vector<std::pair<char*, size_t>> held;
  uint64_t ranges_bytes = 0;
  for (int i = 0; i < 20'000; ++i) {
    if (held.size() > 60 || (!held.empty() && random() % 2 == 0)) {
      std::swap(held[random() % held.size()], held.back());
      pool.Free(held.back().first, held.back().second);
      held.pop_back();
    } else {
      const size_t bytes = 1 + random() % (random() % 4 == 0 ? kMax : 64 << 10);
      held.emplace_back(pool.Allocate(bytes), bytes);
      // Touch every page: all allocated pages must be resident.
      for (size_t at = 0; at < bytes; at += kPage) held.back().first[at] = 1;
    }
    limit.bytes = random() % 2 == 0 ? 0 : 32 << 20;
    if (i % 64 == 0) pool.Fit();
  }
  std::set<Range*> ranges;
  for (const auto& [memory, bytes] : held) ranges.insert(Range::Of(memory));
  uint64_t resident = 0;
  constexpr size_t kFacts = (sizeof(Range) + kPage - 1) / kPage * kPage;
  for (Range* range : ranges) {
    ranges_bytes += Range::kBytes;
    resident += ResidentPages(reinterpret_cast<char*>(range) + kFacts, Range::kBytes - kFacts);
  }
  const PagePool::Statistics s = pool.statistics();
  EXPECT_EQ(resident * kPage, s.used_bytes + s.kept_bytes);
  EXPECT_EQ(s.reserved_bytes, ranges_bytes) << "no range without memory in use may stay reserved";
  EXPECT_GT(s.returned_bytes, 0u);
  for (const auto& [memory, bytes] : held) pool.Free(memory, bytes);
}
#endif

TEST(PagePool, ThreadsShareIt) {
  PagePool pool;
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 4; ++t) {
    threads.emplace_back([&pool, t] {
      std::mt19937 random(t);
      for (int i = 0; i < 2000; ++i) {
        const size_t bytes = 1 + random() % (4 * kPage);
        char* memory = pool.Allocate(bytes);
        std::memset(memory, static_cast<int>(t), bytes);
        EXPECT_EQ(memory[bytes - 1], static_cast<char>(t));
        pool.Free(memory, bytes);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(pool.statistics().used_bytes, 0u);
}

TEST(PageArray, IsZeroAndMoves) {
  for (const size_t count : {0u, 1u, 100u, 1000u, 5000u}) {
    PageArray<uint64_t> array(count);
    for (size_t i = 0; i < count; ++i) {
      ASSERT_EQ(array[i], 0u);
      array[i] = i;
    }
    PageArray<uint64_t> moved(std::move(array));
    EXPECT_EQ(moved.count(), count);
    EXPECT_EQ(array.count(), 0u);
    array = std::move(moved);
    for (size_t i = 0; i < count; ++i) ASSERT_EQ(array[i], i);
  }
}

#if LAVA_OWN_UNMAP
TEST(PagePool, PagesThatTheKernelDoesNotTakeBackAreKeptAndUsedAgain) {
  PagePool pool;
  std::vector<char*> pieces;
  for (size_t bytes = 0; bytes < 2 * PagePool::kKeptBytesMin; bytes += kMax)
    pieces.push_back(pool.Allocate(kMax));
  for (char* piece : pieces) std::memset(piece, 1, kMax);
  const uint64_t reserved = pool.statistics().reserved_bytes;
  kernel_refuses = true;
  for (char* piece : pieces) pool.Free(piece, kMax);
  pool.Fit();
  EXPECT_GT(pool.statistics().refusals, 0u);
  EXPECT_EQ(pool.statistics().used_bytes, 0u);
  EXPECT_EQ(pool.statistics().kept_bytes, pieces.size() * kMax)
      << "the pages stay resident, whatever the limit is";
  // Zeroed on request, although the memory is reused.
  char* const again = pool.Allocate(kMax, /*zeroed=*/true);
  EXPECT_TRUE(std::all_of(again, again + kMax, [](char c) { return c == 0; }));
  EXPECT_EQ(pool.statistics().reserved_bytes, reserved);
  pool.Free(again, kMax);
  kernel_refuses = false;
  pool.Fit();
  EXPECT_LE(pool.statistics().kept_bytes, PagePool::kKeptBytesMin);
}

TEST(PagePool, AMapThatTheKernelDoesNotTakeBackIsNotUsedAnyMore) {
  constexpr size_t kBytes = SpanHeap::kSpanBytesMax + kPage;
  PagePool pool;
  char* const memory = pool.Allocate(kBytes);
  kernel_refuses = true;
  pool.Free(memory, kBytes);
  kernel_refuses = false;
  EXPECT_EQ(pool.statistics().refusals, 1u);
  EXPECT_EQ(pool.statistics().used_bytes, 0u);
  char* const next = pool.Allocate(kBytes);
  EXPECT_NE(next, memory);
  pool.Free(next, kBytes);
  EXPECT_EQ(munmap(memory, kBytes), 0);
}
#endif

}  // namespace
}  // namespace lava
