// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "cache/block_cache.h"

namespace lava::bench {

/// An engine's requests to its cache, in order.
struct TraceEvent {
  enum class Kind : uint8_t {
    kAccess,  // a lookup; a miss reads and inserts the block
    kWarm,    // an insertion without a lookup
    kErase,   // a file was removed
    kCall,    // a user's call has ended
  };
  uint64_t offset = 0;
  uint32_t file = 0;
  uint32_t bytes = 0;
  Kind kind = Kind::kAccess;
  BlockCache::Segment segment = BlockCache::Segment::kData;
};

/// The distinct blocks of a trace.
struct Footprint {
  uint64_t blocks = 0, bytes = 0, index_bytes = 0;
};

struct Trace {
  std::vector<TraceEvent> events;

  void Save(const std::string& path) const;
  static Trace Load(const std::string& path);
  Footprint footprint() const;
};

/// Runs an engine in this process and records its requests to its cache. The cache keeps nothing,
/// so every access reaches it, including those that a reader would serve from blocks it keeps.
/// workload: one of Workloads(). scale: 1 for a data set of about 64 MiB.
Trace Record(const std::string& workload, const std::string& directory, double scale);
const std::vector<std::string>& Workloads();

}  // namespace lava::bench
