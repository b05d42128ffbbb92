// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>

#include "cache/block_cache.h"

namespace lava::bench {

/// Lookups of cached blocks by concurrent threads. policy: lava, rocksdb-lru, rocksdb-hyper-clock.
double LookupsPerSecond(const std::string& policy, uint32_t threads, double seconds);

/// Gets of cached values by one instance.
double GetsPerSecond(const std::string& directory, uint32_t threads, double seconds);

/// The time to drop one of this many files, which have this many blocks in the cache together.
double EraseMicroseconds(uint64_t files, uint64_t blocks);

}  // namespace lava::bench
