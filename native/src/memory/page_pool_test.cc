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
#include <thread>
#include <vector>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define LAVA_OWN_UNMAP 0  // the sanitizers have theirs
#else
#define LAVA_OWN_UNMAP 1
namespace {
// As when the process has as many maps as it may.
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

constexpr size_t kPage = PagePool::kPageBytes, kMax = PagePool::kPooledBytesMax;

TEST(PagePool, RoundsToClassesAndAboveThemToPages) {
  EXPECT_EQ(PagePool::RoundUp(1), kPage);
  EXPECT_EQ(PagePool::RoundUp(kPage), kPage);
  EXPECT_EQ(PagePool::RoundUp(kPage + 1), 2 * kPage);
  EXPECT_EQ(PagePool::RoundUp(5 * kPage), 8 * kPage);
  EXPECT_EQ(PagePool::RoundUp(kMax), kMax);
  EXPECT_EQ(PagePool::RoundUp(kMax + 1), kMax + kPage);
}

TEST(PagePool, WhatIsAllocatedIsApartAndKeepsItsContents) {
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
  // The same addresses again, whatever their pages did meanwhile.
  for (size_t i = 0; i < kCount; ++i) {
    chunks[i] = pool.Allocate(kBytes, true);
    ASSERT_TRUE(std::all_of(chunks[i], chunks[i] + kBytes, [](char c) { return c == 0; }));
  }
  EXPECT_EQ(pool.statistics().reserved_bytes, reserved);
  EXPECT_EQ(pool.statistics().kept_bytes, 0u);
  for (char* chunk : chunks) pool.Free(chunk, kBytes);
}

struct RoomForTest : PagePool::Room {
  uint64_t KeptBytesMax() const override { return bytes; }
  uint64_t bytes = 0;
};

TEST(PagePool, KeepsWhatThereIsRoomFor) {
  RoomForTest room;
  PagePool pool(&room);
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
  room.bytes = 16 << 20;
  for (char* chunk : chunks) pool.Free(chunk, kBytes);
  EXPECT_EQ(pool.statistics().kept_bytes, 16u << 20);
  EXPECT_EQ(resident_bytes(), 16u << 20);
  pool.Fit();
  EXPECT_EQ(pool.statistics().kept_bytes, 16u << 20) << "there is room for it";
  room.bytes = 12 << 20;
  pool.Fit();
  EXPECT_EQ(pool.statistics().kept_bytes, room.bytes - PagePool::kFitBytes);
  EXPECT_EQ(resident_bytes(), room.bytes - PagePool::kFitBytes);
  room.bytes = 0;
  pool.Fit();
  EXPECT_EQ(pool.statistics().kept_bytes, PagePool::kKeptBytesMin);
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
  const uint64_t before = pool.statistics().reserved_bytes;
  char* memory = pool.Allocate(3 * kMax);
  EXPECT_EQ(pool.statistics().reserved_bytes, before + 3 * kMax);
  pool.Free(memory, 3 * kMax);
  EXPECT_EQ(pool.statistics().reserved_bytes, before);
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
  constexpr size_t kLarge = kMax + 3 * kPage;
  PagePool pool;
  std::vector<char*> small;
  for (size_t bytes = 0; bytes < 2 * PagePool::kKeptBytesMin; bytes += kMax)
    small.push_back(pool.Allocate(kMax));
  for (char* piece : small) std::memset(piece, 1, kMax);
  char* const large = pool.Allocate(kLarge);
  std::memset(large, 1, kLarge);
  const uint64_t reserved = pool.statistics().reserved_bytes;
  kernel_refuses = true;
  for (char* piece : small) pool.Free(piece, kMax);
  pool.Free(large, kLarge);
  pool.Fit();
  EXPECT_GT(pool.statistics().refusals, 0u);
  EXPECT_EQ(pool.statistics().used_bytes, 0u);
  EXPECT_EQ(pool.statistics().kept_bytes, small.size() * kMax) << "resident, whatever the room";
  EXPECT_EQ(pool.statistics().reserved_bytes, reserved);
  // Zeroed where that is asked for, though it is not fresh.
  char* const again = pool.Allocate(kLarge, /*zeroed=*/true);
  EXPECT_EQ(again, large);
  EXPECT_TRUE(std::all_of(again, again + kLarge, [](char c) { return c == 0; }));
  pool.Free(again, kLarge);
  kernel_refuses = false;
  // The next that is freed takes it along, and Fit() the others.
  pool.Free(pool.Allocate(kLarge + kPage), kLarge + kPage);
  EXPECT_EQ(pool.statistics().reserved_bytes, reserved - kLarge);
  pool.Fit();
  EXPECT_LE(pool.statistics().kept_bytes, PagePool::kKeptBytesMin);
}
#endif

}  // namespace
}  // namespace lava
