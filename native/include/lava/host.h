#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "lava/status.h"

namespace lava {

class Host;

/// A share of the process's native memory: what one Flink slot gave. All instances opened with
/// the same lease share it. Closing is dropping the last reference (each DB holds one).
/// Threads:    any thread.
/// Units:      bytes.
class Lease {
 public:
  virtual ~Lease() = default;
  virtual uint64_t capacity_bytes() const = 0;
  /// The most that memtables may take, sealed runs included. What they do not take, the shared
  /// block cache does, and gives it back when they grow.
  virtual uint64_t write_buffer_bytes() const = 0;
  virtual uint64_t write_buffer_used_bytes() const = 0;
  /// Everything charged to this lease now (not the cache, which is the host's).
  virtual uint64_t used_bytes() const = 0;
};

/// Counters of a process. Units: bytes, counts.
struct HostStatistics {
  uint64_t cache_capacity_bytes = 0;  // what the rest of the leases' charges leaves now
  uint64_t cache_used_bytes = 0;
  uint64_t cache_pinned_bytes = 0;
  uint64_t cache_hits = 0;
  uint64_t cache_misses = 0;
  uint64_t memtable_bytes = 0;      // over all instances, sealed runs included
  uint64_t table_reader_bytes = 0;  // what open files keep outside the cache
  uint64_t charged_bytes = 0;       // all that is charged now, cache included
  uint32_t instances_open = 0;
  uint32_t threads = 0;
  uint32_t leases_open = 0;
};

/// What all instances of one process (and copy of this library) share: cache, threads, counters.
/// Threads:    any thread.
/// Ownership:  Get() returns a reference that is valid for ever; threads start with the first
///             instance and end when the last one closes.
class Host {
 public:
  virtual ~Host() = default;
  static Host& Get();

  /// Adds capacity_bytes to the budget. write_buffer_ratio in (0, 1): the share of memtables.
  virtual Result<std::shared_ptr<Lease>> Acquire(uint64_t capacity_bytes,
                                                 double write_buffer_ratio) = 0;
  virtual HostStatistics statistics() const = 0;
  /// Background threads, at least 1; default 2. Takes effect at once.
  virtual void SetBackgroundThreads(uint32_t count) = 0;
};

}  // namespace lava
