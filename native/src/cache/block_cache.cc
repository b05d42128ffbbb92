#include "cache/block_cache.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>
#include <vector>

namespace lava {
namespace {

constexpr size_t kShardCount = 32;
constexpr size_t kBucketsMin = 16;
/// Rounds of the clock's hand that an unused block survives.
constexpr uint8_t kUsesData = 1;
constexpr uint8_t kUsesIndex = 3;
constexpr uint8_t kUsesMax = 3;

uint64_t HashOf(const CacheKey& key) {
  uint64_t h = key.file * 0x9e3779b97f4a7c15ull ^ key.offset;
  h *= 0xd6e8feb86659fd93ull;
  return h ^ (h >> 32);
}

struct Entry {
  CacheKey key;
  uint64_t hash = 0;
  uint64_t charge = 0;
  BlockCache::Ref block;
  Entry* chain = nullptr;   // next in the bucket
  Entry* before = nullptr;  // ring of the clock
  Entry* after = nullptr;
  uint8_t uses = 0;
};

/// A part of the cache behind its own lock: a hash table of entries that also stand in a ring,
/// round which the clock's hand goes.
class Shard {
 public:
  Shard() = default;
  ~Shard() {
    while (hand_ != nullptr) delete Unlink(hand_);
  }

  BlockCache::Ref Lookup(const CacheKey& key, uint64_t hash) {
    std::lock_guard lock(mutex_);
    Entry* entry = Find(key, hash);
    if (entry == nullptr) {
      ++misses_;
      return nullptr;
    }
    ++hits_;
    if (entry->uses < kUsesMax) ++entry->uses;
    return entry->block;
  }

  /// The block that stands under the key afterwards; *added tells whether it is the new one.
  BlockCache::Ref Insert(const CacheKey& key, uint64_t hash, uint8_t uses, uint64_t charge,
                         BlockCache::Ref block, bool* added) {
    std::lock_guard lock(mutex_);
    *added = false;
    if (Entry* old = Find(key, hash); old != nullptr) return old->block;
    Entry* entry = new Entry{key, hash, charge, std::move(block), nullptr, nullptr, nullptr, uses};
    Link(entry);
    *added = true;
    return entry->block;
  }

  /// Moves the hand by at most steps entries and one round, or until bytes are free; returns what
  /// it freed and takes the steps that it made off *steps.
  uint64_t Evict(uint64_t bytes, size_t* steps) {
    std::vector<BlockCache::Ref> dropped;  // destroyed outside the lock
    std::lock_guard lock(mutex_);
    uint64_t freed = 0;
    for (size_t left = std::min(count_, *steps); freed < bytes && left > 0; --left, --*steps) {
      Entry* entry = hand_;
      hand_ = entry->after;
      if (entry->uses > 0) {
        --entry->uses;
      } else if (entry->block.use_count() == 1) {
        freed += entry->charge;
        dropped.push_back(Drop(entry));
      }
    }
    return freed;
  }

  size_t count() const {
    std::lock_guard lock(mutex_);
    return count_;
  }

  /// Drops one entry, if it is still there; returns its charge.
  uint64_t Erase(const CacheKey& key, uint64_t hash) {
    BlockCache::Ref dropped;
    std::lock_guard lock(mutex_);
    Entry* entry = Find(key, hash);
    if (entry == nullptr) return 0;
    uint64_t charge = entry->charge;
    dropped = Drop(entry);
    return charge;
  }

  uint64_t EraseFile(uint64_t file) {
    std::vector<BlockCache::Ref> dropped;
    std::lock_guard lock(mutex_);
    uint64_t freed = 0;
    Entry* entry = hand_;
    for (size_t left = count_; left > 0; --left) {
      Entry* after = entry->after;
      if (entry->key.file == file) {
        freed += entry->charge;
        dropped.push_back(Drop(entry));
      }
      entry = after;
    }
    return freed;
  }

  void AddTo(BlockCache::Statistics* out) const {
    std::lock_guard lock(mutex_);
    out->hits += hits_;
    out->misses += misses_;
    const Entry* entry = hand_;
    for (size_t left = count_; left > 0; --left) {
      if (entry->block.use_count() > 1) out->pinned_bytes += entry->charge;
      entry = entry->after;
    }
  }

 private:
  Entry* Find(const CacheKey& key, uint64_t hash) const {
    if (buckets_.empty()) return nullptr;
    Entry* entry = buckets_[BucketOf(hash)];
    while (entry != nullptr && (entry->key.offset != key.offset || entry->key.file != key.file))
      entry = entry->chain;
    return entry;
  }

  /// The low bits chose the shard.
  size_t BucketOf(uint64_t hash) const { return (hash / kShardCount) & (buckets_.size() - 1); }

  void Link(Entry* entry) {
    if (count_ >= buckets_.size()) Grow();
    Entry** bucket = &buckets_[BucketOf(entry->hash)];
    entry->chain = *bucket;
    *bucket = entry;
    if (hand_ == nullptr) {
      entry->before = entry->after = entry;
      hand_ = entry;
    } else {  // behind the hand: the last that it comes to
      entry->after = hand_;
      entry->before = hand_->before;
      entry->before->after = entry;
      hand_->before = entry;
    }
    ++count_;
  }

  Entry* Unlink(Entry* entry) {
    Entry** at = &buckets_[BucketOf(entry->hash)];
    while (*at != entry) at = &(*at)->chain;
    *at = entry->chain;
    if (hand_ == entry) hand_ = entry->after == entry ? nullptr : entry->after;
    entry->before->after = entry->after;
    entry->after->before = entry->before;
    --count_;
    return entry;
  }

  BlockCache::Ref Drop(Entry* entry) {
    BlockCache::Ref block = std::move(Unlink(entry)->block);
    delete entry;
    return block;
  }

  void Grow() {
    std::vector<Entry*> old = std::move(buckets_);
    buckets_.assign(old.empty() ? kBucketsMin : old.size() * 2, nullptr);
    for (Entry* entry : old) {
      while (entry != nullptr) {
        Entry* next = entry->chain;
        Entry** bucket = &buckets_[BucketOf(entry->hash)];
        entry->chain = *bucket;
        *bucket = entry;
        entry = next;
      }
    }
  }

  mutable std::mutex mutex_;
  std::vector<Entry*> buckets_;  // a power of two, or none before the first block
  Entry* hand_ = nullptr;
  size_t count_ = 0;
  uint64_t hits_ = 0;
  uint64_t misses_ = 0;
};

class ShardedCache final : public BlockCache {
 public:
  explicit ShardedCache(uint64_t capacity_bytes) : capacity_(capacity_bytes) {}

  uint64_t NewFileId() override { return next_file_.fetch_add(1, std::memory_order_relaxed); }

  Ref Lookup(const CacheKey& key) override {
    uint64_t hash = HashOf(key);
    return shards_[hash % kShardCount].Lookup(key, hash);
  }

  Ref Insert(const CacheKey& key, Segment segment, Ref block) override {
    uint64_t charge = block->charge() + sizeof(Entry) + sizeof(Entry*);
    if (charge > capacity_.load(std::memory_order_relaxed)) return block;
    uint64_t hash = HashOf(key);
    bool added = false;
    // Counted before it can be evicted, so that the sum never wraps below zero.
    used_.fetch_add(charge, std::memory_order_relaxed);
    Ref result = shards_[hash % kShardCount].Insert(
        key, hash, segment == Segment::kIndex ? kUsesIndex : kUsesData, charge, std::move(block),
        &added);
    if (!added) {
      used_.fetch_sub(charge, std::memory_order_relaxed);
      return result;
    }
    if (!EvictToCapacity())
      used_.fetch_sub(shards_[hash % kShardCount].Erase(key, hash), std::memory_order_relaxed);
    return result;
  }

  void EraseFile(uint64_t file) override {
    for (Shard& shard : shards_) used_.fetch_sub(shard.EraseFile(file), std::memory_order_relaxed);
  }

  void SetCapacity(uint64_t bytes) override {
    capacity_.store(bytes, std::memory_order_relaxed);
    EvictToCapacity();
  }

  Statistics statistics() const override {
    Statistics out;
    out.capacity_bytes = capacity_.load(std::memory_order_relaxed);
    out.used_bytes = used_.load(std::memory_order_relaxed);
    for (const Shard& shard : shards_) shard.AddTo(&out);
    return out;
  }

 private:
  /// Moves the hands of the shards in turn, a few entries each, as if they were one clock: a
  /// shard of few but used blocks loses none to a neighbour's. False when pinned blocks alone pass
  /// the capacity.
  bool EvictToCapacity() {
    constexpr size_t kStepsAtOnce = 8;
    size_t left = SIZE_MAX;  // steps after which every entry's uses have run out
    for (size_t visits = 0;; ++visits) {
      uint64_t used = used_.load(std::memory_order_relaxed);
      uint64_t capacity = capacity_.load(std::memory_order_relaxed);
      if (used <= capacity) return true;
      if (visits == kShardCount) {
        left = 0;
        for (const Shard& shard : shards_) left += shard.count() * (kUsesMax + 1);
      }
      if (visits >= kShardCount && left == 0) return false;
      size_t shard = next_evicted_.fetch_add(1, std::memory_order_relaxed) % kShardCount;
      size_t steps = kStepsAtOnce;
      uint64_t freed = shards_[shard].Evict(used - capacity, &steps);
      used_.fetch_sub(freed, std::memory_order_relaxed);
      // An empty shard counts as a step, so that the turns end.
      size_t made = std::max<size_t>(kStepsAtOnce - steps, 1);
      left -= std::min(left, made);
    }
  }

  std::array<Shard, kShardCount> shards_;
  std::atomic<uint64_t> capacity_;
  std::atomic<uint64_t> used_{0};        // of all shards: a busy shard may hold more than its share
  std::atomic<size_t> next_evicted_{0};  // shard whose hand moves next
  std::atomic<uint64_t> next_file_{1};
};

}  // namespace

std::unique_ptr<BlockCache> BlockCache::Create(uint64_t capacity_bytes) {
  return std::make_unique<ShardedCache>(capacity_bytes);
}

}  // namespace lava
