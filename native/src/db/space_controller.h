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

/// The parts of an instance that its use of space depends on, besides its version.
struct SpaceWork {
  uint64_t pinned_bytes = 0;  // of obsolete files that are still in use
  bool busy = false;          // jobs are queued or run, or wait for missing files
  bool collecting = false;    // collections run
  uint64_t oldest_snapshot = SpaceReport::kNoSnapshot;
  std::string failure = {};  // of the last collection, compaction or flush; empty: none
};

/// All figures of one moment.
struct SpaceState {
  SpaceUse use;          // pinned_bytes: 0 unless a limit in bytes counts them
  SpacePressure own;     // of the instance's limits
  SpaceVerdict process;  // of the process's or the volume's limit, when it was last reported to
  uint64_t hidden_bytes = 0;  // garbage that upper levels hide, estimated
  MetBelow met;

  bool slows_writes() const { return own.slow > 0 || process.writes.slow > 0; }
  /// The pressure that jobs work against: of the instance's limits, or of the process's limit if
  /// that is nearer and it is this instance's turn.
  SpacePressure jobs() const { return Stronger(own, process.work); }
};

/// Judges how near an instance is to its limits of space and to the process's limit, and learns how
/// much garbage is hidden and how fast collections free space. It starts no job and never waits:
/// the instance asks, and acts on the answers.
///
/// Writes are slowed above a low limit: each write pays for its bytes with time, and the next write
/// that stores something waits until that time is over. At a high limit writes wait for jobs.
///
/// Threads:    any. Its mutex is taken under the instance's mutexes. Under it only SpaceQuota is
///             called. Reports must come in the order of the changes that they report, so they
///             are made under TreeState::mutex().
/// Ownership:  borrows the quota and the clock.
/// Units:      bytes on storage unless raw; microseconds of the monotonic clock.
/// Errors:     methods that report may throw std::bad_alloc; the next report makes up for it.
class SpaceController {
 public:
  /// How long a write waits for files that only snapshots keep. The upload of a checkpoint ends by
  /// itself, but may hang. A copy for local recovery may need the very thread that waits.
  static constexpr uint64_t kPinnedWaitUs = 30'000'000;

  /// path: of the instance, for errors. slowed_bytes_per_second: DBOptions'.
  SpaceController(const SpaceLimits& limits, uint64_t slowed_bytes_per_second, std::string path,
                  SpaceQuota* quota, Clock* clock);

  /// The instance takes part in the quota from now on. The member must leave before it goes.
  void Join(SpaceMember* member);
  void Leave();

  SpaceState state() const LAVA_EXCLUDES(mutex_);

  /// The instance has a new version. It counts from the next Update() on.
  void SetVersion(const Version& version) LAVA_EXCLUDES(mutex_);
  /// Values that a job is going to write before its inputs are removed. They count until the job
  /// has ended.
  void AddCopied(uint64_t bytes) { copied_bytes_ += bytes; }
  void RemoveCopied(uint64_t bytes) { copied_bytes_ -= bytes; }

  /// Judges the instance's limits anew, and reports to the quota.
  void Update(const SpaceWork& work) LAVA_EXCLUDES(mutex_);
  /// Reports to the quota alone. Returns the quota's verdict.
  SpaceVerdict Report(const SpaceWork& work) LAVA_EXCLUDES(mutex_);
  /// Answers the quota's RequestSpace() or RequestGiveUp(). looked_by: the verdict that the work
  /// followed; a default one for RequestGiveUp().
  void Answer(const SpaceWork& work, const SpaceVerdict& looked_by) LAVA_EXCLUDES(mutex_);
  /// Whether other instances may have changed the verdict since the last report.
  bool IsVerdictOld() const LAVA_EXCLUDES(mutex_);

  /// Whether a write that stores something may go on.
  enum class WriteAnswer : uint8_t {
    kGoOn,
    kSlowed,        // wait until slowed_until_us()
    kInstanceFull,  // a high limit of the instance is reached
    kProcessFull,   // the process's limit is reached: ask AwaitProcess()
  };
  WriteAnswer JudgeWrite() const LAVA_EXCLUDES(mutex_);
  uint64_t slowed_until_us() const LAVA_EXCLUDES(mutex_);
  /// The write goes on: counts its bytes if writes are slowed.
  void Pay(uint64_t bytes) LAVA_EXCLUDES(mutex_);
  /// For a write that finds the process's limit reached. *round: the quota's when this write found
  /// that first; 0: now. OK: wait, and ask again.
  /// Errors:     NoSpace when no instance can free anything.
  Status AwaitProcess(uint64_t* round, uint64_t waited_us);

  /// For a write that waits at a high limit of the instance when no job runs or can begin.
  enum class Remedy : uint8_t {
    kIgnoreRatio,     // the write goes on: a ratio only binds as far as there is garbage
    kAwaitSnapshots,  // files that only snapshots keep may go
    kGiveUpSnapshot,  // they did not go for kPinnedWaitUs
    kNone,            // Full()
  };
  /// kIgnoreRatio holds until the next Update().
  Remedy FindRemedy(uint64_t waited_us) LAVA_EXCLUDES(mutex_);
  /// NoSpace, with the figures.
  Status Full() const LAVA_EXCLUDES(mutex_);

  /// Learns from a compaction how many records of its upper level met an older one.
  void LearnMet(const CompactionInput& input, const CompactionOutput& output) LAVA_EXCLUDES(mutex_);
  /// Learns from a collection how fast collections free space. collections: the number that ran
  /// side by side, including this one.
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
  // Raw bytes that recent collections freed, and the time that they took. Older collections count
  // less.
  uint64_t freed_bytes_ LAVA_GUARDED_BY(mutex_) = 0;
  uint64_t freed_us_ LAVA_GUARDED_BY(mutex_) = 0;
  uint64_t slowed_until_us_ LAVA_GUARDED_BY(mutex_) = 0;
};

}  // namespace lava
