#include <algorithm>

#include "base/guarded.h"
#include "db/db_impl.h"

// The instance's part of SpaceController: it starts the jobs that make space, and lets writes wait.
namespace lava {
// *go_on: the write goes on past the low limits. Otherwise it waits until *until_us, or for a job
// if *relieve, or for other instances.
Status DBImpl::AwaitSpace(uint64_t* until_us, bool* go_on, bool* relieve) {
  using Answer = SpaceController::WriteAnswer;
  *go_on = *relieve = false;
  if (tree_->space.JudgeWrite() == Answer::kProcessFull) tree_->space.Report(tree_->SpaceWorkNow());
  switch (tree_->space.JudgeWrite()) {
    case Answer::kGoOn:
      *go_on = true;
      break;
    case Answer::kSlowed:
      *until_us = std::min(*until_us, tree_->space.slowed_until_us());
      break;
    case Answer::kInstanceFull:
      *relieve = true;
      break;
    case Answer::kProcessFull:
      instance_->executor->Poke();
      if (tree_->space.state().process.collects) UrgeSpace();
      return tree_->space.AwaitProcess(
          write_stall_.space_round(),
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
    MutexLock state(tree_->mutex());
    tree_->space.Update(tree_->SpaceWorkNow());
    *go_on = !tree_->space.state().own.stop;
    if (*go_on) return Status::OK();
    ScheduleFlushes(false);
    version = tree_->version();
    flushing = tree_->sealed().running() > 0;
  }
  ScheduleGc();
  ScheduleCompactions();  // they expose more garbage when nothing is collected
  MutexLock state(tree_->mutex());
  UrgeSpace();
  if (job_counts_.compactions + job_counts_.collections > 0) return Status::OK();
  // The files of a flush are not planned for yet.
  if (flushing || tree_->sealed().running() > 0 || version != tree_->version()) return Status::OK();
  // Garbage may be freed once the missing files have arrived.
  if (late_files_.AnyOf(*tree_->version())) return Status::OK();
  if (faults_.avoids_any()) return faults_.DamageOf(*tree_->version());
  if (std::optional<Status> failure = faults_.RetryFirst(since_us)) return *failure;
  using Remedy = SpaceController::Remedy;
  switch (tree_->space.FindRemedy(instance_->clock->MonotonicMicros() - since_us)) {
    case Remedy::kIgnoreRatio:
      *go_on = true;
      tree_->UpdateAttention();
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
  return tree_->space.Full();
}

bool DBImpl::GiveUpOldestSnapshot() {
  if (!snapshots_->GiveUpOldest()) return false;
  Counters::Add(&instance_->counters.snapshots_given_up, 1);
  return true;
}

// A job has removed files. Flushes that found no space are tried again before a write reports
// their error.
void DBImpl::RetryOnceSpaceIsMade() {
  MutexLock state(tree_->mutex());
  if (faults_.RetryFlushOnSpace()) ScheduleFlushes(false);
}

}  // namespace lava
