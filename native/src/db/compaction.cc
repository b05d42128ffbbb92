#include <algorithm>
#include <chrono>

#include "base/guarded.h"
#include "compaction/compaction_scope.h"
#include "db/db_impl.h"

namespace lava {
PlanInputs DBImpl::TakePlanInputs() const {
  PlanInputs inputs;
  MutexLock state(tree_->mutex());
  tree_->AddTo(&inputs);
  inputs.tables = tables_.Options();  // not older than the records of the version
  inputs.avoided = faults_.avoided();
  inputs.disk_full = faults_.is_disk_full();
  inputs.value_policy = value_policy_;
  inputs.gc_jobs_max = instance_->options.gc_jobs_max > 0
                           ? instance_->options.gc_jobs_max
                           : std::max(instance_->executor->thread_count(), 2u) - 1;
  return inputs;
}

// Each plan is made on the version that is current when it begins. Files that leave that version
// meanwhile are busy until the job that removes them ends. Files that come meanwhile are planned by
// the next call.
void DBImpl::ScheduleCompactions() {
  if (instance_->closed.load()) return;
  Status manifest_status;
  {
    MutexLock state(tree_->mutex());
    tree_->AdoptLeft();
    manifest_status = tree_->versions.status();
    if (manifest_status.ok() && !faults_.MayStart(BackgroundFaults::Work::kCompaction)) return;
  }
  if (!manifest_status.ok()) {
    manual_compactions_.FinishAll(manifest_status);
    return;
  }
  while (const auto manual = manual_compactions_.current()) {
    const std::optional<Status> done = ScheduleManual(*manual);
    if (!done) return;
    manual_compactions_.Finish(*done);
  }
  // One thread stays free for flushes where there are several.
  const uint32_t running_max = std::max(instance_->executor->thread_count(), 2u) - 1;
  while (running_jobs_.compactions() < running_max) {
    const PlanInputs inputs = TakePlanInputs();
    std::optional<CompactionTask> task = compaction_planner_.PlanNext(inputs, running_jobs_);
    if (!task) break;
    const bool for_order = task->cause == CompactionCause::kOrder;
    StartCompaction(std::move(*task));
    if (for_order) return;  // it only runs alone
  }
  if (running_jobs_.compactions() > 0) return;
  // Nothing is left to do, so work that failed before will not be tried again.
  MutexLock state(tree_->mutex());
  faults_.Worked(BackgroundFaults::Work::kCompaction);
}

// Moves everything that was sealed before CompactAll() to the last level, in one compaction that
// runs alone. Files that come meanwhile are left to the next request, or this one might never end.
// Returns the request's status once it is done.
std::optional<Status> DBImpl::ScheduleManual(const ManualCompactions::Current& manual) {
  if (running_jobs_.compactions() > 0 || late_files_.any_key_file()) return std::nullopt;
  {
    MutexLock state(tree_->mutex());
    if (tree_->sealed().installed_through() < manual.sequence) {
      ScheduleFlushes(false);  // there may have been no memory for it before
      if (tree_->sealed().running() > 0) return std::nullopt;
      Status failed = faults_.StatusOf(BackgroundFaults::Work::kFlush);
      if (failed.ok()) return std::nullopt;
      return failed;
    }
  }
  if (manual.compacted) return Status::OK();
  const PlanInputs inputs = TakePlanInputs();
  if (!inputs.avoided.empty()) return faults_.DamageOf(*inputs.version);
  bool wait = false;
  std::optional<CompactionTask> task = compaction_planner_.PlanAll(inputs, running_jobs_, &wait);
  if (wait) return std::nullopt;
  if (!task) return Status::OK();
  StartCompaction(std::move(*task));
  manual_compactions_.SetCompacted(true);
  return std::nullopt;
}

void DBImpl::StartCompaction(CompactionTask task) {
  const os::Priority priority = task.priority;
  auto shared = std::make_shared<CompactionTask>(std::move(task));
  running_jobs_.Insert(shared);
  try {
    instance_->Submit(priority, [this, weak = std::weak_ptr<CompactionTask>(shared)] {
      if (std::shared_ptr<CompactionTask> queued = weak.lock()) RunCompactionJob(std::move(queued));
    });
  } catch (const std::bad_alloc&) {
    running_jobs_.Remove(shared);
    throw;
  }
  order_budget_.Spend(shared->order_bytes);
  tree_->space.AddCopied(shared->copied_bytes);
  ++job_counts_.in_flight;
}

// The job is neither queued nor running any more. The caller counts it out of the jobs in flight
// once its successors are planned.
void DBImpl::EndCompaction(const std::shared_ptr<CompactionTask>& task) {
  running_jobs_.Remove(task);
  tree_->space.RemoveCopied(task->copied_bytes);
}

void DBImpl::JobEnded() {
  --job_counts_.in_flight;
  MutexLock state(tree_->mutex());
  (void)Tried([this] {
    tree_->mutex()->AssertHeld();
    tree_->ReportJobs();
  });
  tree_->NotifyChanged();
}

void DBImpl::RunCompactionJob(std::shared_ptr<CompactionTask> task) {
  const uint64_t began_us = instance_->clock->MonotonicMicros();
  CompactionInfo told;
  std::optional<JobMemory::Grant> memory;
  const Status status = Guarded("compaction in", instance_->path, [&] {
    std::optional<JobMemory::Grant> granted = instance_->lease->job_memory()->TryBegin(
        instance_->budget.counter(MemoryPurpose::kCompactions),
        task->trivial_move ? 0 : WorkingSetOf(task->input));
    if (!granted) return Status::OK();
    memory.emplace(std::move(*granted));
    task->input.drop_time = instance_->expiry_time.Now();
    Describe(*task, &told);
    instance_->notifier->BeginJob(&EventListener::OnCompactionBegin, &told);
    Status compacted = Compact(*task, &told);
    // A read error may not occur a second time; a damaged file stays damaged.
    if (compacted.IsCorruption() && !instance_->cancelled) compacted = Compact(*task, &told);
    return compacted;
  });
  if (!memory && status.ok()) return PutOff(std::move(task));
  const DamageSearch damage = SearchDamage(status);
  {
    MutexLock jobs(&jobs_mutex_);
    EndCompaction(task);
    if (status.ok() || !instance_->cancelled) {
      MutexLock state(tree_->mutex());
      if (status.ok()) {
        faults_.Worked(BackgroundFaults::Work::kCompaction);
      } else {
        faults_.AvoidInputs(task->input, damage, *tree_->version());
        faults_.Failed(BackgroundFaults::Work::kCompaction, status, began_us, damage,
                       *tree_->version());
      }
    }
    if (status.ok() ? !told.installed : !instance_->cancelled) {
      // The same work is planned again.
      order_budget_.GiveBack(task->order_bytes);
      if (task->manual && status.ok()) manual_compactions_.SetCompacted(false);
      if (task->manual && !status.ok()) manual_compactions_.Finish(status);
    }
    ScheduleAll();
  }
  JobEnded();
  // The task may be the last owner of the inputs: their readers are then closed without a lock.
  task.reset();
  memory.reset();
  RemoveObsoleteFiles();
  instance_->notifier->EndJob(&EventListener::OnCompactionEnd, &told, status,
                              instance_->clock->MonotonicMicros() - began_us);
  if (status.ok()) RetryOnceSpaceIsMade();
}

// There is no memory for the job. The same work is planned again when other jobs have ended.
void DBImpl::PutOff(std::shared_ptr<CompactionTask> task) {
  {
    MutexLock jobs(&jobs_mutex_);
    EndCompaction(task);
    if (task->manual) manual_compactions_.SetCompacted(false);
    order_budget_.GiveBack(task->order_bytes);
  }
  JobEnded();
  task.reset();
  AwaitMemory();
}

void DBImpl::AwaitMemory() {
  if (!instance_->lease->job_memory()->Await(this)) MemoryFreed();
}

void DBImpl::Describe(const CompactionTask& task, CompactionInfo* told) {
  told->cause = task.cause;
  told->trivial_move = task.trivial_move;
  told->input_level = task.input.inputs.front().level;
  told->output_level = task.input.output_level;
  for (const CompactionInput::Level& level : task.input.inputs) {
    told->input_files += static_cast<uint32_t>(level.entries.size());
    for (const FileEntry& entry : level.entries) told->input_file_bytes += entry.file->bytes;
  }
  told->merged_value_files = static_cast<uint32_t>(task.input.merged_values.size());
}

Status DBImpl::Compact(const CompactionTask& task, CompactionInfo* told) {
  if (task.trivial_move) {
    LAVA_RETURN_IF_ERROR(InstallCompaction(task, {}, &told->installed));
    Counters::Add(&instance_->counters.trivial_moves, 1);
    return Status::OK();
  }
  CompactionOutput output;
  {
    const CpuSpan cpu(&instance_->counters.compaction_cpu_us);
    JobContext context = MakeJobContext(task.input.output_level);
    context.may_use_reserve = true;  // on a full disk it exposes garbage to collections
    LAVA_RETURN_IF_ERROR(RunCompaction(context, task.input, &output));
  }
  told->output_files = static_cast<uint32_t>(output.files.size());
  told->output_value_files = static_cast<uint32_t>(output.value_files.size());
  told->read_bytes = output.bytes_read;
  told->written_bytes = output.bytes_written;
  told->written_value_bytes = output.value_bytes_written;
  told->records_expired = output.records_expired;
  LAVA_RETURN_IF_ERROR(InstallCompaction(task, output, &told->installed));
  if (!told->installed) return Status::OK();
  Counters::Add(&instance_->counters.compactions, 1);
  Counters::Add(&instance_->counters.compaction_bytes_read, output.bytes_read);
  Counters::Add(&instance_->counters.compaction_bytes_written, output.bytes_written);
  Counters::Add(&instance_->counters.records_expired, output.records_expired);
  Counters::Add(&instance_->counters.value_bytes_written, output.value_bytes_written);
  Counters::Add(&instance_->counters.merged_value_bytes, output.merged_value_bytes);
  return Status::OK();
}

// Not *installed: the clock was set back, so that dropped records have not expired. The output's
// files are then removed.
Status DBImpl::InstallCompaction(const CompactionTask& task, const CompactionOutput& output,
                                 bool* installed) {
  VersionEdit edit;
  for (const CompactionInput::Level& level : task.input.inputs) {
    for (const FileEntry& entry : level.entries) {
      edit.Remove(level.level, entry);
      if (task.trivial_move) edit.Add(task.input.output_level, entry);
    }
  }
  for (const std::shared_ptr<FileMeta>& file : output.files)
    edit.Add(task.input.output_level, {file, file->lower, file->upper});
  for (const std::shared_ptr<ValueFileMeta>& file : output.value_files) edit.AddBorn(file);
  MutexLock install(tree_->versions.install_mutex());
  const CpuSpan cpu(&instance_->counters.install_cpu_us);
  {
    MutexLock state(tree_->mutex());
    tree_->AdoptLeft();
    *installed = MayStillDrop(output.dropped, task.input.drop_time, instance_->expiry_time.Now());
    if (!*installed) {
      for (const auto& file : output.files)
        tree_->versions.obsolete_files().Add(file->id.FileName(), file);
      for (const auto& file : output.value_files)
        tree_->versions.obsolete_files().Add(file->id.ValueFileName(), file);
      return Status::OK();
    }
  }
  LAVA_RETURN_IF_ERROR(tree_->Log(edit));
  MutexLock state(tree_->mutex());
  if (!task.trivial_move) tree_->space.LearnMet(task.input, output);
  tree_->Adopt();
  Counters::Add(&instance_->counters.versions_installed, 1);
  return Status::OK();
}

// After each scan: asks for a plan when scans have earned enough credit since the last one.
void DBImpl::LookForOrdering() {
  if (!order_budget_.IsLookDue()) return;
  instance_->Submit(os::Priority::kCompaction, [this] {
    MutexLock jobs(&jobs_mutex_);
    ScheduleCompactions();
  });
}

void DBImpl::SetValuePolicy(ValuePolicy policy) {
  MutexLock jobs(&jobs_mutex_);
  value_policy_ = policy;
  ScheduleCompactions();
  ScheduleGc();
}

Status DBImpl::CompactAll(uint32_t timeout_ms, uint64_t* ticket) {
  const Status status = CompactAllNow(timeout_ms, ticket);
  instance_->notifier->Deliver();
  return status;
}

Status DBImpl::CompactAllNow(uint32_t timeout_ms, uint64_t* ticket) {
  const auto deadline =
      std::chrono::steady_clock::now() +
      std::chrono::milliseconds(std::min(timeout_ms, instance_->environment.wait_ms_max));
  uint64_t sequence = 0;
  if (*ticket == 0) {
    MutexLock write(&write_mutex_);
    if (instance_->closed.load()) return Status::Closed("the instance was closed");
    SealLocked(FlushCause::kCompactAll);
    MutexLock state(tree_->mutex());
    sequence = tree_->sealed().sealed_through();
    ScheduleFlushes(/*force=*/true);
  }
  if (*ticket == 0) *ticket = manual_compactions_.Request(sequence);
  if (!manual_compactions_.IsKnown(*ticket))
    return Status::InvalidArgument("compact all: the ticket is of no call before");
  {
    // On every call: work that failed before may be due again.
    MutexLock jobs(&jobs_mutex_);
    if (!instance_->closed.load()) instance_->executor->Poke();
    ScheduleCompactions();
  }
  const Status status = manual_compactions_.Await(*ticket, deadline);
  // The job that finished the request holds this mutex until it has planned what follows, and keeps
  // files of the earlier version until then.
  MutexLock jobs(&jobs_mutex_);
  return status;
}

JobContext DBImpl::MakeJobContext(uint32_t output_level) {
  JobContext context = instance_->MakeJobContext(output_level);
  context.next_file = [this] { return tree_->versions.NewFileId(); };
  return context;
}

}  // namespace lava
