// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "lava/options.h"

namespace lava::bench {

/// Settings common to all engines: memory, threads, compression and kind of I/O.
struct KvOptions {
  std::string directory;
  uint64_t memory_bytes = 256 << 20;  // half for writes, half for reads
  uint32_t threads = 2;               // for background work
  uint64_t separation_bytes = 512;    // if supported: values of at least this size are separated
  ValuePolicy value_policy = ValuePolicy::kAutomatic;  // Lava only
  uint32_t space_percent = 0;  // Lava only: space limit relative to its live data; 0: none
  bool direct_io = false;      // reads, flushes and compactions use direct I/O
  bool on_volume = false;      // Lava only: files are in a LavaFS volume
};

/// Figures that only the engine knows, since the open.
struct EngineFigures {
  double compaction_cpu_seconds = 0;  // includes garbage collection
  double flush_cpu_seconds = 0;
  double collection_cpu_seconds = 0;  // Lava only, where it is a separate job
  uint64_t collection_bytes_read = 0,
           collection_input_bytes = 0;  // Lava only: of values, and of the files
  uint64_t files_refused_direct = 0;    // Lava only
  /// Lava's I/O with io_uring, which the kernel's counters of a process exclude.
  uint64_t ring_reads = 0, ring_bytes_read = 0, ring_bytes_written = 0;
  double stall_seconds = 0, space_stall_seconds = 0;  // Lava only: the second is part of the first
};

/// One engine under test. Any error ends the program. Threads: one that writes, and concurrently
/// one that reads.
class KvStore {
 public:
  virtual ~KvStore() = default;
  virtual void Put(std::string_view key, std::string_view value) = 0;
  /// Size of the value; 0 when the key does not exist.
  virtual size_t Get(std::string_view key) = 0;
  /// Key and value bytes of the first `count` entries from the key on.
  virtual size_t Scan(std::string_view from, uint32_t count) = 0;
  /// Waits until everything is in files and background work is idle.
  virtual void Settle() = 0;
  virtual EngineFigures Figures() const = 0;
  virtual std::string Version() const = 0;
};

std::unique_ptr<KvStore> OpenLava(const KvOptions& options);
/// blobs: with BlobDB's value files; otherwise without.
std::unique_ptr<KvStore> OpenRocksDB(const KvOptions& options, bool blobs);

}  // namespace lava::bench
