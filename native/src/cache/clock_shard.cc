#include "cache/clock_shard.h"

#include <algorithm>
#include <utility>

namespace lava {

uint32_t ClockRing::Add(Entry entry, uint8_t uses) {
  if (free_.empty()) {
    const uint32_t begin = end();
    pages_.push_back(std::make_unique<Page>());
    for (uint32_t i = kPageEntries; i > 0; --i) free_.push_back(begin + i - 1);
  }
  const uint32_t i = free_.back();
  free_.pop_back();
  at(i) = std::move(entry);
  uses_of(i) = uses;
  ++count_;
  return i;
}

BlockCache::Ref ClockRing::Remove(uint32_t i) {
  BlockCache::Ref block = std::move(at(i).block);
  uses_of(i) = kFree;
  free_.push_back(i);
  if (--count_ == 0) {
    std::vector<std::unique_ptr<Page>>().swap(pages_);
    std::vector<uint32_t>().swap(free_);
    hand_ = 0;
  }
  return block;
}

bool ClockRing::Advance(uint32_t* i) {
  for (;;) {
    if (hand_ >= end()) hand_ = 0;
    uint8_t& uses = uses_of(hand_);
    *i = hand_++;
    if (uses == kFree) continue;
    if (uses == 0) return true;
    --uses;
    return false;
  }
}

template <typename Matches>
uint32_t ClockShard::Table::Find(uint64_t hash, Matches matches) const {
  if (slots_.empty()) return kNone;
  const uint64_t tag = TagOf(hash);
  for (size_t i = HomeOf(tag); slots_[i] != 0; i = After(i)) {
    if (slots_[i] >> 32 != tag) continue;
    const uint32_t index = static_cast<uint32_t>(slots_[i]) - 1;
    if (matches(index)) return index;
  }
  return kNone;
}

void ClockShard::Table::Place(uint64_t slot) {
  size_t i = HomeOf(slot >> 32);
  while (slots_[i] != 0) i = After(i);
  slots_[i] = slot;
}

void ClockShard::Table::Insert(uint64_t hash, uint32_t index) {
  if (2 * (count_ + 1) > slots_.size()) {
    std::vector<uint64_t> old(slots_.empty() ? kSlotsMin : slots_.size() * 2, 0);
    old.swap(slots_);
    for (const uint64_t slot : old)
      if (slot != 0) Place(slot);
  }
  Place(TagOf(hash) << 32 | (index + 1));
  ++count_;
}

void ClockShard::Table::Remove(uint64_t hash, uint32_t index) {
  if (--count_ == 0) {
    std::vector<uint64_t>().swap(slots_);
    return;
  }
  const uint64_t tag = TagOf(hash);
  const uint64_t slot = tag << 32 | (index + 1);
  size_t hole = HomeOf(tag);
  while (slots_[hole] != slot) hole = After(hole);
  // What stands behind the hole moves up, unless that would put it before its home.
  const size_t mask = slots_.size() - 1;
  for (size_t i = After(hole); slots_[i] != 0; i = After(i)) {
    if (((i - HomeOf(slots_[i] >> 32)) & mask) < ((i - hole) & mask)) continue;
    slots_[hole] = slots_[i];
    hole = i;
  }
  slots_[hole] = 0;
}

uint64_t ClockShard::HashOf(const CacheKey& key) {
  uint64_t h = key.file * 0x9e3779b97f4a7c15ull ^ key.offset;
  h *= 0xd6e8feb86659fd93ull;
  return h ^ (h >> 32);
}

uint32_t ClockShard::Find(const CacheKey& key, uint64_t hash) const {
  return table_.Find(hash, [&](uint32_t i) {
    const CacheKey& other = ring_.at(i).key;
    return other.offset == key.offset && other.file == key.file;
  });
}

BlockCache::Ref ClockShard::Drop(uint32_t i, uint64_t hash) {
  table_.Remove(hash, i);
  return ring_.Remove(i);
}

BlockCache::Ref ClockShard::Lookup(const CacheKey& key, uint64_t hash) {
  std::lock_guard lock(mutex_);
  const uint32_t i = Find(key, hash);
  if (i == Table::kNone) {
    ++misses_;
    return nullptr;
  }
  ++hits_;
  ring_.CountUse(i);
  return ring_.at(i).block;
}

BlockCache::Ref ClockShard::Insert(const CacheKey& key, uint64_t hash, uint8_t uses,
                                   BlockCache::Ref block, bool* added) {
  std::lock_guard lock(mutex_);
  *added = false;
  if (const uint32_t old = Find(key, hash); old != Table::kNone) return ring_.at(old).block;
  table_.Insert(hash, ring_.Add({key, block}, uses));
  *added = true;
  return block;
}

uint64_t ClockShard::Evict(uint64_t bytes, size_t* steps) {
  std::array<BlockCache::Ref, kStepsMax> dropped;  // destroyed outside the lock
  std::lock_guard lock(mutex_);
  uint64_t freed = 0;
  size_t made = 0;
  for (size_t left = std::min(ring_.count(), kStepsMax); freed < bytes && left > 0; --left) {
    uint32_t i;
    ++made;
    if (!ring_.Advance(&i)) continue;
    const ClockRing::Entry& entry = ring_.at(i);
    if (entry.block->yieldable() > 0 && !entry.block->Yield()) {
      ring_.SetUses(i, ClockRing::kUsesMax);  // as if its uses had come through Lookup
    } else if (entry.block.use_count() == 1) {
      freed += ChargeOf(*entry.block);
      dropped[made - 1] = Drop(i, HashOf(entry.key));
    }
  }
  *steps = made;
  return freed;
}

uint64_t ClockShard::Erase(const CacheKey& key, uint64_t hash) {
  BlockCache::Ref dropped;
  std::lock_guard lock(mutex_);
  const uint32_t i = Find(key, hash);
  if (i == Table::kNone || ring_.at(i).block.use_count() > 2) return 0;
  dropped = Drop(i, hash);
  return ChargeOf(*dropped);
}

uint64_t ClockShard::EraseFile(uint64_t file) {
  std::vector<BlockCache::Ref> dropped;
  std::lock_guard lock(mutex_);
  uint64_t freed = 0;
  for (uint32_t i = 0; i < ring_.end(); ++i) {
    if (!ring_.used(i) || ring_.at(i).key.file != file) continue;
    freed += ChargeOf(*ring_.at(i).block);
    dropped.push_back(Drop(i, HashOf(ring_.at(i).key)));
  }
  return freed;
}

size_t ClockShard::count() const {
  std::lock_guard lock(mutex_);
  return ring_.count();
}

void ClockShard::AddTo(BlockCache::Statistics* out) const {
  std::lock_guard lock(mutex_);
  out->hits += hits_;
  out->misses += misses_;
  for (uint32_t i = 0; i < ring_.end(); ++i) {
    if (!ring_.used(i)) continue;
    const BlockCache::Ref& block = ring_.at(i).block;
    if (block.use_count() > 1 + block->yieldable()) out->pinned_bytes += ChargeOf(*block);
  }
}

}  // namespace lava
