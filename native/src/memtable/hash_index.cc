// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "memtable/hash_index.h"

#include <cstdint>
#include <utility>

#include "base/check.h"
#include "memory/memory_counter.h"
#include "memory/page_pool.h"
#include "memtable/arena.h"

namespace lava {

void HashIndex::Grow() {
  const uint32_t shift = slots_.get() == nullptr ? 32 - 5 : shift_ - 1;
  LAVA_CHECK(shift > 0);  // 2^32 slots; the owner seals long before
  const uint64_t size = uint64_t{1} << (32 - shift);
  ScopedCharge charge(counter_, size * sizeof(Slot));
  PageArray<Slot> slots(size);
  charge.Keep();
  if (slots_.get() != nullptr) {
    for (uint64_t i = 0; i <= mask_; ++i)
      if (slots_[i].ref != Arena::kNull) PutSlot(slots.get(), size - 1, shift, slots_[i]);
    counter_->Release(charged_bytes());
  }
  slots_ = std::move(slots);
  mask_ = size - 1;
  shift_ = shift;
  limit_ = size / 4 * 3;
}

void HashIndex::Erase(uint32_t hash, Arena::Ref ref) {
  LAVA_DCHECK(count_ > 0);
  uint64_t hole = hash >> shift_;
  while (slots_[hole].ref != ref) hole = (hole + 1) & mask_;
  --count_;
  for (uint64_t i = (hole + 1) & mask_; slots_[i].ref != Arena::kNull; i = (i + 1) & mask_) {
    const uint64_t home = slots_[i].hash >> shift_;
    // A slot may move into the hole unless its home lies behind the hole.
    if (((i - home) & mask_) < ((i - hole) & mask_)) continue;
    slots_[hole] = slots_[i];
    hole = i;
  }
  slots_[hole].ref = Arena::kNull;
}

}  // namespace lava
