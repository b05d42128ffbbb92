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

/// The events that DB::TakeBackgroundEvents() and listeners get about failures of background work.
/// A failure has one event when it begins and one when it is over, however often the work is tried
/// in between. Failures with the same status code count as one failure. A damaged file has one
/// event, because the file stays damaged.
/// Threads:    guarded by the owner's mutex; any() from any thread.
/// Ownership:  borrows the notifier.
class BackgroundEvents {
 public:
  /// The kinds of background work. Each fails and succeeds on its own.
  enum class Work : uint8_t { kFlush, kCompaction, kCollection, kRemoval, kLog };

  /// The most events that wait for Take(). Beyond that number the oldest are dropped.
  static constexpr size_t kWaitingMax = 256;

  explicit BackgroundEvents(EventNotifier* notifier) : notifier_(notifier) {}

  /// The work failed, but not for a damaged file that is known.
  void Failed(Work work, const Status& status, int64_t now_ms);
  /// The work succeeded, or there is no more of it to do.
  void Worked(Work work);
  /// The work found a file damaged for the first time. name: of the file. tables: the names of the
  /// tables with records in the file.
  void Damaged(std::string name, const Status& status, std::vector<std::string> tables,
               int64_t now_ms);
  /// A corruption in no file that is known, while it is not over; else OK.
  Status Corruption() const;

  /// Whether Take() has events.
  bool any() const { return any_.load(std::memory_order_relaxed); }
  /// The events since the last call, oldest first.
  std::vector<BackgroundEvent> Take();

 private:
  // A failure that is not over.
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
