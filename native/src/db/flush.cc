#include <algorithm>
#include <chrono>

#include "base/guarded.h"
#include "db/db_impl.h"
#include "db/version_search.h"
#include "policy/overlap_depth.h"
#include "read/readers.h"

namespace lava {

void DBImpl::SealLocked(FlushCause cause) {
  MutexLock state(&state_mutex_);
  SealBothLocked(cause);
  ScheduleFlushes(false);
}

// What a snapshot sealed. It may be flushed by now.
void DBImpl::FlushSealed() {
  MutexLock state(&state_mutex_);
  ScheduleFlushes(false);
}

// In this thread, and all of it; the write mutex is given back meanwhile.
Status DBImpl::FlushHere() {
  std::shared_ptr<FlushGroup> group;
  {
    MutexLock state(&state_mutex_);
    SealBothLocked(FlushCause::kReplay);
    group = sealed_.GroupAll();
    sealed_.Started(group.get());
    ++job_counts_.in_flight;
  }
  {
    MutexUnlock others(&write_mutex_);
    RunFlushJob(group);
  }
  MutexLock state(&state_mutex_);
  return sealed_.empty() ? Status::OK() : faults_.StatusOf(BackgroundFaults::Work::kFlush);
}

// The flush is left to be scheduled.
void DBImpl::SealBothLocked(FlushCause cause) {
  // Also when all of it has died: its log is to be trimmed.
  const bool logged = wal_.HasUnsealed();
  const bool nothing = active_->empty() && dropped_in_active_.empty() && segments_.empty();
  if (instance_->closed.load() || (nothing && !logged)) return;
  // All memory is taken before anything changes.
  auto run = std::make_shared<SealedRun>();
  std::shared_ptr<MemTable> next =
      MemTable::Create(instance_->budget.counter(MemoryPurpose::kMemtables));
  SealedMemTables::Runs sealed = sealed_.With(run);
  std::unique_ptr<ReadView> view = NewView(next, sealed, version_);
  run->separated_puts = separation_tuner_.TakeSeparatedPuts();
  active_->Seal();
  Counters::Add(&instance_->counters.memtable_killed_bytes, active_->killed_bytes());
  run->memtable = std::move(active_);
  run->segments = segments_.Seal();
  changelog_.EndSegment();
  run->cause = cause;
  run->wal_last = wal_.Seal();
  run->dropped_tables = std::exchange(dropped_in_active_, {});
  sealed_.Seal(std::move(sealed));
  active_ = std::move(next);
  active_bytes_ = 0;
  Publish(std::move(view));
}

void DBImpl::PublishView() { Publish(NewView(active_now(), sealed_.runs(), version_)); }

// Takes the memory that Publish() would need.
std::unique_ptr<ReadView> DBImpl::NewView(std::shared_ptr<MemTable> active,
                                          const SealedMemTables::Runs& sealed,
                                          std::shared_ptr<const Version> version) const {
  auto view = std::make_unique<ReadView>();
  const ViewRef before = view_.Get();
  view->totals = before && before->version == version ? before->totals : TotalsOf(*version);
  view->active = std::move(active);
  view->sealed = sealed;
  view->version = std::move(version);
  return view;
}

// The view is of what active_, sealed_ and version_ are now. Does not fail.
void DBImpl::Publish(std::unique_ptr<ReadView> view) {
  l0_depth_ = L0Depth();
  flushing_ = !sealed_.empty();
  has_older_ = flushing_ || HasFiles(*version_);
  (void)Tried([this] {
    state_mutex_.AssertHeld();
    space_.Update(SpaceWorkNow());
  });  // the next view makes up for it
  UpdateAttention();
  view_.Set(ViewRef(view.release()));
  NotifyChanged();
}

void DBImpl::UpdateAttention() {
  attention_ = instance_->closed.load() || versions_.failed() ||
               l0_depth_ >= instance_->options.l0_stall_trigger || space_.state().own.slow > 0 ||
               instance_->notifier->is_stalled();
}

// The number of files unless they are so many that it matters.
uint32_t DBImpl::L0Depth() const {
  const FileList& files = version_->levels[0];
  if (files.size() < instance_->options.l0_stall_trigger)
    return static_cast<uint32_t>(files.size());
  auto depth = static_cast<uint32_t>(files.size());
  (void)Tried([&] {
    std::vector<KeyRange> ranges;
    for (const FileEntry& entry : files) ranges.push_back({entry.lower, entry.upper});
    depth = OverlapDepth(ranges);
  });
  return depth;
}

// force: failed flushes are tried again at once.
void DBImpl::ScheduleFlushes(bool force) {
  if (instance_->closed.load()) return;
  if (!force && !faults_.MayStart(BackgroundFaults::Work::kFlush)) return;
  while (const std::shared_ptr<FlushGroup> group = sealed_.NextToStart()) StartFlush(group);
}

void DBImpl::StartFlush(const std::shared_ptr<FlushGroup>& group) {
  // A queued job keeps nothing alive: Close() lets go of all memory whether or not it runs.
  instance_->Submit(os::Priority::kFlush, [this, weak = std::weak_ptr<FlushGroup>(group)] {
    if (const std::shared_ptr<FlushGroup> queued = weak.lock()) return RunFlushJob(queued);
    // Another flush's end installed the group while this retry was queued.
    {
      MutexLock state(&state_mutex_);
      sealed_.EndedEarly();
    }
    JobEnded();
  });
  sealed_.Started(group.get());
  ++job_counts_.in_flight;
}

void DBImpl::RunFlushJob(const std::shared_ptr<FlushGroup>& group) {
  const uint64_t began_us = instance_->clock->MonotonicMicros();
  FlushInfo told;
  std::vector<Flushed> flushed;
  const Status status =
      Guarded("flush in", instance_->path, [&] { return Flush(group.get(), &told, &flushed); });
  (void)Tried([&] { TuneSeparation(flushed); });
  const DamageSearch damage = SearchDamage(status);
  {
    MutexLock state(&state_mutex_);
    told.installed = sealed_.Ended(group.get());
    NotifyChanged();
    if (status.ok()) {
      faults_.Worked(BackgroundFaults::Work::kFlush);
    } else if (!instance_->cancelled) {
      faults_.Failed(BackgroundFaults::Work::kFlush, status, began_us, damage, *version_);
    }
    if (status.ok())
      (void)Tried([this] {
        state_mutex_.AssertHeld();
        ScheduleFlushes(false);
      });
  }
  {
    MutexLock jobs(&jobs_mutex_);
    ScheduleAll();
  }
  JobEnded();
  RemoveObsoleteFiles();
  instance_->notifier->EndJob(&EventListener::OnFlushEnd, &told, status,
                              instance_->clock->MonotonicMicros() - began_us);
}

void DBImpl::TuneSeparation(const std::vector<Flushed>& installed) {
  if (installed.empty()) return;
  // Not the view: that would keep memtables in memory meanwhile.
  const std::shared_ptr<const Version> version = view_.Get()->version;
  const auto get = [](const Counters::Counter& c) { return c.load(std::memory_order_relaxed); };
  const SeparationTuner::Instance instance{
      .memtable_bytes = instance_->memtable_bytes_max,
      .value_bytes_written = get(instance_->counters.value_bytes_written),
      .value_bytes_copied = get(instance_->counters.gc_bytes_written)};
  for (const Flushed& flushed : installed)
    separation_tuner_.FlushInstalled(flushed, *version, instance);
}

// At a job's end. What there is no memory for is planned when another ends, or when a write waits
// for it.
void DBImpl::ScheduleAll() {
  (void)Tried([this] {
    jobs_mutex_.AssertHeld();
    ScheduleCompactions();
  });
  (void)Tried([this] {
    jobs_mutex_.AssertHeld();
    ScheduleGc();
  });
}

Status DBImpl::Flush(FlushGroup* group, FlushInfo* told, std::vector<Flushed>* installed) {
  FlushInput input;
  input.tables = tables_.Options();
  bool flushed;
  {
    MutexLock state(&state_mutex_);
    flushed = group->done;  // only the install failed the last time
    for (const std::shared_ptr<SealedRun>& run : group->runs) {
      input.runs.push_back(run->memtable);
      input.segments.insert(input.segments.end(), run->segments.begin(), run->segments.end());
    }
    // A snapshot may name files that have left the version since it was taken.
    input.nothing_older =
        sealed_.IsOldest(*group) && !HasFiles(*version_) && snapshots_->size() == 0;
    told->cause = group->runs.back()->cause;
  }
  told->memtables = static_cast<uint32_t>(input.runs.size());
  for (const std::shared_ptr<const MemTable>& run : input.runs)
    told->memtable_bytes += run->arena_bytes();
  instance_->notifier->BeginJob(&EventListener::OnFlushBegin, told);
  Status status;
  FlushOutput output;
  std::optional<JobMemory::Grant> memory;
  if (!flushed) {
    memory.emplace(instance_->lease->job_memory()->Begin(
        instance_->budget.counter(MemoryPurpose::kFlushes), WorkingSetOf(input)));
    const CpuSpan cpu(&instance_->counters.flush_cpu_us);
    status = RunFlush(MakeJobContext(0), input, &output);
  }
  {
    MutexLock state(&state_mutex_);
    if (!flushed && status.ok()) {
      group->done = true;
      group->file = std::move(output.file);
      group->value_files = std::move(output.value_files);
      Counters::Add(&instance_->counters.value_bytes_written, output.value_bytes_written);
      Counters::Add(&instance_->counters.flushes, 1);
      if (group->file) Counters::Add(&instance_->counters.flush_bytes_written, group->file->bytes);
    }
    if (group->done) {
      told->files = static_cast<uint32_t>((group->file ? 1 : 0) + group->value_files.size());
      told->file_bytes = group->file ? group->file->bytes : 0;
      for (const auto& file : group->value_files) told->value_file_bytes += file->bytes;
    }
  }
  return status.ok() ? InstallFlushes(installed) : status;
}

// Oldest first, and only as far as the oldest is done: a run never becomes a file before the runs
// that are older than it.
Status DBImpl::InstallFlushes(std::vector<Flushed>* installed) {
  MutexLock install(versions_.install_mutex());
  while (true) {
    std::shared_ptr<FlushGroup> group;
    {
      MutexLock state(&state_mutex_);
      group = sealed_.OldestDone();
      if (group == nullptr) return Status::OK();
    }
    LAVA_RETURN_IF_ERROR(InstallGroup(group, installed));
  }
}

// First the manifest has the group's file, then readers do. Where there is no memory between, the
// next attempt goes on from there.
Status DBImpl::InstallGroup(const std::shared_ptr<FlushGroup>& group,
                            std::vector<Flushed>* installed) {
  const CpuSpan cpu(&instance_->counters.install_cpu_us);
  if (!group->logged) LAVA_RETURN_IF_ERROR(LogGroup(group.get()));
  // A trim that fails is made up for by the next; the records are passed by.
  const std::optional<uint64_t> wal_flushed = group->edit.wal_flushed;
  const Status trimmed = wal_flushed ? wal_.Flushed(*wal_flushed) : Status::OK();
  if (wal_.enabled()) RemoveReplayedSegments();
  MutexLock state(&state_mutex_);
  if (wal_flushed) faults_.Note(BackgroundFaults::Work::kLog, trimmed);
  adoption_due_ = true;
  CommitGroup(group);
  adoption_due_ = false;
  Counters::Add(&instance_->counters.versions_installed, 1);
  (void)Tried([&] {
    versions_.install_mutex()->AssertHeld();
    state_mutex_.AssertHeld();
    DropReleased();
    Flushed& flushed = installed->emplace_back();
    flushed.file = group->file;
    if (flushed.file != nullptr) {
      const TableProperties& properties = ReaderOf(*flushed.file)->properties();
      flushed.key_bytes = properties.raw_key_bytes / std::max<uint64_t>(1, properties.records);
    }
    flushed.value_files = group->value_files;
    for (const std::shared_ptr<SealedRun>& run : group->runs)
      for (const auto& [id, count] : run->separated_puts) flushed.separated_puts[id] += count;
  });
  return Status::OK();
}

Status DBImpl::LogGroup(FlushGroup* group) {
  VersionEdit edit;
  if (group->file != nullptr) edit.Add(0, {group->file, group->file->lower, group->file->upper});
  for (const std::shared_ptr<ValueFileMeta>& file : group->value_files) edit.AddBorn(file);
  {
    MutexLock state(&state_mutex_);
    AdoptLeft();
  }
  for (const std::shared_ptr<SealedRun>& run : group->runs) {
    for (uint64_t id : run->dropped_tables)
      // A table that was created again stays. No table can be created before the edit is logged,
      // because that needs the install mutex, too.
      if (versions_.state().tables.contains(id) && !tables_.IsKnown(id) &&
          std::find(edit.dropped.begin(), edit.dropped.end(), id) == edit.dropped.end())
        edit.dropped.push_back(id);
  }
  if (wal_.enabled()) edit.wal_flushed = group->runs.front()->wal_last;
  group->edit = edit;
  if (group->file == nullptr && edit.dropped.empty() && !edit.wal_flushed) return Status::OK();
  return Log(edit, group);
}

// Takes all memory before anything that cannot be done again.
void DBImpl::CommitGroup(const std::shared_ptr<FlushGroup>& group) {
  for (const std::shared_ptr<SealedRun>& run : group->runs) {
    for (const std::shared_ptr<LogSegment>& segment : run->segments) {
      const auto kept = [&segment](const auto& file) { return file->id == segment->id(); };
      const bool lives = std::any_of(group->value_files.begin(), group->value_files.end(), kept);
      versions_.obsolete_files().AddSegment(segment, /*became_file=*/lives);
    }
  }
  SealedMemTables::Runs left = sealed_.WithoutOldest();
  std::unique_ptr<ReadView> view = NewView(active_now(), left, versions_.newest());
  snapshots_->RunsFlushed(group->runs, group->edit);
  sealed_.RemoveOldest(std::move(left));
  AdoptVersion();
  Publish(std::move(view));
}

// Readers get what the manifest has.
void DBImpl::Adopt() {
  adoption_due_ = true;
  if (const std::shared_ptr<FlushGroup> group = sealed_.OldestLogged()) {
    CommitGroup(group);
  } else {
    std::unique_ptr<ReadView> view = NewView(active_now(), sealed_.runs(), versions_.newest());
    AdoptVersion();
    Publish(std::move(view));
  }
  adoption_due_ = false;
}

// What there was no memory for when it was logged.
void DBImpl::AdoptLeft() {
  if (adoption_due_) Adopt();
}

// group: the flush that the edit is of, or null.
Status DBImpl::Log(const VersionEdit& edit, FlushGroup* group) {
  const Status status = versions_.Log(edit);
  MutexLock state(&state_mutex_);
  if (!status.ok()) {
    UpdateAttention();
  } else if (group != nullptr) {
    group->logged = true;
  }
  return status;
}

Status DBImpl::WaitUntil(const std::function<bool()>& flushed, uint32_t timeout_ms,
                         std::atomic<uint64_t>* failures_seen) {
  const auto deadline =
      std::chrono::steady_clock::now() +
      std::chrono::milliseconds(std::min(timeout_ms, instance_->environment.wait_ms_max));
  MutexLock state(&state_mutex_);
  bool forced = false;
  while (true) {
    if (instance_->closed.load()) return Status::Closed("the instance was closed");
    if (flushed()) return Status::OK();
    if (std::optional<Status> failure = faults_.NewFlushFailure(failures_seen)) return *failure;
    if (!forced) {
      ScheduleFlushes(/*force=*/true);
      instance_->executor->Poke();
      forced = true;
    }
    if (!changed_.WaitUntil(&state_mutex_, deadline))
      return flushed() ? Status::OK() : Status::Busy();
  }
}

Status DBImpl::Flush(uint32_t timeout_ms) {
  uint64_t sequence;
  {
    MutexLock write(&write_mutex_);
    if (instance_->closed.load()) return Status::Closed("the instance was closed");
    SealLocked(FlushCause::kRequested);
    MutexLock state(&state_mutex_);
    sequence = sealed_.sealed_through();
  }
  const Status status = WaitUntil(
      [this, sequence] {
        state_mutex_.AssertHeld();
        return sealed_.installed_through() >= sequence;
      },
      timeout_ms, faults_.seen_by_flush());
  RemoveObsoleteFiles();
  instance_->notifier->Deliver();
  return status;
}

}  // namespace lava
