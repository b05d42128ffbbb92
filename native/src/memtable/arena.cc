// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "memtable/arena.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <vector>

#include "base/check.h"
#include "memory/memory_counter.h"
#include "memory/page_pool.h"

namespace lava {

Arena::~Arena() {
  for (const Chunk& chunk : chunks_)
    if (chunk.base != nullptr) PagePool::Process().Free(chunk.base, chunk.bytes);
  counter_->Release(charged_bytes_);
}

uint8_t Arena::ClassOf(size_t bytes) {
  LAVA_DCHECK(bytes <= kSlotBytesMax);
  if (bytes <= 128) return static_cast<uint8_t>(bytes == 0 ? 0 : (bytes - 1) / 8);
  const size_t shift = std::bit_width(bytes - 1) - 1;  // 2^shift < bytes <= 2^(shift + 1)
  const size_t base = size_t{1} << shift;
  const size_t quarter = (bytes - base + base / 4 - 1) / (base / 4);
  return static_cast<uint8_t>(16 + (shift - 7) * 4 + quarter - 1);
}

namespace {

// Reserves memory for `count` elements in all, so that pushing them allocates nothing.
template <typename T>
void ReserveFor(size_t count, std::vector<T>* in) {
  if (in->capacity() < count) in->reserve(std::max(count, 2 * in->capacity()));
}

}  // namespace

// All memory is allocated before anything changes. Free() allocates none.
uint32_t Arena::NewChunk(size_t bytes) {
  if (free_chunks_.empty()) {
    ReserveFor(chunks_.size() + 1, &chunks_);
    ReserveFor(chunks_.size() + 1, &bases_);
    ReserveFor(chunks_.size() + 1, &free_chunks_);
  }
  const uint64_t taken = PagePool::RoundUp(bytes);
  ScopedCharge charge(counter_, taken);
  char* const memory = PagePool::Process().Allocate(bytes);
  charge.Keep();
  charged_bytes_ += taken;
  uint32_t index;
  if (!free_chunks_.empty()) {
    index = free_chunks_.back();
    free_chunks_.pop_back();
  } else {
    index = static_cast<uint32_t>(chunks_.size());
    // 32 GiB of slots in one memtable: the owner seals long before.
    LAVA_CHECK(index < (1u << (32 - kOffsetBits)));
    chunks_.emplace_back();
    bases_.push_back(nullptr);
  }
  chunks_[index] = {memory, bytes};
  bases_[index] = memory;
  return index;
}

Arena::Ref Arena::Allocate(size_t bytes, uint8_t* slot_class) {
  const bool first = chunks_.empty();
  if (bytes > kSlotBytesMax) {
    *slot_class = kOwnChunk;
    // Reference 0 is null, so the first chunk is always a shared one.
    if (first) {
      current_ = NewChunk(kChunkBytesMin);
      used_ = 8;
    }
    return NewChunk(bytes) << kOffsetBits;
  }
  *slot_class = ClassOf(bytes);
  if (Ref ref = free_[*slot_class]; ref != kNull) {
    std::memcpy(&free_[*slot_class], At(ref), sizeof(Ref));
    return ref;
  }
  const size_t slot_bytes = kClassBytes[*slot_class];
  if (first || chunks_[current_].bytes - used_ < slot_bytes) {
    // Larger chunks cause fewer page faults, but the largest add at most half of what is there.
    const size_t most = charged_bytes_ < 2 * kChunkBytesMax ? kChunkBytesMax / 2 : kChunkBytesMax;
    const size_t next = std::clamp<size_t>(charged_bytes_, kChunkBytesMin, most);
    current_ = NewChunk(std::max(std::bit_floor(next), std::bit_ceil(slot_bytes + 8)));
    used_ = first ? 8 : 0;
  }
  const Ref ref = (current_ << kOffsetBits) | static_cast<Ref>(used_ >> 3);
  used_ += slot_bytes;
  LAVA_DCHECK(used_ <= chunks_[current_].bytes);
  return ref;
}

void Arena::Free(Ref ref, uint8_t slot_class) {
  LAVA_DCHECK(ref != kNull);
  if (slot_class != kOwnChunk) {
    std::memcpy(At(ref), &free_[slot_class], sizeof(Ref));
    free_[slot_class] = ref;
    return;
  }
  const uint32_t index = ref >> kOffsetBits;
  Chunk& chunk = chunks_[index];
  LAVA_DCHECK(chunk.base != nullptr);
  PagePool::Process().Free(chunk.base, chunk.bytes);
  const uint64_t taken = PagePool::RoundUp(chunk.bytes);
  counter_->Release(taken);
  charged_bytes_ -= taken;
  chunk = {};
  bases_[index] = nullptr;
  free_chunks_.push_back(index);
}

}  // namespace lava
