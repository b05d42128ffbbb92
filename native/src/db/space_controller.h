// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string>

#include "base/mutex.h"
#include "collection/collection_job.h"
#include "compaction/compaction_job.h"
#include "db/environment.h"
#include "host/space_quota.h"
#include "manifest/space.h"
#include "policy/space_limits.h"

namespace lava {

/// The parts of an instance's state on which its use of space depends, besides the version.
struct SpaceWork {
  uint64_t pinned_bytes = 0;  // obsolete files that are still in use
  bool busy = false;          // jobs are queued or run, or wait for missing files
  bool collecting = false;    // collections run
  uint64_t oldest_snapshot = SpaceReport::kNoSnapshot;
  std::string failure = {};  // current failure of flushes, compactions or collections; empty: none
};

/// A consistent copy of all figures.
struct SpaceState {
  SpaceUse use;               // pinned_bytes is 0 unless a limit in bytes counts them
  SpacePressure own;          // by the instance's limits
  SpaceVerdict process;       // by the limit of the process or volume, as of the last report
  uint64_t hidden_bytes = 0;  // estimated garbage that upper levels hide
  MetBelow met;

  bool slows_writes() const { return own.slow > 0 || process.writes.slow > 0; }
  /// The pressure that jobs reduce: of the instance's limits, or of the process's limit if that is
  /// nearer and it is this instance's turn.
  SpacePressure jobs() const { return Stronger(own, process.work); }
};

/// Compares an instance's use of space with its own limits and with the process's limit. Learns the
/// share of hidden garbage and the rate at which collections free space. Starts no job and never
/// waits: the callers act on the answers.
///
/// Above a low limit writes are slowed: each write adds a delay for its bytes, and the next write
/// that stores data waits until the delay is over. At a high limit writes wait for jobs.
///
/// Threads:    any. The mutex of this class is taken under the instance's mutexes, and only
///             SpaceQuota is called under it. Callers make reports under TreeState::mutex(), so
///             that reports arrive in the order of the changes.
/// Ownership:  borrows the quota and the clock.
/// Units:      bytes on storage unless raw; microseconds of the monotonic clock.
/// Errors:     methods that report may throw std::bad_alloc. The next report makes up for a failed
///             one.
class SpaceController {
 public:
  /// The longest time that a write waits for files that only snapshots keep. The upload of a
  /// checkpoint normally ends, but may hang. A copy for local recovery may even need the waiting
  /// thread.
  static constexpr uint64_t kPinnedWaitUs = 30'000'000;

  /// path: the instance's path, for errors. slowed_bytes_per_second: see DBOptions.
  SpaceController(const SpaceLimits& limits, uint64_t slowed_bytes_per_second, std::string path,
                  SpaceQuota* quota, Clock* clock);

  /// Adds the instance to the quota. Leave() must be called before the member is destroyed.
  void Join(SpaceMember* member);
  void Leave();

  SpaceState state() const LAVA_EXCLUDES(mutex_);

  /// The instance has a new version. The next Update() judges it.
  void SetVersion(const Version& version) LAVA_EXCLUDES(mutex_);
  /// Bytes that a job will write before its inputs are removed. They count until the job has ended.
  void AddCopied(uint64_t bytes) { copied_bytes_ += bytes; }
  void RemoveCopied(uint64_t bytes) { copied_bytes_ -= bytes; }

  /// Judges the use of space by the instance's limits again, and reports to the quota.
  void Update(const SpaceWork& work) LAVA_EXCLUDES(mutex_);
  /// Only reports to the quota. Returns the quota's verdict.
  SpaceVerdict Report(const SpaceWork& work) LAVA_EXCLUDES(mutex_);
  /// Answers RequestSpace() or RequestGiveUp() of the quota. looked_by: the verdict on which the
  /// work was based; a default verdict for RequestGiveUp().
  void Answer(const SpaceWork& work, const SpaceVerdict& looked_by) LAVA_EXCLUDES(mutex_);
  /// Whether other instances may have changed the verdict since the last report.
  bool IsVerdictOld() const LAVA_EXCLUDES(mutex_);

  /// Whether a write that stores data may continue.
  enum class WriteAnswer : uint8_t {
    kGoOn,
    kSlowed,        // wait until slowed_until_us()
    kInstanceFull,  // a high limit of the instance is reached
    kProcessFull,   // the process's limit is reached: call AwaitProcess()
  };
  WriteAnswer AnswerWrite() const LAVA_EXCLUDES(mutex_);
  uint64_t slowed_until_us() const LAVA_EXCLUDES(mutex_);
  /// The write continues. If writes are slowed, adds the delay for its bytes.
  void Pay(uint64_t bytes) LAVA_EXCLUDES(mutex_);
  /// For a write that finds the process's limit reached. *round: the quota's round when this write
  /// first found the limit reached; 0: sets it to the current round. OK: wait, and call again.
  /// Errors:     NoSpace if no instance can free space.
  Status AwaitProcess(uint64_t* round, uint64_t waited_us);

  /// The remedy for a write that waits at a high limit of the instance while no job runs or can
  /// start.
  enum class Remedy : uint8_t {
    kIgnoreRatio,     // the write continues: a ratio does not bind without garbage
    kAwaitSnapshots,  // files that only snapshots keep may be released
    kGiveUpSnapshot,  // these files were not released for kPinnedWaitUs
    kNone,            // the write fails with Full()
  };
  /// kIgnoreRatio holds until the next Update().
  Remedy FindRemedy(uint64_t waited_us) LAVA_EXCLUDES(mutex_);
  /// The NoSpace status, with the figures.
  Status Full() const LAVA_EXCLUDES(mutex_);

  /// Learns from a compaction the share of its upper level's records that met an older record.
  void LearnMet(const CompactionInput& input, const CompactionOutput& output) LAVA_EXCLUDES(mutex_);
  /// Learns from a collection the rate at which collections free space. collections: the number of
  /// concurrent collections, including this one.
  void LearnFreed(const CollectionInput& input, const CollectionOutput& output, uint64_t took_us,
                  uint32_t collections) LAVA_EXCLUDES(mutex_);

 private:
  void Count(const SpaceWork& work) LAVA_REQUIRES(mutex_);
  SpaceReport MakeReport(const SpaceWork& work) const LAVA_REQUIRES(mutex_);
  uint64_t FreedBytesPerSecond() const LAVA_REQUIRES(mutex_);

  const SpaceLimits limits_;
  const uint64_t slowed_bytes_per_second_;
  const std::string path_;
  SpaceQuota* const quota_;
  Clock* const clock_;
  std::atomic<uint64_t> copied_bytes_{0};
  SpaceQuota::Membership membership_;  // guarded by the quota

  mutable Mutex mutex_;
  SpaceState state_ LAVA_GUARDED_BY(mutex_);
  std::array<bool, kLevelCountMax> met_known_ LAVA_GUARDED_BY(mutex_){};
  // Raw bytes that recent collections freed, and the duration of these collections. Older
  // collections count less.
  uint64_t freed_bytes_ LAVA_GUARDED_BY(mutex_) = 0;
  uint64_t freed_us_ LAVA_GUARDED_BY(mutex_) = 0;
  uint64_t slowed_until_us_ LAVA_GUARDED_BY(mutex_) = 0;
};

}  // namespace lava
