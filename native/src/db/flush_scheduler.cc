// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "db/flush_scheduler.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/guarded.h"
#include "base/mutex.h"
#include "compaction/flush_job.h"
#include "db/background_faults.h"
#include "db/counters.h"
#include "db/job_plans.h"
#include "db/job_working_sets.h"
#include "db/read_view.h"
#include "db/sealed_memtables.h"
#include "db/search_damage.h"
#include "db/separation_tuner.h"
#include "db/version_search.h"
#include "host/job_memory.h"
#include "lava/event_listener.h"
#include "lava/status.h"
#include "manifest/version.h"
#include "memory/memory_counter.h"
#include "memtable/memtable.h"
#include "os/executor.h"
#include "read/readers.h"
#include "table/table_writer.h"

namespace lava {

void FlushScheduler::Schedule(bool force) {
  MutexLock state(tree_->mutex());
  ScheduleLocked(force);
}

// force: failed flushes are retried at once.
void FlushScheduler::ScheduleLocked(bool force) {
  if (instance_->closed.load()) return;
  if (!force && !with_.faults->MayStart(BackgroundFaults::Work::kFlush)) return;
  while (const std::shared_ptr<FlushGroup> group = tree_->sealed().NextToStart()) Start(group);
}

void FlushScheduler::Start(const std::shared_ptr<FlushGroup>& group) {
  LAVA_DCHECK(!group->running && !group->runs.empty());
  // A queued job keeps no memtable alive, so that Close() can free all memory whether or not the
  // job runs.
  instance_->Submit(os::Priority::kFlush, [this, weak = std::weak_ptr<FlushGroup>(group)] {
    if (const std::shared_ptr<FlushGroup> queued = weak.lock()) return Run(queued);
    // Another flush installed the group while this retry was queued.
    {
      MutexLock state(tree_->mutex());
      tree_->sealed().EndedEarly();
    }
    tree_->JobEnded();
  });
  tree_->sealed().Started(group.get());
  tree_->JobBegan();
}

Status FlushScheduler::FlushAllHere() {
  std::shared_ptr<FlushGroup> group;
  {
    MutexLock state(tree_->mutex());
    if (tree_->sealed().empty()) return Status::OK();
    group = tree_->sealed().GroupAll();
    tree_->sealed().Started(group.get());
    tree_->JobBegan();
  }
  Run(group);
  MutexLock state(tree_->mutex());
  return tree_->sealed().empty() ? Status::OK()
                                 : with_.faults->StatusOf(BackgroundFaults::Work::kFlush);
}

Status FlushScheduler::Relieve(uint64_t since_us) {
  using Work = BackgroundFaults::Work;
  MutexLock state(tree_->mutex());
  if (tree_->sealed().running() == 0)
    LAVA_RETURN_IF_ERROR(with_.faults->RetryNow(Work::kFlush, since_us));
  ScheduleLocked(/*force=*/false);
  instance_->MakeUrgent(os::Priority::kFlush);
  return tree_->sealed().running() == 0 ? with_.faults->StatusOf(Work::kFlush) : Status::OK();
}

void FlushScheduler::Run(const std::shared_ptr<FlushGroup>& group) {
  const uint64_t began_us = instance_->clock->MonotonicMicros();
  FlushInfo told;
  std::vector<Flushed> flushed;
  const Status status =
      Guarded("flush in", instance_->path, [&] { return Flush(group.get(), &told, &flushed); });
  (void)Tried([&] { TuneSeparation(flushed); });
  const DamageSearch damage = SearchDamage(tree_, *with_.tables, status);
  {
    SealedMemTables::Runs installed;  // destroyed after the lock
    MutexLock state(tree_->mutex());
    told.installed = tree_->sealed().Ended(group.get(), &installed);
    tree_->NotifyChanged();
    if (status.ok()) {
      with_.faults->Worked(BackgroundFaults::Work::kFlush);
    } else if (!instance_->cancelled) {
      with_.faults->Failed(BackgroundFaults::Work::kFlush, status, began_us, damage,
                           *tree_->version());
    }
    if (status.ok())
      (void)Tried([this] {
        tree_->mutex()->AssertHeld();
        ScheduleLocked(false);
      });
  }
  plan_jobs_();
  tree_->JobEnded();
  with_.remover->RemoveObsolete();
  instance_->notifier->EndJob(&EventListener::OnFlushEnd, &told, status,
                              instance_->clock->MonotonicMicros() - began_us);
}

void FlushScheduler::TuneSeparation(const std::vector<Flushed>& installed) {
  if (installed.empty()) return;
  // Takes the version and not the view, which would keep memtables in memory.
  const std::shared_ptr<const Version> version = tree_->view()->version;
  const auto get = [](const Counters::Counter& c) { return c.load(std::memory_order_relaxed); };
  const SeparationTuner::Instance instance{
      .memtable_bytes = instance_->memtable_bytes_max,
      .value_bytes_written = get(instance_->counters.value_bytes_written),
      .value_bytes_copied = get(instance_->counters.collection_bytes_written)};
  for (const Flushed& flushed : installed)
    with_.separation_tuner->FlushInstalled(flushed, *version, instance);
}

Status FlushScheduler::Flush(FlushGroup* group, FlushInfo* told, std::vector<Flushed>* installed) {
  FlushInput input;
  input.tables = with_.tables->Options();
  bool flushed;
  {
    MutexLock state(tree_->mutex());
    LAVA_DCHECK(group->running && !group->runs.empty());
    flushed = group->done;  // only installing failed in the last attempt
    for (const std::shared_ptr<SealedRun>& run : group->runs) {
      LAVA_DCHECK(run->sequence > 0 && run->memtable->sealed());
      input.runs.push_back(run->memtable);
      input.segments.insert(input.segments.end(), run->segments.begin(), run->segments.end());
    }
    // A snapshot may have files that left the version after it was taken.
    input.nothing_older = tree_->sealed().IsOldest(*group) && !HasFiles(*tree_->version()) &&
                          with_.snapshots->size() == 0;
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
        instance_->budget.counter(MemoryPurpose::kFlushes), WorkingSetOf(*instance_, input)));
    const CpuSpan cpu(&instance_->counters.flush_cpu_us);
    status = RunFlush(tree_->MakeJobContext(0), input, &output);
  }
  {
    MutexLock state(tree_->mutex());
    if (!flushed && status.ok()) {
      LAVA_DCHECK(group->running && !group->done && group->file == nullptr);
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
  return status.ok() ? Install(installed) : status;
}

// Installs groups, oldest first, until the oldest is not done. A run therefore never becomes a file
// before older runs.
Status FlushScheduler::Install(std::vector<Flushed>* installed) {
  MutexLock install(tree_->versions.install_mutex());
  while (true) {
    std::shared_ptr<FlushGroup> group;
    {
      MutexLock state(tree_->mutex());
      group = tree_->sealed().OldestDone();
      if (group == nullptr) return Status::OK();
    }
    LAVA_RETURN_IF_ERROR(InstallGroup(group, installed));
  }
}

// Logs the group's files in the manifest, then publishes them to readers. If memory is refused
// after the manifest was written, the next attempt only publishes.
Status FlushScheduler::InstallGroup(const std::shared_ptr<FlushGroup>& group,
                                    std::vector<Flushed>* installed) {
  const CpuSpan cpu(&instance_->counters.install_cpu_us);
  LAVA_DCHECK(group->done);
  if (!group->logged) LAVA_RETURN_IF_ERROR(LogGroup(group.get()));
  // The next trim makes up for a failed one. A replay skips these records.
  const std::optional<uint64_t> wal_flushed = group->edit.wal_flushed;
  const Status trimmed = wal_flushed ? with_.wal->Flushed(*wal_flushed) : Status::OK();
  if (with_.wal->enabled())
    with_.remover->RemoveReplayed(tree_->versions.state().wal_flushed.value_or(0));
  // Declared before the lock: versions that readers no longer need are destroyed without the mutex
  // that writes need.
  const ViewRef replaced = tree_->view();
  FlushedViews views;
  // If memory is refused here, AdoptFlush() makes the views under the mutex. An exception would
  // leave without it, although the manifest has the edit.
  (void)Tried([&] { views = PrepareViews(*group); });
  MutexLock state(tree_->mutex());
  const CpuSpan publishing(&instance_->counters.publish_cpu_us);
  if (wal_flushed) with_.faults->Note(BackgroundFaults::Work::kLog, trimmed);
  tree_->AdoptFlush(group, &views);
  Counters::Add(&instance_->counters.versions_installed, 1);
  (void)Tried([&] {
    tree_->versions.install_mutex()->AssertHeld();
    tree_->mutex()->AssertHeld();
    with_.remover->DropReleased(*tree_->version());
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

FlushedViews FlushScheduler::PrepareViews(const FlushGroup& group) const {
  SealedMemTables::Runs runs;
  {
    MutexLock state(tree_->mutex());
    // If memory was short when the edit was logged, a plan may have adopted the group since, and
    // the flush that ends clears the runs.
    if (!tree_->sealed().IsOldest(group)) return {};
    runs = group.runs;
  }
  return with_.snapshots->PrepareFlushed(runs, group.edit);
}

Status FlushScheduler::LogGroup(FlushGroup* group) {
  LAVA_DCHECK(group->done && !group->logged);
  VersionEdit edit;
  if (group->file != nullptr) edit.Add(0, {group->file, group->file->lower, group->file->upper});
  for (const std::shared_ptr<ValueFileMeta>& file : group->value_files) edit.AddNewValueFile(file);
  {
    MutexLock state(tree_->mutex());
    tree_->AdoptLeft();
  }
  for (const std::shared_ptr<SealedRun>& run : group->runs) {
    for (uint64_t id : run->dropped_tables)
      // A table that was created again stays. No table can be created before the edit is logged,
      // because that needs the install mutex, too.
      if (tree_->versions.state().tables.contains(id) && !with_.tables->IsKnown(id) &&
          std::find(edit.dropped.begin(), edit.dropped.end(), id) == edit.dropped.end())
        edit.dropped.push_back(id);
  }
  if (with_.wal->enabled()) edit.wal_flushed = group->runs.front()->wal_last;
  LAVA_DCHECK(group->runs.front()->sequence >= group->runs.back()->sequence);
  group->edit = edit;
  if (group->file == nullptr && edit.dropped.empty() && !edit.wal_flushed) return Status::OK();
  return tree_->Log(edit, group);
}

Status FlushScheduler::WaitUntil(const std::function<bool()>& flushed, uint32_t timeout_ms,
                                 std::atomic<uint64_t>* failures_seen) {
  const auto deadline =
      std::chrono::steady_clock::now() +
      std::chrono::milliseconds(std::min(timeout_ms, instance_->environment.wait_ms_max));
  MutexLock state(tree_->mutex());
  bool forced = false;
  while (true) {
    if (instance_->closed.load()) return Status::Closed("the instance was closed");
    if (flushed()) return Status::OK();
    if (std::optional<Status> failure = with_.faults->NewFlushFailure(failures_seen))
      return *failure;
    if (!forced) {
      ScheduleLocked(/*force=*/true);
      instance_->RetryThreads();
      forced = true;
    }
    if (!tree_->WaitUntil(deadline)) return flushed() ? Status::OK() : Status::Busy();
  }
}

}  // namespace lava
