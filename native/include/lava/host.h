// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "lava/status.h"
#include "lava/volume.h"

namespace lava {

class Host;

/// A share of the process's native memory: the managed memory of one Flink slot. All instances
/// opened with the same lease share it. The lease ends with its last reference; each DB holds one.
/// Threads:    any thread.
/// Units:      bytes.
class Lease {
 public:
  virtual ~Lease() = default;
  virtual uint64_t capacity_bytes() const = 0;
  /// The most memory that memtables may take, sealed runs included: their share, or less while
  /// other users take more of the lease than their own. The shared block cache uses the unused part
  /// and gives it back when memtables grow.
  virtual uint64_t write_buffer_bytes() const = 0;
  virtual uint64_t write_buffer_used_bytes() const = 0;
  /// All memory charged to this lease now, except the cache, which belongs to the host.
  virtual uint64_t used_bytes() const = 0;
};

/// Counters of one segment of the block cache.
struct CacheSegmentStatistics {
  uint64_t used_bytes = 0;
  uint64_t hits = 0, misses = 0;  // index partitions that readers keep need no lookup
  uint64_t evictions = 0;         // blocks
};

/// Counters of a process. Units: bytes, counts, microseconds.
struct HostStatistics {
  uint64_t cache_capacity_bytes = 0;  // the memory of all leases that has no other use now
  uint64_t cache_used_bytes = 0;
  uint64_t cache_pinned_bytes = 0;
  uint64_t cache_hits = 0;
  uint64_t cache_misses = 0;
  uint64_t budget_bytes = 0;        // of all leases
  uint64_t memtable_bytes = 0;      // over all instances, sealed runs included
  uint64_t table_reader_bytes = 0;  // kept by open files outside the cache
  uint64_t metadata_bytes = 0;      // the instances' descriptions of their files
  uint64_t scan_bytes = 0;          // values being copied into pages, and data read ahead
  /// Memory of running jobs.
  uint64_t flush_job_bytes = 0, compaction_job_bytes = 0, collection_job_bytes = 0;
  uint64_t file_buffer_bytes = 0;  // of files being written to volumes
  uint64_t binding_bytes = 0;      // Host::CountBindingBytes()
  uint64_t charged_bytes = 0;      // all charged memory, including the cache
  /// Charged memory in excess of budget_bytes; 0 without leases. After a lease has ended: memory of
  /// pins, and of memtables that must still be flushed. It is freed as soon as they release it.
  uint64_t over_budget_bytes = 0;
  uint64_t jobs_put_off = 0;       // until other users free memory
  uint64_t memory_overdrafts = 0;  // jobs allowed to exceed the budget
  uint64_t page_refusals = 0;      // times that the kernel did not accept freed pages
  uint32_t instances_open = 0;
  uint32_t threads = 0;
  uint32_t leases_open = 0;
  uint64_t background_cpu_us = 0;    // used by background jobs
  uint64_t background_paced_us = 0;  // sleep of jobs to stay within the CPU budget
  /// Jobs that wait for a thread. A job that writers wait for counts as urgent only.
  uint64_t queued_urgent_jobs = 0, queued_flushes = 0, queued_l0_compactions = 0;
  uint64_t queued_compactions = 0, queued_collections = 0;
  CacheSegmentStatistics cache_index, cache_data;
  uint64_t cache_index_bytes_max = 0;  // current size limit of the cache's index segment
  /// Files of all instances. Files kept only by snapshots are counted while there is a limit. Live:
  /// the estimated size without garbage.
  uint64_t space_used_bytes = 0, space_live_bytes = 0;
  uint64_t space_limit_bytes = 0;  // SetSpaceLimit(); 0: none
};

/// Resources shared by all instances of one process (and copy of this library): cache, threads,
/// counters.
/// Threads:    any thread.
/// Ownership:  Get() returns a reference that is always valid. Threads start with the first
///             instance and end when the last one closes.
class Host {
 public:
  virtual ~Host() = default;
  /// Defined by the library lava_process, which programs link beside lava_db.
  static Host& Get();

  /// Adds capacity_bytes to the budget. write_buffer_ratio in (0, 1): the share for memtables.
  virtual Result<std::shared_ptr<Lease>> Acquire(uint64_t capacity_bytes,
                                                 double write_buffer_ratio) = 0;
  virtual HostStatistics statistics() const = 0;
  /// Background threads, at least 1; default 2. Takes effect at once.
  virtual void SetBackgroundThreads(uint32_t count) = 0;
  /// CPU time that background jobs may use, in cores; 0 (default) or NaN: no limit. Jobs wait and
  /// sleep to keep the limit over about a second. Flushes do neither; other jobs make up for the
  /// time that flushes use beyond the limit. Takes effect at once.
  virtual void SetBackgroundCpu(double cores) = 0;
  /// A limit for the files of all instances together, in addition to the limits of each instance
  /// (DBOptions::space_*); 0 (default): none. From the low limit on (0: nine tenths of the high
  /// one) writes of all instances are slowed; past the high limit they wait, and instances with the
  /// most garbage collect first. When no instance can free more space, writes return NoSpace. Takes
  /// effect at once.
  virtual void SetSpaceLimit(uint64_t high_bytes, uint64_t low_bytes = 0) = 0;

  /// Counts memory that a binding's threads keep for their calls, outside of instances; a negative
  /// number reduces the count. The memory belongs to no lease and reduces the cache. The binding
  /// must take back all that it counted.
  /// Units:      bytes. Errors: none.
  virtual void CountBindingBytes(int64_t bytes) = 0;

  /// The process's volume in a directory of the machine. A missing directory is created with access
  /// for its user only. The options count if this call mounts the volume. Several processes may use
  /// one directory: each has its own volume.
  /// Errors:     IOError, NoSpace. Never Corruption: unreadable volumes are left in place and named
  ///             in `left_behind` if that is not null.
  virtual Result<std::shared_ptr<SharedVolume>> OpenVolume(
      const std::string& directory, const VolumeOptions& options,
      std::vector<std::string>* left_behind = nullptr) = 0;
  /// The files kept by SharedVolume::Pin(), found by its marker. Mounts the volume if necessary.
  /// Errors:     NotFound when the marker, the volume or the pin is gone; Corruption of the marker;
  ///             Busy when another process has the volume.
  virtual Result<PinnedFiles> OpenPinned(const std::string& marker,
                                         const VolumeOptions& options) = 0;
  /// Removes volumes in a directory that no process has mounted and that have no pins any more.
  /// Returns the number of volumes that stay because of pins. For a process that closed a volume
  /// with pins, since the directory may never be opened again.
  /// Errors:     IOError. Unreadable volumes are left in place and not counted.
  virtual Result<uint32_t> RemoveStaleVolumes(const std::string& directory) = 0;
};

}  // namespace lava
