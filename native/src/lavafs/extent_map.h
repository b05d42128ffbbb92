// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <vector>

#include "lavafs/change.h"

namespace lava::lavafs {

/// Which extents are in use. Low ones are given out first, so that extents which were never written
/// come last: writing to blocks that were written before costs half as much.
/// Threads:    one at a time.
class ExtentMap {
 public:
  /// Extents [0, count); those before kFirstExtent are always in use.
  explicit ExtentMap(uint32_t count);

  /// Adds the extents of a device that grew.
  void Extend(uint32_t count);
  /// Marks a range as used. False, with nothing changed, if a part is in use or does not exist.
  bool Take(const ExtentRange& range);
  /// Frees a range, all of which must be in use.
  void Give(const ExtentRange& range);
  /// Takes `count` free extents, or all if there are fewer, in few ranges. after: the extent to try
  /// first, where a file's last range ends (0: anywhere).
  std::vector<ExtentRange> Allocate(uint32_t count, uint32_t after);

  bool IsUsed(uint32_t extent) const { return (words_[extent / 64] >> (extent % 64) & 1) != 0; }
  uint32_t count() const { return count_; }
  uint32_t free_count() const { return free_; }
  uint32_t LargestFreeRange() const;
  std::vector<ExtentRange> FreeRanges() const;

 private:
  void Mark(uint32_t extent) { words_[extent / 64] |= uint64_t{1} << (extent % 64); }
  void Clear(uint32_t extent) { words_[extent / 64] &= ~(uint64_t{1} << (extent % 64)); }
  uint32_t NextFree(uint32_t from) const;

  std::vector<uint64_t> words_;
  uint32_t count_ = 0;
  uint32_t free_ = 0;
  uint32_t lowest_free_ = 0;  // none below is free
};

}  // namespace lava::lavafs
