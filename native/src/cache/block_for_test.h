// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "cache/block_cache.h"

namespace lava {

struct TestBlock final : CachedBlock {
  TestBlock(uint64_t block_number, size_t block_bytes, std::atomic<int>* count = nullptr)
      : number(block_number), bytes(block_bytes), alive(count) {
    if (alive != nullptr) ++*alive;
  }
  ~TestBlock() override {
    if (alive != nullptr) --*alive;
  }
  size_t charge() const override { return bytes; }
  uint64_t number;
  size_t bytes;
  std::atomic<int>* alive;
};

inline uint64_t NumberOf(const BlockCache::Ref& ref) {
  return static_cast<const TestBlock*>(ref.get())->number;
}

inline constexpr auto kData = BlockCache::Segment::kData;
inline constexpr auto kIndex = BlockCache::Segment::kIndex;

}  // namespace lava
