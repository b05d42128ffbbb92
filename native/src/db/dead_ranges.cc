// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "db/dead_ranges.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <new>
#include <string>
#include <utility>

#include "base/check.h"
#include "base/mutex.h"
#include "lava/slice.h"
#include "read/merging_iterator.h"

namespace lava {
namespace {

// The memory of a range besides its keys: the map's node.
constexpr uint64_t kNodeBytes = 128;
// Ranges with longer keys are not remembered.
constexpr size_t kRememberedKeyBytesMax = 4096;
// A range may be split this many times. The next write keeps only the part in front of the written
// key. A scan that needs the part behind the key finds it again.
constexpr uint32_t kSplitsMax = 8;

}  // namespace

uint64_t DeadRanges::BytesOf(const std::string& begin, const Range& range) {
  return kNodeBytes + begin.capacity() + range.end.capacity();
}

// The range that contains the key; end() if there is none.
DeadRanges::Ranges::iterator DeadRanges::At(Slice key) {
  auto behind = ranges_.upper_bound(key);
  if (behind == ranges_.begin()) return ranges_.end();
  --behind;
  return key < behind->second.end ? behind : ranges_.end();
}

bool DeadRanges::Find(Slice key, std::string* end) const {
  MutexLock lock(&mutex_);
  const auto range = const_cast<DeadRanges*>(this)->At(key);
  if (range == ranges_.end()) return false;
  end->assign(range->second.end);
  return true;
}

void DeadRanges::Wrote(Slice key) {
  MutexLock lock(&mutex_);
  for (Walk* walk : walks_) {
    if (key < walk->lower_ || key >= walk->written_) continue;
    try {
      walk->written_.assign(key);
    } catch (...) {
      walk->written_.clear();  // the walk then remembers nothing
    }
  }
  const auto range = At(key);
  if (range != ranges_.end()) Split(range, key);
}

// If memory for the parts is refused, they are dropped.
void DeadRanges::Split(Ranges::iterator range, Slice key) {
  try {
    const std::string begin = range->first;
    const uint32_t splits = range->second.splits + 1;
    Range before{.end = std::string(key), .splits = splits};
    Range behind{.end = range->second.end, .splits = splits};
    Erase(range);
    if (begin < key) Insert(begin, std::move(before));
    std::string next(key);
    next.push_back('\0');
    if (behind.splits <= kSplitsMax && next < behind.end)
      Insert(std::move(next), std::move(behind));
  } catch (...) {
    // A scan that needs the dropped range finds it again.
    const auto whole = At(key);
    if (whole != ranges_.end()) Erase(whole);
  }
  SetWatches();
}

// Does nothing if the range does not fit.
void DeadRanges::Insert(std::string begin, Range range) {
  if (begin.size() > kRememberedKeyBytesMax || range.end.size() > kRememberedKeyBytesMax) return;
  const uint64_t bytes = BytesOf(begin, range);
  if (bytes_ + bytes > bytes_max_) ForgetHalf();
  if (bytes_ + bytes > bytes_max_) return;
  range.bytes = bytes;
  const auto [at, added] = ranges_.emplace(std::move(begin), std::move(range));
  LAVA_DCHECK(added);
  if (!memory_->TryCharge(bytes)) {
    ranges_.erase(at);
    return;
  }
  bytes_ += bytes;
}

void DeadRanges::Erase(Ranges::iterator range) {
  const uint64_t bytes = range->second.bytes;
  memory_->Release(bytes);
  bytes_ -= bytes;
  ranges_.erase(range);
}

// Drops every second range rather than the oldest ones: scans that repeatedly pass more ranges than
// fit would otherwise miss each time.
void DeadRanges::ForgetHalf() {
  bool forget = true;
  for (auto range = ranges_.begin(); range != ranges_.end(); forget = !forget) {
    const auto at = range++;
    if (forget) Erase(at);
  }
}

void DeadRanges::Clear() {
  MutexLock lock(&mutex_);
  while (!ranges_.empty()) Erase(ranges_.begin());
  SetWatches();
}

size_t DeadRanges::size() const {
  MutexLock lock(&mutex_);
  return ranges_.size();
}

uint64_t DeadRanges::bytes() const {
  MutexLock lock(&mutex_);
  return bytes_;
}

DeadRanges::Walk::Walk(DeadRanges* ranges, Slice lower, Slice upper)
    : ranges_(ranges), lower_(lower), written_(upper) {
  MutexLock lock(&ranges_->mutex_);
  ranges_->walks_.push_back(this);
  ranges_->SetWatches();
}

DeadRanges::Walk::~Walk() {
  MutexLock lock(&ranges_->mutex_);
  std::erase(ranges_->walks_, this);
  ranges_->SetWatches();
}

void DeadRanges::Walk::Remember(Slice begin, Slice end) {
  MutexLock lock(&ranges_->mutex_);
  end = std::min(end, Slice(written_));
  if (begin >= end) return;
  try {
    Take(begin, end);
  } catch (const std::bad_alloc&) {
    // A later scan finds the missing part again.
  }
  ranges_->SetWatches();
}

void DeadRanges::Walk::Take(Slice begin, Slice end) {
  std::string first(begin);
  Range range{.end = std::string(end)};
  // Merges the new range with the ranges that overlap or touch it.
  Ranges& ranges = ranges_->ranges_;
  auto next = ranges.upper_bound(begin);
  if (next != ranges.begin() && std::prev(next)->second.end >= begin) --next;
  while (next != ranges.end() && next->first <= range.end) {
    first = std::min(first, next->first);
    range.end = std::max(range.end, next->second.end);
    ranges_->Erase(next++);
  }
  ranges_->Insert(std::move(first), std::move(range));
}

bool DeadSteps::Begin(std::string* from, bool* exclusive) {
  if (ranges_ == nullptr || !ranges_->watches() || !ranges_->Find(*from, &target_)) {
    from_ = *from;
    from_exclusive_ = *exclusive;
    return true;
  }
  begin_ = *from;
  ++jumps_;
  if (!upper_.empty() && target_ >= upper_) return false;
  *from = target_;
  *exclusive = false;
  return true;
}

SteppedOver::Next DeadSteps::Step(Slice key) {
  ++total_;
  if (!upper_.empty() && key >= upper_) {
    Ended();
    return Next::kEnd;
  }
  if (run_ == 0 && jumps_ == 0 && ranges_ != nullptr) BeginRun(key);
  ++run_;
  if (run_ % kLookSteps != 0 || ranges_ == nullptr) return Next::kGoOn;
  if (ranges_->watches() && ranges_->Find(key, &target_)) return JumpTo();
  if (run_ < kWorthSteps || walk_ != nullptr) return Next::kGoOn;
  met_many_ = true;
  begins_again_ = !shown_;
  return begins_again_ ? Next::kEnd : Next::kGoOn;
}

// The first run begins at the begin of the scan, because no key precedes its first record.
void DeadSteps::BeginRun(Slice key) {
  begin_.assign(shown_ ? key : from_);
  if (!shown_ && from_exclusive_) begin_.push_back('\0');
}

SteppedOver::Next DeadSteps::JumpTo() {
  ++jumps_;
  if (upper_.empty() || target_ < upper_) return Next::kSeek;
  Ended();
  return Next::kEnd;
}

void DeadSteps::EndRun(Slice end) {
  if (!upper_.empty()) end = std::min(end, upper_);
  const bool worth = run_ >= kWorthSteps || jumps_ > 1 || (jumps_ == 1 && run_ >= kLookSteps);
  if (walk_ != nullptr && worth && !end.empty()) walk_->Remember(begin_, end);
  run_ = 0;
  jumps_ = 0;
}

}  // namespace lava
