// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

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
#include "db/components.h"

namespace lava {

/// Whether the name is that of a key file or a value file.
bool IsDataFile(std::string_view name);
/// The directory of the write-ahead log of the instance in path.
std::string WalDirectory(const DBOptions& options, const std::string& path);
/// Every file that a version names, once, ascending by name.
std::vector<Snapshot::File> FilesOf(const Version& version);

/// The instance behind lava/db.h: owns the components, opens and closes them, and forwards calls to
/// them.
///
/// Threads:    any, as DB says.
/// Locks:      the components have their own mutexes. The only mutex of this class,
///             Lifetime::mutex, is taken before all of them; docs/locks.md has the order. LeaseImpl
///             holds its mutex while it calls active_bytes() and RequestSeal(), which take no lock
///             of the instance. No function of the instance is called under the mutexes of
///             CloseGuard and Executor.
class DBImpl final : public DB, public LeaseMember, public SpaceMember {
 public:
  DBImpl(const DBOptions& options, std::string path, const DBEnvironment& environment);
  ~DBImpl() override;

  /// The second half of opening; open.cc, import.cc.
  Status Start(std::span<const ImportSource> imports);

  Result<Table*> CreateTable(std::string_view name, const TableOptions& options) override;
  Status SetTableOptions(Table* table, const TableOptions& options) override;
  Status DropTable(Table* table) override;
  std::vector<TableInfo> ListTables() const override { return components_.tables.List(); }

  Status Put(Table* table, KeyRef key, Slice value) override {
    return components_.writer.Put(table, key, value);
  }
  Status PutFrom(Table* table, KeyRef key, ValueSource* value) override {
    return components_.writer.PutFrom(table, key, value);
  }
  Status Delete(Table* table, KeyRef key) override { return components_.writer.Delete(table, key); }
  Status Append(Table* table, KeyRef key, Slice segments) override {
    return components_.writer.Append(table, key, segments);
  }
  Status AppendFrom(Table* table, KeyRef key, ValueSource* segments) override {
    return components_.writer.AppendFrom(table, key, segments);
  }
  Status DeletePrefix(Table* table, Slice prefix) override {
    return components_.writer.DeletePrefix(table, prefix);
  }
  Status DeleteRange(Table* table, Slice lower, Slice upper) override {
    return components_.writer.DeleteRange(table, lower, upper);
  }
  Status Write(const WriteBatch& batch) override { return components_.writer.Write(batch); }

  Status AppendEntry(Slice entry, EntryLocation* location) override {
    return components_.writer.AppendEntry(entry, location);
  }
  Status PutExternal(Table* table, KeyRef key, Slice value, Slice entry,
                     EntryLocation* location) override {
    return components_.writer.PutExternal(table, key, value, entry, location);
  }
  Status BindExternal(Slice entry, EntryLocation* location) override {
    return components_.writer.BindExternal(entry, location);
  }
  Status GetExternal(Table* table, KeyRef key, EntryLocation* location) override;
  Status ReadEntry(const EntryLocation& location, std::string* entry) override;
  Status ReadEntryValue(const EntryLocation& location, std::string* value) override;
  Status RollEntries() override { return components_.writer.RollEntries(); }
  Status FinishEntries(uint64_t segment) override;
  Status ReleaseEntries(uint64_t through) override;
  Status RecoverEntries(uint64_t after,
                        const std::function<Status(uint64_t, Slice)>& entry) override;
  std::string ChangelogSegmentName(uint64_t segment) const override;

  Status Get(Table* table, KeyRef key, PinnedValue* value, Snapshot* snapshot) override {
    return components_.reader.points().Get(table, key, value, nullptr, snapshot);
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
  Status Flush(uint32_t timeout_ms, FlushTicket* ticket) override;
  Status CompactAll(uint32_t timeout_ms, uint64_t* ticket) override;
  std::vector<Snapshot::File> MissingFiles() const override;
  Status FileArrived(const std::string& name) override;
  void SetTime(int64_t now_ms) override { components_.instance.expiry_time.Tell(now_ms); }
  void AcceptTime(int64_t now_ms) override { components_.instance.expiry_time.Accept(now_ms); }
  void ContinueTime(const TtlTime& before) override {
    components_.instance.expiry_time.Continue(before);
  }
  TtlTime time() const override { return components_.instance.expiry_time.time(); }
  void SetValuePolicy(ValuePolicy policy) override { components_.jobs.SetValuePolicy(policy); }
  std::vector<std::string> TakeValueDecisions() override {
    return components_.jobs.value_decisions()->Take();
  }
  std::vector<BackgroundEvent> TakeBackgroundEvents() override {
    return components_.faults.TakeEvents();
  }
  DBStatistics statistics() const override;
  TableStatistics table_statistics(Table* table) const override;
  Status Close() override;
  std::string LeftOpen() const override;

  // LeaseMember
  uint64_t active_bytes() const override {
    return components_.tree.is_flushing() ? 0 : components_.writer.active_bytes();
  }
  void RequestSeal() override { components_.writer.RequestSeal(); }
  void MemoryFreed() override { components_.jobs.MemoryFreed(); }

  // SpaceMember
  const std::string& space_name() const override { return components_.instance.path; }
  void RequestSpace() override { components_.jobs.RequestSpace(); }
  void RequestGiveUp(uint64_t snapshot) override { components_.jobs.RequestGiveUp(snapshot); }
  // Takes no lock. A write that misses the notification checks again when its wait times out.
  void SpaceFreed() override { components_.tree.NotifyUnlocked(); }

  // For snapshots, under the close guard.
  uint32_t partition_bytes() const { return components_.instance.options.partition_bytes; }
  /// Marks the files of a snapshot that have not arrived yet; missing_files.cc.
  void MarkMissing(std::vector<Snapshot::File>* files) const;
  TreeState* tree() { return &components_.tree; }
  FileRemover* remover() { return &components_.remover; }
  FlushScheduler* flushes() { return &components_.flushes; }
  /// Corruption if jobs found a damaged file of the version.
  Status DamageIn(const Version& version) const;

 private:
  // open.cc, import.cc
  Status OpenVersion(std::span<const ImportSource> imports);
  Status OpenManifest(std::span<const ImportSource> imports, VersionEdit* first)
      LAVA_REQUIRES(components_.tree.versions.install_mutex());
  Status OpenWal(VersionEdit* first) LAVA_REQUIRES(components_.tree.versions.install_mutex());
  Status BuildImport(std::span<const ImportSource> imports, VersionEdit* first);
  Status OpenFiles(const Version& version, std::span<const ImportSource> imports);
  Status RemoveUnnamedFiles() LAVA_REQUIRES(components_.tree.versions.install_mutex());
  Status CloseNow();
  void TearDown() LAVA_REQUIRES(lifetime_.mutex);

  Status LogReleased(uint64_t through)
      LAVA_REQUIRES(components_.tree.versions.install_mutex());  // entries.cc
  Status LogTable(const TableRegistration& table)
      LAVA_REQUIRES(components_.tree.versions.install_mutex());  // tables.cc

  // How far opening or closing the instance has come.
  struct Lifetime {
    std::unique_ptr<fs::DirectoryLock> directory_lock;  // changed by Start() and the last Close()
    bool joined = false;                                // to lease and quota; set by Start()
    mutable Mutex mutex;  // one Close() at a time; taken before all other mutexes
    bool torn_down LAVA_GUARDED_BY(mutex) = false;
    std::string left_open LAVA_GUARDED_BY(mutex);
  };

  Components components_;
  Lifetime lifetime_;
};

}  // namespace lava
