#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <string>

#include "cache/block_cache.h"
#include "table/bloom.h"
#include "table/data_block.h"
#include "table/index_block.h"

namespace lava::ksst {

/// What of a file stands in the cache: data blocks, and partitions (the index and the filter of a
/// run of data blocks, one block on disk: u32 index bytes, u8 probes, index, filter).

/// Appends the payload of a partition; forgets what index holds.
void EncodePartition(IndexBlockBuilder* index, std::span<const uint64_t> hashes,
                     uint32_t bits_per_key, uint8_t probes, std::string* out);

struct CachedDataBlock final : CachedBlock {
  size_t charge() const override { return bytes; }
  DataBlock block;
  size_t bytes = 0;
};

class PartitionSlot;

struct CachedPartition final : CachedBlock {
  size_t charge() const override { return bytes; }
  bool Yield() const override;
  long yieldable() const override {
    return keeper.load(std::memory_order_relaxed) == nullptr ? 0 : 1;
  }
  IndexBlock index;
  BloomView filter;
  size_t bytes = 0;
  mutable std::atomic<PartitionSlot*> keeper{nullptr};  // the slot that holds a reference
};

/// Reads the payload of a partition whose extent is [base, end) into one piece of memory.
/// Null on success, or what is wrong.
const char* LoadPartition(Slice raw, uint64_t base, uint64_t end,
                          std::shared_ptr<CachedPartition>* out);

/// Gives an object, its reference counts and the bytes behind it one allocation, on a cache line.
template <typename T>
struct TrailingAllocator {
  using value_type = T;
  static constexpr std::align_val_t kAlignment{64};
  size_t trailing_bytes;
  char** trailing;

  TrailingAllocator(size_t bytes, char** out) : trailing_bytes(bytes), trailing(out) {}
  template <typename U>
  TrailingAllocator(const TrailingAllocator<U>& other)  // NOLINT: rebinding
      : trailing_bytes(other.trailing_bytes), trailing(other.trailing) {}

  T* allocate(size_t count) {
    size_t head = (count * sizeof(T) + 63) / 64 * 64;
    char* memory = static_cast<char*>(::operator new(head + trailing_bytes, kAlignment));
    *trailing = memory + head;
    return reinterpret_cast<T*>(memory);
  }
  void deallocate(T* memory, size_t) { ::operator delete(memory, kAlignment); }
  template <typename U>
  bool operator==(const TrailingAllocator<U>&) const {
    return true;
  }
};

/// A T with trailing_bytes of memory behind it, aligned to 64.
template <typename T>
std::shared_ptr<T> MakeTrailing(size_t trailing_bytes, char** trailing) {
  auto object = std::allocate_shared<T>(TrailingAllocator<T>(trailing_bytes, trailing));
  object->bytes = sizeof(T) + 64 + trailing_bytes;
  return object;
}

}  // namespace lava::ksst
