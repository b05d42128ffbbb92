// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "db/job_scheduler.h"
#include "db/reader.h"
#include "db/writer.h"

namespace lava {

/// The components of an instance, connected with each other. DBImpl opens, closes and calls them.
/// Tests of components use them without DBImpl. docs/architecture.md says what each component owns.
///
/// Members are in the order in which they are built. A component borrows only earlier members. The
/// calls that go to later members are listed in docs/architecture.md, with their reasons.
///
/// Threads: one builds and destroys the components, while no other thread uses them. Otherwise any,
/// as each component says.
struct Components {
  /// memory_waiter: the host calls it when memory is free again; borrowed.
  Components(const DBOptions& options, std::string path, const DBEnvironment& environment,
             MemoryWaiter* memory_waiter)
      : instance(options, std::move(path), environment),
        jobs(&instance, &tree,
             {.tables = &tables,
              .faults = &faults,
              .missing_files = &missing_files,
              .snapshots = snapshots.get(),
              .flushes = &flushes,
              .remover = &remover,
              .memory_waiter = memory_waiter}) {}
  Components(const Components&) = delete;
  Components& operator=(const Components&) = delete;

  InstanceContext instance;
  ChangelogLog changelog{instance.files, instance.path, instance.options.wal};
  MissingFiles missing_files;
  TableRegistry tables{instance.budget.counter(MemoryPurpose::kReaders),
                       SeparationTuner::FirstLargeBytes(instance.options)};
  SeparationTuner separation_tuner{instance.options, &tables};
  BackgroundFaults faults{instance.clock, instance.notifier.get(),
                          &instance.counters.background_errors, instance.environment.retry_us_min,
                          instance.environment.retry_us_max};
  const std::shared_ptr<SnapshotRegistry> snapshots =
      std::make_shared<SnapshotRegistry>(instance.quota, instance.notifier);
  TreeState tree{
      &instance,
      {.faults = &faults, .missing_files = &missing_files, .snapshots = snapshots.get()}};
  WriteAheadLog wal{&instance.partitions, instance.options.wal, instance.files, instance.path};
  FileRemover remover{&instance, &tree, &changelog, &faults};
  std::function<void()> plan_jobs = [this] { jobs.Schedule(); };  // tests may replace it
  FlushScheduler flushes{&instance,
                         &tree,
                         {.tables = &tables,
                          .separation_tuner = &separation_tuner,
                          .faults = &faults,
                          .snapshots = snapshots.get(),
                          .wal = &wal,
                          .remover = &remover},
                         [this] { plan_jobs(); }};
  JobScheduler jobs;
  Writer writer{&instance,
                &tree,
                {.tables = &tables,
                 .separation_tuner = &separation_tuner,
                 .wal = &wal,
                 .changelog = &changelog,
                 .flushes = &flushes,
                 .jobs = &jobs}};
  const Reader reader{&instance, &tree, &tables, snapshots.get()};
};

}  // namespace lava
