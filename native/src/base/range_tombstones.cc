// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "base/range_tombstones.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "lava/slice.h"

namespace lava {
namespace {

// The first range that ends behind key: the only range that may cover the key.
std::vector<RangeTombstone>::const_iterator FirstEndingBehind(
    const std::vector<RangeTombstone>& ranges, Slice key) {
  return std::upper_bound(ranges.begin(), ranges.end(), key,
                          [](Slice k, const RangeTombstone& r) { return k < Slice(r.end); });
}

// Short strings are stored in the object itself.
uint64_t HeapBytes(const std::string& s) {
  static const size_t inline_capacity = std::string().capacity();
  return s.capacity() > inline_capacity ? s.capacity() + 1 : 0;
}
uint64_t HeapBytes(const RangeTombstone& r) { return HeapBytes(r.begin) + HeapBytes(r.end); }

}  // namespace

void RangeTombstoneSet::Add(Slice begin, Slice end) {
  if (begin >= end) return;
  // All ranges that overlap or touch [begin, end) become one.
  auto first = std::lower_bound(ranges_.begin(), ranges_.end(), begin,
                                [](const RangeTombstone& r, Slice k) { return Slice(r.end) < k; });
  auto last = first;
  while (last != ranges_.end() && Slice(last->begin) <= end) ++last;
  if (first == last) {
    const auto added = ranges_.insert(first, {std::string(begin), std::string(end)});
    string_bytes_ += HeapBytes(*added);
    return;
  }
  // Copy first: begin and end may point into the ranges that are about to change.
  std::string merged_begin(std::min(begin, Slice(first->begin)));
  std::string merged_end(std::max(end, Slice(std::prev(last)->end)));
  for (auto it = first; it != last; ++it) string_bytes_ -= HeapBytes(*it);
  first->begin = std::move(merged_begin);
  first->end = std::move(merged_end);
  string_bytes_ += HeapBytes(*first);
  ranges_.erase(std::next(first), last);
}

bool RangeTombstoneSet::Covers(Slice key) const {
  if (ranges_.empty()) return false;
  auto it = FirstEndingBehind(ranges_, key);
  return it != ranges_.end() && Slice(it->begin) <= key;
}

bool RangeTombstoneSet::Overlaps(Slice begin, Slice end) const {
  if (ranges_.empty() || begin >= end) return false;
  auto it = FirstEndingBehind(ranges_, begin);
  return it != ranges_.end() && Slice(it->begin) < end;
}

RangeTombstoneSet RangeTombstoneSet::Clip(Slice lower, Slice upper) const {
  RangeTombstoneSet clipped;
  for (auto it = FirstEndingBehind(ranges_, lower); it != ranges_.end(); ++it) {
    if (!upper.empty() && Slice(it->begin) >= upper) break;
    const Slice begin = std::max(lower, Slice(it->begin));
    const Slice end = upper.empty() ? Slice(it->end) : std::min(upper, Slice(it->end));
    if (begin < end) {
      clipped.ranges_.push_back(RangeTombstone{std::string(begin), std::string(end)});
      clipped.string_bytes_ += HeapBytes(clipped.ranges_.back());
    }
  }
  return clipped;
}

}  // namespace lava
