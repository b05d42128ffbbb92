// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "db/flush_scheduler.h"
#include "db/instance_context.h"
#include "db/job_scheduler.h"
#include "db/last_write.h"
#include "db/separation_tuner.h"
#include "db/table_registry.h"
#include "db/tree_state.h"
#include "db/write_stall.h"
#include "value_log/active_log_segments.h"
#include "value_log/changelog_log.h"
#include "wal/write_ahead_log.h"

namespace lava {

/// The write path of an instance: the active memtable and the value files that belong to it, the
/// order of writes, and the write stall.
///
/// Steps of a write: it waits, or returns Busy, while jobs are behind or space is short. It seals a
/// full memtable. It appends a value that is too large for the memtable to a segment of the value
/// log. It appends its record to the write-ahead log, if there is one. Last, it writes to the
/// memtable: the value, or a reference to the value log.
///
/// Invariants:
/// - mutex_ orders the writes: the write-ahead log and the memtable have them in the same order.
/// - Writer and TreeState have the same active memtable. It changes in one step under both mutexes.
/// - A write that returns an error has changed nothing that a read can see.
///
/// Threads:    any. mutex_ is taken after the mutex of installs and before the tree's. It is
///             released while a write waits.
/// Ownership:  borrows the constructor's arguments.
/// Durability: see DBOptions::wal.
/// Errors:     Busy if a stall lasts too long; Closed; NoSpace; InvalidArgument for operations that
///             exceed a limit or do not fit the table; errors of the value log and of the
///             write-ahead log.
class Writer {
 public:
  /// Other components that writes use. All must outlive the writer.
  struct Neighbours {
    TableRegistry* tables = nullptr;
    SeparationTuner* separation_tuner = nullptr;
    WriteAheadLog* wal = nullptr;
    ChangelogLog* changelog = nullptr;
    FlushScheduler* flushes = nullptr;
    JobScheduler* jobs = nullptr;
  };
  Writer(InstanceContext* instance, TreeState* tree, const Neighbours& neighbours)
      : instance_(instance),
        tree_(tree),
        tables_(neighbours.tables),
        separation_tuner_(neighbours.separation_tuner),
        wal_(neighbours.wal),
        changelog_(neighbours.changelog),
        flushes_(neighbours.flushes),
        jobs_(neighbours.jobs) {}

  // For opening, in this order. No other thread uses the instance yet.
  void Begin();
  /// Applies the changes of one record of the write-ahead log, without writing the record again. If
  /// the memtable has no room for the changes, first flushes the memtable in this thread.
  Status Apply(const WriteAheadLog::Decoded& record);
  /// Seals the memtable, and flushes it in this thread.
  Status FlushHere() LAVA_EXCLUDES(mutex_);
  /// From now on the lease may request seals, and the executor runs the flushes.
  void EndReplay() { seal_requested_ = false; }

  // For closing, in this order. Writes fail afterwards.
  void HideView();
  /// Syncs the values that the write-ahead log refers to.
  void SyncLogSegments();
  /// Drops the memtable and all logs. Returns the write-ahead log, which the caller destroys
  /// without holding a mutex.
  std::unique_ptr<Wal> Close();

  // See lava/db.h; write.cc, value_pieces.cc.
  Status Put(Table* table, KeyRef key, Slice value);
  Status PutFrom(Table* table, KeyRef key, ValueSource* value);
  Status Delete(Table* table, KeyRef key);
  Status Append(Table* table, KeyRef key, Slice segments);
  Status AppendFrom(Table* table, KeyRef key, ValueSource* segments);
  Status DeletePrefix(Table* table, Slice prefix);
  Status DeleteRange(Table* table, Slice lower, Slice upper);
  Status Write(const WriteBatch& batch);
  // log_entries.cc
  Status AppendEntry(Slice entry, EntryLocation* location);
  Status PutExternal(Table* table, KeyRef key, Slice value, Slice entry, EntryLocation* location);
  Status BindExternal(Slice entry, EntryLocation* location);
  Status RollEntries();

  /// The table was dropped and is created again: appends the creation to the write-ahead log.
  Status LogCreated(const TableRegistration& table);
  /// Deletes all data of the table, and drops the table in the registry, in one step. The caller
  /// holds the mutex of installs.
  Status DropTable(TableImpl* impl);

  /// Seals the memtable unless it is empty, and starts flushes. *sealed_through: the number of the
  /// newest sealed memtable.
  Status Seal(FlushCause cause, uint64_t* sealed_through);
  /// Seals the memtable and calls take(view, tables), before another write and before the end of a
  /// flush of the sealed memtable. Schedules no flush.
  Status SealForSnapshot(
      const std::function<void(ViewRef, std::map<uint64_t, TableRegistration>)>& take);

  // For LeaseMember. These functions take no lock of the instance.
  uint64_t active_bytes() const { return active_bytes_.load(std::memory_order_relaxed); }
  void RequestSeal();

 private:
  enum class Purpose : uint8_t { kStore, kFree };  // space limits do not apply to kFree
  static constexpr uint64_t kLoggedBytesMax = 96;

  // write.cc
  Status CheckValue(const TableImpl& table, Slice value) const;
  static Status CheckValueBytes(const TableImpl& table, uint64_t bytes);
  static Status NotWritable(const TableImpl& table);
  /// Checked under mutex_, because another thread may drop the table before the write has mutex_.
  static Status CheckNotDropped(const TableImpl& table) {
    if (!table.dropped()) [[likely]]
      return Status::OK();
    return WasDropped(table);
  }
  static Status WasDropped(const TableImpl& table);
  Status CheckOperation(const WriteBatch& batch, const WriteBatch::Operation& operation,
                        TableImpl** table) const;
  uint64_t MemtableBytesOf(const WriteBatch& batch) const;
  void Apply(const WriteBatch& batch, const WriteBatch::Operation& operation, Slice reference)
      LAVA_REQUIRES(mutex_);
  void ApplyChange(const WalRecord::Change& change, Slice value) LAVA_REQUIRES(mutex_);
  bool HasRoomFor(uint64_t bytes) const LAVA_REQUIRES(mutex_);
  void DeleteLocked(Slice internal_key, uint32_t prefix_bytes) LAVA_REQUIRES(mutex_);
  void DeletePrefixLocked(Slice internal_prefix) LAVA_REQUIRES(mutex_);
  void DeleteRangeLocked(const TableImpl& table, Slice lower, Slice upper) LAVA_REQUIRES(mutex_);
  void Wrote(uint64_t user_bytes) LAVA_REQUIRES(mutex_);
  bool OlderMayHavePrefix(Slice internal_prefix) const;
  // value_log.cc
  /// Appends the value to a segment of the active memtable. *reference: the encoded reference for
  /// the memtable.
  Status LogValue(const TableImpl& table, Slice internal_key, Slice value, std::string* reference)
      LAVA_REQUIRES(mutex_);
  /// As LogValue(), for a value in pieces. Errors: also the source's.
  Status LogFrom(const TableImpl& table, Slice internal_key, ValueSource* value,
                 std::string* reference) LAVA_REQUIRES(mutex_);
  /// Calls write(reference), which appends a value of this size to segments_.values().
  template <typename Body>
  Status LogBy(uint64_t bytes, std::string* reference, const Body& write) LAVA_REQUIRES(mutex_);
  /// As LogValue(), for the large values of a batch. *references: one string for each operation,
  /// empty if its value is small; no strings if all values are small.
  Status LogValues(const WriteBatch& batch, std::vector<std::string>* references)
      LAVA_REQUIRES(mutex_);
  Status LogAppended(const TableImpl& table, Slice internal_key, Slice segments,
                     std::string* reference) LAVA_REQUIRES(mutex_);
  void PutLogged(const TableImpl& table, Slice internal_key, uint32_t prefix_bytes, Slice reference)
      LAVA_REQUIRES(mutex_);
  void AppendLogged(Slice internal_key, uint32_t prefix_bytes, Slice reference)
      LAVA_REQUIRES(mutex_);
  Status MakeValueLogSegment() LAVA_REQUIRES(mutex_);
  void Attach(std::shared_ptr<ValueLogSegment> segment) LAVA_REQUIRES(mutex_);

  // value_pieces.cc
  template <typename Body>
  Status WithWhole(ValueSource* value, const Body& write);
  // log_entries.cc
  Status MakeChangelogSegment() LAVA_REQUIRES(mutex_);
  Status LogEntry(Slice entry, const ChangelogSegment::Value* value, EntryLocation* location,
                  ValueReference* reference) LAVA_REQUIRES(mutex_);
  Status BindPut(const TableImpl& table, Slice entry, EntryLocation* location)
      LAVA_REQUIRES(mutex_);
  Status BindAppend(const TableImpl& table, Slice entry, EntryLocation* location)
      LAVA_REQUIRES(mutex_);
  void EndChangelogSegment() LAVA_REQUIRES(mutex_);
  // wait_if_stalled.cc
  /// Waits while jobs are behind or, unless the write frees space, while space is short. Releases
  /// mutex_ while it waits. Errors: Busy, see environment.wait_ms_max; Closed; errors of the jobs
  /// that the write waits for.
  Status WaitIfStalled(uint64_t bytes, Purpose purpose = Purpose::kStore) LAVA_REQUIRES(mutex_);
  /// WaitIfStalled() for a write to this table. Errors: also Closed for a dropped table.
  Status MakeRoomFor(const TableImpl& table, uint64_t bytes, Purpose purpose = Purpose::kStore)
      LAVA_REQUIRES(mutex_) {
    LAVA_RETURN_IF_ERROR(WaitIfStalled(bytes, purpose));
    return CheckNotDropped(table);
  }
  /// The slow path of WaitIfStalled(). JobScheduler::Relieve() starts the jobs that the write waits
  /// for, and TreeState::NotifyChanged() wakes the write, which then judges again.
  Status WaitOrSeal(uint64_t bytes, Purpose purpose) LAVA_REQUIRES(mutex_);
  /// Judges whether the write waits for jobs or must seal. AwaitSpace() judges space.
  StallCondition JudgeStall(uint64_t bytes) const LAVA_REQUIRES(mutex_, tree_->mutex());
  Status StallFailed(StallCondition condition, Purpose purpose, const Status& failure)
      LAVA_REQUIRES(mutex_) LAVA_EXCLUDES(tree_->mutex());
  bool TellStall(StallCondition condition, Purpose purpose, bool go_on, const Status& status)
      LAVA_REQUIRES(mutex_, tree_->mutex());
  uint64_t WorthSealing() const;
  void RelieveLease();
  Status AwaitSpace(uint64_t* until_us, bool* go_on, bool* relieve)
      LAVA_REQUIRES(mutex_, tree_->mutex());
  // seal.cc
  void SealLocked(FlushCause cause) LAVA_REQUIRES(mutex_);
  /// Schedules no flush.
  void SealBothLocked(FlushCause cause) LAVA_REQUIRES(mutex_, tree_->mutex());

  InstanceContext* const instance_;
  TreeState* const tree_;
  TableRegistry* const tables_;
  SeparationTuner* const separation_tuner_;
  WriteAheadLog* const wal_;  // written under mutex_
  ChangelogLog* const changelog_;
  FlushScheduler* const flushes_;
  JobScheduler* const jobs_;

  Mutex mutex_ LAVA_ACQUIRED_AFTER(tree_->versions.install_mutex())
      LAVA_ACQUIRED_BEFORE(tree_->mutex());
  std::shared_ptr<MemTable> active_ LAVA_GUARDED_BY(mutex_);
  std::vector<uint64_t> dropped_in_active_ LAVA_GUARDED_BY(mutex_);
  std::string reference_ LAVA_GUARDED_BY(mutex_);
  ActiveLogSegments segments_ LAVA_GUARDED_BY(mutex_){
      instance_->options.value_file_bytes,
      std::max(2 * instance_->memtable_bytes_max, instance_->options.value_file_bytes)};
  LastWrite last_write_ LAVA_GUARDED_BY(mutex_);
  WriteStall write_stall_ LAVA_GUARDED_BY(mutex_){&instance_->counters, instance_->notifier.get()};
  std::atomic<uint64_t> active_bytes_{0};  // arena bytes of the memtable, for the lease
  // A seal was requested and has not run yet. Also true until EndReplay(), because the replay
  // itself flushes the memtables that it seals.
  std::atomic<bool> seal_requested_{true};
};

}  // namespace lava
