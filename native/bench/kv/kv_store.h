#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "lava/options.h"

namespace lava::bench {

/// What every engine gets: the same memory, threads, compression and kind of I/O.
struct KvOptions {
  std::string directory;
  uint64_t memory_bytes = 256 << 20;  // half for writes, half for reads
  uint32_t threads = 2;               // of background work
  uint64_t separation_bytes = 512;    // of engines that can: values from here on lie apart
  ValuePolicy value_policy = ValuePolicy::kAutomatic;  // Lava's
  uint32_t space_percent = 0;  // Lava's limit of space, of its live data; 0: none
  bool direct_io = false;      // reads, flushes and compactions go past the page cache
  bool on_volume = false;      // Lava's files lie in a volume of LavaFS
};

/// What only the engine knows, since it was opened.
struct EngineFigures {
  double compaction_cpu_seconds = 0;  // with the collection of garbage
  double flush_cpu_seconds = 0;
  double gc_cpu_seconds = 0;                       // Lava's, where that is a job of its own
  uint64_t gc_bytes_read = 0, gc_input_bytes = 0;  // Lava's: of values, and of the files
  uint64_t files_refused_direct = 0;               // Lava's
  /// Lava's, by io_uring: the kernel's counts of a process leave them out.
  uint64_t ring_reads = 0, ring_bytes_read = 0, ring_bytes_written = 0;
  double stall_seconds = 0, space_stall_seconds = 0;  // Lava's: the second is part of the first
};

/// One engine under test. Any error ends the program.
/// Threads: one that writes, and one beside it that reads.
class KvStore {
 public:
  virtual ~KvStore() = default;
  virtual void Put(std::string_view key, std::string_view value) = 0;
  /// Bytes of the value; 0 when there is none.
  virtual size_t Get(std::string_view key) = 0;
  /// Key and value bytes of the first count entries from key on.
  virtual size_t Scan(std::string_view from, uint32_t count) = 0;
  /// Waits until everything is in files and background work has nothing left to do.
  virtual void Settle() = 0;
  virtual EngineFigures Figures() const = 0;
  virtual std::string Version() const = 0;
};

std::unique_ptr<KvStore> OpenLava(const KvOptions& options);
/// blobs: with BlobDB's value files, else plain.
std::unique_ptr<KvStore> OpenRocksDB(const KvOptions& options, bool blobs);

}  // namespace lava::bench
