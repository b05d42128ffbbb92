// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

#include "base/hash.h"
#include "memory/memory_counter.h"
#include "memory/page_pool.h"
#include "memtable/entry.h"

namespace lava {

/// Finds a memtable's entries by key: linear probing over 8-byte slots {hash, entry}. The top bits
/// of its hash give a slot's home. Growing is therefore one sequential pass that touches no entry,
/// and erasing closes the gap instead of leaving a marker.
/// Threads:    const methods may run beside each other; a writer must be alone.
class HashIndex {
 public:
  explicit HashIndex(MemoryCounter* counter) : counter_(counter) {}
  ~HashIndex() { counter_->Release(charged_bytes()); }
  HashIndex(const HashIndex&) = delete;
  HashIndex& operator=(const HashIndex&) = delete;

  static uint32_t HashOf(Slice key, bool prefix_delete) {
    return HashOf(Hash64(key), prefix_delete);
  }
  /// key_hash: Hash64 of the key.
  static uint32_t HashOf(uint64_t key_hash, bool prefix_delete) {
    const uint32_t h = static_cast<uint32_t>(key_hash);
    return prefix_delete ? ~h : h;
  }

  /// kNull if there is no such entry.
  Arena::Ref Find(const Arena& arena, uint32_t hash, Slice key, bool prefix_delete) const {
    const Slot* slot = FindSlot(arena, hash, key, prefix_delete);
    return slot == nullptr ? Arena::kNull : slot->ref;
  }
  /// Allocates the memory that the next Insert() needs. Errors: std::bad_alloc; nothing has changed
  /// then.
  void ReserveOne() {
    if (count_ >= limit_) Grow();
  }
  /// The entry must not be in the index yet. Allocates nothing after ReserveOne().
  void Insert(uint32_t hash, Arena::Ref ref) {
    ReserveOne();
    PutSlot(slots_.get(), mask_, shift_, {hash, ref});
    ++count_;
  }
  /// Removes the entry, which must be in the index.
  void Erase(uint32_t hash, Arena::Ref ref);

  uint64_t charged_bytes() const {
    return slots_.get() == nullptr ? 0 : (mask_ + 1) * sizeof(Slot);
  }
  uint64_t count() const { return count_; }

 private:
  struct Slot {
    uint32_t hash;
    Arena::Ref ref;  // kNull: free
  };
  static void PutSlot(Slot* slots, uint64_t mask, uint32_t shift, Slot slot) {
    uint64_t i = slot.hash >> shift;
    while (slots[i].ref != Arena::kNull) i = (i + 1) & mask;
    slots[i] = slot;
  }
  const Slot* FindSlot(const Arena& arena, uint32_t hash, Slice key, bool prefix_delete) const {
    if (count_ == 0) return nullptr;
    for (uint64_t i = hash >> shift_;; i = (i + 1) & mask_) {
      const Slot& slot = slots_[i];
      if (slot.ref == Arena::kNull) return nullptr;
      if (slot.hash != hash) continue;
      const MemtableEntry* entry = EntryAt(arena, slot.ref);
      if (entry->is_prefix_delete() == prefix_delete && entry->key() == key) return &slot;
    }
  }
  void Grow();

  MemoryCounter* const counter_;
  PageArray<Slot> slots_;
  uint64_t mask_ = 0;
  uint32_t shift_ = 32;
  uint64_t count_ = 0;
  uint64_t limit_ = 0;
};

}  // namespace lava
