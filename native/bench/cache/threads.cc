// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "bench/cache/threads.h"

#include <atomic>
#include <chrono>
#include <cstdio>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "rocksdb/cache.h"
#include "testing/random.h"

namespace lava::bench {
namespace {

constexpr uint64_t kBlocks = 10'000;

struct Block final : CachedBlock {
  size_t charge() const override { return 4096; }
};

struct RocksKey {
  explicit RocksKey(uint64_t n) : a(n * 0x9e3779b97f4a7c15ull), b(n) {}
  rocksdb::Slice slice() const { return {reinterpret_cast<const char*>(this), sizeof(*this)}; }
  uint64_t a, b;
};

std::function<bool(uint64_t)> LavaLookups() {
  std::shared_ptr<BlockCache> cache = BlockCache::Create(1 << 30);
  for (uint64_t n = 0; n < kBlocks; ++n)
    (void)cache->Insert({n % 100, n}, BlockCache::Segment::kData, std::make_shared<Block>());
  return [cache](uint64_t n) {
    return cache->Lookup({n % 100, n}, BlockCache::Segment::kData) != nullptr;
  };
}

std::function<bool(uint64_t)> RocksLookups(std::shared_ptr<rocksdb::Cache> cache) {
  static int value;
  for (uint64_t n = 0; n < kBlocks; ++n)
    (void)cache->Insert(RocksKey(n).slice(), &value, 4096, [](const rocksdb::Slice&, void*) {});
  return [cache](uint64_t n) {
    rocksdb::Cache::Handle* found = cache->Lookup(RocksKey(n).slice());
    if (found != nullptr) cache->Release(found);
    return found != nullptr;
  };
}

}  // namespace

double LookupsPerSecond(const std::string& policy, uint32_t threads, double seconds) {
  const auto lookup =
      policy == "lava" ? LavaLookups()
      : policy == "rocksdb-lru"
          ? RocksLookups(rocksdb::NewLRUCache(1 << 30))
          : RocksLookups(rocksdb::HyperClockCacheOptions(1 << 30, 4096).MakeSharedCache());
  std::atomic<bool> stop{false};
  std::atomic<uint64_t> done{0};
  std::vector<std::thread> workers;
  for (uint32_t t = 0; t < threads; ++t) {
    workers.emplace_back([&, t] {
      testing::Random random(t + 1);
      uint64_t found = 0;
      // Nine out of ten lookups go to the hot tenth.
      while (!stop.load(std::memory_order_relaxed))
        found += lookup(random.Uniform(random.OneIn(10) ? kBlocks : kBlocks / 10));
      done += found;
    });
  }
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  stop = true;
  for (std::thread& worker : workers) worker.join();
  return static_cast<double>(done) / seconds;
}

double EraseMicroseconds(uint64_t files, uint64_t blocks) {
  const std::unique_ptr<BlockCache> cache = BlockCache::Create(uint64_t{1} << 40);
  std::vector<uint64_t> ids;
  for (uint64_t f = 0; f < files; ++f) ids.push_back(cache->NewFileId());
  for (uint64_t n = 0; n < blocks; ++n)
    (void)cache->Insert({ids[n % files], n}, BlockCache::Segment::kData, std::make_shared<Block>());
  const auto began = std::chrono::steady_clock::now();
  for (const uint64_t id : ids) cache->EraseFile(id);
  const std::chrono::duration<double, std::micro> time = std::chrono::steady_clock::now() - began;
  return time.count() / static_cast<double>(files);
}

}  // namespace lava::bench
