// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "db/event_notifier.h"
#include "lava/db.h"

namespace lava {

/// The events about failures of background work, for DB::TakeBackgroundEvents() and for listeners.
/// A failure has one event when it begins and one when it is over, even if the work is retried many
/// times in between. Failures with the same status code count as one failure. A damaged file has
/// one event, because the file stays damaged.
/// Threads:    guarded by the owner's mutex; any() from any thread.
/// Ownership:  borrows the notifier.
class BackgroundEvents {
 public:
  /// The kinds of background work. Each fails and succeeds on its own.
  enum class Work : uint8_t { kFlush, kCompaction, kCollection, kRemoval, kLog };

  /// The maximum number of events that wait for Take(). Beyond it the oldest events are dropped.
  static constexpr size_t kWaitingMax = 256;

  explicit BackgroundEvents(EventNotifier* notifier) : notifier_(notifier) {}

  /// The work failed for another reason than a known damaged file.
  void Failed(Work work, const Status& status, int64_t now_ms);
  /// The work succeeded, or nothing of it is left to do.
  void Worked(Work work);
  /// The work found a damaged file that was not known. name: the file's name. tables: the names of
  /// the tables with records in the file.
  void Damaged(std::string name, const Status& status, std::vector<std::string> tables,
               int64_t now_ms);
  /// The current corruption that no known damaged file explains; OK if there is none.
  Status Corruption() const;

  /// Whether events wait for Take().
  bool any() const { return any_.load(std::memory_order_relaxed); }
  /// Returns the events since the last call, oldest first.
  std::vector<BackgroundEvent> Take();

 private:
  // A current failure.
  struct Fault {
    std::set<Work> failing;
    BackgroundEvent began;
  };
  void Add(BackgroundEvent event);
  void QueueForListeners(const BackgroundEvent& event);

  EventNotifier* const notifier_;
  std::map<Status::Code, Fault> faults_;
  std::deque<BackgroundEvent> waiting_;
  std::atomic<bool> any_{false};
};

}  // namespace lava
