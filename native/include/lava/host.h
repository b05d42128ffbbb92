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
  /// The most that memtables may take, sealed runs included: their share, or less while other
  /// things take more of the lease than theirs. What they do not take, the shared block cache does,
  /// and gives it back when they grow.
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

/// Counters of a process. Units: bytes, counts, microseconds.
struct HostStatistics {
  uint64_t cache_capacity_bytes = 0;  // what the rest of the leases' charges leaves now
  uint64_t cache_used_bytes = 0;
  uint64_t cache_pinned_bytes = 0;
  uint64_t cache_hits = 0;
  uint64_t cache_misses = 0;
  uint64_t budget_bytes = 0;        // of all leases
  uint64_t memtable_bytes = 0;      // over all instances, sealed runs included
  uint64_t table_reader_bytes = 0;  // what open files keep outside the cache
  uint64_t metadata_bytes = 0;      // what instances know of their files
  uint64_t scan_bytes = 0;          // values on their way into pages, and what is read ahead
  /// Working sets of jobs that run.
  uint64_t flush_job_bytes = 0, compaction_job_bytes = 0, gc_job_bytes = 0;
  uint64_t file_buffer_bytes = 0;  // of files that are written to volumes
  uint64_t binding_bytes = 0;      // Host::CountBindingBytes()
  uint64_t charged_bytes = 0;      // all that is charged now, cache included
  /// Of these, what budget_bytes does not have; 0 without leases. After a lease has ended: what
  /// pins and memtables that are to be flushed keep yet. It is given back as soon as they let it
  /// go.
  uint64_t over_budget_bytes = 0;
  uint64_t jobs_put_off = 0;       // until others give memory back
  uint64_t memory_overdrafts = 0;  // jobs that were let go on with more than the budget has
  uint64_t page_refusals = 0;      // times that the kernel did not take freed pages back
  uint32_t instances_open = 0;
  uint32_t threads = 0;
  uint32_t leases_open = 0;
  uint64_t background_cpu_us = 0;    // used by background jobs
  uint64_t background_paced_us = 0;  // that jobs slept amid their work to keep to the CPU budget
  /// Jobs that no thread has taken yet; what writers wait for counts as urgent instead.
  uint64_t queued_urgent_jobs = 0, queued_flushes = 0, queued_l0_compactions = 0;
  uint64_t queued_compactions = 0, queued_collections = 0;
  CacheSegmentStatistics cache_index, cache_data;
  uint64_t cache_index_bytes_max = 0;  // where the border stands between the two
  /// Of all instances' files; what only snapshots keep is counted while there is a limit. Live is
  /// what is thought to be left if nothing was garbage.
  uint64_t space_used_bytes = 0, space_live_bytes = 0;
  uint64_t space_limit_bytes = 0;  // SetSpaceLimit(); 0: none
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
  /// CPU time that background jobs may use, in cores; 0, the default, and what is no number: no
  /// limit. Jobs wait and sleep to keep to it, over a second or so; flushes do neither, and what
  /// they use beyond it others make up for. Takes effect at once.
  virtual void SetBackgroundCpu(double cores) = 0;
  /// A limit for the files of all instances together, beside those of each (DBOptions::space_*); 0,
  /// the default: none. From the low limit on (0: nine tenths of the high one) writes of all
  /// instances are slowed, past the high one they wait, and who has most garbage collects first;
  /// when nothing more can be freed in any instance, writes are NoSpace. Takes effect at once.
  virtual void SetSpaceLimit(uint64_t high_bytes, uint64_t low_bytes = 0) = 0;

  /// Counts what a binding's threads keep for their calls, beside instances; negative: less of it.
  /// It is of no lease: the cache goes without it. All that was counted is to be taken back.
  /// Units:      bytes. Errors: none.
  virtual void CountBindingBytes(int64_t bytes) = 0;

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
