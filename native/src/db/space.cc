#include <algorithm>

#include "base/guarded.h"
#include "db/db_impl.h"

namespace lava {
// The view is the caller's to publish. Does not fail: what there is no memory for is counted by
// the next version.
void DBImpl::AdoptVersion() {
  version_ = versions_.newest();
  (void)Tried([this] {
    state_mutex_.AssertHeld();
    MemoryCounter* const counter = budget_.counter(MemoryPurpose::kMetadata);
    const uint64_t bytes = sizeof(Version) + version_->sums.memory_bytes, before = metadata_bytes_;
    if (bytes > before) counter->Charge(bytes - before);
    metadata_bytes_ = bytes;
    if (bytes < before) counter->Release(before - bytes);
    const VersionSpace space = SpaceOf(*version_, met_below_);
    space_use_.file_bytes = space.key_file_bytes + space.value_file_bytes;
    space_use_.live_bytes = space.live_bytes;
    hidden_bytes_ = space.hidden_key_bytes + space.hidden_value_bytes;
    // What was damaged may have gone: a value file whose values all died.
    if (!avoided_.empty() && DamageOf(*version_).ok()) avoided_.clear();
  });
}

void DBImpl::CountSpace() {
  const bool counts_pins = space_limits_.high_bytes > 0 || quota_->limited();
  space_use_.pinned_bytes = counts_pins ? versions_.obsolete_files().pinned_bytes() : 0;
  space_use_.copied_bytes = copied_bytes_;
}

void DBImpl::UpdateSpace() {
  CountSpace();
  space_ = JudgeSpace(space_use_, space_limits_);
  ReportSpace();
}

// L0 is left out: what is in it now came after what was compacted.
void DBImpl::LearnMet(const CompactionTask& task, const CompactionOutput& output) {
  const std::vector<CompactionInput::Level>& inputs = task.input.inputs;
  const uint32_t level = inputs.front().level;
  if (level == 0 || task.input.output_level != level + 1) return;
  uint64_t upper = 0, all = 0, left = output.records_expired;
  for (const CompactionInput::Level& input : inputs) {
    for (const FileEntry& entry : input.entries) {
      if (entry.clipped()) return;  // shows fewer records than it says
      all += entry.file->records;
      if (input.level == level) upper += entry.file->records;
    }
  }
  for (const std::shared_ptr<FileMeta>& file : output.files) left += file->records;
  if (upper == 0) return;
  const double met =
      std::min(1.0, static_cast<double>(all - std::min(all, left)) / static_cast<double>(upper));
  double& known = met_below_.part[level];
  known = met_known_[level] ? (3 * known + met) / 4 : met;
  met_known_[level] = true;
}

// Whether a write goes on past the low limits, or until when it waits. *relieve: it waits at the
// instance's high limit.
Status DBImpl::AwaitSpace(uint64_t* until_us, bool* go_on, bool* relieve) {
  if (process_.writes.stop) {
    LAVA_RETURN_IF_ERROR(AwaitProcess(go_on));
    if (!*go_on) return Status::OK();
  }
  *relieve = space_.stop;
  *go_on = !space_.stop && clock_->MonotonicMicros() >= slowed_until_us_;
  *until_us = std::min(*until_us, space_.stop ? *until_us : slowed_until_us_);
  return Status::OK();
}

// Gets going what makes space, and tells when nothing does. Holds jobs from the plan to the answer:
// else a job could end in between, whose successors are not planned yet.
Status DBImpl::MakeSpace(uint64_t since_us, bool* go_on) {
  RemoveObsoleteFiles();  // what was pinned may be gone
  MutexLock jobs(&jobs_mutex_);
  std::shared_ptr<const Version> version;
  bool flushing = false;
  {
    MutexLock state(&state_mutex_);
    UpdateSpace();
    *go_on = !space_.stop;
    if (*go_on) return Status::OK();
    ScheduleFlushes(false);
    version = version_;
    flushing = sealed_.running() > 0;
  }
  ScheduleGc();
  ScheduleCompactions();  // which expose more when nothing is collected
  MutexLock state(&state_mutex_);
  UrgeSpace();
  if (running_compactions_ + running_collections_ > 0) return Status::OK();
  // What a flush brought is not planned for yet.
  if (flushing || sealed_.running() > 0 || version != version_) return Status::OK();
  // Some of what could be given back may wait for files that have not arrived.
  if (late_files_.AnyOf(*version_)) return Status::OK();
  if (!avoided_.empty()) return DamageOf(*version_);
  for (Backoff* backoff : {&flush_backoff_, &compaction_backoff_, &gc_backoff_}) {
    if (backoff->status.ok()) continue;
    if (backoff->began_us >= since_us) return backoff->status;
    backoff->retry_at_us = 0;
    return Status::OK();
  }
  // A ratio is held as far as there is garbage; a limit in bytes binds what lives, too.
  if (!space_.bytes) {
    *go_on = true;
    SpaceLimits without_ratio = space_limits_;
    without_ratio.high_percent = 0;
    space_ = JudgeSpace(space_use_, without_ratio);  // until the next view
    UpdateAttention();
    return Status::OK();
  }
  const bool pinned = space_use_.file_bytes < space_limits_.high_bytes;
  if (pinned) {
    if (clock_->MonotonicMicros() - since_us < kPinnedWaitUs) return Status::OK();
    // A checkpoint can be made again; the job would have to be restored from one.
    if (GiveUpOldestSnapshot()) {
      Submit(os::Priority::kFlush, [this] { RemoveObsoleteFiles(); });
      return Status::OK();
    }
  }
  return Status::NoSpace(
      "write to " + path_ + ": the files take " + std::to_string(space_use_.file_bytes) +
      " bytes and those that only snapshots keep " + std::to_string(space_use_.pinned_bytes) +
      ", the limit is " + std::to_string(space_limits_.high_bytes) + " and about " +
      std::to_string(space_use_.live_bytes) +
      " bytes are in use, so nothing more can be given back: raise the limit, or keep less state");
}

bool DBImpl::GiveUpOldestSnapshot() {
  if (!snapshots_->GiveUpOldest()) return false;
  Counters::Add(&counters_.snapshots_given_up, 1);
  return true;
}

// Behind a job that has removed files: what it made room for is tried before anybody is told that
// there was none.
void DBImpl::RetryOnceSpaceIsMade() {
  MutexLock state(&state_mutex_);
  if (!IsDiskFull()) return;
  flush_backoff_.began_us = flush_backoff_.retry_at_us = 0;
  ScheduleFlushes(false);
}

// Counts what is written while writes are slowed.
void DBImpl::PayForSpace(uint64_t bytes) {
  uint64_t rate =
      SlowedBytesPerSecond(space_, options_.slowed_bytes_per_second, FreedBytesPerSecond());
  const uint64_t now_us = clock_->MonotonicMicros();
  if (process_.writes.slow > 0) {
    const uint64_t share =
        quota_->BytesPerSecond(&space_place_, options_.slowed_bytes_per_second, now_us);
    if (rate == 0 || (share > 0 && share < rate)) rate = share;
  }
  if (rate == 0) return;
  slowed_until_us_ = std::max(slowed_until_us_, now_us) + bytes * 1'000'000 / rate;
}

// How fast collections make room, all that run now together.
void DBImpl::LearnFreed(const GcTask& task, const GcOutput& output) {
  uint64_t freed = 0, kept = 0;
  for (const auto* files : {&task.input.files, &task.input.expired})
    for (const std::shared_ptr<ValueFileMeta>& file : *files) freed += file->raw_bytes;
  for (const std::shared_ptr<ValueFileMeta>& file : output.files) kept += file->raw_bytes;
  const uint64_t took_us = std::max<uint64_t>(1, clock_->MonotonicMicros() - task.began_us);
  freed_bytes_ = freed_bytes_ * 3 / 4 + (freed - std::min(freed, kept)) * running_collections_;
  freed_us_ = freed_us_ * 3 / 4 + took_us;
}

uint32_t DBImpl::GcJobsMax() const {
  if (options_.gc_jobs_max > 0) return options_.gc_jobs_max;
  return std::max(executor_->thread_count(), 2u) - 1;
}

GcEffort DBImpl::GcEffortNow(const PlanInputs& inputs) const {
  const SpacePressure& pressure = inputs.pressure;
  return JudgeGcEffort(
      {.garbage_percent = options_.gc_garbage_percent,
       .fullness = inputs.disk_full ? 1 : pressure.fullness,
       .allowed_percent = pressure.bytes ? 0 : pressure.garbage_percent,
       .jobs_max = GcJobsMax(),
       .upload_cost_percent = options_.gc_upload_cost_percent,
       .last_resort = (pressure.stop || inputs.disk_full) && running_compactions_ == 0});
}

// Files of other origins came with a checkpoint.
bool DBImpl::IsInCheckpoint(const PlanInputs& inputs, const FileId& value_file) const {
  return value_file.origin != versions_.origin() || value_file.number < inputs.in_checkpoint_below;
}

// What collections copy of it is uploaded again.
void DBImpl::GoesIntoCheckpoint(const Version& version) {
  uint64_t below = 0;
  for (const auto& [id, entry] : version.value_files)
    if (id.origin == versions_.origin()) below = std::max(below, id.number + 1);
  MutexLock state(&state_mutex_);
  takes_checkpoints_ = true;
  in_checkpoint_below_ = std::max(in_checkpoint_below_, below);
}

}  // namespace lava
