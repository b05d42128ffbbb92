#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/file_id.h"
#include "db/event_notifier.h"
#include "lava/db.h"

namespace lava {

/// What the jobs of an instance met that no call tells by itself: each fault once when it begins,
/// and once when it is over, however often it is met between. A file that is damaged stays so.
/// Queues the same for listeners.
/// Threads:    guarded by the DB's state mutex; any() from any thread.
class BackgroundEvents {
 public:
  /// The kinds of work that fail and work again each by itself.
  enum class Work : uint8_t { kFlush, kCompaction, kCollection, kRemoval, kLog };

  /// The most events that wait to be taken; of more the oldest are dropped.
  static constexpr size_t kWaitingMax = 256;

  explicit BackgroundEvents(EventNotifier* notifier) : notifier_(notifier) {}

  /// The work failed for something else than a damaged file.
  void Failed(Work work, const Status& status, int64_t now_ms);
  /// The work was done, or there is no more of it to do.
  void Worked(Work work);
  /// The work found a file damaged. name: of the file; tables: that it has records of.
  void Damaged(const FileId& id, std::string name, const Status& status,
               std::vector<std::string> tables, int64_t now_ms);
  bool IsDamaged(const FileId& id) const { return !damaged_.empty() && damaged_.contains(id); }
  bool any_damage() const { return !damaged_.empty(); }
  /// What was found in the damaged file; null: it is not known to be damaged.
  const Status* DamageOf(const FileId& id) const;
  /// Corruption that some work meets now, in no file that could be told.
  Status Corruption() const;
  size_t damaged_files() const { return damaged_.size(); }

  /// Whether Take() has something.
  bool any() const { return any_.load(std::memory_order_relaxed); }
  std::vector<BackgroundEvent> Take();

 private:
  // Something that fails in the same way until it works again.
  struct Fault {
    std::set<Work> failing;
    BackgroundEvent began;
  };
  void Add(BackgroundEvent event);
  void Tell(const BackgroundEvent& event);

  EventNotifier* const notifier_;
  std::map<Status::Code, Fault> faults_;
  std::map<FileId, Status> damaged_;
  std::deque<BackgroundEvent> waiting_;
  std::atomic<bool> any_{false};
};

}  // namespace lava
