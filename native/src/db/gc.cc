#include <algorithm>
#include <utility>

#include "base/guarded.h"
#include "db/db_impl.h"
#include "read/ttl_filter.h"

namespace lava {
namespace {

struct Bounds {
  std::string lower, upper;
};

// Sorts the ranges, and unites those that overlap or touch.
void Unite(std::vector<Bounds>* ranges) {
  std::sort(ranges->begin(), ranges->end(),
            [](const Bounds& a, const Bounds& b) { return a.lower < b.lower; });
  std::vector<Bounds> united;
  for (Bounds& range : *ranges) {
    if (!united.empty() && range.lower <= united.back().upper) {
      united.back().upper = std::max(united.back().upper, range.upper);
    } else {
      united.push_back(std::move(range));
    }
  }
  *ranges = std::move(united);
}

// Marks the births in files that are dropped because all of their values have expired.
void ExpireBirthsOf(const std::vector<std::shared_ptr<ValueFileMeta>>& files, VersionEdit* edit) {
  for (const std::shared_ptr<ValueFileMeta>& file : files) {
    for (const BirthShare& birth : file->births)
      for (const auto& [table, share] : file->tables)
        edit->births_expired.push_back({birth.birth, table, share.newest_ms});
  }
}

// Whether all values that a collection dropped as expired are still expired.
bool HasStillExpired(const GcInput& input, const GcOutput& output, int64_t now_ms) {
  const auto expired = [&](const auto& noted) {
    const auto table = input.tables.find(noted.first.second);
    return table != input.tables.end() &&
           HasExpired(&table->second, static_cast<uint64_t>(noted.second), now_ms);
  };
  return std::all_of(output.births_expired.begin(), output.births_expired.end(), expired) &&
         std::all_of(input.expired.begin(), input.expired.end(),
                     [&](const auto& file) { return HasAllExpired(*file, input.tables, now_ms); });
}

}  // namespace

// While there is enough space, one collection runs at a time: it competes with compactions for the
// disk, and each makes the choice of the next one better.
void DBImpl::ScheduleGc() {
  // Where nothing is planned, the findings are dropped here, and with them files that they keep.
  std::unique_ptr<CollectionFindings> findings = collection_planner_.TakeFindings();
  if (instance_->closed.load()) return;
  {
    MutexLock state(tree_->mutex());
    if (tree_->versions.failed()) return;
    tree_->AdoptLeft();
    // All key files decide which values live, so collections wait until none is missing or damaged.
    if (late_files_.any_key_file() || faults_.IsKeyFileDamaged(*tree_->version()) ||
        !faults_.MayStart(BackgroundFaults::Work::kCollection))
      return;
  }
  const PlanInputs inputs = TakePlanInputs();
  if (inputs.version->value_files.empty() || instance_->options.gc_garbage_percent > 100) return;
  const uint32_t jobs_max =
      EffortOf(instance_->options, inputs, running_jobs_.compactions() > 0).jobs;
  if (running_jobs_.collections() >= jobs_max) return;
  const int64_t now_ms = instance_->expiry_time.Now().older_ms;
  while (running_jobs_.collections() < jobs_max) {
    std::shared_ptr<GcTask> task =
        collection_planner_.Plan(inputs, running_jobs_, now_ms, std::exchange(findings, nullptr));
    if (task == nullptr || !StartCollection(std::move(task))) break;
  }
  if (running_jobs_.collections() > 0) return;
  // Nothing is left to do, so work that failed before will not be tried again.
  MutexLock state(tree_->mutex());
  faults_.Worked(BackgroundFaults::Work::kCollection);
}

bool DBImpl::StartCollection(std::shared_ptr<GcTask> task) {
  running_jobs_.Insert(task);
  const bool submitted =
      instance_->TrySubmit(os::Priority::kGc, [this, weak = std::weak_ptr<GcTask>(task)] {
        if (std::shared_ptr<GcTask> queued = weak.lock()) RunGcJob(std::move(queued));
      });
  if (!submitted) {
    running_jobs_.Remove(task);
    return false;
  }
  tree_->space.AddCopied(task->copied_bytes);
  ++job_counts_.in_flight;
  return true;
}

void DBImpl::RunGcJob(std::shared_ptr<GcTask> task) {
  const uint64_t began_us = task->began_us = instance_->clock->MonotonicMicros();
  CollectionInfo told;
  std::optional<JobMemory::Grant> memory;
  const Status status = Guarded("collection in", instance_->path, [&] {
    // Tables that were registered since the job was queued may have expired values, too.
    task->input.tables = tables_.Options();
    task->input.now_ms = instance_->expiry_time.Now().older_ms;
    std::optional<JobMemory::Grant> granted = instance_->lease->job_memory()->TryBegin(
        instance_->budget.counter(MemoryPurpose::kCollections), WorkingSetOf(task->input));
    if (!granted) return Status::OK();
    memory.emplace(std::move(*granted));
    Describe(*task, &told);
    instance_->notifier->BeginJob(&EventListener::OnCollectionBegin, &told);
    Status collected = CollectGarbage(*task, &told);
    // See RunCompactionJob().
    if (collected.IsCorruption() && !instance_->cancelled) collected = CollectGarbage(*task, &told);
    return collected;
  });
  const bool put_off = !memory && status.ok();
  const DamageSearch damage = SearchDamage(status);
  {
    MutexLock jobs(&jobs_mutex_);
    running_jobs_.Remove(task);
    tree_->space.RemoveCopied(task->copied_bytes);
    {
      MutexLock state(tree_->mutex());
      if (!put_off && status.ok()) faults_.Worked(BackgroundFaults::Work::kCollection);
      if (!status.ok() && !instance_->cancelled)
        faults_.Failed(BackgroundFaults::Work::kCollection, status, began_us, damage,
                       *tree_->version());
    }
    // If nothing is left to collect, compactions may expose more.
    if (!put_off) ScheduleAll();
  }
  JobEnded();
  // The task may be the last owner of the inputs: their readers are then closed without a lock.
  task.reset();
  if (put_off) return AwaitMemory();
  memory.reset();
  RemoveObsoleteFiles();
  instance_->notifier->EndJob(&EventListener::OnCollectionEnd, &told, status,
                              instance_->clock->MonotonicMicros() - began_us);
  if (status.ok()) RetryOnceSpaceIsMade();
}

void DBImpl::Describe(const GcTask& task, CollectionInfo* told) {
  told->cause = task.cause;
  told->input_files = static_cast<uint32_t>(task.input.files.size());
  told->expired_files = static_cast<uint32_t>(task.input.expired.size());
  told->garbage_bytes = task.garbage_bytes;
  for (const auto* files : {&task.input.files, &task.input.expired})
    for (const std::shared_ptr<ValueFileMeta>& file : *files) told->input_file_bytes += file->bytes;
}

Status DBImpl::CollectGarbage(const GcTask& task, CollectionInfo* told) {
  GcOutput output;
  {
    const CpuSpan cpu(&instance_->counters.gc_cpu_us);
    JobContext context = MakeJobContext(0);
    context.may_use_reserve = true;  // a collection frees more than it writes
    LAVA_RETURN_IF_ERROR(RunGc(context, task.input, &output));
  }
  told->output_files = static_cast<uint32_t>(output.files.size());
  told->read_bytes = output.bytes_read;
  told->written_bytes = output.bytes_written;
  told->values_dead = output.values_dead;
  told->values_expired = output.values_expired;
  LAVA_RETURN_IF_ERROR(InstallGc(task, output, &told->installed));
  if (!told->installed) return Status::OK();
  Counters::Add(&instance_->counters.gc_jobs, 1);
  Counters::Add(&instance_->counters.gc_bytes_read, output.bytes_read);
  for (const std::shared_ptr<ValueFileMeta>& file : task.input.files)
    Counters::Add(&instance_->counters.gc_input_bytes, file->bytes);
  Counters::Add(&instance_->counters.gc_bytes_written, output.bytes_written);
  Counters::Add(&instance_->counters.gc_values_dead, output.values_dead);
  Counters::Add(&instance_->counters.records_expired, output.values_expired);
  Counters::Add(&instance_->counters.value_files_expired, task.input.expired.size());
  return Status::OK();
}

// The outputs take the inputs' places of all births that these held. The places are those of the
// manifest's version now: births may have left it since the job began. Not *installed: the clock
// was set back, so that dropped values have not expired. The outputs are then removed.
Status DBImpl::InstallGc(const GcTask& task, const GcOutput& output, bool* installed) {
  MutexLock install(tree_->versions.install_mutex());
  const CpuSpan cpu(&instance_->counters.install_cpu_us);
  {
    MutexLock state(tree_->mutex());
    tree_->AdoptLeft();
    *installed = HasStillExpired(task.input, output, instance_->expiry_time.Now().older_ms);
    if (!*installed) {
      for (const auto& file : output.files)
        tree_->versions.obsolete_files().Add(file->id.ValueFileName(), file);
      return Status::OK();
    }
  }
  const Version& now = *tree_->versions.state().version;
  VersionEdit edit;
  for (const std::shared_ptr<ValueFileMeta>& file : task.input.expired)
    if (now.value_files.contains(file->id)) edit.values_removed.push_back(file->id);
  if (!edit.values_removed.empty()) ExpireBirthsOf(task.input.expired, &edit);
  for (const auto& [of, timestamp_ms] : output.births_expired)
    edit.births_expired.push_back({of.first, of.second, timestamp_ms});
  std::map<FileId, std::vector<Bounds>> places;  // of the inputs, by birth
  for (const std::shared_ptr<ValueFileMeta>& file : task.input.files) {
    if (!now.value_files.contains(file->id)) continue;
    edit.values_removed.push_back(file->id);
    for (const BirthShare& share : file->births) {
      const auto birth = now.births.find(share.birth);
      if (birth == now.births.end()) continue;
      for (const Placement& place : birth->second->places)
        if (place.file == file) places[share.birth].push_back({place.lower, place.upper});
    }
  }
  for (auto& [birth, ranges] : places) Unite(&ranges);
  for (const std::shared_ptr<ValueFileMeta>& file : output.files) {
    VersionEdit::AddedValueFile added{file, {}};
    for (const BirthShare& share : file->births) {
      for (const Bounds& range : places[share.birth]) {
        std::string lower = std::max(range.lower, file->lower);
        std::string upper = std::min(range.upper, file->upper);
        if (lower < upper)
          added.places.push_back({share.birth, std::move(lower), std::move(upper)});
      }
    }
    if (!added.places.empty()) {
      edit.values_added.push_back(std::move(added));
    } else {  // all of its values have died meanwhile
      tree_->versions.obsolete_files().Add(file->id.ValueFileName(), file);
    }
  }
  if (edit.values_removed.empty()) return Status::OK();
  LAVA_RETURN_IF_ERROR(tree_->Log(edit));
  {
    // Before a plan sees the outputs.
    MutexLock jobs(&jobs_mutex_);
    (void)Tried([&] {
      jobs_mutex_.AssertHeld();
      tree_->versions.install_mutex()->AssertHeld();
      const Version& logged = *tree_->versions.state().version;
      for (const std::shared_ptr<ValueFileMeta>& file : output.files) {
        const auto entry = logged.value_files.find(file->id);
        if (entry != logged.value_files.end())
          collection_planner_.NoteOutput(file->id, entry->second.garbage.referenced);
      }
    });
  }
  MutexLock state(tree_->mutex());
  tree_->space.LearnFreed(task.input, output, instance_->clock->MonotonicMicros() - task.began_us,
                          job_counts_.collections);
  tree_->Adopt();
  Counters::Add(&instance_->counters.versions_installed, 1);
  return Status::OK();
}

}  // namespace lava
