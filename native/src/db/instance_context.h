#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>

#include "base/partition_range.h"
#include "db/close_guard.h"
#include "db/counters.h"
#include "db/environment.h"
#include "db/event_notifier.h"
#include "db/expiry_time.h"
#include "fs/file_system.h"
#include "host/host_impl.h"
#include "job/job_context.h"
#include "lava/db.h"

namespace lava {

/// What all components of one instance share: its options, its path, what it borrows from the host
/// and the process, its budget and its counters.
///
/// Threads:    any, once Open() has returned. Members that change are atomic or have locks of their
///             own.
/// Ownership:  the instance owns the context, and destroys it after all components that borrow it.
struct InstanceContext {
  InstanceContext(const DBOptions& options, std::string path, const DBEnvironment& environment);

  /// Checks the options, and takes the host's executor if the environment has none. Is called once.
  Status Open();
  /// The inverse of Open(). No job runs any more.
  void Close();

  /// Whether files and their names survive a power cut.
  bool syncs() const { return options.sync || options.wal != WalMode::kNone; }
  /// Makes the name of a new log segment durable if a power cut must not take acknowledged writes.
  Status SyncNameOfLogSegment() const {
    return options.wal == WalMode::kWalSync ? files->SyncDirectory(path) : Status::OK();
  }
  /// Whether a value of so many bytes is too large for the memtable, so that it goes to a value
  /// file as it is written.
  bool IsOversize(uint64_t bytes) const { return bytes > value_in_memory_bytes_max; }
  bool IsOversize(Slice value) const { return IsOversize(value.size()); }
  /// The index of a new file goes to the cache at once if it takes at most so many bytes.
  uint64_t KeptIndexBytes() const;
  /// What a job writes and reads files with. The caller adds next_file.
  JobContext MakeJobContext(uint32_t output_level);

  /// Queues a job. The job does not run once the guard is closed. Throws std::bad_alloc.
  /// Any thread may call this and the four below at any time: a stalled write or a read may be in
  /// here while another thread closes the instance and gives the executor back.
  void Submit(os::Priority priority, std::function<void()> job);
  /// For jobs that are asked for again when they were not done. False: there was no memory to queue
  /// the job.
  bool TrySubmit(os::Priority priority, std::function<void()> job) noexcept;
  /// As os::Executor's; nothing once the guard is closed.
  void RetryThreads();
  void MakeUrgent(os::Priority priority);
  /// Of the executor; 1 once the guard is closed.
  uint32_t ThreadCount() const;

  const DBOptions options;
  const PartitionRange partitions{options};
  const std::string path;
  const DBEnvironment environment;
  const std::shared_ptr<EventNotifier> notifier;
  const std::unique_ptr<fs::FileSystem> own_files;  // of direct I/O; may be null
  fs::FileSystem* const files;
  Clock* const clock;
  ExpiryTime expiry_time{clock};
  const std::shared_ptr<Lease> lease_owner;
  LeaseImpl* const lease;
  SpaceQuota* const quota;  // the limit of space that the instance is under
  MemoryBudget budget;      // of this instance, under the lease's
  Counters counters;
  TableReader::ReadCounters read_counters;
  ValueReader::ReadCounters value_read_counters;
  DropCache drop_cache{budget.counter(MemoryPurpose::kReaders)};
  /// Set by Open(), gone after Close(): only for users inside the close guard.
  os::Executor* executor;
  std::unique_ptr<os::Executor> own_executor;  // the host's; null: the environment's is used
  const uint64_t memtable_bytes_max;
  const uint64_t value_in_memory_bytes_max;  // of one value in the memtable
  std::atomic<bool> cancelled{false};        // jobs end as soon as they can
  std::atomic<bool> closed{false};
  const std::shared_ptr<CloseGuard> close_guard = std::make_shared<CloseGuard>();
};

/// The file system of an instance's files. direct: its own file system, or null.
fs::FileSystem* FilesOf(const DBOptions& options, fs::FileSystem* direct);

}  // namespace lava
