// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "cache/block_cache.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "base/mutex.h"
#include "base/thread_annotations.h"
#include "cache/block_queue.h"
#include "cache/cache_shard.h"
#include "memory/memory_budget.h"
#include "memory/memory_counter.h"
#include "policy/cache_border.h"

namespace lava {
namespace {

constexpr size_t kShardCount = 32;
/// Ages of ghosts are counted in ticks: one tick per 1/kTicksOfCapacity of the capacity that was
/// evicted from their segment of the cache.
constexpr uint32_t kTicksOfCapacity = 256;
constexpr uint32_t kKnownAge = kTicksOfCapacity / 4;
constexpr auto kMarginAge = static_cast<uint32_t>(kTicksOfCapacity * kCacheMarginShare);

using Segment = BlockCache::Segment;

/// State of a segment of the cache across all shards.
struct CacheSegmentState {
  std::atomic<uint64_t> used{0};        // of all shards: a busy shard may hold more than its share
  std::atomic<size_t> next_evicted{0};  // counter that selects the next shard to evict from
  std::atomic<uint64_t> evicted_in_tick{0};
  std::atomic<uint32_t> ticks{0};
  std::atomic<uint64_t> missed_cost{0};  // since the last judgement; see CachePeriod
  /// Per tick: bytes that were evicted in the tick and have not been inserted again.
  std::array<std::atomic<int64_t>, kMarginAge + 1> out{};

  void CountEvicted(uint64_t bytes, uint64_t capacity) {
    const uint64_t tick = std::max<uint64_t>(capacity / kTicksOfCapacity, 1);
    out[ticks.load(std::memory_order_relaxed) % out.size()].fetch_add(static_cast<int64_t>(bytes),
                                                                      std::memory_order_relaxed);
    const uint64_t sum = evicted_in_tick.fetch_add(bytes, std::memory_order_relaxed) + bytes;
    if (sum < tick) return;
    evicted_in_tick.store(sum % tick, std::memory_order_relaxed);
    for (uint64_t n = 0; n < std::min<uint64_t>(sum / tick, out.size()); ++n)
      out[(ticks.fetch_add(1, std::memory_order_relaxed) + 1) % out.size()].store(
          0, std::memory_order_relaxed);
  }
  void CountMissed(uint64_t bytes, uint32_t age) {
    missed_cost.fetch_add(static_cast<uint64_t>(CacheMissCost(bytes)), std::memory_order_relaxed);
    out[(ticks.load(std::memory_order_relaxed) - age) % out.size()].fetch_sub(
        static_cast<int64_t>(bytes), std::memory_order_relaxed);
  }
  /// Returns the new worth of a byte of this segment of the cache. worth: the previous one.
  double Judge(double worth, double capacity) {
    int64_t out_bytes = 0;
    for (const auto& bytes : out)
      out_bytes += std::max<int64_t>(bytes.load(std::memory_order_relaxed), 0);
    const uint64_t cost = missed_cost.exchange(0, std::memory_order_relaxed);
    return SmoothCacheWorth(worth, {.missed_cost = static_cast<double>(cost),
                                    .out_bytes = static_cast<double>(out_bytes),
                                    .capacity_bytes = capacity});
  }
};

class ShardedCache final : public BlockCache {
 public:
  ShardedCache(uint64_t capacity_bytes, const MemoryCounter* borrowed, ChargeObserver* observer)
      : capacity_(capacity_bytes), borrowed_(borrowed), observer_(observer) {}

  uint64_t NewFileId() override { return next_file_.fetch_add(1, std::memory_order_relaxed); }

  Ref Lookup(const CacheKey& cache_key, Segment segment, CacheUse* use) override {
    const CacheShard::Key key(cache_key, segment);
    return ShardOf(key).Lookup(key, use);
  }

  Ref Peek(const CacheKey& cache_key, Segment segment) override {
    const CacheShard::Key key(cache_key, segment);
    return ShardOf(key).Peek(key);
  }

  Ref Insert(const CacheKey& cache_key, Segment segment, Ref block, CacheUse* use) override {
    const uint64_t charge = CacheShard::ChargeOf(*block), capacity = capacity_bytes();
    if (charge > std::min<uint64_t>(capacity, UINT32_MAX)) return block;
    const CacheShard::Key key(cache_key, segment);
    // Reserve before inserting, so that all charges and the cache together never exceed the memory.
    while (!TryReserve(charge))
      if (!EvictToCapacity(charge)) return block;
    if (observer_ != nullptr) observer_->Charged();
    CacheSegmentState& state = Of(segment);
    state.used.fetch_add(charge, std::memory_order_relaxed);
    CacheShard::Inserted inserted = ShardOf(key).Insert(
        key, std::move(block), charge, use, state.ticks.load(std::memory_order_relaxed), kKnownAge);
    if (!inserted.added) {
      Release(&state, charge);
      return std::move(inserted.block);
    }
    if (inserted.ghost_age <= kMarginAge) state.CountMissed(charge, inserted.ghost_age);
    JudgeBorder(charge, capacity);
    return std::move(inserted.block);
  }

  void Erase(const CacheKey& cache_key, Segment segment) override {
    const CacheShard::Key key(cache_key, segment);
    Release(&Of(segment), ShardOf(key).Erase(key));
  }

  void EraseFile(uint64_t file) override {
    for (CacheShard& shard : shards_) {
      const std::array<uint64_t, 2> freed = shard.EraseFile(file);
      for (size_t i = 0; i < freed.size(); ++i) Release(&segments_[i], freed[i]);
    }
  }

  void SetCapacity(uint64_t bytes) override {
    capacity_.store(bytes, std::memory_order_relaxed);
    EvictToCapacity(0);
  }
  void Trim() override { EvictToCapacity(0); }
  uint64_t used_bytes() const override { return reserved_.load(std::memory_order_relaxed); }

  uint64_t capacity_bytes() const override {
    const uint64_t capacity = capacity_.load(std::memory_order_relaxed);
    return borrowed_ == nullptr ? capacity : capacity - std::min(capacity, borrowed_->used());
  }
  Statistics statistics() const override {
    Statistics out;
    out.capacity_bytes = capacity_bytes();
    out.index_bytes_max = BorderBytes(out.capacity_bytes);
    for (const CacheShard& shard : shards_) shard.AddTo(&out);
    return out;
  }

 private:
  CacheShard& ShardOf(const CacheShard::Key& key) { return shards_[key.hash % kShardCount]; }
  CacheSegmentState& Of(Segment segment) { return segments_[static_cast<size_t>(segment)]; }
  uint64_t UsedBy(Segment segment) const {
    return segments_[static_cast<size_t>(segment)].used.load(std::memory_order_relaxed);
  }
  uint64_t BorderBytes(uint64_t capacity) const {
    return static_cast<uint64_t>(border_.load(std::memory_order_relaxed) *
                                 static_cast<double>(capacity));
  }

  /// Moves the border once per kCachePeriodShare of the capacity inserted. Returns at once while
  /// another thread moves it.
  void JudgeBorder(uint64_t inserted, uint64_t capacity) LAVA_EXCLUDES(border_mutex_) {
    const auto size = static_cast<double>(capacity);
    const uint64_t so_far = inserted_.fetch_add(inserted, std::memory_order_relaxed) + inserted;
    if (static_cast<double>(so_far) < kCachePeriodShare * size) return;
    if (!border_mutex_.TryLock()) return;
    inserted_.store(0, std::memory_order_relaxed);
    for (size_t i = 0; i < segments_.size(); ++i) worths_[i] = segments_[i].Judge(worths_[i], size);
    border_.store(
        MoveCacheBorder({.border = border_.load(std::memory_order_relaxed),
                         .index_used = static_cast<double>(UsedBy(Segment::kIndex)) / size,
                         .index_worth = worths_[static_cast<size_t>(Segment::kIndex)],
                         .data_worth = worths_[static_cast<size_t>(Segment::kData)]}),
        std::memory_order_relaxed);
    border_mutex_.Unlock();
  }

  /// The segment of the cache to evict from.
  Segment Loser(uint64_t capacity) const {
    const uint64_t index = UsedBy(Segment::kIndex);
    return index > BorderBytes(capacity) || UsedBy(Segment::kData) == 0 ? Segment::kIndex
                                                                        : Segment::kData;
  }

  bool TryReserve(uint64_t bytes) {
    uint64_t reserved = reserved_.load(std::memory_order_relaxed);
    do {
      if (reserved + bytes > capacity_bytes()) return false;
    } while (
        !reserved_.compare_exchange_weak(reserved, reserved + bytes, std::memory_order_relaxed));
    return true;
  }
  void Release(CacheSegmentState* segment, uint64_t bytes) {
    segment->used.fetch_sub(bytes, std::memory_order_relaxed);
    reserved_.fetch_sub(bytes, std::memory_order_relaxed);
  }

  /// Evicts until `more` bytes fit. Visits the shards in turn, a few blocks each, so that they
  /// behave like one queue: a shard with few but used blocks does not lose them in favour of
  /// another shard's. False if pinned blocks alone exceed the capacity.
  bool EvictToCapacity(uint64_t more) {
    std::array<Turn, 2> turns;
    for (;;) {
      const uint64_t used = used_bytes() + more;
      const uint64_t capacity = capacity_bytes();
      if (used <= capacity) return true;
      Segment loser = Loser(capacity);
      if (turns[static_cast<size_t>(loser)].Over())
        loser = loser == Segment::kIndex ? Segment::kData : Segment::kIndex;
      Turn& turn = turns[static_cast<size_t>(loser)];
      if (turn.Over()) return false;
      if (turn.visits++ == kShardCount) turn.left = StepsMax(loser);
      CacheSegmentState& state = Of(loser);
      const size_t shard = state.next_evicted.fetch_add(1, std::memory_order_relaxed) % kShardCount;
      size_t steps = 0;
      const uint64_t freed = shards_[shard].Evict(
          loser, used - capacity, state.ticks.load(std::memory_order_relaxed), &steps);
      Release(&state, freed);
      if (freed > 0) state.CountEvicted(freed, capacity);
      // An empty shard counts as a step, so that the loop ends.
      turn.left -= std::min(turn.left, std::max<size_t>(steps, 1));
    }
  }
  struct Turn {
    size_t visits = 0;
    size_t left = SIZE_MAX;  // steps until all counts of uses are 0, also those set after Yield()
    bool Over() const { return left == 0; }
  };
  size_t StepsMax(Segment segment) const {
    size_t steps = 0;
    for (const CacheShard& shard : shards_)
      steps += std::max<size_t>(shard.count(segment), 1) * 2 * (BlockQueue::kUsesMax + 2);
    return steps;
  }

  std::array<CacheShard, kShardCount> shards_;
  std::atomic<uint64_t> capacity_;
  const MemoryCounter* const borrowed_;
  ChargeObserver* const observer_;
  std::array<CacheSegmentState, 2> segments_;
  std::atomic<uint64_t> reserved_{
      0};               // bytes of both segments of the cache and of blocks being inserted
  Mutex border_mutex_;  // serialises judgements; no other lock is taken under it
  std::array<double, 2> worths_
      LAVA_GUARDED_BY(border_mutex_){};  // worth of a byte, per segment of the cache
  std::atomic<double> border_{1 - kCacheFloorShare};
  std::atomic<uint64_t> inserted_{0};  // since the last judgement
  std::atomic<uint64_t> next_file_{1};
};

}  // namespace

std::unique_ptr<BlockCache> BlockCache::Create(uint64_t capacity_bytes,
                                               const MemoryCounter* borrowed,
                                               ChargeObserver* observer) {
  return std::make_unique<ShardedCache>(capacity_bytes, borrowed, observer);
}

}  // namespace lava
