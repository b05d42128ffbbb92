#include <algorithm>
#include <chrono>
#include <set>
#include <utility>

#include "base/guarded.h"
#include "db/db_impl.h"
#include "table/table_reader.h"

namespace lava {
namespace {

// A file that the manifest names must be there.
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
    : instance_(std::make_unique<InstanceContext>(options, std::move(path), environment)) {}

DBImpl::~DBImpl() {
  // Closing is done again from where there was no memory for it.
  bool closed = false;
  while (!closed) (void)Tried([&] { closed = !Close().IsBusy(); });
}

Status DBImpl::Start(std::span<const ImportSource> imports) {
  LAVA_RETURN_IF_ERROR(instance_->Open());
  LAVA_RETURN_IF_ERROR(instance_->syncs()
                           ? instance_->files->CreateDurableDirectory(instance_->path)
                           : instance_->files->CreateDirectory(instance_->path));
  LAVA_ASSIGN_OR_RETURN(lifetime_.directory_lock, instance_->files->Lock(instance_->path));

  LAVA_RETURN_IF_ERROR(OpenVersion(imports));
  LAVA_RETURN_IF_ERROR(writer_->Replay());
  {
    MutexLock install(tree_->versions.install_mutex());
    remover_->RemoveReplayed(tree_->versions.state().wal_flushed.value_or(0));
  }
  instance_->notifier->Deliver();
  return Status::OK();
}

Status DBImpl::OpenVersion(std::span<const ImportSource> imports) {
  MutexLock install(tree_->versions.install_mutex());
  VersionEdit first;
  LAVA_RETURN_IF_ERROR(OpenManifest(imports, &first));
  LAVA_RETURN_IF_ERROR(OpenWal(&first));
  ManifestState next = tree_->versions.state();
  LAVA_RETURN_IF_ERROR(ApplyEdit(first, &next));
  LAVA_RETURN_IF_ERROR(OpenFiles(*next.version, imports));
  LAVA_RETURN_IF_ERROR(tree_->versions.Begin(first));
  LAVA_RETURN_IF_ERROR(changelog_.Open(tree_->versions.origin(), tree_->versions.state().origins,
                                       tree_->versions.state().entries_released.value_or(0)));
  LAVA_RETURN_IF_ERROR(RemoveUnnamedFiles());

  tables_.Recover(tree_->versions.state().tables);
  instance_->lease->Join(this);
  tree_->space.Join(this);
  lifetime_.joined = true;
  writer_->Begin();
  jobs_->Schedule();
  return Status::OK();
}

Status DBImpl::OpenManifest(std::span<const ImportSource> imports, VersionEdit* first) {
  const Status recovered = tree_->versions.Recover();
  if (recovered.ok()) {
    if (!imports.empty())
      return Status::InvalidArgument("import: the directory holds an instance already");
    const uint32_t found = tree_->versions.state().partition_bytes;
    if (found != instance_->options.partition_bytes)
      return Status::InvalidArgument("the instance has partition_bytes " + std::to_string(found) +
                                     ", the options say " +
                                     std::to_string(instance_->options.partition_bytes));
  } else if (recovered.IsNotFound()) {
    if (imports.empty() && !instance_->options.create_if_missing)
      return Status::NotFound("no instance here, and options.create_if_missing is off");
    tree_->versions.StartFresh();
    first->partition_bytes = instance_->options.partition_bytes;
    LAVA_RETURN_IF_ERROR(BuildImport(imports, first));
  } else {
    return recovered;
  }
  tree_->versions.DrawOrigin(first);
  return Status::OK();
}

Status DBImpl::OpenFiles(const Version& version, std::span<const ImportSource> imports) {
  std::set<std::string_view> missing;
  for (const ImportSource& source : imports)
    missing.insert(source.missing.begin(), source.missing.end());
  const JobContext context = tree_->MakeJobContext(0);
  for (const auto& level : version.levels) {
    for (const KeyFileEntry& entry : level) {
      if (entry.file->reader != nullptr) continue;
      if (missing.contains(entry.file->id.FileName())) {
        late_files_.Add(entry.file);
        continue;
      }
      Result<std::shared_ptr<TableReader>> reader = OpenReader(context, *entry.file);
      if (!reader.ok()) return NotOpened(context.PathOf(entry.file->id), reader.status());
      entry.file->reader = std::move(reader).value();
    }
  }
  for (const auto& [id, entry] : version.value_files) {
    if (entry.file->reader != nullptr) continue;
    if (missing.contains(id.ValueFileName())) {
      late_files_.Add(entry.file);
      continue;
    }
    Result<std::shared_ptr<ValueReader>> reader = OpenValueReader(context, *entry.file);
    if (!reader.ok()) return NotOpened(context.ValuePathOf(id), reader.status());
    entry.file->reader = std::move(reader).value();
  }
  return Status::OK();
}

Status DBImpl::RemoveUnnamedFiles() {
  std::set<std::string> named;
  for (const auto& level : tree_->versions.state().version->levels)
    for (const KeyFileEntry& entry : level) named.insert(entry.file->id.FileName());
  for (const auto& [id, entry] : tree_->versions.state().version->value_files)
    named.insert(id.ValueFileName());
  LAVA_ASSIGN_OR_RETURN(const std::vector<std::string> names,
                        instance_->files->List(instance_->path));
  for (const std::string& name : names) {
    const bool unnamed = IsDataFile(name) && !named.contains(name);
    if (!unnamed && !tree_->versions.IsOldManifest(name)) continue;
    if (wal_.enabled() && name.ends_with(".vsst")) {
      if (!changelog_.Holds(name)) remover_->AddReplayed(name);
      continue;
    }
    const Status status = instance_->files->Remove(instance_->path + "/" + name);
    remover_->TellRemoved(name, status);
    if (!status.ok() && !status.IsNotFound()) return status;
  }
  return Status::OK();
}

Status DBImpl::Close() {
  LAVA_RETURN_IF_ERROR(CloseNow());
  instance_->notifier->End();
  return Status::OK();
}

Status DBImpl::CloseNow() {
  MutexLock close(&lifetime_.mutex);
  if (lifetime_.torn_down) return Status::OK();
  if (!instance_->closed.load()) {
    {
      // Else a thread that publishes a view could look at closed before, and call writers off
      // attention behind it.
      MutexLock state(tree_->mutex());
      instance_->closed = true;
      tree_->UpdateAttention();
      tree_->NotifyChanged();
    }
    jobs_->manual_compactions()->Close();
    instance_->cancelled = true;
    if (lifetime_.joined) instance_->lease->Leave(this);
    tree_->space.Leave();
  }
  // Jobs look at instance_->cancelled between records, but nothing breaks off a call to the system.
  if (!instance_->close_guard->Close(
          std::chrono::milliseconds(std::max(instance_->environment.wait_ms_max, 1u))))
    return Status::Busy("close " + instance_->path +
                        ": a background job is amid a call to the system");
  TearDown();
  lifetime_.torn_down = true;
  return Status::OK();
}

std::string DBImpl::LeftOpen() const {
  MutexLock close(&lifetime_.mutex);
  return lifetime_.left_open;
}

// No job or snapshot is inside the close guard, and none can enter.
void DBImpl::TearDown() {
  lifetime_.left_open = snapshots_->Clear();
  instance_->notifier->StallIs(std::nullopt, Status::Closed("the instance was closed"),
                               instance_->clock->MonotonicMicros());
  writer_->HideView();
  remover_->RemoveObsolete();
  writer_->SyncSegments();
  std::unique_ptr<Wal> wal;  // ends without a mutex, because this may be the log's last user
  {
    // A thread that creates or drops a table holds this mutex from its look at closed on.
    MutexLock install(tree_->versions.install_mutex());
    wal = writer_->Close();
    MutexLock state(tree_->mutex());
    tree_->versions.Close();
    tree_->Clear();
  }
  wal.reset();
  late_files_.Clear();
  tables_.ForgetDeadRanges();
  jobs_->Clear();
  lifetime_.directory_lock.reset();
  instance_->lease->job_memory()->Forget(this);
  instance_->Close();
}

}  // namespace lava
