// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "cache/block_cache.h"
#include "memory/large_memory.h"
#include "table/bloom.h"
#include "table/data_block.h"
#include "table/index_block.h"
#include "table/key_heads.h"

namespace lava::ksst {

/// The cached parts of a file: data blocks and index partitions. An index partition is one block on
/// disk for a range of keys: the index of its data blocks, the decoupled records, and the filter.

/// Builds index partition blocks, one after the other.
/// Threads:    one thread.
class IndexPartitionBuilder {
 public:
  explicit IndexPartitionBuilder(uint32_t bits_per_key)
      : bits_per_key_(bits_per_key), probes_(BloomProbes(bits_per_key)) {}

  IndexBlockBuilder index;
  DataBlockBuilder decoupled;    // from version 3 on: records beside the index
  std::vector<uint64_t> hashes;  // to be added to the filter

  bool empty() const { return index.empty() && decoupled.empty(); }
  size_t estimated_bytes() const {
    return index.estimated_bytes() + (decoupled.empty() ? 0 : decoupled.estimated_bytes()) +
           hashes.size() * bits_per_key_ / 8;
  }
  /// Appends the payload, and clears the builder.
  void Finish(std::string* out);

 private:
  const uint32_t bits_per_key_;
  const uint8_t probes_;
};

struct CachedDataBlock final : CachedBlock {
  size_t charge() const override { return bytes; }
  DataBlock block;
  size_t bytes = 0;
};

class IndexPartitionSlot;

/// The decoupled records of an index partition. There are many, so their restart groups have an
/// index.
/// Threads:    any thread; const.
/// Ownership:  borrows the memory.
class DecoupledRecords {
 public:
  /// Bytes of memory (aligned to 8) that Load() needs, slack included; 0 if they are malformed.
  static size_t MemoryBytes(Slice encoded);
  /// Returns null, or an error message.
  const char* Load(Slice encoded, char* memory);

  /// Has no records until Load().
  const DataBlock& block() const { return block_; }
  /// hash: DecoupledHash() of the key's hash.
  bool Find(Slice key, uint64_t hash, bool prefix_delete, DataBlockEntry* entry) const;

 private:
  DataBlock block_;
  KeyHeads groups_;  // first keys of the groups
};

struct CachedIndexPartition final : CachedBlock {
  size_t charge() const override { return bytes; }
  bool Yield() const override;
  long yieldable() const override {
    return keeper.load(std::memory_order_relaxed) == nullptr ? 0 : 1;
  }
  IndexBlock index;
  BloomView filter;
  size_t bytes = 0;
  DecoupledRecords decoupled;
  mutable std::atomic<IndexPartitionSlot*> keeper{nullptr};  // the slot that holds a reference
};

/// Loads the payload of an index partition into one piece of memory. [base, end): place of its data
/// blocks. version: of the file's format. Returns null, or an error message.
const char* LoadIndexPartition(Slice raw, uint32_t version, uint64_t base, uint64_t end,
                               std::shared_ptr<CachedIndexPartition>* out);

/// Puts an object, its reference counts and the bytes behind it into one allocation, aligned to a
/// cache line. The alignment is done here because the system's aligned allocation leaves small free
/// pieces, which took a twentieth of the time of reads that miss the cache.
template <typename T>
struct TrailingAllocator {
  using value_type = T;
  static constexpr size_t kAlignment = 64;
  size_t trailing_bytes;
  char** trailing;

  TrailingAllocator(size_t bytes, char** out) : trailing_bytes(bytes), trailing(out) {}
  template <typename U>
  TrailingAllocator(const TrailingAllocator<U>& other)  // NOLINT: rebinding
      : trailing_bytes(other.trailing_bytes), trailing(other.trailing) {}

  T* allocate(size_t count) {
    const size_t head = (count * sizeof(T) + kAlignment - 1) / kAlignment * kAlignment;
    void* allocated = ::operator new(head + trailing_bytes + kAlignment);
    // The allocation is aligned to 16 bytes, so at least 16 bytes lie before memory.
    char* memory = reinterpret_cast<char*>((reinterpret_cast<uintptr_t>(allocated) + kAlignment) /
                                           kAlignment * kAlignment);
    std::memcpy(memory - sizeof(void*), &allocated, sizeof(void*));
    *trailing = memory + head;
    return reinterpret_cast<T*>(memory);
  }
  void deallocate(T* memory, size_t) {
    void* allocated;
    std::memcpy(&allocated, reinterpret_cast<char*>(memory) - sizeof(void*), sizeof(void*));
    ::operator delete(allocated);
  }
  template <typename U>
  bool operator==(const TrailingAllocator<U>&) const {
    return true;
  }
};

/// A T with trailing_bytes of memory behind it, aligned to 64.
template <typename T>
std::shared_ptr<T> MakeTrailing(size_t trailing_bytes, char** trailing) {
  auto object = std::allocate_shared<T>(TrailingAllocator<T>(trailing_bytes, trailing));
  object->bytes = AllocatedBytes(sizeof(T) + 2 * TrailingAllocator<T>::kAlignment + trailing_bytes);
  return object;
}

}  // namespace lava::ksst
