// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace lava {

/// Remembers recently evicted blocks of a shard, in 32 bits each: a part of the key's hash and the
/// time of eviction. Some blocks are forgotten, and about one in a million others is mistaken for a
/// remembered block.
/// Threads:    one thread.
/// Units:      any unit of time; the caller's clock never goes backwards. Ages are modulo 1024.
class Ghosts {
 public:
  static constexpr uint32_t kNever = UINT32_MAX;

  size_t slots() const { return slots_.size(); }
  /// Sets the number of slots (a power of two, or 0) and forgets all blocks.
  void Resize(size_t slots) { std::vector<uint32_t>(slots, 0).swap(slots_); }

  void Add(uint64_t hash, uint32_t now) {
    if (slots_.empty()) return;
    uint32_t* at = Bucket(hash);
    // Replaces the older of the bucket's two slots, unless one is empty.
    if (at[0] != 0 && (at[1] == 0 || AgeOf(at[1], now) > AgeOf(at[0], now))) ++at;
    *at = TagOf(hash) | (now & kTimeMask);
  }
  /// Forgets the block and returns the time since its eviction; kNever if it was not remembered.
  uint32_t Take(uint64_t hash, uint32_t now) {
    if (slots_.empty()) return kNever;
    uint32_t* at = Bucket(hash);
    if ((at[0] & ~kTimeMask) != TagOf(hash)) ++at;
    if ((*at & ~kTimeMask) != TagOf(hash)) return kNever;
    const uint32_t age = AgeOf(*at, now);
    *at = 0;
    return age;
  }

 private:
  static constexpr uint32_t kTimeMask = 0x3ff;

  // Never 0, which marks an empty slot. Uses other bits than the bucket and the shard.
  static uint32_t TagOf(uint64_t hash) {
    return static_cast<uint32_t>(hash >> 32 | 0x8000'0000u) & ~kTimeMask;
  }
  static uint32_t AgeOf(uint32_t slot, uint32_t now) { return (now - slot) & kTimeMask; }
  uint32_t* Bucket(uint64_t hash) { return &slots_[hash >> 5 & (slots_.size() - 1) & ~size_t{1}]; }

  std::vector<uint32_t> slots_;
};

}  // namespace lava
