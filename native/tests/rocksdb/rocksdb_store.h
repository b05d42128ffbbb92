// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <map>
#include <memory>

#include "tests/history/store.h"

namespace lava::testing {

/// RocksDB, in memory, with a column family for each table and a merge operator that concatenates.
/// It does not support TTL, partitions and imports: the player handles expiry, and an import is a
/// copy.
std::unique_ptr<Store> NewRocksDBStore();

}  // namespace lava::testing
