// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "db/tree_state.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/guarded.h"
#include "base/mutex.h"
#include "db/instance_context.h"
#include "db/job_plans.h"
#include "db/read_view.h"
#include "db/sealed_memtables.h"
#include "db/space_controller.h"
#include "db/version_search.h"
#include "job/job_context.h"
#include "lava/status.h"
#include "manifest/version.h"
#include "manifest/version_edit.h"
#include "memory/memory_counter.h"
#include "memtable/memtable.h"
#include "policy/overlap_depth.h"
#include "value_log/value_log_segment.h"

namespace lava {

TreeState::TreeState(InstanceContext* instance, const Neighbours& neighbours)
    : versions(
          {.file_system = instance->files, .directory = instance->path, .sync = instance->syncs()},
          &instance->counters),
      space({.low_percent = instance->options.space_low_percent,
             .high_percent = instance->options.space_high_percent,
             .low_bytes = instance->options.space_low_bytes,
             .high_bytes = instance->options.space_high_bytes,
             .live_bytes_floor = instance->options.space_live_bytes_floor},
            instance->options.slowed_bytes_per_second, instance->path, instance->quota,
            instance->clock),
      instance_(instance),
      neighbours_(neighbours) {
  LAVA_DCHECK(neighbours_.faults != nullptr && neighbours_.missing_files != nullptr);
  LAVA_DCHECK(neighbours_.snapshots != nullptr);
}

void TreeState::Begin(std::shared_ptr<MemTable> active) {
  LAVA_DCHECK(active != nullptr && active_ == nullptr);
  LAVA_DCHECK(sealed_.empty());
  active_ = std::move(active);
  AdoptVersion(versions.newest());
  Publish(NewView(active_, sealed_.runs(), version_));
}

void TreeState::Clear() {
  active_.reset();
  sealed_.Clear();
  version_ = std::make_shared<Version>();
  adoption_due_ = false;
  instance_->budget.counter(MemoryPurpose::kMetadata)->Release(std::exchange(metadata_bytes_, 0));
}

TreeState::PreparedSeal TreeState::PrepareSeal(const std::shared_ptr<SealedRun>& run,
                                               std::shared_ptr<MemTable> next) {
  LAVA_DCHECK(run != nullptr && run->sequence == 0);
  LAVA_DCHECK(next != nullptr && next->empty() && !next->sealed());
  PreparedSeal prepared;
  prepared.sealed = sealed_.With(run);
  prepared.view = NewView(next, prepared.sealed, version_);
  prepared.next = std::move(next);
  return prepared;
}

void TreeState::Seal(PreparedSeal prepared) noexcept {
  LAVA_DCHECK(prepared.next != nullptr && prepared.view != nullptr);
  LAVA_DCHECK(prepared.next == prepared.view->active);
  // The previous active memtable takes no writes any more.
  LAVA_DCHECK(active_->sealed() && prepared.sealed.front()->memtable == active_);
  sealed_.Seal(std::move(prepared.sealed));
  active_ = std::move(prepared.next);
  Publish(std::move(prepared.view));
}

ViewRef TreeState::SnapshotView() {
  LAVA_DCHECK(view_.Get());
  auto view = std::make_unique<ReadView>();
  view->sealed = sealed_.runs();
  view->version = version_;
  view->totals = view_.Get()->totals;
  sealed_.EndSnapshot();
  return ViewRef(view.release());
}

// Allocates the memory for Publish().
std::unique_ptr<ReadView> TreeState::NewView(std::shared_ptr<MemTable> active,
                                             const SealedMemTables::Runs& sealed,
                                             std::shared_ptr<const Version> version) const {
  LAVA_DCHECK(active != nullptr && version != nullptr);
  auto view = std::make_unique<ReadView>();
  const ViewRef before = view_.Get();
  view->totals = before && before->version == version ? before->totals : TotalsOf(*version);
  view->active = std::move(active);
  view->sealed = sealed;
  view->version = std::move(version);
  return view;
}

// The view must consist of the current active_, sealed_ and version_. Does not fail.
void TreeState::Publish(std::unique_ptr<ReadView> view) {
  LAVA_DCHECK(view->active == active_ && view->version == version_);
  LAVA_DCHECK(view->sealed == sealed_.runs());
  l0_depth_ = L0Depth();
  flushing_ = !sealed_.empty();
  has_older_ = flushing_ || HasFiles(*version_);
  (void)Tried([this] {
    mutex_.AssertHeld();
    space.Update(SpaceWorkNow());
  });  // the next view tries again
  UpdateSlowPath();
  view_.Set(ViewRef(view.release()));
  NotifyChanged();
}

void TreeState::UpdateSlowPath() {
  slow_path_ = instance_->closed.load() || versions.failed() ||
               l0_depth_ >= instance_->options.l0_stall_trigger || space.state().own.slow > 0 ||
               instance_->notifier->is_stalled();
}

// Returns the number of level-0 files. From the stall trigger on, returns the exact depth.
uint32_t TreeState::L0Depth() const {
  const FileList& files = version_->levels[0];
  if (files.size() < instance_->options.l0_stall_trigger)
    return static_cast<uint32_t>(files.size());
  auto depth = static_cast<uint32_t>(files.size());
  (void)Tried([&] {
    std::vector<KeyRange> ranges;
    for (const KeyFileEntry& entry : files) ranges.push_back({entry.lower, entry.upper});
    depth = OverlapDepth(ranges);
  });
  LAVA_DCHECK(depth <= files.size() && (depth > 0 || files.empty()));
  return depth;
}

Status TreeState::Log(const VersionEdit& edit, FlushGroup* group) {
  LAVA_DCHECK(group == nullptr || !group->logged);
  const Status status = versions.Log(edit);
  MutexLock lock(&mutex_);
  if (!status.ok()) {
    UpdateSlowPath();
  } else if (group != nullptr) {
    LAVA_DCHECK(sealed_.IsOldest(*group));
    group->logged = true;
  }
  return status;
}

void TreeState::Adopt() {
  adoption_due_ = true;
  if (const std::shared_ptr<FlushGroup> group = sealed_.OldestLogged()) {
    FlushedViews views;
    CommitFlush(group, &views);
  } else {
    std::unique_ptr<ReadView> view = NewView(active_, sealed_.runs(), versions.newest());
    AdoptVersion(view->version);
    Publish(std::move(view));
  }
  adoption_due_ = false;
}

void TreeState::AdoptFlush(const std::shared_ptr<FlushGroup>& group, FlushedViews* views) {
  // If memory was refused when the group's edit was logged, a plan may have adopted the group
  // since, because a plan does not hold the mutex of installs.
  if (!sealed_.IsOldest(*group)) return;
  adoption_due_ = true;
  CommitFlush(group, views);
  adoption_due_ = false;
}

// Allocates all memory before the steps that cannot be repeated.
void TreeState::CommitFlush(const std::shared_ptr<FlushGroup>& group, FlushedViews* views) {
  LAVA_DCHECK(sealed_.IsOldest(*group));
  // Readers see a file only after the manifest has it.
  LAVA_DCHECK(group->logged || group->file == nullptr);
  for (const std::shared_ptr<SealedRun>& run : group->runs) {
    LAVA_DCHECK(run->memtable == nullptr || run->memtable->sealed());
    for (const std::shared_ptr<ValueLogSegment>& segment : run->segments) {
      const auto kept = [&segment](const auto& file) { return file->id == segment->id(); };
      const bool lives = std::any_of(group->value_files.begin(), group->value_files.end(), kept);
      versions.obsolete_files().AddLogSegment(segment, /*became_file=*/lives);
    }
  }
  SealedMemTables::Runs left = sealed_.WithoutOldest();
  std::unique_ptr<ReadView> view = NewView(active_, left, versions.newest());
  neighbours_.snapshots->RunsFlushed(group->runs, group->edit, views);
  sealed_.RemoveOldest(std::move(left));
  AdoptVersion(view->version);
  Publish(std::move(view));
}

// The caller publishes the view. Does not fail: if memory is refused, the figures are updated with
// the next version.
void TreeState::AdoptVersion(std::shared_ptr<const Version> version) {
  LAVA_DCHECK(version != nullptr);
  version_ = std::move(version);
  (void)Tried([this] {
    mutex_.AssertHeld();
    MemoryCounter* const counter = instance_->budget.counter(MemoryPurpose::kMetadata);
    const uint64_t bytes = sizeof(Version) + version_->sums.memory_bytes, before = metadata_bytes_;
    if (bytes > before) counter->Charge(bytes - before);
    metadata_bytes_ = bytes;
    if (bytes < before) counter->Release(before - bytes);
    space.SetVersion(*version_);
  });
  neighbours_.faults->VersionIs(*version_);
}

SpaceWork TreeState::SpaceWorkNow() const {
  SpaceWork work;
  work.pinned_bytes = versions.obsolete_files().pinned_bytes();
  work.busy = job_counts_.in_flight > 0 || neighbours_.missing_files->any_key_file();
  work.collecting = job_counts_.collections > 0;
  if (work.pinned_bytes > 0) work.oldest_snapshot = neighbours_.snapshots->oldest();
  if (const Status failure = neighbours_.faults->FirstFailure(); !failure.ok())
    work.failure = failure.ToString();
  return work;
}

void TreeState::ReportJobs() {
  if (instance_->quota->limited()) space.Report(SpaceWorkNow());
}

void TreeState::JobEnded() {
  LAVA_DCHECK(job_counts_.in_flight > 0);
  --job_counts_.in_flight;
  MutexLock lock(&mutex_);
  (void)Tried([this] {
    mutex_.AssertHeld();
    ReportJobs();
  });
  NotifyChanged();
}

JobContext TreeState::MakeJobContext(uint32_t output_level) {
  LAVA_DCHECK(output_level < kLevelCountMax);
  JobContext context = instance_->MakeJobContext(output_level);
  context.next_file = [this] { return versions.NewFileId(); };
  return context;
}

void TreeState::AddTo(PlanInputs* inputs) const {
  LAVA_DCHECK(inputs != nullptr && version_ != nullptr);
  const SpaceState now = space.state();
  inputs->version = version_;
  inputs->pressure = now.jobs();
  inputs->own_pressure = now.own;
  inputs->live_bytes = now.use.live_bytes;
  inputs->hidden_bytes = now.hidden_bytes;
  inputs->takes_checkpoints = takes_checkpoints_;
  inputs->origin = versions.origin();
  inputs->in_checkpoint_below = in_checkpoint_below_;
}

void TreeState::GoesIntoCheckpoint(const Version& version) {
  uint64_t below = 0;
  for (const auto& [id, entry] : version.value_files)
    if (id.origin == versions.origin()) below = std::max(below, id.number + 1);
  MutexLock lock(&mutex_);
  takes_checkpoints_ = true;
  in_checkpoint_below_ = std::max(in_checkpoint_below_, below);
}

}  // namespace lava
