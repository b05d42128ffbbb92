#pragma once

#include <cstdint>

namespace lava {

/// What the border between the cache's segments is moved by. Shares are of the capacity.
struct CacheBorderInput {
  double border = 0;      // what the index may take before it is evicted in data's stead
  double index_used = 0;  // what it takes
  double index_worth = 0, data_worth = 0;  // what a byte more would have spared of late
};

/// Of each segment, what the other never gets.
inline constexpr double kCacheFloorShare = 1.0 / 16;
inline constexpr double kCacheMarginShare = 1.0 / 64;
/// A judgement is made after so much was inserted.
inline constexpr double kCachePeriodShare = 1.0 / 32;

/// What a miss costs: a read costs as much as reading and decompressing 16 KiB more.
constexpr double CacheMissCost(uint64_t bytes) { return static_cast<double>((16 << 10) + bytes); }

/// What one period tells of a segment.
struct CachePeriod {
  /// What misses cost of blocks that were among the last kCacheMarginShare to be evicted.
  double missed_cost = 0;
  double out_bytes = 0;  // of these blocks, those that did not come back
  double capacity_bytes = 1;
};
/// What a byte is worth to a segment after a period. By the byte that is out: an index that lacks
/// three partitions misses no more often than data that lacks a hundred times as much. And mostly
/// what it was before, so that a segment that loses nothing since it has what it needs is seldom
/// tried.
double SmoothCacheWorth(double before, const CachePeriod& period);

/// LavaStore 3.4: the border moves to where a byte earns the same on both sides. Pure. An index
/// that earns as much gains ground, four times as fast as it loses it where data earns a quarter
/// more; between the two nothing moves. What the index does not use is not counted as its ground,
/// so that the first loss follows the first such judgement.
double MoveCacheBorder(const CacheBorderInput& input);

}  // namespace lava
