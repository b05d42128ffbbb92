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
/// A write first seals a full memtable. It is stalled, or returns Busy, while jobs are behind or
/// space is short. Then the write-ahead log gets its record, if there is one, and last
/// the memtable. Values that are too large for the memtable go to a segment of the value log before
/// that, and the memtable gets a reference.
///
/// Invariants:
/// - Writes are ordered by mutex(): the write-ahead log and the memtable have them in one order.
/// - The active memtable is TreeState's; both change in one step under both mutexes.
/// - A write that returns an error has changed nothing that a read can see.
///
/// Threads:    any. The mutex is taken after the mutex of installs, and before the tree's. It is
///             given back while a write waits.
/// Ownership:  borrows what the constructor takes.
/// Durability: see DBOptions::wal.
/// Errors:     Busy when a stall lasts too long; Closed; NoSpace; InvalidArgument for what cannot
///             be written; errors of the value log and of the write-ahead log.
class Writer {
 public:
  /// What writes need beside the instance and its tree. All must outlive the writer.
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

  // Opening, in this order. No other thread has the instance yet.
  void Begin();
  /// Applies the changes of one record of the write-ahead log, which is not written again. If the
  /// memtable has no room for them, the memtable is flushed in this thread first.
  Status Apply(const WriteAheadLog::Decoded& record);
  /// Seals the memtable, and flushes it in this thread.
  Status FlushHere() LAVA_EXCLUDES(mutex_);
  /// From now on the lease may ask for seals, and the executor runs the flushes.
  void EndReplay() { seal_requested_ = false; }

  // Closing, in this order. Writes fail from then on.
  void HideView();
  /// Syncs the values that the write-ahead log refers to.
  void SyncLogSegments();
  /// Lets go of the memtable and of all logs. Returns the write-ahead log, which the caller ends
  /// without a mutex.
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

  /// The table was dropped and is created again: the write-ahead log tells both.
  Status LogCreated(const TableRegistration& table);
  /// Deletes all that the table has, and drops the table in the registry, in one step. The caller
  /// holds the mutex of installs.
  Status DropTable(TableImpl* impl);

  /// Seals the memtable if it has anything, and starts flushes. *sealed_through: the newest sealed
  /// memtable.
  Status Seal(FlushCause cause, uint64_t* sealed_through);
  /// Seals the memtable and calls take(view, tables) before any other write and before a flush of
  /// what was sealed ends. The flush is left to be scheduled.
  Status SealForSnapshot(
      const std::function<void(ViewRef, std::map<uint64_t, TableRegistration>)>& take);

  // As LeaseMember. Take no lock of the instance.
  uint64_t active_bytes() const { return active_bytes_.load(std::memory_order_relaxed); }
  void RequestSeal();

 private:
  enum class Purpose : uint8_t { kStore, kFree };  // the latter is let past the limits of space
  static constexpr uint64_t kLoggedBytesMax = 96;

  // write.cc
  Status CheckValue(const TableImpl& table, Slice value) const;
  static Status CheckValueBytes(const TableImpl& table, uint64_t bytes);
  static Status NotWritable(const TableImpl& table);
  /// Another thread may drop a table after a write's first look at it, until the write has mutex_.
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
  /// Appends the value to a segment of the active memtable. *reference: the encoded reference,
  /// which the memtable gets instead of the value.
  Status LogValue(const TableImpl& table, Slice internal_key, Slice value, std::string* reference)
      LAVA_REQUIRES(mutex_);
  /// As LogValue(), for a value that comes in pieces. Errors: also the source's.
  Status LogFrom(const TableImpl& table, Slice internal_key, ValueSource* value,
                 std::string* reference) LAVA_REQUIRES(mutex_);
  /// write(reference) appends a value of this size to segments_.values().
  template <typename Body>
  Status LogBy(uint64_t bytes, std::string* reference, const Body& write) LAVA_REQUIRES(mutex_);
  /// As LogValue(), for the large values of a batch: one string for each operation, empty if its
  /// value is small. If all values are small, *references stays empty.
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
  /// Waits while jobs are behind or, unless the write frees space, while space is short. Gives
  /// mutex_ back meanwhile. Errors: Busy, see environment.wait_ms_max; Closed; of the jobs that the
  /// write waits for.
  Status WaitIfStalled(uint64_t bytes, Purpose purpose = Purpose::kStore) LAVA_REQUIRES(mutex_);
  /// WaitIfStalled() for a write to this table. Errors: also Closed for a dropped table.
  Status MakeRoomFor(const TableImpl& table, uint64_t bytes, Purpose purpose = Purpose::kStore)
      LAVA_REQUIRES(mutex_) {
    LAVA_RETURN_IF_ERROR(WaitIfStalled(bytes, purpose));
    return CheckNotDropped(table);
  }
  /// The slow path of WaitIfStalled(). JobScheduler::Relieve() starts what the write waits for, and
  /// TreeState::NotifyChanged() wakes the write, which then judges anew.
  Status WaitOrSeal(uint64_t bytes, Purpose purpose) LAVA_REQUIRES(mutex_);
  /// Whether the write waits for jobs; AwaitSpace() judges space.
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
  /// The flush is left to be scheduled.
  void SealBothLocked(FlushCause cause) LAVA_REQUIRES(mutex_, tree_->mutex());

  InstanceContext* const instance_;
  TreeState* const tree_;
  TableRegistry* const tables_;
  SeparationTuner* const separation_tuner_;
  WriteAheadLog* const wal_;  // appended to under mutex_
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
  std::atomic<uint64_t> active_bytes_{0};  // arena bytes, for the lease
  // A request is on its way. Also true until EndReplay(), because a replay flushes what it seals.
  std::atomic<bool> seal_requested_{true};
};

}  // namespace lava
