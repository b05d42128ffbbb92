#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "bench/cache/trace.h"

namespace lava::bench {

/// A cache as traces see it: blocks are their sizes.
/// Threads: one.
class CachePolicy {
 public:
  virtual ~CachePolicy() = default;
  /// Whether the block was there; it may be afterwards.
  virtual bool Access(const TraceEvent& event) = 0;
  virtual void Warm(const TraceEvent& event) = 0;
  virtual void Erase(uint32_t file) = 0;
};

/// lava: the engine's own, asked as readers ask it. rocksdb-lru, rocksdb-hyper-clock: RocksDB's.
/// lru, clock, sieve, s3, pool: candidates, one queue for both segments; index-first-...: two, data
/// goes first down to a sixteenth; border-...: two, with the engine's border between them.
std::unique_ptr<CachePolicy> MakePolicy(const std::string& name, uint64_t capacity_bytes,
                                        uint64_t block_bytes);
std::unique_ptr<CachePolicy> MakeCandidate(const std::string& name, uint64_t capacity_bytes);

}  // namespace lava::bench
