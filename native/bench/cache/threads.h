#pragma once

#include <cstdint>
#include <string>

#include "cache/block_cache.h"

namespace lava::bench {

/// Of blocks that are all in the cache, by threads beside each other. policy: lava, rocksdb-lru,
/// rocksdb-hyper-clock.
double LookupsPerSecond(const std::string& policy, uint32_t threads, double seconds);

/// Of values that are all in the cache, through one instance.
double GetsPerSecond(const std::string& directory, uint32_t threads, double seconds);

/// What it takes to drop one of so many files, which have so many blocks in the cache together.
double EraseMicroseconds(uint64_t files, uint64_t blocks);

}  // namespace lava::bench
