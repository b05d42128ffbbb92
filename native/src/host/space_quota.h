// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

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

/// An instance as a limit of space sees it. A job of the instance does the requested work. No
/// method may block, take a lock of the instance, or call back.
class SpaceMember {
 public:
  virtual ~SpaceMember() = default;
  /// The instance's name in errors.
  virtual const std::string& space_name() const = 0;
  /// Asks the instance to look for space that it can free, and then to answer
  /// (SpaceQuota::Answer()).
  virtual void RequestSpace() = 0;
  /// Asks the instance to give up the snapshot of this number if that is its oldest, and to answer.
  virtual void RequestGiveUp(uint64_t snapshot) = 0;
  /// The limit is no longer reached: writes that wait for it check again.
  virtual void SpaceFreed() = 0;
};

/// An instance's report on itself.
struct SpaceReport {
  static constexpr uint64_t kNoSnapshot = UINT64_MAX;
  SpaceUse use;
  uint64_t freed_bytes_per_second = 0;     // by running collections
  uint64_t oldest_snapshot = kNoSnapshot;  // from SpaceQuota::NextSnapshot()
  bool busy = false;                       // jobs are queued or run
  std::string failure;                     // of the last collection or compaction; empty: none
};

/// The consequences of a limit for an instance.
struct SpaceVerdict {
  SpacePressure writes;   // pressure on its writes
  SpacePressure work;     // pressure on its collections: none when it is not its turn
  bool collects = false;  // it is its turn to collect
  bool retry = false;     // a write came after its answer: failed work is repeated
  uint32_t step = 0;      // SpaceStep()
  uint64_t epoch = 0;     // SpaceQuota::epoch()
};

/// A volume whose capacity is the limit.
struct VolumeLimit {
  std::string path;
  std::string capacity_setting;  // its name for messages
  uint64_t capacity_bytes = 0;
  uint64_t file_bytes_max = 0;           // that the volume can hold of files
  std::function<uint64_t()> used_bytes;  // by all content; any thread, takes no other lock
};

/// A limit for the files of all instances of the process or of a volume, and the share of each.
/// When space gets short, the instances with the most garbage collect first
/// (policy/space_shares.h), idle or not. When the limit is reached and every instance has looked in
/// vain, writes fail.
///
/// No thread waits here. Instances are only asked to submit a job, and a waiting write calls again,
/// so no instance waits for another one's lock.
/// Threads:    any. Its mutex is taken under TreeState's of an instance. Under it, SpaceMember is
///             called, which submits jobs, and a volume is asked for its use; nothing else.
/// Ownership:  a member must leave before it is destroyed.
/// Units:      bytes, microseconds.
class SpaceQuota {
 public:
  /// A member's state. Guarded by the quota.
  struct Membership {
    SpaceMember* member = nullptr;  // null: not joined
    SpaceReport report;
    uint32_t spent_step = 0;  // step without anything to free; 0: none since its files changed
    uint64_t answered = 0;    // the round of its last answer
    uint64_t paid_us = 0;     // time of its last slowed write
    bool collects = false, asked = false, giving_up = false;
  };

  /// high_bytes 0: no limit. low_bytes 0: nine tenths of high_bytes.
  void SetLimit(uint64_t high_bytes, uint64_t low_bytes) LAVA_EXCLUDES(mutex_);
  /// Limits files to the capacity of a volume; before the first member joins. process: its
  /// statistics include the files on the volume, its limit does not; may be null.
  void LimitTo(VolumeLimit volume, SpaceQuota* process) LAVA_EXCLUDES(mutex_);
  bool limited() const { return limited_.load(std::memory_order_relaxed); }
  /// Whether the low limit is exceeded, so that writes must check more. For the path of every
  /// write.
  bool pressing() const { return pressing_.load(std::memory_order_relaxed); }
  /// Changes whenever a verdict may have changed.
  uint64_t epoch() const { return epoch_.load(std::memory_order_relaxed); }

  void Join(Membership* membership, SpaceMember* member) LAVA_EXCLUDES(mutex_);
  /// Gives the member's share back. The member is not called any more once this returns.
  void Leave(Membership* membership) LAVA_EXCLUDES(mutex_);

  /// To be called whenever the instance's files or jobs have changed.
  SpaceVerdict Update(Membership* membership, const SpaceReport& report) LAVA_EXCLUDES(mutex_);
  /// To be called when the work of RequestSpace() or RequestGiveUp() is done. looked_by: the
  /// verdict that the work followed.
  SpaceVerdict Answer(Membership* membership, const SpaceReport& report,
                      const SpaceVerdict& looked_by) LAVA_EXCLUDES(mutex_);

  /// For a write that finds the limit reached: answers of earlier rounds do not count for it.
  uint64_t NextRound() LAVA_EXCLUDES(mutex_);
  /// Asks the instances that may free something. OK: wait, or the limit is no longer reached. If
  /// snapshots alone keep it reached, the oldest one of the process is given up after
  /// pinned_wait_us.
  /// Errors:     NoSpace when all have answered since the round and nothing can be freed.
  Status Await(const Membership* membership, uint64_t round, uint64_t waited_us,
               uint64_t pinned_wait_us) LAVA_EXCLUDES(mutex_);

  /// The rate at which an instance may write while writes are slowed; counts it as a writer.
  uint64_t BytesPerSecond(Membership* membership, uint64_t bytes_per_second_max, uint64_t now_us)
      LAVA_EXCLUDES(mutex_);

  /// The number of a new snapshot: later snapshots of any instance have higher ones.
  uint64_t NextSnapshot() { return next_snapshot_.fetch_add(1, std::memory_order_relaxed); }

  struct Statistics {
    uint64_t used_bytes = 0, live_bytes = 0, limit_bytes = 0;
  };
  Statistics statistics() const LAVA_EXCLUDES(mutex_);

 private:
  void Put(Membership* membership, const SpaceReport& report) LAVA_REQUIRES(mutex_);
  void Judge() LAVA_REQUIRES(mutex_);
  void ChooseCollectors() LAVA_REQUIRES(mutex_);
  SpaceVerdict VerdictOf(const Membership& membership) const LAVA_REQUIRES(mutex_);
  bool HasLooked(const Membership& membership, uint64_t round) const LAVA_REQUIRES(mutex_);
  bool GiveUpOldest() LAVA_REQUIRES(mutex_);
  Status Full(const Membership& membership) const LAVA_REQUIRES(mutex_);
  SpaceUse TotalNow() const LAVA_REQUIRES(mutex_);
  void AddToTotal(const SpaceUse& use, uint64_t sign) LAVA_REQUIRES(mutex_);
  void AddOnVolumes(const SpaceUse& use, uint64_t sign) LAVA_EXCLUDES(mutex_);
  std::string Remedy() const LAVA_REQUIRES(mutex_);

  // Read by every write and rarely written: on a cache line of its own.
  alignas(64) std::atomic<bool> pressing_{false};
  std::atomic<bool> limited_{false};
  alignas(64) std::atomic<uint64_t> epoch_{1};
  std::atomic<uint64_t> next_snapshot_{0};
  mutable Mutex mutex_;
  SpaceLimits limits_ LAVA_GUARDED_BY(mutex_);
  std::optional<VolumeLimit> volume_ LAVA_GUARDED_BY(mutex_);
  // Its mutex is taken under this one.
  SpaceQuota* process_ LAVA_GUARDED_BY(mutex_) = nullptr;
  SpaceUse on_volumes_ LAVA_GUARDED_BY(mutex_);  // of quotas whose process_ is this one
  std::list<Membership*> memberships_ LAVA_GUARDED_BY(mutex_);
  SpaceUse total_ LAVA_GUARDED_BY(mutex_);
  SpacePressure pressure_ LAVA_GUARDED_BY(mutex_);
  uint32_t step_ LAVA_GUARDED_BY(mutex_) = 0;
  uint64_t garbage_most_ LAVA_GUARDED_BY(mutex_) = 0;  // of a member that collects
  uint64_t round_ LAVA_GUARDED_BY(mutex_) = 0;
  uint64_t counted_at_us_ LAVA_GUARDED_BY(mutex_) = 0;  // time of the count of writers_
  uint32_t writers_ LAVA_GUARDED_BY(mutex_) = 0;
};

}  // namespace lava
