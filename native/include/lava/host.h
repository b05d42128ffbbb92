#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "lava/status.h"
#include "lava/volume.h"

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

/// Of one segment of the block cache.
struct CacheSegmentStatistics {
  uint64_t used_bytes = 0;
  uint64_t hits = 0, misses = 0;  // of lookups: index partitions that readers keep need none
  uint64_t evictions = 0;         // blocks
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
  uint64_t file_buffer_bytes = 0;   // of files that are written to volumes
  uint64_t charged_bytes = 0;       // all that is charged now, cache included
  uint32_t instances_open = 0;
  uint32_t threads = 0;
  uint32_t leases_open = 0;
  CacheSegmentStatistics cache_index, cache_data;
  uint64_t cache_index_bytes_max = 0;  // where the border stands between the two
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

  /// The process's volume in a directory of the machine, made if missing for its user only. Options
  /// count when this mounts it. Several processes may use one directory: each has its volume.
  /// Errors:     IOError, NoSpace; Corruption never: what cannot be read is left, and named in
  ///             `left_behind` if that is not null.
  virtual Result<std::shared_ptr<SharedVolume>> OpenVolume(
      const std::string& directory, const VolumeOptions& options,
      std::vector<std::string>* left_behind = nullptr) = 0;
  /// What SharedVolume::Pin() kept, by its marker; mounts the volume if the process has not.
  /// Errors:     NotFound when the marker, the volume or the pin is gone; Corruption of the marker;
  ///             Busy when another process has the volume.
  virtual Result<PinnedFiles> OpenPinned(const std::string& marker,
                                         const VolumeOptions& options) = 0;
  /// Removes the volumes of a directory that no process has and in which nothing is pinned any
  /// more; how many stay because something is. For whoever closed one with pins, since nobody might
  /// open the directory again.
  /// Errors:     IOError; what cannot be read is left, and not counted.
  virtual Result<uint32_t> RemoveStaleVolumes(const std::string& directory) = 0;
};

}  // namespace lava
