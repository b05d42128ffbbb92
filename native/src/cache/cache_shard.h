// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/mutex.h"
#include "cache/block_cache.h"
#include "cache/block_queue.h"
#include "cache/ghosts.h"

namespace lava {

/// A part of the cache with its own lock.
/// Threads:    any thread.
class CacheShard {
 public:
  using Segment = BlockCache::Segment;
  /// Upper bound of an entry's average memory besides its block: in the queue, 2.5 slots of 8 bytes
  /// in the table, and half as many ghosts of 4 bytes.
  static constexpr size_t kEntryCharge = BlockQueue::kEntryCharge + 20 + 5;
  static constexpr size_t kStepsMax = 8;  // blocks that one call of Evict() looks at

  struct Key {
    CacheKey key;
    Segment segment;
    uint64_t hash;

    Key(const CacheKey& cache_key, Segment of) : key(cache_key), segment(of), hash(HashOf(key)) {}
  };

  BlockCache::Ref Lookup(const Key& key, CacheUse* use) LAVA_EXCLUDES(mutex_);
  BlockCache::Ref Peek(const Key& key) const LAVA_EXCLUDES(mutex_);

  struct Inserted {
    BlockCache::Ref block;  // the key's block afterwards, or the caller's if it was not cached
    bool added = false;     // whether the caller's block was cached
    uint32_t ghost_age = Ghosts::kNever;
  };
  /// now: the cache segment's ticks. A block that was evicted at most known_age ticks ago needs no
  /// trial. Without memory for an entry the caller's block is returned and not added.
  Inserted Insert(const Key& key, BlockCache::Ref block, uint64_t charge, CacheUse* use,
                  uint32_t now, uint32_t known_age) LAVA_EXCLUDES(mutex_);
  /// Evicts until `bytes` are freed, in at most kStepsMax steps and no more steps than blocks.
  /// Returns the bytes freed. *steps: number of steps.
  uint64_t Evict(Segment segment, uint64_t bytes, uint32_t now, size_t* steps)
      LAVA_EXCLUDES(mutex_);
  /// Returns the bytes freed.
  uint64_t Erase(const Key& key) LAVA_EXCLUDES(mutex_);
  /// Returns the bytes freed per segment of the cache.
  std::array<uint64_t, 2> EraseFile(uint64_t file) LAVA_EXCLUDES(mutex_);

  size_t count(Segment segment) const LAVA_EXCLUDES(mutex_);
  void AddTo(BlockCache::Statistics* out) const LAVA_EXCLUDES(mutex_);

  static uint64_t ChargeOf(const CachedBlock& block) { return block.charge() + kEntryCharge; }

 private:
  /// Hash table from keys to ids of entries: open addressing with linear probing, two fifths to
  /// half full. A slot holds 32 bits of the hash beside the id, so a search touches only the
  /// entry that it looks for, and a removal touches none.
  class Table {
   public:
    static constexpr uint32_t kNone = UINT32_MAX;

    template <typename Matches>
    uint32_t Find(uint64_t hash, Matches matches) const;
    /// Allocates the memory that the next Insert() needs.
    void ReserveOne();
    void Insert(uint64_t hash, uint32_t id);
    void Remove(uint64_t hash, uint32_t id);
    size_t slots() const { return slots_.size(); }

   private:
    static constexpr size_t kSlotsMin = 16;
    /// The high bits of the hash: its low bits choose the shard.
    static uint64_t TagOf(uint64_t hash) { return hash >> 32; }
    size_t HomeOf(uint64_t tag) const { return tag * slots_.size() >> 32; }
    size_t After(size_t i) const { return i + 1 == slots_.size() ? 0 : i + 1; }
    /// Number of slots from `from` to i, with wrap-around.
    size_t Distance(size_t i, size_t from) const {
      return i >= from ? i - from : i + slots_.size() - from;
    }
    void PutSlot(uint64_t slot);

    std::vector<uint64_t> slots_;  // tag, id + 1; none before the first entry
    size_t count_ = 0;
  };

  struct Part {
    BlockQueue queue;
    uint64_t hits = 0, misses = 0, evictions = 0;
  };

  static uint64_t HashOf(const CacheKey& key);
  static size_t Number(Segment segment) { return static_cast<size_t>(segment); }
  /// The entry's id as the table stores it: its index in the queue, and the segment.
  static uint32_t IdOf(size_t part, uint32_t i) { return i << 1 | static_cast<uint32_t>(part); }
  /// Index of the key's entry in the queue of its segment, or BlockQueue::kNone.
  uint32_t Find(const Key& key) const LAVA_REQUIRES(mutex_);
  BlockCache::Ref Drop(size_t part, uint32_t i, uint64_t hash) LAVA_REQUIRES(mutex_);
  /// Resizes the ghosts in proportion to the table.
  void FitGhosts() LAVA_REQUIRES(mutex_);

  mutable Mutex mutex_;
  Table table_ LAVA_GUARDED_BY(mutex_);
  std::array<Part, 2> parts_ LAVA_GUARDED_BY(mutex_);
  Ghosts ghosts_ LAVA_GUARDED_BY(mutex_);
};

}  // namespace lava
