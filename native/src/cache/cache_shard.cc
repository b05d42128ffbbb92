// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "cache/cache_shard.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/guarded.h"
#include "base/mutex.h"
#include "cache/block_cache.h"
#include "cache/block_queue.h"

namespace lava {

template <typename Matches>
uint32_t CacheShard::Table::Find(uint64_t hash, Matches matches) const {
  if (slots_.empty()) return kNone;
  const uint64_t tag = TagOf(hash);
  for (size_t i = HomeOf(tag); slots_[i] != 0; i = After(i)) {
    if (slots_[i] >> 32 != tag) continue;
    const uint32_t id = static_cast<uint32_t>(slots_[i]) - 1;
    if (matches(id)) return id;
  }
  return kNone;
}

void CacheShard::Table::PutSlot(uint64_t slot) {
  size_t i = HomeOf(slot >> 32);
  while (slots_[i] != 0) i = After(i);
  slots_[i] = slot;
}

void CacheShard::Table::ReserveOne() {
  if (2 * (count_ + 1) <= slots_.size()) return;
  std::vector<uint64_t> old(slots_.size() + slots_.size() / 4 + kSlotsMin, 0);
  old.swap(slots_);
  for (const uint64_t slot : old)
    if (slot != 0) PutSlot(slot);
}

void CacheShard::Table::Insert(uint64_t hash, uint32_t id) {
  ReserveOne();
  PutSlot(TagOf(hash) << 32 | (id + 1));
  ++count_;
}

void CacheShard::Table::Remove(uint64_t hash, uint32_t id) {
  if (--count_ == 0) {
    std::vector<uint64_t>().swap(slots_);
    return;
  }
  const uint64_t tag = TagOf(hash);
  const uint64_t slot = tag << 32 | (id + 1);
  size_t hole = HomeOf(tag);
  while (slots_[hole] != slot) hole = After(hole);
  // Slots behind the hole move up, unless a slot would then be in front of its home.
  for (size_t i = After(hole); slots_[i] != 0; i = After(i)) {
    if (Distance(i, HomeOf(slots_[i] >> 32)) < Distance(i, hole)) continue;
    slots_[hole] = slots_[i];
    hole = i;
  }
  slots_[hole] = 0;
}

uint64_t CacheShard::HashOf(const CacheKey& key) {
  uint64_t h = key.file * 0x9e3779b97f4a7c15ull ^ key.offset;
  h *= 0xd6e8feb86659fd93ull;
  return h ^ (h >> 32);
}

uint32_t CacheShard::Find(const Key& key) const {
  const BlockQueue& queue = parts_[Number(key.segment)].queue;
  const uint32_t id = table_.Find(key.hash, [&](uint32_t found) {
    if ((found & 1) != Number(key.segment)) return false;
    const CacheKey& other = queue.at(found >> 1).key;
    return other.offset == key.key.offset && other.file == key.key.file;
  });
  return id == Table::kNone ? BlockQueue::kNone : id >> 1;
}

BlockCache::Ref CacheShard::Drop(size_t part, uint32_t i, uint64_t hash) {
  BlockQueue& queue = parts_[part].queue;
  if (CacheUse* use = queue.use_of(i); use != nullptr)
    use->used_bytes.fetch_sub(queue.bytes_of(i), std::memory_order_relaxed);
  table_.Remove(hash, IdOf(part, i));
  return queue.Remove(i);
}

void CacheShard::FitGhosts() {
  const size_t slots = std::bit_floor(table_.slots() / 2);
  if (ghosts_.slots() == slots) return;
  // Without memory for the new size the ghosts stay as they are.
  (void)Tried([&] {
    mutex_.AssertHeld();
    ghosts_.Resize(slots);
  });
}

BlockCache::Ref CacheShard::Lookup(const Key& key, CacheUse* use) {
  MutexLock lock(&mutex_);
  Part& part = parts_[Number(key.segment)];
  const uint32_t i = Find(key);
  if (i == BlockQueue::kNone) {
    ++part.misses;
    if (use != nullptr) use->misses.fetch_add(1, std::memory_order_relaxed);
    return nullptr;
  }
  ++part.hits;
  if (use != nullptr) use->hits.fetch_add(1, std::memory_order_relaxed);
  part.queue.CountUse(i);
  return part.queue.at(i).block;
}

BlockCache::Ref CacheShard::Peek(const Key& key) const {
  MutexLock lock(&mutex_);
  const uint32_t i = Find(key);
  return i == BlockQueue::kNone ? nullptr : parts_[Number(key.segment)].queue.at(i).block;
}

CacheShard::Inserted CacheShard::Insert(const Key& key, BlockCache::Ref block, uint64_t charge,
                                        CacheUse* use, uint32_t now, uint32_t known_age) {
  const size_t part = Number(key.segment);
  Inserted out;
  MutexLock lock(&mutex_);
  if (const uint32_t old = Find(key); old != BlockQueue::kNone) {
    out.block = parts_[part].queue.at(old).block;
    return out;
  }
  const bool reserved = Tried([&] {
    mutex_.AssertHeld();
    parts_[part].queue.ReserveOne();
    table_.ReserveOne();
  });
  if (!reserved) {
    out.block = std::move(block);
    return out;
  }
  out.ghost_age = ghosts_.Take(key.hash, now);
  out.added = true;
  out.block = block;
  const bool known = out.ghost_age <= known_age;
  const uint32_t i = parts_[part].queue.Add({key.key, std::move(block)},
                                            static_cast<uint32_t>(charge), use, known);
  table_.Insert(key.hash, IdOf(part, i));
  if (use != nullptr) use->used_bytes.fetch_add(charge, std::memory_order_relaxed);
  FitGhosts();
  return out;
}

uint64_t CacheShard::Evict(Segment segment, uint64_t bytes, uint32_t now, size_t* steps) {
  std::array<BlockCache::Ref, kStepsMax> dropped;  // destroyed outside the lock
  const size_t number = Number(segment);
  MutexLock lock(&mutex_);
  BlockQueue& queue = parts_[number].queue;
  uint64_t freed = 0;
  size_t made = 0;
  for (size_t left = std::min(queue.count(), kStepsMax); freed < bytes && left > 0; --left) {
    uint32_t i;
    ++made;
    if (!queue.Advance(&i)) continue;
    const BlockQueue::Entry& entry = queue.at(i);
    if (entry.block->yieldable() > 0 && !entry.block->Yield()) {
      queue.CountUses(i);  // its holder used the block without Lookup()
    } else if (entry.block.use_count() == 1) {
      freed += queue.bytes_of(i);
      const uint64_t hash = HashOf(entry.key);
      ghosts_.Add(hash, now);
      ++parts_[number].evictions;
      dropped[made - 1] = Drop(number, i, hash);
    } else {
      queue.CountUse(i);
    }
  }
  FitGhosts();
  *steps = made;
  return freed;
}

uint64_t CacheShard::Erase(const Key& key) {
  BlockCache::Ref dropped;  // destroyed outside the lock
  const size_t part = Number(key.segment);
  MutexLock lock(&mutex_);
  const uint32_t i = Find(key);
  if (i == BlockQueue::kNone) return 0;
  const uint64_t freed = parts_[part].queue.bytes_of(i);
  dropped = Drop(part, i, key.hash);
  FitGhosts();
  return freed;
}

std::array<uint64_t, 2> CacheShard::EraseFile(uint64_t file) {
  std::vector<BlockCache::Ref> dropped;
  std::array<uint64_t, 2> freed{};
  MutexLock lock(&mutex_);
  for (size_t number = 0; number < parts_.size(); ++number) {
    const BlockQueue& queue = parts_[number].queue;
    for (uint32_t i; (i = queue.FindOf(file)) != BlockQueue::kNone;) {
      freed[number] += queue.bytes_of(i);
      BlockCache::Ref block = Drop(number, i, HashOf(queue.at(i).key));
      // Without memory for the vector the block is freed here, under the lock.
      (void)Tried([&] { dropped.push_back(std::move(block)); });
    }
  }
  FitGhosts();
  return freed;
}

size_t CacheShard::count(Segment segment) const {
  MutexLock lock(&mutex_);
  return parts_[Number(segment)].queue.count();
}

void CacheShard::AddTo(BlockCache::Statistics* out) const {
  MutexLock lock(&mutex_);
  for (size_t number = 0; number < parts_.size(); ++number) {
    const Part& part = parts_[number];
    BlockCache::SegmentStatistics& to = number == 0 ? out->index : out->data;
    to.used_bytes += part.queue.bytes();
    to.hits += part.hits;
    to.misses += part.misses;
    to.evictions += part.evictions;
    part.queue.ForEach([&](const BlockQueue::Entry& entry, uint64_t bytes) {
      if (entry.block.use_count() > 1 + entry.block->yieldable()) out->pinned_bytes += bytes;
    });
  }
}

}  // namespace lava
