#include <algorithm>

#include "base/guarded.h"
#include "db/db_impl.h"
#include "manifest/garbage.h"
#include "policy/value_rules.h"
#include "read/ttl_filter.h"

namespace lava {
namespace {

struct Bounds {
  std::string lower, upper;
};

// Sorts the ranges, and makes one of those that meet.
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

// Marks what was born in files that are dropped because all in them has expired.
void ExpireBirthsOf(const std::vector<std::shared_ptr<ValueFileMeta>>& files, VersionEdit* edit) {
  for (const std::shared_ptr<ValueFileMeta>& file : files) {
    for (const BirthShare& birth : file->births)
      for (const auto& [table, share] : file->tables)
        edit->births_expired.push_back({birth.birth, table, share.newest_ms});
  }
}

}  // namespace

// Whether every table has a clock that says so: then nothing in the file need be looked at.
bool HasAllExpired(const ValueFileMeta& file, const std::map<uint64_t, TableOptions>& tables,
                   int64_t now_ms) {
  for (const auto& [id, share] : file.tables) {
    const auto table = tables.find(id);
    if (table == tables.end() || share.newest_ms == TableShare::kNeverExpires ||
        !HasExpired(&table->second, static_cast<uint64_t>(share.newest_ms), now_ms))
      return false;
  }
  return !file.tables.empty();
}

// Whether everything has still expired that a collection dropped for that.
static bool HasStillExpired(const GcInput& input, const GcOutput& output, int64_t now_ms) {
  const auto expired = [&](const auto& noted) {
    const auto table = input.tables.find(noted.first.second);
    return table != input.tables.end() &&
           HasExpired(&table->second, static_cast<uint64_t>(noted.second), now_ms);
  };
  return std::all_of(output.births_expired.begin(), output.births_expired.end(), expired) &&
         std::all_of(input.expired.begin(), input.expired.end(),
                     [&](const auto& file) { return HasAllExpired(*file, input.tables, now_ms); });
}

// One collection at a time while there is space enough: it competes with compactions for the
// disk, and each makes the next one's choice better.
void DBImpl::ScheduleGc() {
  if (closed_.load()) return;
  {
    MutexLock state(&state_mutex_);
    if (versions_.failed()) return;
    AdoptLeft();
    // What lives is judged by all key files: there is time until they are there.
    if (late_files_.any_key_file() || faults_.IsKeyFileDamaged(*version_) ||
        !faults_.MayStart(BackgroundFaults::Work::kCollection))
      return;
  }
  const PlanInputs inputs = TakePlanInputs();
  const Version& version = *inputs.version;
  if (version.value_files.empty() || options_.gc_garbage_percent > 100) return;
  if (running_jobs_.collections() >=
      EffortOf(options_, inputs, running_jobs_.compactions() > 0).jobs)
    return;
  std::erase_if(gc_baselines_, [&version](const auto& baseline) {
    return !version.value_files.contains(baseline.first);
  });
  const std::vector<ValueFileGarbage> garbage = GarbageOf(version);
  while (running_jobs_.collections() <
             EffortOf(options_, inputs, running_jobs_.compactions() > 0).jobs &&
         StartCollection(inputs, garbage)) {
  }
  if (running_jobs_.collections() > 0) return;
  // What failed may be left undone for good.
  MutexLock state(&state_mutex_);
  faults_.Worked(BackgroundFaults::Work::kCollection);
}

bool DBImpl::StartCollection(const PlanInputs& inputs, const std::vector<ValueFileGarbage>& all) {
  const std::set<const ValueFileMeta*> busy = running_jobs_.BusyValueFiles();
  auto task = std::make_shared<GcTask>();
  task->input.version = inputs.version;
  const int64_t now_ms = expiry_time_.Now().older_ms;
  std::vector<GcFile> files;
  for (const ValueFileGarbage& garbage : all) {
    const bool is_busy = busy.contains(garbage.file.get());
    const bool expired = HasAllExpired(*garbage.file, inputs.tables, now_ms);
    if (expired && !is_busy) {
      task->input.expired.push_back(garbage.file);
      task->garbage_bytes += garbage.raw_bytes;
    }
    GcFile& file = files.emplace_back();
    file.raw_bytes = garbage.raw_bytes;
    file.garbage = garbage.garbage_estimate;
    file.busy = is_busy || expired || late_files_.Contains(garbage.file->id) ||
                inputs.Avoids(garbage.file->id);
    file.hot = garbage.file->hot;
    file.in_checkpoint = inputs.IsInCheckpoint(garbage.file->id);
    const auto baseline = gc_baselines_.find(garbage.file->id);
    if (baseline != gc_baselines_.end())
      file.garbage =
          std::min(file.garbage, baseline->second - std::min(baseline->second, garbage.referenced));
  }
  const GcEffort effort = EffortOf(options_, inputs, running_jobs_.compactions() > 0);
  const std::vector<size_t> picked =
      RulesOf(inputs.value_policy)
          .PickCollection(files, {.garbage_percent = effort.garbage_percent,
                                  .checkpoint_percent = effort.checkpoint_percent,
                                  .live_bytes_max = options_.value_file_bytes,
                                  .last_resort = effort.last_resort || inputs.pressure.slow > 0});
  if (picked.empty() && task->input.expired.empty()) return false;
  if (picked.empty()) {
    task->cause = CollectionCause::kExpired;
  } else if (effort.last_resort || inputs.pressure.slow > 0 || inputs.disk_full) {
    task->cause = CollectionCause::kSpace;
  }
  for (const size_t i : picked) {
    task->input.files.push_back(all[i].file);
    task->garbage_bytes += files[i].garbage;
    const uint64_t raw = std::max<uint64_t>(1, files[i].raw_bytes);
    const double live = static_cast<double>(raw - std::min(raw, files[i].garbage));
    task->copied_bytes += static_cast<uint64_t>(static_cast<double>(all[i].file->bytes) * live /
                                                static_cast<double>(raw));
  }
  running_jobs_.Insert(task);
  const bool submitted = TrySubmit(os::Priority::kGc, [this, weak = std::weak_ptr<GcTask>(task)] {
    if (std::shared_ptr<GcTask> queued = weak.lock()) RunGcJob(std::move(queued));
  });
  if (!submitted) {
    running_jobs_.Remove(task);
    return false;
  }
  space_.AddCopied(task->copied_bytes);
  ++job_counts_.in_flight;
  return true;
}

void DBImpl::RunGcJob(std::shared_ptr<GcTask> task) {
  const uint64_t began_us = task->began_us = clock_->MonotonicMicros();
  CollectionInfo told;
  std::optional<JobMemory::Grant> memory;
  const Status status = Guarded("collection in", path_, [&] {
    // Tables that were registered since the job was queued may have expired values, too.
    task->input.tables = tables_.Options();
    task->input.now_ms = expiry_time_.Now().older_ms;
    std::optional<JobMemory::Grant> granted = lease_->job_memory()->TryBegin(
        budget_.counter(MemoryPurpose::kCollections), WorkingSetOf(task->input));
    if (!granted) return Status::OK();
    memory.emplace(std::move(*granted));
    Describe(*task, &told);
    notifier_->BeginJob(&EventListener::OnCollectionBegin, &told);
    Status collected = CollectGarbage(*task, &told);
    // See RunCompactionJob().
    if (collected.IsCorruption() && !cancelled_) collected = CollectGarbage(*task, &told);
    return collected;
  });
  const bool put_off = !memory && status.ok();
  const DamageSearch damage = SearchDamage(status);
  {
    MutexLock jobs(&jobs_mutex_);
    running_jobs_.Remove(task);
    space_.RemoveCopied(task->copied_bytes);
    {
      MutexLock state(&state_mutex_);
      if (!put_off && status.ok()) faults_.Worked(BackgroundFaults::Work::kCollection);
      if (!status.ok() && !cancelled_)
        faults_.Failed(BackgroundFaults::Work::kCollection, status, began_us, damage, *version_);
    }
    // With nothing left to collect, compactions are made for what they expose.
    if (!put_off) ScheduleAll();
  }
  JobEnded();
  // The inputs may be named by nothing else any more: their readers close outside the lock.
  task.reset();
  if (put_off) return AwaitMemory();
  memory.reset();
  RemoveObsoleteFiles();
  notifier_->EndJob(&EventListener::OnCollectionEnd, &told, status,
                    clock_->MonotonicMicros() - began_us);
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
    const CpuSpan cpu(&counters_.gc_cpu_us);
    JobContext context = MakeJobContext(0);
    context.may_use_reserve = true;  // what a collection frees is more than what it writes
    LAVA_RETURN_IF_ERROR(RunGc(context, task.input, &output));
  }
  told->output_files = static_cast<uint32_t>(output.files.size());
  told->read_bytes = output.bytes_read;
  told->written_bytes = output.bytes_written;
  told->values_dead = output.values_dead;
  told->values_expired = output.values_expired;
  LAVA_RETURN_IF_ERROR(InstallGc(task, output, &told->installed));
  if (!told->installed) return Status::OK();
  Counters::Add(&counters_.gc_jobs, 1);
  Counters::Add(&counters_.gc_bytes_read, output.bytes_read);
  for (const std::shared_ptr<ValueFileMeta>& file : task.input.files)
    Counters::Add(&counters_.gc_input_bytes, file->bytes);
  Counters::Add(&counters_.gc_bytes_written, output.bytes_written);
  Counters::Add(&counters_.gc_values_dead, output.values_dead);
  Counters::Add(&counters_.records_expired, output.values_expired);
  Counters::Add(&counters_.value_files_expired, task.input.expired.size());
  return Status::OK();
}

// What was born in the inputs, or was there already from elsewhere, is in the outputs now. The
// places are made from the version as it is now: births may have gone since the job began.
// Not *installed: the clock went back below what the output was made by.
Status DBImpl::InstallGc(const GcTask& task, const GcOutput& output, bool* installed) {
  MutexLock install(versions_.install_mutex());
  const CpuSpan cpu(&counters_.install_cpu_us);
  {
    MutexLock state(&state_mutex_);
    AdoptLeft();
    *installed = HasStillExpired(task.input, output, expiry_time_.Now().older_ms);
    if (!*installed) {
      for (const auto& file : output.files)
        versions_.obsolete_files().Add(file->id.ValueFileName(), file);
      return Status::OK();
    }
  }
  const Version& now = *versions_.state().version;
  VersionEdit edit;
  for (const std::shared_ptr<ValueFileMeta>& file : task.input.expired)
    if (now.value_files.contains(file->id)) edit.values_removed.push_back(file->id);
  if (!edit.values_removed.empty()) ExpireBirthsOf(task.input.expired, &edit);
  for (const auto& [of, timestamp_ms] : output.births_expired)
    edit.births_expired.push_back({of.first, of.second, timestamp_ms});
  std::map<FileId, std::vector<Bounds>> places;  // that the inputs have, by birth
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
    } else {  // all that it was to hold has died meanwhile
      versions_.obsolete_files().Add(file->id.ValueFileName(), file);
    }
  }
  if (edit.values_removed.empty()) return Status::OK();
  LAVA_RETURN_IF_ERROR(Log(edit));
  {
    // Before anybody can plan with the outputs.
    MutexLock jobs(&jobs_mutex_);
    (void)Tried([&] {
      jobs_mutex_.AssertHeld();
      versions_.install_mutex()->AssertHeld();
      const Version& logged = *versions_.state().version;
      for (const std::shared_ptr<ValueFileMeta>& file : output.files) {
        const auto entry = logged.value_files.find(file->id);
        if (entry != logged.value_files.end())
          gc_baselines_[file->id] = entry->second.garbage.referenced;
      }
    });
  }
  MutexLock state(&state_mutex_);
  space_.LearnFreed(task.input, output, clock_->MonotonicMicros() - task.began_us,
                    job_counts_.collections);
  Adopt();
  Counters::Add(&counters_.versions_installed, 1);
  return Status::OK();
}

}  // namespace lava
