// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/mutex.h"
#include "compaction/compaction_job.h"
#include "db/background_events.h"
#include "db/counters.h"
#include "db/environment.h"
#include "db/table_registry.h"
#include "manifest/version.h"

namespace lava {

/// A file of a version, named by the message of an error.
struct DamagedFile {
  FileId id;
  bool is_key_file = false;
  std::string name;
  std::vector<std::string> tables;  // names of the tables with records in the file
  /// The lower bounds of a key file's entries. These bounds find the file in each version that has
  /// it, because entries of a file move to other levels but never change and never return.
  std::vector<std::string> lowers;
};

/// The result of searching the message of a failed attempt for the name of a file.
struct DamageSearch {
  bool finished = true;              // false: memory for the search was refused
  std::optional<DamagedFile> found;  // empty: the message names no file
};

/// Returns the file of the version whose name the message contains, preferably a key file. tables:
/// source of the tables' names.
/// Threads: any. The caller holds no mutex of the instance, because the call visits all files of
/// the version.
std::optional<DamagedFile> FindDamaged(const Version& version, const TableRegistry& tables,
                                       std::string_view message);

/// The failures of an instance's background work: the work that fails now, the time of the next
/// attempt, the damaged files, the files that jobs avoid, and the events about all of these.
///
/// Failed work is retried after a delay that doubles with each failure. A write that needs the work
/// does not wait for the delay: RetryNow() makes the next attempt due at once, and returns the
/// failure of an attempt that began after the write.
///
/// Compacting or collecting a damaged file always fails, so jobs avoid the file once its damage is
/// known. Reads still use the undamaged parts of the file. Each checkpoint with the file fails, so
/// that the state is restored from an earlier checkpoint. Work that fails because of a damaged file
/// does not delay the work on other files.
///
/// Threads:    any. The caller holds TreeState::mutex() during each call that changes an answer
///             (all but Note()), and across calls whose answers must be consistent. The mutex of
///             this class is taken after all mutexes of the instance except EventNotifier's.
/// Ownership:  borrows the clock, the notifier and the counter of errors.
/// Units:      times are microseconds of Clock::MonotonicMicros().
/// Errors:     methods that record something do not fail. If memory is refused, the message of a
///             failure is lost, and a damaged file is reported when the next job finds it.
class BackgroundFaults {
 public:
  /// Flushes, compactions and collections are retried after a delay. The other kinds of work only
  /// have events.
  using Work = BackgroundEvents::Work;

  BackgroundFaults(Clock* clock, EventNotifier* notifier, Counters::Counter* errors,
                   uint64_t retry_us_min, uint64_t retry_us_max)
      : clock_(clock),
        errors_(errors),
        retry_us_min_(retry_us_min),
        retry_us_max_(retry_us_max),
        events_(notifier) {}

  /// An attempt at a flush, a compaction or a collection failed. began_us: begin of the attempt.
  /// search: result of the search for the file that status names; ignored unless the current
  /// version has the file.
  void Failed(Work work, const Status& status, uint64_t began_us, const DamageSearch& search,
              const Version& current) noexcept;
  /// An attempt succeeded, or nothing of this work is left to do.
  void Worked(Work work) noexcept;
  /// Records the result of work that no thread waits for: removals and the trim of the write-ahead
  /// log.
  void Note(Work work, const Status& status) noexcept;
  /// A compaction of these inputs failed. If the compaction read a damaged value file that is not
  /// among its inputs, jobs avoid the inputs, too.
  void AvoidInputs(const CompactionInput& inputs, const DamageSearch& search,
                   const Version& current) noexcept;
  /// The instance has a new version. Once the version has no damaged file and no other corruption
  /// is current, jobs avoid no file any more. If memory is refused, nothing changes until the next
  /// version.
  void VersionIs(const Version& current) noexcept;

  /// The status of the last attempt. Also OK if that attempt failed because of a damaged file.
  Status StatusOf(Work work) const;
  /// Whether an attempt is due: the last one did not fail, or its delay is over.
  bool MayStart(Work work) const;
  /// The status of work that fails now: of flushes, else of compactions, else of collections.
  Status FirstFailure() const;
  /// Whether the last flush failed for lack of space.
  bool is_disk_full() const;

  /// A write has waited for the work since since_us. Returns the failure of an attempt that began
  /// after that time. OK: no such attempt failed; if an earlier attempt failed, the next one is due
  /// now.
  Status RetryNow(Work work, uint64_t since_us);
  /// As RetryNow(), for the work of FirstFailure(). Returns no value if no work fails.
  std::optional<Status> RetryFirst(uint64_t since_us);
  /// Makes the next attempt at all kinds of work due now.
  void RetryAll();
  /// A job freed space. If the last flush failed for lack of space, the next attempt is due now,
  /// and no write reports the last failure. Returns whether the last flush had failed for lack of
  /// space.
  bool RetryFlushOnSpace();

  /// The number of flushes that failed since the instance was opened.
  uint64_t flush_failures() const;
  /// Returns the failure of a flush after *seen failures, and updates *seen. *seen: the caller's
  /// last value of flush_failures(). Busy if the failure is over by now.
  std::optional<Status> NewFlushFailure(std::atomic<uint64_t>* seen) const;

  /// The damage of a file of the version: of the highest level first, of a value file last. If no
  /// file is damaged, the current corruption whose message names no file; otherwise OK. Looks up
  /// only the known damaged files.
  Status DamageOf(const Version& version) const;
  /// Whether a key file of the version is damaged. Values cannot be judged as live or dead without
  /// all keys.
  bool IsKeyFileDamaged(const Version& version) const;
  /// Whether jobs avoid any file.
  bool avoids_any() const;
  /// The damaged files, and the files that cannot be compacted without a damaged one.
  std::set<FileId> avoided() const;
  /// The number of damaged files found since the instance was opened.
  size_t damaged_files() const;

  /// See DB::TakeBackgroundEvents(). Takes no mutex if no event waits.
  std::vector<BackgroundEvent> TakeEvents();

 private:
  /// The state of one kind of work that is retried after failures.
  struct Backoff {
    Status status;          // of the last attempt
    uint64_t began_us = 0;  // begin of the last attempt
    uint64_t retry_at_us = 0;
    uint64_t wait_us = 0;  // the last delay
  };
  struct Damage {
    DamagedFile file;
    Status status;
  };

  Backoff& BackoffOf(Work work) LAVA_REQUIRES(mutex_) {
    return backoffs_[static_cast<size_t>(work)];
  }
  const Backoff& BackoffOf(Work work) const LAVA_REQUIRES(mutex_) {
    return backoffs_[static_cast<size_t>(work)];
  }
  // The work of FirstFailure(). No value: no work fails.
  std::optional<Work> FirstFailing() const LAVA_REQUIRES(mutex_);
  Status Retry(Work work, uint64_t since_us) LAVA_REQUIRES(mutex_);
  void Report(Work work, const Status& status, const DamageSearch& search, const Version& current)
      LAVA_REQUIRES(mutex_);
  void ReportDamage(Work work, const Status& status, const DamagedFile& file) LAVA_REQUIRES(mutex_);
  // The first damaged file of the version. Null: none is damaged.
  const Damage* FirstDamage(const Version& version) const LAVA_REQUIRES(mutex_);
  // Needs no mutex, because events_.any() is atomic.
  bool HasEvents() const LAVA_NO_THREAD_SAFETY_ANALYSIS { return events_.any(); }

  Clock* const clock_;
  Counters::Counter* const errors_;
  const uint64_t retry_us_min_, retry_us_max_;

  mutable Mutex mutex_;
  // Of flushes, compactions and collections, in this order.
  std::array<Backoff, 3> backoffs_ LAVA_GUARDED_BY(mutex_);
  uint64_t flush_failures_ LAVA_GUARDED_BY(mutex_) = 0;
  std::map<FileId, Damage> damaged_ LAVA_GUARDED_BY(mutex_);  // also of removed files
  std::set<FileId> avoided_ LAVA_GUARDED_BY(mutex_);
  BackgroundEvents events_ LAVA_GUARDED_BY(mutex_);
};

}  // namespace lava
