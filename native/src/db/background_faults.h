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

/// A file of a version that the message of an error names.
struct DamagedFile {
  FileId id;
  bool is_key_file = false;
  std::string name;
  std::vector<std::string> tables;  // names of the tables with records in the file
  /// The lower bounds of a key file's entries. Entries of a file never change and never come back,
  /// but move to other levels, so these bounds find the file in each version that has it.
  std::vector<std::string> lowers;
};

/// Whether the message of a failed attempt names a file.
struct DamageSearch {
  bool finished = true;              // false: there was no memory for the search
  std::optional<DamagedFile> found;  // nothing: the failure is none of a file
};

/// The file of the version whose name the message contains; key files are preferred.
/// tables: for the names of tables.
/// Threads: walks all files of the version, so no mutex of the instance may be held.
std::optional<DamagedFile> FindDamaged(const Version& version, const TableRegistry& tables,
                                       std::string_view message);

/// The failures of an instance's background work: which work fails now, when the work is tried
/// again, which files are damaged, which files jobs leave alone, and the events about all of these.
///
/// Failed work is tried again after a wait that doubles with each failure. A write that needs the
/// work does not wait: RetryNow() makes the next attempt due at once, and returns the failure of an
/// attempt that began after the write.
///
/// A damaged file cannot be compacted or collected, however often that is tried. Jobs leave the
/// file alone from then on. Reads go on in the undamaged parts of the file. Each checkpoint with
/// the file fails, so that the state is restored from an earlier checkpoint. The failure of work
/// for a damaged file does not delay the work on other files.
///
/// Threads:    any. TreeState::mutex() is held over several calls whose answers must fit each
///             other, and over each call that changes an answer: all but Note(). The mutex of this
///             class is below all mutexes of the instance but EventNotifier's.
/// Ownership:  borrows the clock, the notifier and the counter of errors.
/// Units:      times are microseconds of Clock::MonotonicMicros().
/// Errors:     methods that record something do not fail. Without memory the message of a failure
///             is lost, and a damaged file is reported when the next job finds it.
class BackgroundFaults {
 public:
  /// Flushes, compactions and collections are tried again by time. The other kinds of work only
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
  /// search: for the file that status names; of no effect unless the current version has the file.
  void Failed(Work work, const Status& status, uint64_t began_us, const DamageSearch& search,
              const Version& current) noexcept;
  /// An attempt succeeded, or there is no more of this work to do.
  void Worked(Work work) noexcept;
  /// The result of work that nothing waits for: removals and the trim of the write-ahead log.
  void Note(Work work, const Status& status) noexcept;
  /// A compaction of these inputs failed. If it read a damaged value file that is no input of its
  /// own, jobs leave the inputs alone, too.
  void AvoidInputs(const CompactionInput& inputs, const DamageSearch& search,
                   const Version& current) noexcept;
  /// The instance has a new version. Once no damaged file is left in the version, jobs leave no
  /// file alone any more. Without memory nothing changes before the next version.
  void VersionIs(const Version& current) noexcept;

  /// The status of the last attempt. OK, too, if that attempt failed for a damaged file.
  Status StatusOf(Work work) const;
  /// Whether an attempt is due: the last one did not fail, or its wait is over.
  bool MayStart(Work work) const;
  /// The status of the work that fails now: flushes before compactions before collections.
  Status FirstFailure() const;
  /// The last flush found no space.
  bool is_disk_full() const;

  /// A write has waited for the work since since_us. Returns the failure of an attempt that began
  /// after that. OK: none did; if an earlier one failed, the next attempt is due now.
  Status RetryNow(Work work, uint64_t since_us);
  /// The same for the work of FirstFailure(). Nothing if no work fails.
  std::optional<Status> RetryFirst(uint64_t since_us);
  /// The next attempt at all work is due now.
  void RetryAll();
  /// A job gave space back. If the last flush found no space, the next attempt is due now, and no
  /// write is told of the last one. Returns whether that is so.
  bool RetryFlushOnSpace();

  /// The number of flushes that failed since the instance was opened.
  uint64_t flush_failures() const;
  /// The failure of a flush since *seen, the count at which the caller looked last; updates *seen.
  /// Busy if the failure is over by now.
  std::optional<Status> NewFlushFailure(std::atomic<uint64_t>* seen) const;
  /// The count at which DB::Flush() looked last.
  std::atomic<uint64_t>* seen_by_flush() { return &seen_by_flush_; }

  /// The damage of the version's files, highest level first, value files last; else corruption that
  /// work meets now in no file that its message names; else OK. Looks only up the damaged files.
  Status DamageOf(const Version& version) const;
  /// Whether a key file of the version is damaged: which values live cannot be told without all
  /// keys.
  bool IsKeyFileDamaged(const Version& version) const;
  /// Whether jobs leave files alone.
  bool avoids_any() const;
  /// The damaged files, and those that cannot be compacted without a damaged one.
  std::set<FileId> avoided() const;
  /// The number of files that were ever found damaged.
  size_t damaged_files() const;

  /// See DB::TakeBackgroundEvents(). Takes no mutex if there are none.
  std::vector<BackgroundEvent> TakeEvents();

 private:
  /// Failed work waits before it is tried again.
  struct Backoff {
    Status status;          // of the last attempt
    uint64_t began_us = 0;  // begin of the last attempt
    uint64_t retry_at_us = 0;
    uint64_t wait_us = 0;  // length of the last wait
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
  // The work of FirstFailure(); nothing: no work fails.
  std::optional<Work> FirstFailing() const LAVA_REQUIRES(mutex_);
  Status Retry(Work work, uint64_t since_us) LAVA_REQUIRES(mutex_);
  void Report(Work work, const Status& status, const DamageSearch& search, const Version& current)
      LAVA_REQUIRES(mutex_);
  void ReportDamage(Work work, const Status& status, const DamagedFile& file) LAVA_REQUIRES(mutex_);
  // The first damaged file of the version; null: none.
  const Damage* FirstDamage(const Version& version) const LAVA_REQUIRES(mutex_);
  // events_.any() is atomic.
  bool HasEvents() const LAVA_NO_THREAD_SAFETY_ANALYSIS { return events_.any(); }

  Clock* const clock_;
  Counters::Counter* const errors_;
  const uint64_t retry_us_min_, retry_us_max_;
  std::atomic<uint64_t> seen_by_flush_{0};

  mutable Mutex mutex_;
  // Of flushes, compactions and collections, in this order.
  std::array<Backoff, 3> backoffs_ LAVA_GUARDED_BY(mutex_);
  uint64_t flush_failures_ LAVA_GUARDED_BY(mutex_) = 0;
  std::map<FileId, Damage> damaged_ LAVA_GUARDED_BY(mutex_);  // also files that are gone
  std::set<FileId> avoided_ LAVA_GUARDED_BY(mutex_);
  BackgroundEvents events_ LAVA_GUARDED_BY(mutex_);
};

}  // namespace lava
