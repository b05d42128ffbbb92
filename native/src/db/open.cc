#include <algorithm>
#include <chrono>
#include <set>
#include <utility>

#include "base/guarded.h"
#include "db/db_impl.h"
#include "fs/posix_file_system.h"
#include "table/table_reader.h"

namespace lava {
namespace {

constexpr uint64_t kMemtableBytesMin = 1 << 20;
constexpr uint64_t kMemtableBytesDefaultMax = 64 << 20;
// An arena numbers its chunks with 15 bits, and a large value takes one of its own.
constexpr uint64_t kMemtableBytesMax = 1 << 30;

// A file that the manifest names must be there.
Status NotOpened(const std::string& path, const Status& status) {
  return status.IsNotFound() ? Status::Corruption("file " + path + " is missing") : status;
}

uint64_t MemtableLimitOf(const DBOptions& options, const LeaseImpl& lease) {
  if (options.memtable_bytes != 0) return options.memtable_bytes;
  return std::max(kMemtableBytesMin,
                  std::min(kMemtableBytesDefaultMax, lease.write_buffer_bytes() / 2));
}

// An instance's own, so that it knows what its files refused; null: not asked for.
std::unique_ptr<fs::FileSystem> DirectFiles(const DBOptions& options) {
  const fs::PosixOptions direct{.direct_reads = options.use_direct_reads,
                                .direct_writes = options.use_direct_io_for_flush_and_compaction};
  const bool elsewhere = options.volume != nullptr || options.file_system != nullptr;
  if (elsewhere || (!direct.direct_reads && !direct.direct_writes)) return nullptr;
  return fs::NewPosixFileSystem(fs::OpenFileLimit::Process(), direct);
}

}  // namespace

fs::FileSystem* FilesOf(const DBOptions& options, fs::FileSystem* direct) {
  if (options.volume != nullptr) return options.volume->file_system();
  if (options.file_system != nullptr) return options.file_system;
  return direct != nullptr ? direct : fs::FileSystem::Posix();
}

SpaceQuota* QuotaOf(const DBOptions& options, LeaseImpl* lease) {
  SpaceQuota* const process = lease->host()->space();
  if (options.volume == nullptr) return process;
  SpaceQuota* const volume = static_cast<SharedVolumeImpl*>(options.volume.get())->quota();
  if (!volume->limited()) return process;
  const bool process_is_smaller =
      process->limited() && process->statistics().limit_bytes < volume->statistics().limit_bytes;
  return process_is_smaller ? process : volume;
}

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
    : options_(options),
      path_(std::move(path)),
      environment_(environment),
      own_files_(DirectFiles(options)),
      fs_(FilesOf(options, own_files_.get())),
      clock_(environment.clock != nullptr ? environment.clock : Clock::System()),
      lease_owner_(options.lease),
      lease_(Impl(options.lease.get())),
      budget_(lease_->budget()),
      executor_(environment.executor),
      memtable_limit_(MemtableLimitOf(options, *lease_)),
      space_({.low_percent = options.space_low_percent,
              .high_percent = options.space_high_percent,
              .low_bytes = options.space_low_bytes,
              .high_bytes = options.space_high_bytes,
              .live_bytes_floor = options.space_live_bytes_floor},
             options.slowed_bytes_per_second, path_, quota_, clock_),
      value_policy_(options.value_policy) {
  in_memory_bytes_max_ = environment.value_in_memory_bytes_max;
  if (in_memory_bytes_max_ == 0)
    in_memory_bytes_max_ = std::max(kValueInMemoryAlways, memtable_limit_ / kValueMemtableShare);
  read_context_.whole_bytes_max = std::min(kWholeBytesMax, in_memory_bytes_max_);
}

DBImpl::~DBImpl() {
  // Closing is done again from where there was no memory for it.
  bool closed = false;
  while (!closed) (void)Tried([&] { closed = !Close().IsBusy(); });
}

Status DBImpl::CheckOptions() const {
  if (options_.partition_bytes != 1 && options_.partition_bytes != 2)
    return Status::InvalidArgument("options.partition_bytes must be 1 or 2, not " +
                                   std::to_string(options_.partition_bytes));
  if (options_.volume != nullptr && options_.file_system != nullptr)
    return Status::InvalidArgument("options.volume and options.file_system cannot both be there");
  const uint32_t partition_max = (1u << (8 * options_.partition_bytes)) - 1;
  if (options_.partition_first > options_.partition_last || options_.partition_last > partition_max)
    return Status::InvalidArgument("options.partition_first " +
                                   std::to_string(options_.partition_first) + " to " +
                                   std::to_string(options_.partition_last) +
                                   " is no range within 0 to " + std::to_string(partition_max));
  if (options_.level_count < 2 || options_.level_count > kLevelCountMax)
    return Status::InvalidArgument("options.level_count must be 2 to " +
                                   std::to_string(kLevelCountMax) + ", not " +
                                   std::to_string(options_.level_count));
  if (options_.sealed_runs_max == 0 || options_.l0_compaction_trigger == 0 ||
      options_.l0_stall_trigger <= options_.l0_compaction_trigger)
    return Status::InvalidArgument(
        "options.sealed_runs_max and l0_compaction_trigger must be at least 1, and "
        "l0_stall_trigger above l0_compaction_trigger");
  if (options_.block_bytes == 0 || options_.index_partition_bytes == 0 ||
      options_.target_file_bytes == 0 || options_.level1_bytes == 0 ||
      options_.level_multiplier < 2)
    return Status::InvalidArgument(
        "options.block_bytes, index_partition_bytes, target_file_bytes and level1_bytes must be "
        "above 0, level_multiplier above 1");
  if ((options_.space_high_percent > 0 && options_.space_high_percent <= 100) ||
      options_.slowed_bytes_per_second == 0)
    return Status::InvalidArgument(
        "options.space_high_percent must be 0 or above 100, and slowed_bytes_per_second above 0");
  if (options_.memtable_bytes > kMemtableBytesMax)
    return Status::InvalidArgument("options.memtable_bytes must be at most " +
                                   std::to_string(kMemtableBytesMax) + ", not " +
                                   std::to_string(options_.memtable_bytes));
  return Status::OK();
}

Status DBImpl::Start(std::span<const ImportSource> imports) {
  LAVA_RETURN_IF_ERROR(CheckOptions());
  if (executor_ == nullptr) {
    own_executor_ = lease_->host()->InstanceOpened();
    executor_ = own_executor_.get();
  }
  LAVA_RETURN_IF_ERROR(syncs() ? fs_->CreateDurableDirectory(path_) : fs_->CreateDirectory(path_));
  LAVA_ASSIGN_OR_RETURN(directory_lock_, fs_->Lock(path_));

  LAVA_RETURN_IF_ERROR(OpenVersion(imports));
  LAVA_RETURN_IF_ERROR(ReplayWal());
  seal_requested_ = false;
  {
    MutexLock install(versions_.install_mutex());
    RemoveReplayedSegments();
  }
  notifier_->Deliver();
  return Status::OK();
}

Status DBImpl::OpenVersion(std::span<const ImportSource> imports) {
  MutexLock install(versions_.install_mutex());
  VersionEdit first;
  LAVA_RETURN_IF_ERROR(OpenManifest(imports, &first));
  LAVA_RETURN_IF_ERROR(OpenWal(&first));
  ManifestState next = versions_.state();
  LAVA_RETURN_IF_ERROR(ApplyEdit(first, &next));
  LAVA_RETURN_IF_ERROR(OpenFiles(*next.version, imports));
  LAVA_RETURN_IF_ERROR(versions_.Begin(first));
  LAVA_RETURN_IF_ERROR(changelog_.Open(versions_.origin(), versions_.state().origins,
                                       versions_.state().entries_released.value_or(0)));
  LAVA_RETURN_IF_ERROR(RemoveUnnamedFiles());

  tables_.Recover(versions_.state().tables);
  lease_->Join(this);
  space_.Join(this);
  joined_ = true;
  {
    MutexLock write(&write_mutex_);
    MutexLock state(&state_mutex_);
    active_ = MemTable::Create(budget_.counter(MemoryPurpose::kMemtables));
    AdoptVersion();
    PublishView();
  }
  MutexLock jobs(&jobs_mutex_);
  ScheduleCompactions();
  ScheduleGc();
  return Status::OK();
}

Status DBImpl::OpenManifest(std::span<const ImportSource> imports, VersionEdit* first) {
  const Status recovered = versions_.Recover();
  if (recovered.ok()) {
    if (!imports.empty())
      return Status::InvalidArgument("import: the directory holds an instance already");
    const uint32_t found = versions_.state().partition_bytes;
    if (found != options_.partition_bytes)
      return Status::InvalidArgument("the instance has partition_bytes " + std::to_string(found) +
                                     ", the options say " +
                                     std::to_string(options_.partition_bytes));
  } else if (recovered.IsNotFound()) {
    if (imports.empty() && !options_.create_if_missing)
      return Status::NotFound("no instance here, and options.create_if_missing is off");
    versions_.StartFresh();
    first->partition_bytes = options_.partition_bytes;
    LAVA_RETURN_IF_ERROR(BuildImport(imports, first));
  } else {
    return recovered;
  }
  versions_.DrawOrigin(first);
  return Status::OK();
}

Status DBImpl::OpenFiles(const Version& version, std::span<const ImportSource> imports) {
  std::set<std::string_view> missing;
  for (const ImportSource& source : imports)
    missing.insert(source.missing.begin(), source.missing.end());
  const JobContext context = MakeJobContext(0);
  for (const auto& level : version.levels) {
    for (const FileEntry& entry : level) {
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
  for (const auto& level : versions_.state().version->levels)
    for (const FileEntry& entry : level) named.insert(entry.file->id.FileName());
  for (const auto& [id, entry] : versions_.state().version->value_files)
    named.insert(id.ValueFileName());
  LAVA_ASSIGN_OR_RETURN(const std::vector<std::string> names, fs_->List(path_));
  for (const std::string& name : names) {
    const bool unnamed = IsDataFile(name) && !named.contains(name);
    if (!unnamed && !versions_.IsOldManifest(name)) continue;
    if (wal_.enabled() && name.ends_with(".vsst")) {
      if (!changelog_.Holds(name)) replayed_segments_.Add(name);
      continue;
    }
    const Status status = fs_->Remove(path_ + "/" + name);
    TellDeleted(name, status);
    if (!status.ok() && !status.IsNotFound()) return status;
  }
  return Status::OK();
}

Status DBImpl::Close() {
  LAVA_RETURN_IF_ERROR(CloseNow());
  notifier_->End();
  return Status::OK();
}

Status DBImpl::CloseNow() {
  MutexLock close(&close_mutex_);
  if (torn_down_) return Status::OK();
  if (!closed_.load()) {
    {
      // Else PublishView() could look at closed_ before, and call writers off attention behind it.
      MutexLock state(&state_mutex_);
      closed_ = true;
      attention_ = true;
      NotifyChanged();
    }
    manual_compactions_.Close();
    cancelled_ = true;
    if (joined_) lease_->Leave(this);
    space_.Leave();
  }
  // Jobs look at cancelled_ between records, but nothing breaks off a call to the system.
  if (!gate_->Close(std::chrono::milliseconds(std::max(environment_.wait_ms_max, 1u))))
    return Status::Busy("close " + path_ + ": a background job is amid a call to the system");
  TearDown();
  torn_down_ = true;
  return Status::OK();
}

std::string DBImpl::LeftOpen() const {
  MutexLock close(&close_mutex_);
  return left_open_;
}

// Nobody is inside the gate, and nobody comes in any more.
void DBImpl::TearDown() {
  left_open_ = snapshots_->Clear();
  notifier_->StallIs(std::nullopt, Status::Closed("the instance was closed"),
                     clock_->MonotonicMicros());
  std::unique_ptr<Wal> wal;  // goes without the mutexes: it may be the last of the log
  {
    // Else a writer or a snapshot that is not told yet would lose the view amid its work, or
    // publish another behind this.
    MutexLock write(&write_mutex_);
    MutexLock state(&state_mutex_);
    view_.Set(ViewRef());
  }
  RemoveObsoleteFiles();
  SyncSegments();
  {
    MutexLock install(versions_.install_mutex());
    MutexLock write(&write_mutex_);
    MutexLock jobs(&jobs_mutex_);
    MutexLock state(&state_mutex_);
    versions_.Close();
    segments_.Seal();
    changelog_.Clear();
    wal = wal_.Close();
    active_.reset();
    active_bytes_ = 0;
    sealed_.Clear();
    running_jobs_.Clear();
    (void)collection_planner_.TakeFindings();
    late_files_.Clear();
    tables_.ForgetDeadRanges();
    version_ = std::make_shared<Version>();
    adoption_due_ = false;
    budget_.counter(MemoryPurpose::kMetadata)->Release(std::exchange(metadata_bytes_, 0));
    directory_lock_.reset();
  }
  wal.reset();
  lease_->job_memory()->Forget(this);
  if (own_executor_ != nullptr) lease_->host()->InstanceClosed(std::move(own_executor_));
}

}  // namespace lava
