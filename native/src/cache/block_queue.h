// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "cache/block_cache.h"

namespace lava {

/// The blocks of one segment of the cache in a shard, in eviction order (the idea of S3-FIFO). A
/// new block starts on trial. When blocks on trial exceed their share of the bytes, the oldest of
/// them is evicted, unless it was used. Used blocks, and new blocks that had been evicted recently,
/// are on a clock. Counts of uses are stored separately from entries, so the clock's hand reads one
/// byte per block: entries and blocks are cold memory, which the hand touches only to evict.
/// Ownership:  holds a reference to each block.
/// Threads:    one thread.
class BlockQueue {
 public:
  static constexpr uint8_t kUsesMax = 3;
  static constexpr uint64_t kTrialShare = 10;  // trials may have 1/kTrialShare of the bytes
  /// Upper bound of an entry's average memory: its slot in a page, and its part of the lists'
  /// heads.
  static constexpr size_t kEntryCharge = 40 + 1 + 4 + 16 + 1;

  struct Entry {
    CacheKey key;
    BlockCache::Ref block;
  };

  size_t count() const { return count_; }
  uint64_t bytes() const { return bytes_; }
  Entry& at(uint32_t i) { return page(i).entries[i % kPageEntries]; }
  const Entry& at(uint32_t i) const { return page(i).entries[i % kPageEntries]; }
  uint32_t bytes_of(uint32_t i) const { return page(i).bytes[i % kPageEntries]; }
  CacheUse* use_of(uint32_t i) const { return page(i).use[i % kPageEntries]; }

  /// Allocates the memory that the next Add() needs. Errors: std::bad_alloc; then nothing changed.
  void ReserveOne();
  /// Returns the entry's index. known: the block was evicted recently and needs no trial.
  uint32_t Add(Entry entry, uint32_t bytes, CacheUse* use, bool known);
  /// Allocates nothing. Removing the last entry frees all memory.
  BlockCache::Ref Remove(uint32_t i);
  void CountUse(uint32_t i) {
    if (uint8_t& uses = uses_of(i); (uses & kUsesMax) < kUsesMax) ++uses;
  }
  /// Sets the count of uses to its maximum.
  void CountUses(uint32_t i) { uses_of(i) |= kUsesMax; }

  /// Examines one entry. True: entry *i is to be evicted; if the caller keeps it, later calls offer
  /// the other entries first. The queue must not be empty.
  bool Advance(uint32_t* i);

  /// An entry of the file, or kNone. Looks at only a few entries of other files.
  uint32_t FindOf(uint64_t file) const;
  template <typename Visit>
  void ForEach(Visit visit) const {
    for (uint32_t i = 0; i < end(); ++i)
      if (uses_of(i) != kFree) visit(at(i), bytes_of(i));
  }

  static constexpr uint32_t kNone = UINT32_MAX;

 private:
  static constexpr uint32_t kPageEntries = 64;
  static constexpr uint8_t kFree = 0xff;
  static constexpr uint8_t kTrial = 4;  // flag above the count of uses

  struct Link {
    uint32_t before = kNone, behind = kNone;
  };
  using Links = std::array<Link, kPageEntries>;
  // A lookup touches one byte of uses and one cache line of entries.
  struct alignas(64) Page {
    Page() { uses.fill(kFree); }
    std::array<uint8_t, kPageEntries> uses;
    std::array<Entry, kPageEntries> entries;
    std::array<CacheUse*, kPageEntries> use;
    std::array<uint32_t, kPageEntries> bytes;
    Links trial, file;
  };

  Page& page(uint32_t i) { return *pages_[i / kPageEntries]; }
  const Page& page(uint32_t i) const { return *pages_[i / kPageEntries]; }
  uint32_t end() const { return static_cast<uint32_t>(pages_.size() * kPageEntries); }
  uint8_t& uses_of(uint32_t i) { return page(i).uses[i % kPageEntries]; }
  uint8_t uses_of(uint32_t i) const { return page(i).uses[i % kPageEntries]; }
  Link& link(Links Page::*of, uint32_t i) { return (page(i).*of)[i % kPageEntries]; }
  /// Appends entry i to a list, or removes it from any position. *last is the list's last entry,
  /// *first its first; first may be null if the list has no use for it.
  void Append(Links Page::*of, uint32_t* first, uint32_t* last, uint32_t i);
  void Unlink(Links Page::*of, uint32_t* first, uint32_t* last, uint32_t i);
  void EndTrial(uint32_t i);
  size_t HeadOf(uint64_t file) const {
    return (file * 0x9e3779b97f4a7c15ull >> 32) & (files_.size() - 1);
  }
  void GrowFiles();

  std::vector<std::unique_ptr<Page>> pages_;
  std::vector<uint32_t> free_;
  uint32_t trial_first_ = kNone, trial_last_ = kNone;
  /// Last entries of the lists of files, by the file's hash. The size is a power of two, or 0
  /// before the first entry.
  std::vector<uint32_t> files_;
  uint32_t hand_ = 0;
  size_t count_ = 0, trial_count_ = 0;
  uint64_t bytes_ = 0, trial_bytes_ = 0;
};

}  // namespace lava
