// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

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

/// The part of an instance that all of its components share: options, path, objects borrowed from
/// the host and the process, budget and counters.
///
/// Threads:    any, once Open() has returned. Members that change are atomic or have their own
///             locks.
/// Ownership:  the instance owns the context, and destroys it after all components that borrow it.
struct InstanceContext {
  InstanceContext(const DBOptions& options, std::string path, const DBEnvironment& environment);

  /// Checks the options, and takes the host's executor if the environment has none. Called once.
  Status Open();
  /// The inverse of Open(). No job may run or be queued any more.
  void Close();

  /// Whether files and their names survive a power cut.
  bool syncs() const { return options.sync || options.wal != WalMode::kNone; }
  /// Makes the name of a new log segment durable if acknowledged writes must survive a power cut.
  Status SyncNameOfLogSegment() const {
    return options.wal == WalMode::kWalSync ? files->SyncDirectory(path) : Status::OK();
  }
  /// Whether a value of this size is too large for the memtable, so that the write stores it in a
  /// value file.
  bool IsOversize(uint64_t bytes) const { return bytes > value_in_memory_bytes_max; }
  bool IsOversize(Slice value) const { return IsOversize(value.size()); }
  /// The size up to which the index of a new file is put into the cache at once.
  uint64_t KeptIndexBytes() const;
  /// The objects and options with which a job reads and writes files. The caller sets next_file.
  JobContext MakeJobContext(uint32_t output_level);

  /// Queues a job. The job does not run once the guard is closed. Throws std::bad_alloc.
  /// Threads: any, at any time; the same holds for the four functions below. A stalled write or a
  /// read may call them while another thread closes the instance and returns the executor.
  void Submit(os::Priority priority, std::function<void()> job);
  /// As Submit(), for jobs that are requested again if they did not run. False: memory for queuing
  /// the job was refused.
  bool TrySubmit(os::Priority priority, std::function<void()> job) noexcept;
  /// As in os::Executor. Do nothing once the guard is closed.
  void RetryThreads();
  void MakeUrgent(os::Priority priority);
  /// The number of the executor's threads; 1 once the guard is closed.
  uint32_t ThreadCount() const;

  const DBOptions options;
  const PartitionRange partitions{options};
  const std::string path;
  const DBEnvironment environment;
  const std::shared_ptr<EventNotifier> notifier;
  const std::unique_ptr<fs::FileSystem> own_files;  // for direct I/O; may be null
  fs::FileSystem* const files;
  Clock* const clock;
  ExpiryTime expiry_time{clock};
  const std::shared_ptr<Lease> lease_owner;
  LeaseImpl* const lease;
  SpaceQuota* const quota;  // has the space limit of the instance
  MemoryBudget budget;      // the instance's part of the lease's budget
  Counters counters;
  TableReader::ReadCounters read_counters;
  ValueReader::ReadCounters value_read_counters;
  DropCache drop_cache{budget.counter(MemoryPurpose::kReaders)};
  /// Set by Open() and cleared by Close(). Only for users inside the close guard.
  os::Executor* executor;
  std::unique_ptr<os::Executor> own_executor;  // the host's executor; null: the environment has one
  const uint64_t memtable_bytes_max;
  const uint64_t value_in_memory_bytes_max;  // the largest value in the memtable
  std::atomic<bool> cancelled{false};        // jobs end as soon as possible
  std::atomic<bool> closed{false};
  const std::shared_ptr<CloseGuard> close_guard = std::make_shared<CloseGuard>();
};

/// The file system of an instance's files. direct: the instance's own file system, or null.
fs::FileSystem* FileSystemOf(const DBOptions& options, fs::FileSystem* direct);

}  // namespace lava
