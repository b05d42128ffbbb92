#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "cache/block_cache.h"

namespace lava {

/// The blocks of one segment in a shard, in the order in which they are evicted (S3-FIFO's idea). A
/// new block is on trial first: the oldest of these goes as soon as trials have more than their
/// share of the bytes, unless it was used. Those that were, and those that were evicted not long
/// ago, stand on a clock. How often each was used lies apart from the rest, so that the hand walks
/// over a byte a block: entries and blocks are cold memory, which it touches only to evict.
/// Threads:    one thread.
class BlockQueue {
 public:
  static constexpr uint8_t kUsesMax = 3;
  static constexpr uint64_t kTrialShare = 10;  // one part of so many
  /// Bytes that an entry takes at most on the average: its place, and of the heads of files.
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

  /// Takes the memory that the next Add() needs. Errors: std::bad_alloc; nothing has changed then.
  void MakePlace();
  /// known: it was evicted not long ago, and is not put on trial again.
  uint32_t Add(Entry entry, uint32_t bytes, CacheUse* use, bool known);
  /// Gives back all memory with the last entry.
  BlockCache::Ref Remove(uint32_t i);
  void CountUse(uint32_t i) {
    if (uint8_t& uses = uses_of(i); (uses & kUsesMax) < kUsesMax) ++uses;
  }
  /// As if it had been used often.
  void CountUses(uint32_t i) { uses_of(i) |= kUsesMax; }

  /// Looks at one entry; true if it is the one to evict: *i. Who leaves it there, finds others
  /// first. There must be an entry.
  bool Advance(uint32_t* i);

  /// An entry of the file, or kNone. Costs no look at entries of other files but a few.
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
  static constexpr uint8_t kTrial = 4;  // beside the uses

  struct Link {
    uint32_t before = kNone, behind = kNone;
  };
  using Links = std::array<Link, kPageEntries>;
  // A lookup touches a byte of uses and one line of entries.
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
  /// Puts it at the end of a list whose last entry is *last, or takes it out of any place. *first
  /// is the oldest; may be null where nobody asks for it.
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
  /// Last entries of lists, by the file's hash; a power of two, or none before the first entry.
  std::vector<uint32_t> files_;
  uint32_t hand_ = 0;
  size_t count_ = 0, trial_count_ = 0;
  uint64_t bytes_ = 0, trial_bytes_ = 0;
};

}  // namespace lava
