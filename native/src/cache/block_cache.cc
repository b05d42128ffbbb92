#include "cache/block_cache.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>
#include <vector>

namespace lava {
namespace {

constexpr size_t kShardCount = 32;
constexpr size_t kSlotsMin = 16;
/// A slot is 8 bytes, and up to three of four are free.
constexpr size_t kSlotCharge = 32;
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
  Entry* before = nullptr;  // ring of the clock
  Entry* after = nullptr;
  uint8_t uses = 0;
};

/// Entries by key: open addressing with linear probing. A slot holds 16 bits of the hash beside the
/// pointer, so that a lookup touches no entry but the one that it is for: entries are cold memory.
/// Threads:    one thread.
/// Ownership:  borrows the entries.
class EntryTable {
 public:
  Entry* Find(const CacheKey& key, uint64_t hash) const {
    if (slots_.empty()) return nullptr;
    for (size_t i = HomeOf(hash); slots_[i] != 0; i = After(i)) {
      if (slots_[i] >> kTagShift != TagOf(hash)) continue;
      Entry* entry = EntryAt(i);
      if (entry->key.offset == key.offset && entry->key.file == key.file) return entry;
    }
    return nullptr;
  }

  void Insert(Entry* entry) {
    if (2 * (count_ + 1) > slots_.size()) Grow();
    Place(entry);
    ++count_;
  }

  void Remove(const Entry* entry) {
    size_t hole = HomeOf(entry->hash);
    while (EntryAt(hole) != entry) hole = After(hole);
    // Entries behind the hole move up, unless that would put them before their home.
    for (size_t i = After(hole); slots_[i] != 0; i = After(i)) {
      const size_t mask = slots_.size() - 1;
      if (((i - HomeOf(EntryAt(i)->hash)) & mask) < ((i - hole) & mask)) continue;
      slots_[hole] = slots_[i];
      hole = i;
    }
    slots_[hole] = 0;
    --count_;
  }

  size_t count() const { return count_; }

 private:
  static constexpr int kTagShift = 48;  // user-space addresses have 47 bits

  static uint64_t TagOf(uint64_t hash) { return hash >> kTagShift; }
  /// The low bits chose the shard.
  size_t HomeOf(uint64_t hash) const { return (hash / kShardCount) & (slots_.size() - 1); }
  size_t After(size_t i) const { return (i + 1) & (slots_.size() - 1); }
  Entry* EntryAt(size_t i) const {
    return reinterpret_cast<Entry*>(slots_[i] & ((uint64_t{1} << kTagShift) - 1));
  }

  void Place(Entry* entry) {
    size_t i = HomeOf(entry->hash);
    while (slots_[i] != 0) i = After(i);
    slots_[i] = TagOf(entry->hash) << kTagShift | reinterpret_cast<uint64_t>(entry);
  }

  void Grow() {
    std::vector<uint64_t> old(slots_.empty() ? kSlotsMin : slots_.size() * 2, 0);
    old.swap(slots_);
    for (const uint64_t slot : old)
      if (slot != 0) Place(reinterpret_cast<Entry*>(slot & ((uint64_t{1} << kTagShift) - 1)));
  }

  std::vector<uint64_t> slots_;  // a power of two, or none before the first entry
  size_t count_ = 0;
};

/// A part of the cache behind its own lock: a table of entries that also stand in a ring, round
/// which the clock's hand goes.
class Shard {
 public:
  Shard() = default;
  ~Shard() {
    while (hand_ != nullptr) delete Unlink(hand_);
  }

  BlockCache::Ref Lookup(const CacheKey& key, uint64_t hash) {
    std::lock_guard lock(mutex_);
    Entry* entry = table_.Find(key, hash);
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
    if (Entry* old = table_.Find(key, hash); old != nullptr) return old->block;
    Entry* entry = new Entry{key, hash, charge, std::move(block), nullptr, nullptr, uses};
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
    for (size_t left = std::min(table_.count(), *steps); freed < bytes && left > 0;
         --left, --*steps) {
      Entry* entry = hand_;
      hand_ = entry->after;
      if (entry->uses > 0) {
        --entry->uses;
      } else if (entry->block->yieldable() > 0 && !entry->block->Yield()) {
        entry->uses = kUsesIndex;  // as if its uses had come through Lookup
      } else if (entry->block.use_count() == 1) {
        freed += entry->charge;
        dropped.push_back(Drop(entry));
      }
    }
    return freed;
  }

  size_t count() const {
    std::lock_guard lock(mutex_);
    return table_.count();
  }

  /// Drops one entry that its inserter holds, if it is still there and nobody else found it by now;
  /// returns its charge.
  uint64_t Erase(const CacheKey& key, uint64_t hash) {
    BlockCache::Ref dropped;
    std::lock_guard lock(mutex_);
    Entry* entry = table_.Find(key, hash);
    if (entry == nullptr || entry->block.use_count() > 2) return 0;
    uint64_t charge = entry->charge;
    dropped = Drop(entry);
    return charge;
  }

  uint64_t EraseFile(uint64_t file) {
    std::vector<BlockCache::Ref> dropped;
    std::lock_guard lock(mutex_);
    uint64_t freed = 0;
    Entry* entry = hand_;
    for (size_t left = table_.count(); left > 0; --left) {
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
    for (size_t left = table_.count(); left > 0; --left) {
      if (entry->block.use_count() > 1 + entry->block->yieldable())
        out->pinned_bytes += entry->charge;
      entry = entry->after;
    }
  }

 private:
  void Link(Entry* entry) {
    table_.Insert(entry);
    if (hand_ == nullptr) {
      entry->before = entry->after = entry;
      hand_ = entry;
    } else {  // behind the hand: the last that it comes to
      entry->after = hand_;
      entry->before = hand_->before;
      entry->before->after = entry;
      hand_->before = entry;
    }
  }

  Entry* Unlink(Entry* entry) {
    table_.Remove(entry);
    if (hand_ == entry) hand_ = entry->after == entry ? nullptr : entry->after;
    entry->before->after = entry->after;
    entry->after->before = entry->before;
    return entry;
  }

  BlockCache::Ref Drop(Entry* entry) {
    BlockCache::Ref block = std::move(Unlink(entry)->block);
    delete entry;
    return block;
  }

  mutable std::mutex mutex_;
  EntryTable table_;
  Entry* hand_ = nullptr;
  uint64_t hits_ = 0;
  uint64_t misses_ = 0;
};

class ShardedCache final : public BlockCache {
 public:
  ShardedCache(uint64_t capacity_bytes, const MemoryCounter* borrowed)
      : capacity_(capacity_bytes), borrowed_(borrowed) {}

  uint64_t NewFileId() override { return next_file_.fetch_add(1, std::memory_order_relaxed); }

  Ref Lookup(const CacheKey& key) override {
    uint64_t hash = HashOf(key);
    return shards_[hash % kShardCount].Lookup(key, hash);
  }

  Ref Insert(const CacheKey& key, Segment segment, Ref block) override {
    uint64_t charge = block->charge() + sizeof(Entry) + kSlotCharge;
    if (charge > Capacity()) return block;
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
  void Trim() override { EvictToCapacity(); }

  Statistics statistics() const override {
    Statistics out;
    out.capacity_bytes = Capacity();
    out.used_bytes = used_.load(std::memory_order_relaxed);
    for (const Shard& shard : shards_) shard.AddTo(&out);
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
    constexpr size_t kStepsAtOnce = 8;
    size_t left = SIZE_MAX;  // steps after which all uses have run out, those told by Yield too
    for (size_t visits = 0;; ++visits) {
      uint64_t used = used_.load(std::memory_order_relaxed);
      uint64_t capacity = Capacity();
      if (used <= capacity) return true;
      if (visits == kShardCount) {
        left = 0;
        for (const Shard& shard : shards_)
          left += std::max<size_t>(shard.count(), 1) * 2 * (kUsesMax + 1);
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
