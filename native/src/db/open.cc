// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/guarded.h"
#include "base/mutex.h"
#include "db/db_impl.h"
#include "db/replay.h"
#include "host/process_parts.h"
#include "job/job_context.h"
#include "lava/db.h"
#include "lava/options.h"
#include "lava/status.h"
#include "manifest/version.h"
#include "manifest/version_edit.h"
#include "read/readers.h"
#include "table/table_reader.h"
#include "value/value_reader.h"

namespace lava {
namespace {

// A missing file is damage, because the manifest names it.
Status NotOpened(const std::string& path, const Status& status) {
  return status.IsNotFound() ? Status::Corruption("file " + path + " is missing") : status;
}

}  // namespace

bool IsDataFile(std::string_view name) {
  return name.ends_with(".ksst") || name.ends_with(".vsst");
}

Result<std::unique_ptr<DB>> DB::Open(const DBOptions& options, const std::string& path,
                                     std::span<const ImportSource> imports) {
  return OpenDB(options, path, imports, DBEnvironment());
}

Result<std::unique_ptr<DB>> OpenDB(const DBOptions& options, const std::string& path,
                                   std::span<const ImportSource> imports,
                                   const DBEnvironment& environment) {
  if (options.lease == nullptr)
    return Status::InvalidArgument("open " + path + ": options.lease is required");
  auto db = std::make_unique<DBImpl>(options, path, environment);
  const Status status = db->Start(imports);
  if (!status.ok()) {
    static_cast<void>(db->Close());
    return status.WithContext("open " + path);
  }
  return std::unique_ptr<DB>(std::move(db));
}

DBImpl::DBImpl(const DBOptions& options, std::string path, const DBEnvironment& environment)
    : components_(options, std::move(path), environment, this) {}

DBImpl::~DBImpl() {
  // Closing is repeated while it is busy or lacks memory.
  bool closed = false;
  while (!closed) (void)Tried([&] { closed = !Close().IsBusy(); });
}

Status DBImpl::Start(std::span<const ImportSource> imports) {
  LAVA_RETURN_IF_ERROR(components_.instance.Open());
  LAVA_RETURN_IF_ERROR(
      components_.instance.syncs()
          ? components_.instance.files->CreateDurableDirectory(components_.instance.path)
          : components_.instance.files->CreateDirectory(components_.instance.path));
  LAVA_ASSIGN_OR_RETURN(lifetime_.directory_lock,
                        components_.instance.files->Lock(components_.instance.path));

  LAVA_RETURN_IF_ERROR(OpenVersion(imports));
  LAVA_RETURN_IF_ERROR(
      Replay(&components_.tree, &components_.tables, &components_.wal, &components_.writer).Run());
  components_.writer.EndReplay();
  {
    MutexLock install(components_.tree.versions.install_mutex());
    components_.remover.RemoveReplayed(components_.tree.versions.state().wal_flushed.value_or(0));
  }
  components_.instance.notifier->Deliver();
  return Status::OK();
}

Status DBImpl::OpenVersion(std::span<const ImportSource> imports) {
  MutexLock install(components_.tree.versions.install_mutex());
  VersionEdit first;
  LAVA_RETURN_IF_ERROR(OpenManifest(imports, &first));
  LAVA_RETURN_IF_ERROR(OpenWal(&first));
  ManifestState next = components_.tree.versions.state();
  LAVA_RETURN_IF_ERROR(ApplyEdit(first, &next));
  LAVA_RETURN_IF_ERROR(OpenFiles(*next.version, imports));
  LAVA_RETURN_IF_ERROR(components_.tree.versions.Begin(first));
  LAVA_RETURN_IF_ERROR(components_.changelog.Open(
      components_.tree.versions.origin(), components_.tree.versions.state().origins,
      components_.tree.versions.state().entries_released.value_or(0)));
  LAVA_RETURN_IF_ERROR(RemoveUnnamedFiles());

  components_.tables.Recover(components_.tree.versions.state().tables);
  components_.instance.lease->Join(this);
  components_.tree.space.Join(this);
  lifetime_.joined = true;
  components_.writer.Begin();
  components_.jobs.Schedule();
  return Status::OK();
}

Status DBImpl::OpenManifest(std::span<const ImportSource> imports, VersionEdit* first) {
  const Status recovered = components_.tree.versions.Recover();
  if (recovered.ok()) {
    if (!imports.empty())
      return Status::InvalidArgument("import: the directory holds an instance already");
    const uint32_t found = components_.tree.versions.state().partition_bytes;
    if (found != components_.instance.options.partition_bytes)
      return Status::InvalidArgument("the instance has partition_bytes " + std::to_string(found) +
                                     ", the options say " +
                                     std::to_string(components_.instance.options.partition_bytes));
  } else if (recovered.IsNotFound()) {
    if (imports.empty() && !components_.instance.options.create_if_missing)
      return Status::NotFound("no instance here, and options.create_if_missing is off");
    components_.tree.versions.StartFresh();
    first->partition_bytes = components_.instance.options.partition_bytes;
    LAVA_RETURN_IF_ERROR(BuildImport(imports, first));
  } else {
    return recovered;
  }
  components_.tree.versions.DrawOrigin(first);
  return Status::OK();
}

Status DBImpl::OpenFiles(const Version& version, std::span<const ImportSource> imports) {
  std::set<std::string_view> missing;
  for (const ImportSource& source : imports)
    missing.insert(source.missing.begin(), source.missing.end());
  const JobContext context = components_.tree.MakeJobContext(0);
  for (const auto& level : version.levels) {
    for (const KeyFileEntry& entry : level) {
      if (ReaderOf(entry) != nullptr) continue;
      if (missing.contains(entry.file->id.FileName())) {
        components_.missing_files.Add(entry.file);
        continue;
      }
      Result<std::shared_ptr<TableReader>> reader = OpenReader(context, *entry.file);
      if (!reader.ok()) return NotOpened(context.PathOf(entry.file->id), reader.status());
      entry.file->reader.Set(std::move(reader).value());
    }
  }
  for (const auto& [id, entry] : version.value_files) {
    if (ReaderOf(*entry.file) != nullptr) continue;
    if (missing.contains(id.ValueFileName())) {
      components_.missing_files.Add(entry.file);
      continue;
    }
    Result<std::shared_ptr<ValueReader>> reader = OpenValueReader(context, *entry.file);
    if (!reader.ok()) return NotOpened(context.ValuePathOf(id), reader.status());
    entry.file->reader.Set(std::move(reader).value());
  }
  return Status::OK();
}

Status DBImpl::RemoveUnnamedFiles() {
  std::set<std::string> named;
  for (const auto& level : components_.tree.versions.state().version->levels)
    for (const KeyFileEntry& entry : level) named.insert(entry.file->id.FileName());
  for (const auto& [id, entry] : components_.tree.versions.state().version->value_files)
    named.insert(id.ValueFileName());
  LAVA_ASSIGN_OR_RETURN(const std::vector<std::string> names,
                        components_.instance.files->List(components_.instance.path));
  for (const std::string& name : names) {
    const bool unnamed = IsDataFile(name) && !named.contains(name);
    if (!unnamed && !components_.tree.versions.IsOldManifest(name)) continue;
    if (components_.wal.enabled() && name.ends_with(".vsst")) {
      if (!components_.changelog.Holds(name)) components_.remover.AddReplayed(name);
      continue;
    }
    const Status status =
        components_.instance.files->Remove(components_.instance.path + "/" + name);
    components_.remover.TellRemoved(name, status);
    if (!status.ok() && !status.IsNotFound()) return status;
  }
  return Status::OK();
}

Status DBImpl::Close() {
  LAVA_RETURN_IF_ERROR(CloseNow());
  components_.instance.notifier->End();
  return Status::OK();
}

Status DBImpl::CloseNow() {
  MutexLock close(&lifetime_.mutex);
  if (lifetime_.torn_down) return Status::OK();
  if (!components_.instance.closed.load()) {
    {
      // Without this mutex, a publishing thread could read `closed` too early and take writers off
      // the slow path afterwards.
      MutexLock state(components_.tree.mutex());
      components_.instance.closed = true;
      components_.tree.UpdateSlowPath();
      components_.tree.NotifyChanged();
    }
    components_.jobs.manual_compactions()->Close();
    components_.instance.cancelled = true;
    if (lifetime_.joined) components_.instance.lease->Leave(this);
    components_.tree.space.Leave();
  }
  // Jobs check components_.instance.cancelled between records, but a system call cannot be
  // interrupted.
  if (!components_.instance.close_guard->Close(
          std::chrono::milliseconds(std::max(components_.instance.environment.wait_ms_max, 1u))))
    return Status::Busy("close " + components_.instance.path +
                        ": a background job is inside a system call");
  TearDown();
  lifetime_.torn_down = true;
  return Status::OK();
}

std::string DBImpl::LeftOpen() const {
  MutexLock close(&lifetime_.mutex);
  return lifetime_.left_open;
}

// Called when no job or snapshot is inside the close guard, and none can enter.
void DBImpl::TearDown() {
  lifetime_.left_open = components_.snapshots->Clear();
  components_.instance.notifier->StallIs(std::nullopt, Status::Closed("the instance was closed"),
                                         components_.instance.clock->MonotonicMicros());
  components_.writer.HideView();
  components_.remover.RemoveObsolete();
  components_.writer.SyncLogSegments();
  std::unique_ptr<Wal> wal;  // destroyed without a mutex, because this may be the log's last user
  {
    // A thread that creates or drops a table holds this mutex from its check of `closed` on.
    MutexLock install(components_.tree.versions.install_mutex());
    wal = components_.writer.Close();
    MutexLock state(components_.tree.mutex());
    components_.tree.versions.Close();
    components_.tree.Clear();
  }
  wal.reset();
  components_.missing_files.Clear();
  components_.tables.ForgetDeadRanges();
  components_.jobs.Clear();
  lifetime_.directory_lock.reset();
  components_.instance.lease->job_memory()->Forget(this);
  components_.instance.Close();
}

}  // namespace lava
