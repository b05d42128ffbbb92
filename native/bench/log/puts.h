// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "lava/slice.h"

namespace lava::bench {

/// An instance whose puts are durable when they return: Lava with wal_sync, or RocksDB with
/// synchronous writes and large values in blob files. Aborts on errors. Threads: one.
class DurableStore {
 public:
  virtual ~DurableStore() = default;
  virtual void Put(Slice key, Slice value) = 0;
  /// Returns when everything is in files.
  virtual void Flush() = 0;
};

std::unique_ptr<DurableStore> NewLavaStore(const std::string& directory, bool on_lavafs);
std::unique_ptr<DurableStore> NewRocksDbStore(const std::string& directory);

}  // namespace lava::bench
