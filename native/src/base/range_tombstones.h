#pragma once

#include <span>
#include <string>
#include <vector>

#include "lava/slice.h"

namespace lava {

/// A deleted range of internal keys, [begin, end).
struct RangeTombstone {
  std::string begin;
  std::string end;
};

/// The range tombstones of one run: disjoint, sorted, adjacent ones joined. They hide records of
/// older runs only, never of their own run.
/// Threads:    const methods from any thread once filled; else one thread.
class RangeTombstoneSet {
 public:
  bool empty() const { return ranges_.empty(); }
  std::span<const RangeTombstone> ranges() const { return ranges_; }
  /// Adds [begin, end), merging what it touches. begin >= end adds nothing.
  void Add(Slice begin, Slice end);
  bool Covers(Slice key) const;
  bool Overlaps(Slice begin, Slice end) const;
  /// What of the set lies within [lower, upper); an empty upper has no end.
  RangeTombstoneSet Clip(Slice lower, Slice upper) const;
  /// What the set takes on the heap, about.
  uint64_t memory_bytes() const {
    return ranges_.capacity() * sizeof(RangeTombstone) + string_bytes_;
  }

 private:
  std::vector<RangeTombstone> ranges_;
  uint64_t string_bytes_ = 0;  // on the heap, of ranges_
};

}  // namespace lava
