// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "bench/cache/policies.h"

#include <cstring>
#include <unordered_map>

#include "rocksdb/cache.h"

namespace lava::bench {
namespace {

/// Blocks that a reader keeps outside the cache, as in table/index_partition_slots.h.
class Readers {
 public:
  struct Block;
  struct Slot {
    bool asked = false;
    std::shared_ptr<const Block> block;
  };
  struct Block final : CachedBlock {
    size_t charge() const override { return bytes; }
    bool Yield() const override {
      if (keeper == nullptr || std::exchange(keeper->asked, false)) return false;
      Slot* slot = std::exchange(keeper, nullptr);
      std::exchange(slot->block, nullptr).reset();
      return true;
    }
    long yieldable() const override { return keeper == nullptr ? 0 : 1; }
    size_t bytes = 0;
    mutable Slot* keeper = nullptr;
  };
  std::unordered_map<uint64_t, std::unordered_map<uint64_t, Slot>> files;
};

class LavaPolicy final : public CachePolicy {
 public:
  explicit LavaPolicy(uint64_t capacity_bytes) : cache_(BlockCache::Create(capacity_bytes)) {}
  ~LavaPolicy() override {
    for (auto& [file, slots] : readers_.files) cache_->EraseFile(file);
  }
  bool Access(const TraceEvent& event) override {
    const CacheKey key{event.file, event.offset};
    const bool index = event.segment == BlockCache::Segment::kIndex;
    Readers::Slot* slot = index ? &readers_.files[key.file][key.offset] : nullptr;
    if (slot != nullptr && slot->block != nullptr) return slot->asked = true;
    if (BlockCache::Ref found = cache_->Lookup(key, event.segment); found != nullptr) {
      if (slot != nullptr) {
        slot->block = std::static_pointer_cast<const Readers::Block>(found);
        slot->asked = true;
        slot->block->keeper = slot;
      }
      return true;
    }
    Warm(event);
    return false;
  }
  void Warm(const TraceEvent& event) override {
    auto block = std::make_shared<Readers::Block>();
    block->bytes = event.bytes;
    (void)cache_->Insert({event.file, event.offset}, event.segment, std::move(block));
  }
  void Erase(uint32_t file) override {
    cache_->EraseFile(file);
    readers_.files.erase(file);
  }

 private:
  Readers readers_;
  std::unique_ptr<BlockCache> cache_;
};

class RocksPolicy final : public CachePolicy {
 public:
  explicit RocksPolicy(std::shared_ptr<rocksdb::Cache> cache) : cache_(std::move(cache)) {}
  bool Access(const TraceEvent& event) override {
    Key key(event);
    if (rocksdb::Cache::Handle* handle = cache_->Lookup(key.slice()); handle != nullptr) {
      cache_->Release(handle);
      return true;
    }
    Insert(key, event);
    return false;
  }
  void Warm(const TraceEvent& event) override {
    Key key(event);
    if (rocksdb::Cache::Handle* handle = cache_->Lookup(key.slice()); handle != nullptr)
      cache_->Release(handle);
    else
      Insert(key, event);
  }
  void Erase(uint32_t) override {}  // RocksDB's readers leave blocks of dropped files to eviction

 private:
  struct Key {
    explicit Key(const TraceEvent& event) {
      // As random in every byte as RocksDB's own keys.
      const uint64_t a = (uint64_t{event.file} + 1) * 0x9e3779b97f4a7c15ull;
      std::memcpy(bytes, &a, 8);
      std::memcpy(bytes + 8, &event.offset, 8);
    }
    rocksdb::Slice slice() const { return {bytes, sizeof(bytes)}; }
    char bytes[16];
  };
  void Insert(const Key& key, const TraceEvent& event) {
    static int dummy;
    (void)cache_->Insert(
        key.slice(), &dummy, event.bytes, [](const rocksdb::Slice&, void*) {}, nullptr,
        event.segment == BlockCache::Segment::kIndex ? rocksdb::Cache::Priority::HIGH
                                                     : rocksdb::Cache::Priority::LOW);
  }
  std::shared_ptr<rocksdb::Cache> cache_;
};

}  // namespace

std::unique_ptr<CachePolicy> MakePolicy(const std::string& name, uint64_t capacity_bytes,
                                        uint64_t block_bytes) {
  if (name == "lava") return std::make_unique<LavaPolicy>(capacity_bytes);
  if (name == "rocksdb-lru")
    return std::make_unique<RocksPolicy>(rocksdb::NewLRUCache(capacity_bytes));
  if (name == "rocksdb-hyper-clock")
    return std::make_unique<RocksPolicy>(
        rocksdb::HyperClockCacheOptions(capacity_bytes, block_bytes).MakeSharedCache());
  return MakeCandidate(name, capacity_bytes);
}

}  // namespace lava::bench
