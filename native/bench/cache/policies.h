#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

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

/// lava: the engine's own, asked as readers ask it. lru, hyper-clock: RocksDB's.
/// clock, sieve, s3: candidates, one queue for both segments; index-first-*: data goes first down
/// to a sixteenth; border-*: two queues, the border moves by what ghosts would have earned.
std::unique_ptr<CachePolicy> MakePolicy(const std::string& name, uint64_t capacity_bytes,
                                        uint64_t block_bytes);
std::unique_ptr<CachePolicy> MakeRocksPolicy(const std::string& name, uint64_t capacity_bytes,
                                             uint64_t block_bytes);
std::unique_ptr<CachePolicy> MakeCandidate(const std::string& name, uint64_t capacity_bytes);
const std::vector<std::string>& Policies();

}  // namespace lava::bench
