// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "lavafs/extent_map.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/check.h"
#include "lavafs/change.h"
#include "lavafs/format.h"

namespace lava::lavafs {

ExtentMap::ExtentMap(uint32_t count) {
  Extend(std::max(count, kFirstExtent));
  for (uint32_t extent = 0; extent < kFirstExtent; extent++) Mark(extent);
  free_ -= kFirstExtent;
}

void ExtentMap::Extend(uint32_t count) {
  LAVA_CHECK(count >= count_ && count <= kExtentsMax);
  words_.resize((count + 63) / 64, 0);
  free_ += count - count_;
  count_ = count;
}

bool ExtentMap::Take(const ExtentRange& range) {
  if (range.first >= count_ || range.count > count_ - range.first) return false;
  for (uint32_t extent = range.first; extent < range.first + range.count; extent++) {
    if (IsUsed(extent)) return false;
  }
  for (uint32_t extent = range.first; extent < range.first + range.count; extent++) Mark(extent);
  free_ -= range.count;
  return true;
}

void ExtentMap::Give(const ExtentRange& range) {
  for (uint32_t extent = range.first; extent < range.first + range.count; extent++) {
    LAVA_CHECK(extent >= kFirstExtent && extent < count_ && IsUsed(extent));
    Clear(extent);
  }
  free_ += range.count;
  lowest_free_ = std::min(lowest_free_, range.first);
}

// The first free extent from `from` on; count_ when there is none.
uint32_t ExtentMap::NextFree(uint32_t from) const {
  if (from >= count_) return count_;
  size_t word = from / 64;
  uint64_t candidates = ~words_[word] & ~uint64_t{0} << (from % 64);
  while (candidates == 0) {
    if (++word == words_.size()) return count_;
    candidates = ~words_[word];
  }
  return std::min(static_cast<uint32_t>(word * 64 + std::countr_zero(candidates)), count_);
}

std::vector<ExtentRange> ExtentMap::Allocate(uint32_t count, uint32_t after) {
  std::vector<ExtentRange> ranges;
  const auto take = [&](uint32_t extent) {
    Mark(extent);
    free_--;
    count--;
    if (!ranges.empty() && ranges.back().first + ranges.back().count == extent) {
      ranges.back().count++;
    } else {
      ranges.push_back({extent, 1});
    }
  };
  for (uint32_t next = after; next >= kFirstExtent && count > 0 && next < count_; next++) {
    if (IsUsed(next)) break;
    take(next);
  }
  while (count > 0 && (lowest_free_ = NextFree(lowest_free_)) < count_) take(lowest_free_);
  return ranges;
}

std::vector<ExtentRange> ExtentMap::FreeRanges() const {
  std::vector<ExtentRange> ranges;
  for (uint32_t extent = NextFree(kFirstExtent); extent < count_; extent = NextFree(extent)) {
    ExtentRange range{extent, 0};
    while (extent < count_ && !IsUsed(extent)) extent++;
    range.count = extent - range.first;
    ranges.push_back(range);
  }
  return ranges;
}

uint32_t ExtentMap::LargestFreeRange() const {
  uint32_t largest = 0;
  for (const ExtentRange& range : FreeRanges()) largest = std::max(largest, range.count);
  return largest;
}

}  // namespace lava::lavafs
