#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <list>
#include <optional>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "lava/status.h"
#include "policy/space_shares.h"

namespace lava {

/// An instance as the process's limit of space sees it. What is asked for is done by a job of its
/// own. Nothing here may block, take a lock of the instance, or call back.
class SpaceMember {
 public:
  virtual ~SpaceMember() = default;
  /// As errors name it.
  virtual const std::string& space_name() const = 0;
  /// Asks to look for what can be freed, and then to answer (SpaceQuota::Answer()).
  virtual void RequestSpace() = 0;
  /// Asks to give up the snapshot of this number if it is the instance's oldest, and to answer.
  virtual void RequestGiveUp(uint64_t snapshot) = 0;
  /// The limit is full no more: writes that wait for it look again.
  virtual void SpaceFreed() = 0;
};

/// What an instance tells of itself.
struct SpaceReport {
  static constexpr uint64_t kNoSnapshot = UINT64_MAX;
  SpaceUse use;
  uint64_t freed_bytes_per_second = 0;     // by collections that run
  uint64_t oldest_snapshot = kNoSnapshot;  // by SpaceQuota::NextSnapshot()
  bool busy = false;                       // jobs are queued or run
  std::string failure;                     // why the last collection or compaction failed; empty
};

/// What the process's limit means for an instance.
struct SpaceVerdict {
  SpacePressure writes;   // what its writes feel
  SpacePressure work;     // what its collections work against: nothing when it is not its turn
  bool collects = false;  // it is its turn
  bool retry = false;     // a write has come since it answered: what failed is tried again
  uint32_t step = 0;      // SpaceStep()
  uint64_t epoch = 0;     // SpaceQuota::epoch()
};

/// A volume whose capacity is the limit.
struct VolumeLimit {
  std::string path;
  std::string capacity_setting;  // its name for messages
  uint64_t capacity_bytes = 0;
  uint64_t file_bytes_max = 0;           // that the volume can hold of files
  std::function<uint64_t()> used_bytes;  // by whatever is in it; any thread, takes no other lock
};

/// A limit for the files of all instances of the process or of a volume, and what each of them
/// takes. When it gets short, who has most garbage collects first (policy/space_shares.h), idle or
/// not; and when it is full and every instance has looked in vain, writes are told.
///
/// Nobody waits here. An instance is only ever asked to submit a job, and a write that waits comes
/// again: so no instance waits for another one's lock.
/// Threads:    any. Its mutex is taken under instances' state mutexes; under it only
///             SpaceMember is called, which submits jobs, and a volume is asked for its use.
/// Ownership:  a member must leave before it ends.
class SpaceQuota {
 public:
  /// A member's place. Guarded by the quota.
  struct Place {
    SpaceMember* member = nullptr;  // null: not joined
    SpaceReport report;
    uint32_t spent_step = 0;  // found nothing to free at it; 0: not since its files changed
    uint64_t answered = 0;    // the round in which that was
    uint64_t paid_us = 0;     // its last write that was slowed
    bool collects = false, asked = false, giving_up = false;
  };

  /// 0: no limit. low_bytes 0: nine tenths of it.
  void SetLimit(uint64_t high_bytes, uint64_t low_bytes) LAVA_EXCLUDES(mutex_);
  /// The limit is what a volume can hold. Before the first member joins. process: its statistics
  /// have what is on the volume, too, while its limit is not about that; may be null.
  void LimitTo(VolumeLimit volume, SpaceQuota* process) LAVA_EXCLUDES(mutex_);
  bool limited() const { return limited_.load(std::memory_order_relaxed); }
  /// Whether writes must look at all: the low limit is passed. For the path of every write.
  bool pressing() const { return pressing_.load(std::memory_order_relaxed); }
  /// Changes with what any verdict says.
  uint64_t epoch() const { return epoch_.load(std::memory_order_relaxed); }

  void Join(Place* place, SpaceMember* member) LAVA_EXCLUDES(mutex_);
  /// Gives its share back. The member is not called any more once this returns.
  void Leave(Place* place) LAVA_EXCLUDES(mutex_);

  /// Whenever the instance's files or jobs have changed.
  SpaceVerdict Update(Place* place, const SpaceReport& report) LAVA_EXCLUDES(mutex_);
  /// What RequestSpace() and RequestGiveUp() asked for was done, by the verdict given.
  SpaceVerdict Answer(Place* place, const SpaceReport& report, const SpaceVerdict& looked_by)
      LAVA_EXCLUDES(mutex_);

  /// For a write that finds the limit full: answers from before do not count for it.
  uint64_t NextRound() LAVA_EXCLUDES(mutex_);
  /// Asks whoever may free something. OK: wait, or the limit is full no more. After pinned_wait_us
  /// the oldest snapshot of the process is given up, if snapshots alone keep it full.
  /// Errors: NoSpace when all have answered since the round and there is nothing to free.
  Status Await(const Place* place, uint64_t round, uint64_t waited_us, uint64_t pinned_wait_us)
      LAVA_EXCLUDES(mutex_);

  /// How fast an instance may write now that writes are slowed; counts it as one that does.
  uint64_t BytesPerSecond(Place* place, uint64_t bytes_per_second_max, uint64_t now_us)
      LAVA_EXCLUDES(mutex_);

  /// Grows with the age of snapshots over all instances.
  uint64_t NextSnapshot() { return next_snapshot_.fetch_add(1, std::memory_order_relaxed); }

  struct Statistics {
    uint64_t used_bytes = 0, live_bytes = 0, limit_bytes = 0;
  };
  Statistics statistics() const LAVA_EXCLUDES(mutex_);

 private:
  void Put(Place* place, const SpaceReport& report) LAVA_REQUIRES(mutex_);
  void Judge() LAVA_REQUIRES(mutex_);
  void ChooseCollectors() LAVA_REQUIRES(mutex_);
  SpaceVerdict VerdictOf(const Place& place) const LAVA_REQUIRES(mutex_);
  bool HasLooked(const Place& place, uint64_t round) const LAVA_REQUIRES(mutex_);
  bool GiveUpOldest() LAVA_REQUIRES(mutex_);
  Status Full(const Place& place) const LAVA_REQUIRES(mutex_);
  SpaceUse TotalNow() const LAVA_REQUIRES(mutex_);
  void AddToTotal(const SpaceUse& use, uint64_t sign) LAVA_REQUIRES(mutex_);
  void AddOnVolumes(const SpaceUse& use, uint64_t sign) LAVA_EXCLUDES(mutex_);
  std::string Remedy() const LAVA_REQUIRES(mutex_);

  // Read by every write and hardly ever written: on a line of its own.
  alignas(64) std::atomic<bool> pressing_{false};
  std::atomic<bool> limited_{false};
  alignas(64) std::atomic<uint64_t> epoch_{1};
  std::atomic<uint64_t> next_snapshot_{0};
  mutable Mutex mutex_;
  SpaceLimits limits_ LAVA_GUARDED_BY(mutex_);
  std::optional<VolumeLimit> volume_ LAVA_GUARDED_BY(mutex_);
  // Its mutex is taken under this one's.
  SpaceQuota* process_ LAVA_GUARDED_BY(mutex_) = nullptr;
  SpaceUse on_volumes_ LAVA_GUARDED_BY(mutex_);  // of quotas whose process_ this is
  std::list<Place*> places_ LAVA_GUARDED_BY(mutex_);
  SpaceUse total_ LAVA_GUARDED_BY(mutex_);
  SpacePressure pressure_ LAVA_GUARDED_BY(mutex_);
  uint32_t step_ LAVA_GUARDED_BY(mutex_) = 0;
  uint64_t garbage_most_ LAVA_GUARDED_BY(mutex_) = 0;  // of those that collect
  uint64_t round_ LAVA_GUARDED_BY(mutex_) = 0;
  uint64_t counted_at_us_ LAVA_GUARDED_BY(mutex_) = 0;  // writers_
  uint32_t writers_ LAVA_GUARDED_BY(mutex_) = 0;
};

}  // namespace lava
