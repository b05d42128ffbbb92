#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace lava {

/// Which blocks of a shard were evicted not long ago: 32 bits each, of the key's hash and of when.
/// It forgets some of them, and may take one in millions of others for one of them.
/// Threads:    one thread.
/// Units:      time in any; the caller's clock does not jump back.
class Ghosts {
 public:
  static constexpr uint32_t kNever = UINT32_MAX;

  size_t slots() const { return slots_.size(); }
  /// Room for so many (a power of two, or none); what it knew is forgotten.
  void Resize(size_t slots) { std::vector<uint32_t>(slots, 0).swap(slots_); }

  void Add(uint64_t hash, uint32_t now) {
    if (slots_.empty()) return;
    uint32_t* at = Bucket(hash);
    // The older of the two makes room.
    if (at[0] != 0 && (at[1] == 0 || AgeOf(at[1], now) > AgeOf(at[0], now))) ++at;
    *at = TagOf(hash) | (now & kTimeMask);
  }
  /// How long ago it was evicted, or kNever; it is none of them any more.
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

  // Never 0, which is an empty slot. Of other bits than the bucket and the shard.
  static uint32_t TagOf(uint64_t hash) {
    return static_cast<uint32_t>(hash >> 32 | 0x8000'0000u) & ~kTimeMask;
  }
  static uint32_t AgeOf(uint32_t slot, uint32_t now) { return (now - slot) & kTimeMask; }
  uint32_t* Bucket(uint64_t hash) { return &slots_[hash >> 5 & (slots_.size() - 1) & ~size_t{1}]; }

  std::vector<uint32_t> slots_;
};

}  // namespace lava
