#pragma once

#include <cstdint>
#include <vector>

#include "lavafs/change.h"

namespace lava::lavafs {

/// Which extents are in use. Low ones are given out first, so that those above the highest ever
/// used, which were never written, come last: rewriting written blocks costs half as much.
/// Threads:    one at a time.
class ExtentMap {
 public:
  /// Extents [0, count); those before kFirstExtent are in use for ever.
  explicit ExtentMap(uint32_t count);

  /// The device grew.
  void Extend(uint32_t count);
  /// Marks a run as used. False, and nothing is changed: a part of it is, or does not exist.
  bool Take(const ExtentRun& run);
  /// A run that is used as a whole becomes free.
  void Give(const ExtentRun& run);
  /// Takes `count` free extents, or all if there are fewer; in few runs, at `after` first, where a
  /// file's last run ends (0: anywhere).
  std::vector<ExtentRun> Allocate(uint32_t count, uint32_t after);

  bool IsUsed(uint32_t extent) const { return (words_[extent / 64] >> (extent % 64) & 1) != 0; }
  uint32_t count() const { return count_; }
  uint32_t free_count() const { return free_; }
  uint32_t LargestFreeRun() const;
  std::vector<ExtentRun> FreeRuns() const;

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
