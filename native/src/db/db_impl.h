#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "db/active_segments.h"
#include "db/internal_key.h"
#include "db/job_scheduler.h"
#include "db/last_write.h"
#include "db/point_reader.h"
#include "db/read_logged.h"
#include "db/scanner.h"
#include "db/table_impl.h"
#include "job/changelog_segment.h"
#include "policy/value_rules.h"
#include "policy/write_throttle.h"

namespace lava {

/// Whether name is of a key or value file.
bool IsDataFile(std::string_view name);
/// Where the write-ahead log of the instance in path is.
std::string WalDirectory(const DBOptions& options, const std::string& path);
/// Every file that a version names, once, by name.
std::vector<Snapshot::File> FilesOf(const Version& version);

/// The instance behind lava/db.h.
///
/// Locks: members and functions say which of the five mutexes they need, and the compiler checks
/// that; docs/locks.md has their order. Outside of it: LeaseImpl's mutex is held while it calls
/// active_bytes() and RequestSeal(), which take no lock of the instance; Gate and Executor have
/// mutexes under which nothing of the instance is called.
///
/// Reads ask the active memtable, then the sealed ones from the newest on, then the version.
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

  Status Put(Table* table, KeyRef key, Slice value) override;
  Status PutFrom(Table* table, KeyRef key, ValueSource* value) override;
  Status Delete(Table* table, KeyRef key) override;
  Status Append(Table* table, KeyRef key, Slice segments) override;
  Status AppendFrom(Table* table, KeyRef key, ValueSource* segments) override;
  Status DeletePrefix(Table* table, Slice prefix) override;
  Status DeleteRange(Table* table, Slice lower, Slice upper) override;
  Status Write(const WriteBatch& batch) override;

  Status AppendEntry(Slice entry, EntryLocation* location) override;
  Status PutExternal(Table* table, KeyRef key, Slice value, Slice entry,
                     EntryLocation* location) override;
  Status BindExternal(Slice entry, EntryLocation* location) override;
  Status GetExternal(Table* table, KeyRef key, EntryLocation* location) override;
  Status ReadEntry(const EntryLocation& location, std::string* entry) override;
  Status ReadEntryValue(const EntryLocation& location, std::string* value) override;
  Status RollEntries() override;
  Status FinishEntries(uint64_t segment) override;
  Status ReleaseEntries(uint64_t through) override;
  Status RecoverEntries(uint64_t after,
                        const std::function<Status(uint64_t, Slice)>& entry) override;
  std::string EntrySegmentName(uint64_t segment) const override;

  Status Get(Table* table, KeyRef key, PinnedValue* value, Snapshot* snapshot) override {
    return point_reader_.Get(table, key, value, nullptr, snapshot);
  }
  Status GetTo(Table* table, KeyRef key, PinnedValue* value, ValueSink* sink,
               Snapshot* snapshot) override;
  Status Contains(Table* table, KeyRef key, Snapshot* snapshot) override;
  Status ContainsPrefix(Table* table, Slice prefix, Snapshot* snapshot) override;
  Status MultiGet(Table* table, std::span<const KeyRef> keys, std::span<PinnedValue> values,
                  std::span<bool> found, Snapshot* snapshot) override;
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
    return tree_->is_flushing() ? 0 : active_bytes_.load(std::memory_order_relaxed);
  }
  void RequestSeal() override;
  void MemoryFreed() override { jobs_->MemoryFreed(); }

  // SpaceMember
  const std::string& space_name() const override { return instance_->path; }
  void RequestSpace() override { jobs_->RequestSpace(); }
  void RequestGiveUp(uint64_t snapshot) override { jobs_->RequestGiveUp(snapshot); }
  // Takes no lock: a write that misses the notification looks again when its time is up.
  void SpaceFreed() override { tree_->NotifyUnlocked(); }

  // For snapshots, inside the gate.
  uint32_t partition_bytes() const { return instance_->options.partition_bytes; }
  /// Tells which of a snapshot's files are not there yet; late_files.cc.
  void MarkMissing(std::vector<Snapshot::File>* files) const;
  TreeState* tree() const { return tree_.get(); }
  FileRemover* remover() const { return remover_.get(); }
  FlushScheduler* flushes() const { return flushes_.get(); }
  Result<std::shared_ptr<Snapshot>> TakeSnapshotNow();
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
  void TearDown() LAVA_REQUIRES(close_mutex_);

  // write.cc, make_room.cc
  Status CheckValue(const TableImpl& table, Slice value) const;
  static Status CheckValueBytes(const TableImpl& table, uint64_t bytes);
  static Status NotWritable(const TableImpl& table);
  Status CheckOperation(const WriteBatch& batch, const WriteBatch::Operation& operation,
                        TableImpl** table) const;
  uint64_t MemtableBytesOf(const WriteBatch& batch) const;
  // value_log.cc.
  /// Appends the value to a segment of the active memtable. *reference: the encoded reference,
  /// which the memtable gets instead of the value.
  Status LogValue(const TableImpl& table, Slice internal_key, Slice value, std::string* reference)
      LAVA_REQUIRES(write_mutex_);
  /// As LogValue(), for a value that comes in pieces. Errors: also the source's.
  Status LogFrom(const TableImpl& table, Slice internal_key, ValueSource* value,
                 std::string* reference) LAVA_REQUIRES(write_mutex_);
  /// write(reference) appends a value of this size to segments_.values().
  template <typename Body>
  Status LogBy(uint64_t bytes, std::string* reference, const Body& write)
      LAVA_REQUIRES(write_mutex_);
  /// As LogValue(), for the large values of a batch: one string for each operation, empty if its
  /// value is small. If all values are small, *references stays empty.
  Status LogValues(const WriteBatch& batch, std::vector<std::string>* references)
      LAVA_REQUIRES(write_mutex_);
  Status LogAppended(const TableImpl& table, Slice internal_key, Slice segments,
                     std::string* reference) LAVA_REQUIRES(write_mutex_);
  void PutLogged(const TableImpl& table, Slice internal_key, uint32_t prefix_bytes, Slice reference)
      LAVA_REQUIRES(write_mutex_);
  void AppendLogged(Slice internal_key, uint32_t prefix_bytes, Slice reference)
      LAVA_REQUIRES(write_mutex_);
  Status MakeSegment() LAVA_REQUIRES(write_mutex_);
  void Attach(std::shared_ptr<LogSegment> segment) LAVA_REQUIRES(write_mutex_);
  void SyncSegments();
  static constexpr uint64_t kLoggedBytesMax = 96;
  // entries.cc.
  Status MakeChangelogSegment() LAVA_REQUIRES(write_mutex_);
  Status LogEntry(Slice entry, const ChangelogSegment::Value* value, EntryLocation* location,
                  ValueReference* reference) LAVA_REQUIRES(write_mutex_);
  Status BindPut(const TableImpl& table, Slice entry, EntryLocation* location)
      LAVA_REQUIRES(write_mutex_);
  Status BindAppend(const TableImpl& table, Slice entry, EntryLocation* location)
      LAVA_REQUIRES(write_mutex_);
  void EndChangelogSegment() LAVA_REQUIRES(write_mutex_);
  Status LogReleased(uint64_t through) LAVA_REQUIRES(tree_->versions.install_mutex());
  // write_ahead.cc.
  struct Replayed {
    bool lost = false;  // a power cut took a value: later records are skipped
    std::map<uint64_t, TableRegistration> dropped;  // tables that the manifest still has
    std::map<uint64_t, TableRegistration> created;  // tables that the manifest may not have yet
  };
  Status ReplayWal();
  Status ReplayTables(Replayed* replayed) LAVA_REQUIRES(write_mutex_);
  Status ReplayTable(const WalRecord::Change& change, Replayed* replayed)
      LAVA_REQUIRES(write_mutex_);
  void ReplayChange(const WalRecord::Change& change, Slice value) LAVA_REQUIRES(write_mutex_);
  void Apply(const WriteBatch& batch, const WriteBatch::Operation& operation, Slice reference)
      LAVA_REQUIRES(write_mutex_);
  void DeleteLocked(Slice internal_key, uint32_t prefix_bytes) LAVA_REQUIRES(write_mutex_);
  void DeletePrefixLocked(Slice internal_prefix) LAVA_REQUIRES(write_mutex_);
  void DeleteRangeLocked(const TableImpl& table, Slice lower, Slice upper)
      LAVA_REQUIRES(write_mutex_);
  enum class Purpose : uint8_t { kStore, kFree };  // the latter is let past the limits of space
  Status MakeRoom(uint64_t bytes, Purpose purpose = Purpose::kStore) LAVA_REQUIRES(write_mutex_);
  Status MakeRoomSlow(uint64_t bytes, Purpose purpose) LAVA_REQUIRES(write_mutex_);
  StallCondition JudgeStall(uint64_t bytes) const LAVA_REQUIRES(write_mutex_, tree_->mutex());
  Status StallFailed(StallCondition condition, Purpose purpose, const Status& hopeless)
      LAVA_REQUIRES(write_mutex_) LAVA_EXCLUDES(tree_->mutex());
  bool TellStall(StallCondition condition, Purpose purpose, bool go_on, const Status& status)
      LAVA_REQUIRES(write_mutex_, tree_->mutex());
  uint64_t WorthSealing() const;
  void RelieveLease();
  void Wrote(uint64_t user_bytes) LAVA_REQUIRES(write_mutex_);
  bool OlderMayHavePrefix(Slice internal_prefix) const;

  // value_pieces.cc
  template <typename Body>
  Status WithWhole(ValueSource* value, const Body& write);
  Status ReplayRecord(Slice record, Replayed* replayed) LAVA_REQUIRES(write_mutex_);
  // seal.cc
  Status FlushHere() LAVA_REQUIRES(write_mutex_);
  void SealLocked(FlushCause cause) LAVA_REQUIRES(write_mutex_);
  /// The flush is left to be scheduled.
  void SealBothLocked(FlushCause cause) LAVA_REQUIRES(write_mutex_, tree_->mutex());
  Status AwaitSpace(uint64_t* until_us, bool* go_on, bool* relieve)
      LAVA_REQUIRES(write_mutex_, tree_->mutex());

  Status LogTable(const TableRegistration& table)
      LAVA_REQUIRES(tree_->versions.install_mutex());  // tables.cc
  Status DropNow(TableImpl* impl);

  const std::unique_ptr<InstanceContext> instance_;
  ChangelogLog changelog_{instance_->files, instance_->path, instance_->options.wal};
  LateFiles late_files_;
  TableRegistry tables_{instance_->budget.counter(MemoryPurpose::kReaders),
                        SeparationTuner::FirstLargeBytes(instance_->options)};
  SeparationTuner separation_tuner_{instance_->options, &tables_};
  BackgroundFaults faults_{
      instance_->clock, instance_->notifier.get(), &instance_->counters.background_errors,
      instance_->environment.retry_us_min, instance_->environment.retry_us_max};
  JobCounts job_counts_;
  bool joined_ = false;
  std::shared_ptr<SnapshotRegistry> snapshots_ =
      std::make_shared<SnapshotRegistry>(instance_->quota, instance_->notifier);
  std::unique_ptr<fs::DirectoryLock> directory_lock_;

  const std::unique_ptr<TreeState> tree_ = std::make_unique<TreeState>(
      instance_.get(), TreeState::Neighbours{.faults = &faults_,
                                             .late_files = &late_files_,
                                             .snapshots = snapshots_.get(),
                                             .job_counts = &job_counts_});

  mutable Mutex close_mutex_ LAVA_ACQUIRED_BEFORE(tree_->versions.install_mutex());
  bool torn_down_ LAVA_GUARDED_BY(close_mutex_) = false;
  std::string left_open_ LAVA_GUARDED_BY(close_mutex_);

  WriteAheadLog wal_{&instance_->partitions, instance_->options.wal, instance_->files,
                     instance_->path};  // appended to under write_mutex_

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
                                                              .job_counts = &job_counts_,
                                                              .memory_waiter = this});

  Mutex write_mutex_ LAVA_ACQUIRED_AFTER(tree_->versions.install_mutex());
  std::shared_ptr<MemTable> active_ LAVA_GUARDED_BY(write_mutex_);
  std::vector<uint64_t> dropped_in_active_ LAVA_GUARDED_BY(write_mutex_);
  std::string reference_ LAVA_GUARDED_BY(write_mutex_);
  ActiveSegments segments_ LAVA_GUARDED_BY(write_mutex_){
      instance_->options.value_file_bytes,
      std::max(2 * instance_->memtable_bytes_max, instance_->options.value_file_bytes)};
  LastWrite last_write_ LAVA_GUARDED_BY(write_mutex_);
  WriteStall write_stall_ LAVA_GUARDED_BY(write_mutex_){&instance_->counters,
                                                        instance_->notifier.get()};
  std::atomic<uint64_t> active_bytes_{0};  // arena bytes, for the lease
  // A request is on its way. True also until the log is replayed: a replay flushes what it seals.
  std::atomic<bool> seal_requested_{true};

  ReadContext read_context_{
      .partitions = &instance_->partitions,
      .tables = &tables_,
      .newest_view = tree_->newest_view(),
      .snapshots = snapshots_.get(),
      .counters = &instance_->counters,
      .memory = instance_->budget.counter(MemoryPurpose::kScans),
      .lease = instance_->options.lease,
      .whole_bytes_max = std::min(kWholeBytesMax, instance_->value_in_memory_bytes_max)};
  const PointReader point_reader_{&read_context_};
  const Scanner scanner_{&read_context_};
};

}  // namespace lava
