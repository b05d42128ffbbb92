// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "lava/slice.h"

namespace lava::bench {

/// Logical logs: LavaLog's, or a RocksDB whose keys are log and LSN. Aborts on errors. Threads:
/// any, but one for each log.
class LogTarget {
 public:
  virtual ~LogTarget() = default;
  virtual void Append(uint64_t log, uint64_t lsn, Slice data, bool sync) = 0;
  virtual void Read(uint64_t log, uint64_t lsn, std::string* data) = 0;
  /// Reads `count` records from lsn on; returns their bytes.
  virtual uint64_t Scan(uint64_t log, uint64_t lsn, uint64_t count) = 0;
  virtual void Trim(uint64_t log, uint64_t lsn) = 0;
  /// Moves appended data to its final location: flushes RocksDB's memtable.
  virtual void Settle() = 0;
  /// Ends the process without a shutdown.
  virtual void Kill() = 0;
  virtual uint64_t index_bytes() = 0;
};

struct LogSetup {
  std::string directory;
  uint64_t logs = 1;
  uint64_t volume_bytes = 1ull << 30;
  bool warm = true;  // use a volume whose blocks were all written before
  bool fresh = true;
  bool collects = true;  // collect garbage automatically
};
std::unique_ptr<LogTarget> NewLavaLogTarget(const LogSetup& setup, bool on_lavafs);
std::unique_ptr<LogTarget> NewRocksDbTarget(const LogSetup& setup);
/// Collects the oldest file of a LavaLog; returns its size, and the bytes read and moved.
struct Collected {
  uint64_t file_bytes = 0, read = 0, moved = 0;
};
Collected CollectOldest(LogTarget* lava);

}  // namespace lava::bench
