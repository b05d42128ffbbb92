// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "memory/large_memory.h"

#include <gtest/gtest.h>
#include <malloc.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <vector>

namespace lava {
namespace {

TEST(LargeMemory, ChargesCountWhatIsTaken) {
  EXPECT_EQ(AllocatedBytes(1), 32u);
  EXPECT_EQ(AllocatedBytes(100), 112u);
  EXPECT_EQ(AllocatedBytes(4400), 4608u);
  EXPECT_EQ(AllocatedBytes((1 << 20) + 1), (1u << 20) + kMemoryPageBytes);
}

// Sanitizers have their own operator new.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
constexpr size_t kSizes[] = {2048, 5000, 32 << 10, (32 << 10) + 1, 1 << 20, 20 << 20};

TEST(LargeMemory, WhatIsLargeDoesNotComeFromMalloc) {
  EXPECT_FALSE(IsOwnedMemory(std::make_unique<char[]>(2047).get()));
  for (const size_t bytes : kSizes) {
    EXPECT_TRUE(IsOwnedMemory(std::make_unique<char[]>(bytes).get())) << bytes;
    EXPECT_TRUE(IsOwnedMemory(std::string(bytes, 'x').data())) << bytes;
    EXPECT_TRUE(IsOwnedMemory(std::vector<uint64_t>(bytes / 8).data())) << bytes;
  }
}

// A string may grow in the system's shared libstdc++; a vector grows in this program.
TEST(LargeMemory, GrowsAndShrinksAcrossTheBorder) {
  std::string text;
  std::vector<char> bytes;
  for (int i = 0; i < 100'000; ++i) {
    text.push_back(static_cast<char>(i));
    bytes.push_back(static_cast<char>(i));
  }
  ASSERT_TRUE(std::equal(text.begin(), text.end(), bytes.begin(), bytes.end()));
  text.resize(100);
  text.shrink_to_fit();
  EXPECT_FALSE(IsOwnedMemory(text.data()));
  EXPECT_EQ(text, std::string(bytes.begin(), bytes.begin() + 100));
}

TEST(LargeMemory, AllFormsOfNewAndDeleteMatch) {
  struct alignas(512) Aligned {
    char bytes[3000];
  };
  for (int i = 0; i < 10; ++i) {
    const auto aligned = std::make_unique<Aligned>();
    EXPECT_EQ(reinterpret_cast<uintptr_t>(aligned.get()) % 512, 0u);
    EXPECT_TRUE(IsOwnedMemory(aligned.get()));
  }
  const std::unique_ptr<Aligned[]> array(new (std::nothrow) Aligned[10]);
  EXPECT_TRUE(IsOwnedMemory(array.get()));
  char* const large = new char[10'000];
  ::operator delete[](large, size_t{10'000});
  EXPECT_THROW((void)::operator new (size_t{1} << 60), std::bad_alloc);
  EXPECT_EQ(::operator new (size_t{1} << 60, std::nothrow), nullptr);
}

// Calls malloc as statically linked libraries do.
TEST(LargeMemory, MallocOfThisProgramIsTheSame) {
  for (const size_t bytes : kSizes) {
    auto* memory = static_cast<char*>(std::calloc(1, bytes));
    ASSERT_TRUE(IsOwnedMemory(memory));
    EXPECT_GE(malloc_usable_size(memory), bytes);
    ASSERT_TRUE(std::all_of(memory, memory + bytes, [](char c) { return c == 0; }));
    std::memset(memory, 7, bytes);
    for (const size_t next : {bytes * 2, size_t{100}, bytes + 1}) {
      memory = static_cast<char*>(std::realloc(memory, next));
      ASSERT_EQ(IsOwnedMemory(memory), next >= SlotHeap::kBytesMin);
      ASSERT_TRUE(
          std::all_of(memory, memory + std::min<size_t>(next, 100), [](char c) { return c == 7; }));
    }
    std::free(memory);
  }
  EXPECT_EQ(std::malloc(size_t{1} << 60), nullptr);
}
#endif

}  // namespace
}  // namespace lava
