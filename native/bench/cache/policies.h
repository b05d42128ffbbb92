// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "bench/cache/trace.h"

namespace lava::bench {

/// A cache for playing traces, in which blocks are represented by their sizes. Threads: one.
class CachePolicy {
 public:
  virtual ~CachePolicy() = default;
  /// Returns whether the block was present; it may be present afterwards.
  virtual bool Access(const TraceEvent& event) = 0;
  virtual void Warm(const TraceEvent& event) = 0;
  virtual void Erase(uint32_t file) = 0;
};

/// lava: the engine's own, with requests like those of readers. rocksdb-lru, rocksdb-hyper-clock:
/// RocksDB's. lru, clock, sieve, s3, pool: candidates with one queue for both segments.
/// index-first-...: with two queues, evicting data first down to a sixteenth. border-...: with two
/// queues, separated by the engine's border.
std::unique_ptr<CachePolicy> MakePolicy(const std::string& name, uint64_t capacity_bytes,
                                        uint64_t block_bytes);
std::unique_ptr<CachePolicy> MakeCandidate(const std::string& name, uint64_t capacity_bytes);

}  // namespace lava::bench
