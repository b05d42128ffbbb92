#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "cache/block_cache.h"

namespace lava {

/// The cached blocks of a shard in the order in which the clock's hand comes to them. How often
/// each was used stands apart from the rest, so that the hand walks over a byte a block: entries
/// and blocks are cold memory, which it touches only to evict.
/// Threads:    one thread.
class ClockRing {
 public:
  static constexpr uint8_t kUsesMax = 3;

  struct Entry {
    CacheKey key;
    BlockCache::Ref block;
  };

  size_t count() const { return count_; }
  Entry& at(uint32_t i) { return pages_[i / kPageEntries]->entries[i % kPageEntries]; }
  const Entry& at(uint32_t i) const { return pages_[i / kPageEntries]->entries[i % kPageEntries]; }
  bool used(uint32_t i) const { return uses_of(i) != kFree; }
  /// One past the largest index.
  uint32_t end() const { return static_cast<uint32_t>(pages_.size() * kPageEntries); }

  /// An entry that the hand will take uses rounds to evict if nobody asks for it.
  uint32_t Add(Entry entry, uint8_t uses);
  /// Gives back all memory with the last entry.
  BlockCache::Ref Remove(uint32_t i);
  void CountUse(uint32_t i) {
    if (uint8_t& uses = uses_of(i); uses < kUsesMax) ++uses;
  }
  void SetUses(uint32_t i, uint8_t uses) { uses_of(i) = uses; }

  /// Takes a use off the next entry and moves on; true if it had none, *i is which. There must be
  /// an entry.
  bool Advance(uint32_t* i);

 private:
  static constexpr uint32_t kPageEntries = 64;
  static constexpr uint8_t kFree = 0xff;
  struct Page {
    Page() { uses.fill(kFree); }
    std::array<uint8_t, kPageEntries> uses;
    std::array<Entry, kPageEntries> entries;
  };

  uint8_t& uses_of(uint32_t i) { return pages_[i / kPageEntries]->uses[i % kPageEntries]; }
  uint8_t uses_of(uint32_t i) const { return pages_[i / kPageEntries]->uses[i % kPageEntries]; }

  std::vector<std::unique_ptr<Page>> pages_;
  std::vector<uint32_t> free_;  // the last one is taken first: it is the nearest behind the hand
  uint32_t hand_ = 0;
  size_t count_ = 0;
};

/// A part of the cache behind its own lock.
/// Threads:    any thread.
class ClockShard {
 public:
  /// Bytes that an entry takes beside its block, at most on the average: 40 in the ring, 4 in its
  /// list, 8 in each of two to four slots.
  static constexpr size_t kEntryCharge = 40 + 4 + 4 * 8;
  static constexpr size_t kStepsMax = 8;  // of one call of Evict

  BlockCache::Ref Lookup(const CacheKey& key, uint64_t hash);
  /// The block that stands under the key afterwards; *added tells whether it is the new one.
  BlockCache::Ref Insert(const CacheKey& key, uint64_t hash, uint8_t uses, BlockCache::Ref block,
                         bool* added);
  /// Moves the hand by kStepsMax entries and one round at most, or until bytes are free; returns
  /// what it freed. *steps: how many it made.
  uint64_t Evict(uint64_t bytes, size_t* steps);
  /// Drops one entry that its inserter holds, if it is still there and nobody else found it by now;
  /// returns its charge.
  uint64_t Erase(const CacheKey& key, uint64_t hash);
  /// Returns what it freed.
  uint64_t EraseFile(uint64_t file);

  size_t count() const;
  void AddTo(BlockCache::Statistics* out) const;

  static uint64_t ChargeOf(const CachedBlock& block) { return block.charge() + kEntryCharge; }
  static uint64_t HashOf(const CacheKey& key);

 private:
  /// The ring's indexes by key: open addressing with linear probing, at most half full. A slot
  /// holds 32 bits of the hash beside the index, so that a search touches no entry but the one that
  /// it is for, and a removal none.
  class Table {
   public:
    static constexpr uint32_t kNone = UINT32_MAX;

    template <typename Matches>
    uint32_t Find(uint64_t hash, Matches matches) const;
    void Insert(uint64_t hash, uint32_t index);
    void Remove(uint64_t hash, uint32_t index);

   private:
    static constexpr size_t kSlotsMin = 16;
    /// Without the low bits, which chose the shard.
    static uint64_t TagOf(uint64_t hash) { return hash >> 32; }
    size_t HomeOf(uint64_t tag) const { return tag & (slots_.size() - 1); }
    size_t After(size_t i) const { return (i + 1) & (slots_.size() - 1); }
    void Place(uint64_t slot);

    std::vector<uint64_t> slots_;  // tag, index + 1; a power of two, or none before the first entry
    size_t count_ = 0;
  };

  uint32_t Find(const CacheKey& key, uint64_t hash) const;
  BlockCache::Ref Drop(uint32_t i, uint64_t hash);

  mutable std::mutex mutex_;
  Table table_;
  ClockRing ring_;
  uint64_t hits_ = 0;
  uint64_t misses_ = 0;
};

}  // namespace lava
