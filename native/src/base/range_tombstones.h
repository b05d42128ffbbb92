// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

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

/// The range tombstones of one run: disjoint and sorted; adjacent ranges are merged. They hide only
/// records of older runs, never of their own run.
/// Threads:    one thread while the set is filled; then const methods from any thread.
class RangeTombstoneSet {
 public:
  bool empty() const { return ranges_.empty(); }
  std::span<const RangeTombstone> ranges() const { return ranges_; }
  /// Adds [begin, end) and merges it with the ranges that it touches. begin >= end adds nothing.
  void Add(Slice begin, Slice end);
  bool Covers(Slice key) const;
  bool Overlaps(Slice begin, Slice end) const;
  /// The intersection of the set with [lower, upper); an empty upper means no upper bound.
  RangeTombstoneSet Clip(Slice lower, Slice upper) const;
  /// Approximate heap usage of the set.
  uint64_t memory_bytes() const {
    return ranges_.capacity() * sizeof(RangeTombstone) + string_bytes_;
  }

 private:
  std::vector<RangeTombstone> ranges_;
  uint64_t string_bytes_ = 0;  // heap bytes of the strings in ranges_
};

}  // namespace lava
