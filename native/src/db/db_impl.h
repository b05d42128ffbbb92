#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/internal_key.h"
#include "base/mutex.h"
#include "db/job_scheduler.h"
#include "db/last_write.h"
#include "db/reader.h"
#include "db/table_impl.h"
#include "db/writer.h"
#include "policy/value_rules.h"
#include "policy/write_throttle.h"
#include "value_log/active_log_segments.h"
#include "value_log/changelog_segment.h"

namespace lava {

/// Whether name is of a key or value file.
bool IsDataFile(std::string_view name);
/// Where the write-ahead log of the instance in path is.
std::string WalDirectory(const DBOptions& options, const std::string& path);
/// Every file that a version names, once, by name.
std::vector<Snapshot::File> FilesOf(const Version& version);

/// The instance behind lava/db.h: owns the components, opens and closes them, and hands calls to
/// them. docs/architecture.md says what each component owns.
///
/// Members are in the order in which they are built. A component borrows only those before it, with
/// two exceptions: a flush that has ended asks JobScheduler for a plan, and the host tells the
/// instance, as a MemoryWaiter, when JobScheduler may have memory.
///
/// Threads:    any, as DB says.
/// Locks:      the components have them. The only mutex of this class, Lifetime::mutex, is taken
///             before all of theirs; docs/locks.md has the order. LeaseImpl holds its mutex while
///             it calls active_bytes() and RequestSeal(), which take no lock of the instance.
///             Nothing of the instance is called under the mutexes of CloseGuard and Executor.
class DBImpl final : public DB, public LeaseMember, public SpaceMember {
 public:
  DBImpl(const DBOptions& options, std::string path, const DBEnvironment& environment);
  ~DBImpl() override;

  /// Second half of opening; open.cc, import.cc.
  Status Start(std::span<const ImportSource> imports);

  Result<Table*> CreateTable(std::string_view name, const TableOptions& options) override;
  Status SetTableOptions(Table* table, const TableOptions& options) override;
  Status DropTable(Table* table) override;
  std::vector<TableInfo> ListTables() const override { return tables_.List(); }

  Status Put(Table* table, KeyRef key, Slice value) override {
    return writer_->Put(table, key, value);
  }
  Status PutFrom(Table* table, KeyRef key, ValueSource* value) override {
    return writer_->PutFrom(table, key, value);
  }
  Status Delete(Table* table, KeyRef key) override { return writer_->Delete(table, key); }
  Status Append(Table* table, KeyRef key, Slice segments) override {
    return writer_->Append(table, key, segments);
  }
  Status AppendFrom(Table* table, KeyRef key, ValueSource* segments) override {
    return writer_->AppendFrom(table, key, segments);
  }
  Status DeletePrefix(Table* table, Slice prefix) override {
    return writer_->DeletePrefix(table, prefix);
  }
  Status DeleteRange(Table* table, Slice lower, Slice upper) override {
    return writer_->DeleteRange(table, lower, upper);
  }
  Status Write(const WriteBatch& batch) override { return writer_->Write(batch); }

  Status AppendEntry(Slice entry, EntryLocation* location) override {
    return writer_->AppendEntry(entry, location);
  }
  Status PutExternal(Table* table, KeyRef key, Slice value, Slice entry,
                     EntryLocation* location) override {
    return writer_->PutExternal(table, key, value, entry, location);
  }
  Status BindExternal(Slice entry, EntryLocation* location) override {
    return writer_->BindExternal(entry, location);
  }
  Status GetExternal(Table* table, KeyRef key, EntryLocation* location) override;
  Status ReadEntry(const EntryLocation& location, std::string* entry) override;
  Status ReadEntryValue(const EntryLocation& location, std::string* value) override;
  Status RollEntries() override { return writer_->RollEntries(); }
  Status FinishEntries(uint64_t segment) override;
  Status ReleaseEntries(uint64_t through) override;
  Status RecoverEntries(uint64_t after,
                        const std::function<Status(uint64_t, Slice)>& entry) override;
  std::string ChangelogSegmentName(uint64_t segment) const override;

  Status Get(Table* table, KeyRef key, PinnedValue* value, Snapshot* snapshot) override {
    return reader_.points().Get(table, key, value, nullptr, snapshot);
  }
  Status GetTo(Table* table, KeyRef key, PinnedValue* value, ValueSink* sink,
               Snapshot* snapshot) override;
  Status Contains(Table* table, KeyRef key, Snapshot* snapshot) override;
  Status ContainsPrefix(Table* table, Slice prefix, Snapshot* snapshot) override;
  Status Scan(Table* table, const ScanRequest& request, ScanPage* page,
              Snapshot* snapshot) override;
  Status ScanTables(const TablesScanRequest& request, TablesScanPage* page,
                    Snapshot* snapshot) override;

  Result<std::shared_ptr<Snapshot>> TakeSnapshot() override;
  Status Flush(uint32_t timeout_ms) override;
  Status CompactAll(uint32_t timeout_ms, uint64_t* ticket) override;
  std::vector<Snapshot::File> MissingFiles() const override;
  Status FileArrived(const std::string& name) override;
  void SetTime(int64_t now_ms) override { instance_->expiry_time.Tell(now_ms); }
  void BelieveTime(int64_t now_ms) override { instance_->expiry_time.Believe(now_ms); }
  void ContinueTime(const TtlTime& before) override { instance_->expiry_time.Continue(before); }
  TtlTime time() const override { return instance_->expiry_time.time(); }
  void SetValuePolicy(ValuePolicy policy) override { jobs_->SetValuePolicy(policy); }
  std::vector<std::string> TakeValueDecisions() override {
    return jobs_->value_decisions()->Take();
  }
  std::vector<BackgroundEvent> TakeBackgroundEvents() override { return faults_.TakeEvents(); }
  DBStatistics statistics() const override;
  TableStatistics table_statistics(Table* table) const override;
  Status Close() override;
  std::string LeftOpen() const override;

  // LeaseMember
  uint64_t active_bytes() const override {
    return tree_->is_flushing() ? 0 : writer_->active_bytes();
  }
  void RequestSeal() override { writer_->RequestSeal(); }
  void MemoryFreed() override { jobs_->MemoryFreed(); }

  // SpaceMember
  const std::string& space_name() const override { return instance_->path; }
  void RequestSpace() override { jobs_->RequestSpace(); }
  void RequestGiveUp(uint64_t snapshot) override { jobs_->RequestGiveUp(snapshot); }
  // Takes no lock: a write that misses the notification looks again when its time is up.
  void SpaceFreed() override { tree_->NotifyUnlocked(); }

  // For snapshots, under the close guard.
  uint32_t partition_bytes() const { return instance_->options.partition_bytes; }
  /// Tells which of a snapshot's files are not there yet; late_files.cc.
  void MarkMissing(std::vector<Snapshot::File>* files) const;
  TreeState* tree() const { return tree_.get(); }
  FileRemover* remover() const { return remover_.get(); }
  FlushScheduler* flushes() const { return flushes_.get(); }
  /// Corruption when jobs found a file of the version damaged.
  Status DamageIn(const Version& version) const;

 private:
  // open.cc, import.cc
  Status OpenVersion(std::span<const ImportSource> imports);
  Status OpenManifest(std::span<const ImportSource> imports, VersionEdit* first)
      LAVA_REQUIRES(tree_->versions.install_mutex());
  Status OpenWal(VersionEdit* first) LAVA_REQUIRES(tree_->versions.install_mutex());
  Status BuildImport(std::span<const ImportSource> imports, VersionEdit* first);
  Status OpenFiles(const Version& version, std::span<const ImportSource> imports);
  Status RemoveUnnamedFiles() LAVA_REQUIRES(tree_->versions.install_mutex());
  Status CloseNow();
  void TearDown() LAVA_REQUIRES(lifetime_.mutex);

  Status LogReleased(uint64_t through)
      LAVA_REQUIRES(tree_->versions.install_mutex());  // entries.cc
  Status LogTable(const TableRegistration& table)
      LAVA_REQUIRES(tree_->versions.install_mutex());  // tables.cc

  // How far the instance is opened, or closed again.
  struct Lifetime {
    std::unique_ptr<fs::DirectoryLock> directory_lock;  // changed by Start() and the last Close()
    bool joined = false;                                // the lease and the quota; set by Start()
    mutable Mutex mutex;  // one Close() at a time; taken before all other mutexes
    bool torn_down LAVA_GUARDED_BY(mutex) = false;
    std::string left_open LAVA_GUARDED_BY(mutex);
  };

  const std::unique_ptr<InstanceContext> instance_;
  ChangelogLog changelog_{instance_->files, instance_->path, instance_->options.wal};
  LateFiles late_files_;
  TableRegistry tables_{instance_->budget.counter(MemoryPurpose::kReaders),
                        SeparationTuner::FirstLargeBytes(instance_->options)};
  SeparationTuner separation_tuner_{instance_->options, &tables_};
  BackgroundFaults faults_{
      instance_->clock, instance_->notifier.get(), &instance_->counters.background_errors,
      instance_->environment.retry_us_min, instance_->environment.retry_us_max};
  std::shared_ptr<SnapshotRegistry> snapshots_ =
      std::make_shared<SnapshotRegistry>(instance_->quota, instance_->notifier);

  const std::unique_ptr<TreeState> tree_ = std::make_unique<TreeState>(
      instance_.get(),
      TreeState::Neighbours{
          .faults = &faults_, .late_files = &late_files_, .snapshots = snapshots_.get()});

  WriteAheadLog wal_{&instance_->partitions, instance_->options.wal, instance_->files,
                     instance_->path};

  const std::unique_ptr<FileRemover> remover_ =
      std::make_unique<FileRemover>(instance_.get(), tree_.get(), &changelog_, &faults_);
  const std::unique_ptr<FlushScheduler> flushes_ = std::make_unique<FlushScheduler>(
      instance_.get(), tree_.get(),
      FlushScheduler::Neighbours{.tables = &tables_,
                                 .separation_tuner = &separation_tuner_,
                                 .faults = &faults_,
                                 .snapshots = snapshots_.get(),
                                 .wal = &wal_,
                                 .remover = remover_.get()},
      [this] { jobs_->Schedule(); });
  const std::unique_ptr<JobScheduler> jobs_ =
      std::make_unique<JobScheduler>(instance_.get(), tree_.get(),
                                     JobScheduler::Neighbours{.tables = &tables_,
                                                              .faults = &faults_,
                                                              .late_files = &late_files_,
                                                              .snapshots = snapshots_.get(),
                                                              .flushes = flushes_.get(),
                                                              .remover = remover_.get(),
                                                              .memory_waiter = this});

  const std::unique_ptr<Writer> writer_ =
      std::make_unique<Writer>(instance_.get(), tree_.get(),
                               Writer::Neighbours{.tables = &tables_,
                                                  .separation_tuner = &separation_tuner_,
                                                  .wal = &wal_,
                                                  .changelog = &changelog_,
                                                  .flushes = flushes_.get(),
                                                  .jobs = jobs_.get()});
  const Reader reader_{instance_.get(), tree_.get(), &tables_, snapshots_.get()};
  Lifetime lifetime_;
};

}  // namespace lava
