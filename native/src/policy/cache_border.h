// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

namespace lava {

/// Input of MoveCacheBorder(). Units: shares of the cache's capacity; cost of misses per byte.
struct CacheBorderInput {
  double border = 0;      // above this share, index blocks are evicted instead of data blocks
  double index_used = 0;  // share that index blocks use
  double index_worth = 0, data_worth = 0;  // recent cost of misses that one more byte would save
};

/// Minimum share of each segment of the cache.
inline constexpr double kCacheFloorShare = 1.0 / 16;
inline constexpr double kCacheMarginShare = 1.0 / 64;
/// The border is judged each time that this share of the capacity was inserted.
inline constexpr double kCachePeriodShare = 1.0 / 32;

/// Cost of a miss, in bytes: a read costs as much as reading and decompressing 16 KiB more.
constexpr double CacheMissCost(uint64_t bytes) { return static_cast<double>((16 << 10) + bytes); }

/// Measurements of a segment in one period.
struct CachePeriod {
  /// Cost of misses on blocks that were among the last kCacheMarginShare of the capacity evicted.
  double missed_cost = 0;
  double out_bytes = 0;  // bytes of such blocks that have not come back
  double capacity_bytes = 1;
};
/// Returns the worth of a byte for a segment after a period. before: the previous worth. The cost
/// of misses is divided by the bytes evicted: an index that lacks three partitions may miss no more
/// often than data that lacks a hundred times as much. The previous worth has most of the weight,
/// so the border seldom takes space from a segment that misses nothing because it has all it needs.
/// Pure.
double SmoothCacheWorth(double before, const CachePeriod& period);

/// LavaStore 3.4: moves the border to where a byte is worth the same on both sides. The index
/// grows if its bytes are worth at least as much as those of data, and shrinks, at a quarter of
/// that speed, if bytes of data are worth over a quarter more. In between the border stays. Unused
/// bytes of the index segment do not count towards its share, so the segment can shrink at the
/// first decision. Pure.
double MoveCacheBorder(const CacheBorderInput& input);

}  // namespace lava
