// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "cache/block_queue.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "cache/block_cache.h"

namespace lava {
namespace {

constexpr size_t kFilesMin = 4;
constexpr size_t kEntriesPerHead = 8;

}  // namespace

void BlockQueue::Append(Links Page::*of, uint32_t* first, uint32_t* last, uint32_t i) {
  link(of, i) = {*last, kNone};
  if (*last != kNone)
    link(of, *last).behind = i;
  else if (first != nullptr)
    *first = i;
  *last = i;
}

void BlockQueue::Unlink(Links Page::*of, uint32_t* first, uint32_t* last, uint32_t i) {
  const Link was = link(of, i);
  if (was.before != kNone)
    link(of, was.before).behind = was.behind;
  else if (first != nullptr)
    *first = was.behind;
  (was.behind != kNone ? link(of, was.behind).before : *last) = was.before;
}

void BlockQueue::GrowFiles() {
  std::vector<uint32_t>(files_.empty() ? kFilesMin : 2 * files_.size(), kNone).swap(files_);
  for (uint32_t i = 0; i < end(); ++i)
    if (uses_of(i) != kFree) Append(&Page::file, nullptr, &files_[HeadOf(at(i).key.file)], i);
}

void BlockQueue::ReserveOne() {
  if (free_.empty()) {
    const uint32_t begin = end();
    // Reserve memory for the index of each entry, so that Remove() allocates nothing.
    free_.reserve(begin + kPageEntries);
    pages_.push_back(std::make_unique<Page>());
    for (uint32_t i = kPageEntries; i > 0; --i) free_.push_back(begin + i - 1);
  }
  if (count_ + 1 > kEntriesPerHead * files_.size()) GrowFiles();
}

uint32_t BlockQueue::Add(Entry entry, uint32_t bytes, CacheUse* use, bool known) {
  ReserveOne();
  const uint32_t i = free_.back();
  free_.pop_back();
  Append(&Page::file, nullptr, &files_[HeadOf(entry.key.file)], i);
  at(i) = std::move(entry);
  page(i).bytes[i % kPageEntries] = bytes;
  page(i).use[i % kPageEntries] = use;
  ++count_;
  bytes_ += bytes;
  uses_of(i) = known ? 0 : kTrial;
  if (!known) {
    Append(&Page::trial, &trial_first_, &trial_last_, i);
    ++trial_count_;
    trial_bytes_ += bytes;
  }
  return i;
}

void BlockQueue::EndTrial(uint32_t i) {
  Unlink(&Page::trial, &trial_first_, &trial_last_, i);
  --trial_count_;
  trial_bytes_ -= bytes_of(i);
}

BlockCache::Ref BlockQueue::Remove(uint32_t i) {
  if ((uses_of(i) & kTrial) != 0) EndTrial(i);
  Unlink(&Page::file, nullptr, &files_[HeadOf(at(i).key.file)], i);
  BlockCache::Ref block = std::move(at(i).block);
  bytes_ -= bytes_of(i);
  uses_of(i) = kFree;
  free_.push_back(i);
  if (--count_ == 0) *this = {};
  return block;
}

bool BlockQueue::Advance(uint32_t* i) {
  if (trial_bytes_ * kTrialShare > bytes_ || trial_count_ == count_) {
    *i = trial_first_;
    if (uses_of(*i) == kTrial) {  // moved to the end, in case the caller cannot evict it
      Unlink(&Page::trial, &trial_first_, &trial_last_, *i);
      Append(&Page::trial, &trial_first_, &trial_last_, *i);
      return true;
    }
    EndTrial(*i);
    uses_of(*i) = 0;
    return false;
  }
  for (;;) {
    if (hand_ >= end()) hand_ = 0;
    uint8_t& uses = uses_of(hand_);
    *i = hand_++;
    if ((uses & kTrial) != 0) continue;  // kFree contains this bit, too
    if (uses == 0) return true;
    --uses;
    return false;
  }
}

uint32_t BlockQueue::FindOf(uint64_t file) const {
  if (files_.empty()) return kNone;
  uint32_t i = files_[HeadOf(file)];
  while (i != kNone && at(i).key.file != file) i = page(i).file[i % kPageEntries].before;
  return i;
}

}  // namespace lava
