#include <algorithm>

#include "base/guarded.h"
#include "db/db_impl.h"

// The instance's part of SpaceController: it starts the jobs that make space, and lets writes wait.
namespace lava {
// The caller publishes the view. Does not fail: the next version counts what there was no memory
// for.
void DBImpl::AdoptVersion() {
  version_ = versions_.newest();
  (void)Tried([this] {
    state_mutex_.AssertHeld();
    MemoryCounter* const counter = instance_->budget.counter(MemoryPurpose::kMetadata);
    const uint64_t bytes = sizeof(Version) + version_->sums.memory_bytes, before = metadata_bytes_;
    if (bytes > before) counter->Charge(bytes - before);
    metadata_bytes_ = bytes;
    if (bytes < before) counter->Release(before - bytes);
    space_.SetVersion(*version_);
  });
  faults_.VersionIs(*version_);
}

SpaceWork DBImpl::SpaceWorkNow() const {
  SpaceWork work;
  work.pinned_bytes = versions_.obsolete_files().pinned_bytes();
  work.busy = job_counts_.in_flight > 0 || late_files_.any_key_file();
  work.collecting = job_counts_.collections > 0;
  if (work.pinned_bytes > 0) work.oldest_snapshot = snapshots_->oldest();
  if (const Status failure = faults_.FirstFailure(); !failure.ok())
    work.failure = failure.ToString();
  return work;
}

// *go_on: the write goes on past the low limits. Otherwise it waits until *until_us, or for a job
// if *relieve, or for other instances.
Status DBImpl::AwaitSpace(uint64_t* until_us, bool* go_on, bool* relieve) {
  using Answer = SpaceController::WriteAnswer;
  *go_on = *relieve = false;
  if (space_.JudgeWrite() == Answer::kProcessFull) space_.Report(SpaceWorkNow());
  switch (space_.JudgeWrite()) {
    case Answer::kGoOn:
      *go_on = true;
      break;
    case Answer::kSlowed:
      *until_us = std::min(*until_us, space_.slowed_until_us());
      break;
    case Answer::kInstanceFull:
      *relieve = true;
      break;
    case Answer::kProcessFull:
      instance_->executor->Poke();
      if (space_.state().process.collects) UrgeSpace();
      return space_.AwaitProcess(write_stall_.space_round(),
                                 instance_->clock->MonotonicMicros() - write_stall_.since_us());
  }
  return Status::OK();
}

// Starts what makes space. Errors: nothing can. Holds jobs_mutex_ from the plan to the answer:
// otherwise a job could end in between, before its successors are planned.
Status DBImpl::MakeSpace(uint64_t since_us, bool* go_on) {
  RemoveObsoleteFiles();  // their readers may have ended
  MutexLock jobs(&jobs_mutex_);
  std::shared_ptr<const Version> version;
  bool flushing = false;
  {
    MutexLock state(&state_mutex_);
    space_.Update(SpaceWorkNow());
    *go_on = !space_.state().own.stop;
    if (*go_on) return Status::OK();
    ScheduleFlushes(false);
    version = version_;
    flushing = sealed_.running() > 0;
  }
  ScheduleGc();
  ScheduleCompactions();  // they expose more garbage when nothing is collected
  MutexLock state(&state_mutex_);
  UrgeSpace();
  if (job_counts_.compactions + job_counts_.collections > 0) return Status::OK();
  // The files of a flush are not planned for yet.
  if (flushing || sealed_.running() > 0 || version != version_) return Status::OK();
  // Garbage may be freed once the missing files have arrived.
  if (late_files_.AnyOf(*version_)) return Status::OK();
  if (faults_.avoids_any()) return faults_.DamageOf(*version_);
  if (std::optional<Status> failure = faults_.RetryFirst(since_us)) return *failure;
  using Remedy = SpaceController::Remedy;
  switch (space_.FindRemedy(instance_->clock->MonotonicMicros() - since_us)) {
    case Remedy::kIgnoreRatio:
      *go_on = true;
      UpdateAttention();
      return Status::OK();
    case Remedy::kAwaitSnapshots:
      return Status::OK();
    case Remedy::kGiveUpSnapshot:
      // A checkpoint can be taken again. A write that fails would restore the job from one.
      if (GiveUpOldestSnapshot()) {
        instance_->Submit(os::Priority::kFlush, [this] { RemoveObsoleteFiles(); });
        return Status::OK();
      }
      break;
    case Remedy::kNone:
      break;
  }
  return space_.Full();
}

bool DBImpl::GiveUpOldestSnapshot() {
  if (!snapshots_->GiveUpOldest()) return false;
  Counters::Add(&instance_->counters.snapshots_given_up, 1);
  return true;
}

// A job has removed files. Flushes that found no space are tried again before a write reports
// their error.
void DBImpl::RetryOnceSpaceIsMade() {
  MutexLock state(&state_mutex_);
  if (faults_.RetryFlushOnSpace()) ScheduleFlushes(false);
}

// Later collections know that the next checkpoint uploads again what they copy of these files.
void DBImpl::GoesIntoCheckpoint(const Version& version) {
  uint64_t below = 0;
  for (const auto& [id, entry] : version.value_files)
    if (id.origin == versions_.origin()) below = std::max(below, id.number + 1);
  MutexLock state(&state_mutex_);
  takes_checkpoints_ = true;
  in_checkpoint_below_ = std::max(in_checkpoint_below_, below);
}

}  // namespace lava
