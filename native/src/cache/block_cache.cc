#include "cache/block_cache.h"

#include <algorithm>
#include <array>
#include <atomic>

#include "cache/clock_shard.h"

namespace lava {
namespace {

constexpr size_t kShardCount = 32;
/// Rounds of the clock's hand that an unused block survives.
constexpr uint8_t kUsesData = 1;
constexpr uint8_t kUsesIndex = ClockRing::kUsesMax;

class ShardedCache final : public BlockCache {
 public:
  ShardedCache(uint64_t capacity_bytes, const MemoryCounter* borrowed)
      : capacity_(capacity_bytes), borrowed_(borrowed) {}

  uint64_t NewFileId() override { return next_file_.fetch_add(1, std::memory_order_relaxed); }

  Ref Lookup(const CacheKey& key) override {
    const uint64_t hash = ClockShard::HashOf(key);
    return shards_[hash % kShardCount].Lookup(key, hash);
  }

  Ref Insert(const CacheKey& key, Segment segment, Ref block) override {
    const uint64_t charge = ClockShard::ChargeOf(*block);
    if (charge > Capacity()) return block;
    const uint64_t hash = ClockShard::HashOf(key);
    bool added = false;
    // Counted before it can be evicted, so that the sum never wraps below zero.
    used_.fetch_add(charge, std::memory_order_relaxed);
    Ref result = shards_[hash % kShardCount].Insert(
        key, hash, segment == Segment::kIndex ? kUsesIndex : kUsesData, std::move(block), &added);
    if (!added) {
      used_.fetch_sub(charge, std::memory_order_relaxed);
      return result;
    }
    if (!EvictToCapacity())
      used_.fetch_sub(shards_[hash % kShardCount].Erase(key, hash), std::memory_order_relaxed);
    return result;
  }

  void EraseFile(uint64_t file) override {
    for (ClockShard& shard : shards_)
      used_.fetch_sub(shard.EraseFile(file), std::memory_order_relaxed);
  }

  void SetCapacity(uint64_t bytes) override {
    capacity_.store(bytes, std::memory_order_relaxed);
    EvictToCapacity();
  }
  void Trim() override { EvictToCapacity(); }
  uint64_t capacity_bytes() const override { return Capacity(); }
  uint64_t used_bytes() const override { return used_.load(std::memory_order_relaxed); }

  Statistics statistics() const override {
    Statistics out;
    out.capacity_bytes = Capacity();
    out.used_bytes = used_.load(std::memory_order_relaxed);
    for (const ClockShard& shard : shards_) shard.AddTo(&out);
    return out;
  }

 private:
  uint64_t Capacity() const {
    const uint64_t capacity = capacity_.load(std::memory_order_relaxed);
    return borrowed_ == nullptr ? capacity : capacity - std::min(capacity, borrowed_->used());
  }

  /// Moves the hands of the shards in turn, a few entries each, as if they were one clock: a
  /// shard of few but used blocks loses none to a neighbour's. False when pinned blocks alone pass
  /// the capacity.
  bool EvictToCapacity() {
    size_t left = SIZE_MAX;  // steps after which all uses have run out, those told by Yield too
    for (size_t visits = 0;; ++visits) {
      uint64_t used = used_.load(std::memory_order_relaxed);
      uint64_t capacity = Capacity();
      if (used <= capacity) return true;
      if (visits == kShardCount) {
        left = 0;
        for (const ClockShard& shard : shards_)
          left += std::max<size_t>(shard.count(), 1) * 2 * (ClockRing::kUsesMax + 1);
      }
      if (visits >= kShardCount && left == 0) return false;
      const size_t shard = next_evicted_.fetch_add(1, std::memory_order_relaxed) % kShardCount;
      size_t steps = 0;
      const uint64_t freed = shards_[shard].Evict(used - capacity, &steps);
      used_.fetch_sub(freed, std::memory_order_relaxed);
      // An empty shard counts as a step, so that the turns end.
      const size_t made = std::max<size_t>(steps, 1);
      left -= std::min(left, made);
    }
  }

  std::array<ClockShard, kShardCount> shards_;
  std::atomic<uint64_t> capacity_;
  const MemoryCounter* const borrowed_;
  std::atomic<uint64_t> used_{0};        // of all shards: a busy shard may hold more than its share
  std::atomic<size_t> next_evicted_{0};  // shard whose hand moves next
  std::atomic<uint64_t> next_file_{1};
};

}  // namespace

std::unique_ptr<BlockCache> BlockCache::Create(uint64_t capacity_bytes,
                                               const MemoryCounter* borrowed) {
  return std::make_unique<ShardedCache>(capacity_bytes, borrowed);
}

}  // namespace lava
