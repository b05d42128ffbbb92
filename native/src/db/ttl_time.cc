#include <algorithm>
#include <utility>

#include "db/db_impl.h"
#include "job/ttl_filter.h"

// The time that records expire by. Jobs drop by what it was when they began, and what they dropped
// is held against it once more when they are installed: that is the moment of dropping.
namespace lava {

void DBImpl::SetTime(int64_t now_ms) {
  MutexLock state(&state_mutex_);
  if (!std::exchange(time_told_, true)) {
    // What the system's clock said is of no use to a caller with a clock of its own.
    ttl_clock_ = TtlClock();
    if (time_before_) ttl_clock_.Continue(*time_before_);
  }
  ttl_clock_.Tell(now_ms, clock_->MonotonicMicros());
}

void DBImpl::BelieveTime(int64_t now_ms) {
  MutexLock state(&state_mutex_);
  time_told_ = true;
  ttl_clock_.Believe(now_ms, clock_->MonotonicMicros());
}

void DBImpl::ContinueTime(const TtlTime& before) {
  MutexLock state(&state_mutex_);
  if (time_told_) return;
  time_before_ = before;
  ttl_clock_ = TtlClock();
  ttl_clock_.Continue(before);
}

TtlTime DBImpl::time() const {
  MutexLock state(&state_mutex_);
  return ttl_clock_.time();
}

DropTime DBImpl::DropTimeNow() {
  const int64_t wall_ms = clock_->WallMillis();
  if (!time_told_) ttl_clock_.Tell(wall_ms, clock_->MonotonicMicros());
  return ttl_clock_.drop_time(wall_ms);
}

// Whether a compaction's output may be installed.
bool DBImpl::MayDrop(const CompactionTask& task, const CompactionOutput& output) {
  return MayStillDrop(output.dropped, task.input.drop_time, DropTimeNow());
}

// The same of a collection's.
bool DBImpl::MayDrop(const GcTask& task, const GcOutput& output) {
  const int64_t now_ms = DropTimeNow().older_ms;
  const std::map<uint64_t, TableOptions>& tables = task.input.tables;
  const auto expired = [&](const auto& noted) {
    const auto table = tables.find(noted.first.second);
    return table != tables.end() &&
           lava::HasExpired(&table->second, static_cast<uint64_t>(noted.second), now_ms);
  };
  return std::all_of(output.births_expired.begin(), output.births_expired.end(), expired) &&
         std::all_of(task.input.expired.begin(), task.input.expired.end(),
                     [&](const auto& file) { return HasAllExpired(*file, tables, now_ms); });
}

}  // namespace lava
