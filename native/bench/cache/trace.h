#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "cache/block_cache.h"

namespace lava::bench {

/// What an engine asked of its cache, in order.
struct TraceEvent {
  enum class Kind : uint8_t {
    kAccess,  // a lookup of what a miss reads and inserts
    kWarm,    // an insertion that nobody had asked for
    kErase,   // a file is gone
    kCall,    // a user's call is done
  };
  uint64_t offset = 0;
  uint32_t file = 0;
  uint32_t bytes = 0;
  Kind kind = Kind::kAccess;
  BlockCache::Segment segment = BlockCache::Segment::kData;
};

/// The different blocks of a trace.
struct Footprint {
  uint64_t blocks = 0, bytes = 0, index_bytes = 0;
};

struct Trace {
  std::vector<TraceEvent> events;

  void Save(const std::string& path) const;
  static Trace Load(const std::string& path);
  Footprint footprint() const;
};

/// Runs an engine of this process and records what it asks of its cache, which keeps nothing: so
/// every access reaches it, those too that a reader would answer by what it keeps.
/// workload: one of Workloads(). scale: 1 for a data set of about 64 MiB.
Trace Record(const std::string& workload, const std::string& directory, double scale);
const std::vector<std::string>& Workloads();

}  // namespace lava::bench
