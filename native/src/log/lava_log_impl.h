// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "log/checkpoint.h"
#include "log/index.h"
#include "log/lava_log.h"
#include "log/physical_log.h"

namespace lava::log {

/// The leader, which is the thread whose call is first in the queue, commits the queued calls of
/// all threads. Only the leader writes files and changes the index. Other threads read the index
/// under the mutex.
/// Threads:    any, except Recover(), which is called before other threads use the log.
class LavaLogImpl : public LavaLog {
 public:
  explicit LavaLogImpl(const LogOptions& options) : options_(options) {}
  ~LavaLogImpl() override;
  Status Recover() LAVA_EXCLUDES(mutex_);

  Result<LogId> Create(const std::string& name) override LAVA_EXCLUDES(mutex_);
  Result<LogId> Find(const std::string& name) override LAVA_EXCLUDES(mutex_);
  std::vector<std::pair<LogId, std::string>> List() override LAVA_EXCLUDES(mutex_);
  Status Delete(LogId id) override LAVA_EXCLUDES(mutex_);
  Status Append(LogId id, uint64_t lsn, Slice data, Durability durability,
                Location* location) override LAVA_EXCLUDES(mutex_);
  Status Trim(LogId id, uint64_t lsn, Durability durability) override LAVA_EXCLUDES(mutex_);
  Status Read(LogId id, uint64_t lsn, std::string* data) override LAVA_EXCLUDES(mutex_);
  Status Bounds(LogId id, uint64_t* trimmed_to, uint64_t* last_lsn) override LAVA_EXCLUDES(mutex_);
  std::unique_ptr<Cursor> NewCursor(LogId id) override;
  Status Sync() override LAVA_EXCLUDES(mutex_);
  Status Maintain() override LAVA_EXCLUDES(mutex_, maintenance_mutex_);
  Status Checkpoint() override LAVA_EXCLUDES(mutex_, maintenance_mutex_);
  Status CollectOldest() override LAVA_EXCLUDES(mutex_, maintenance_mutex_);
  Statistics statistics() override LAVA_EXCLUDES(mutex_);
  Status Close() override LAVA_EXCLUDES(mutex_, maintenance_mutex_);

  /// For cursors: entries of a log from lsn on, ascending, with their files. They include all
  /// entries up to *until. Without any, the log has no more.
  struct Found {
    IndexEntry entry;
    std::shared_ptr<DataFile> file;
  };
  Status EntriesFrom(LogId id, uint64_t lsn, std::vector<Found>* found, uint64_t* until)
      LAVA_EXCLUDES(mutex_);

 private:
  struct Waiter {
    CondVar wake;
  };
  struct Op {
    enum class Kind : uint8_t { kAppend, kMove, kMeta, kExclusive };
    Kind kind = Kind::kAppend;
    LogId log = 0;
    uint64_t lsn = 0;
    Slice data = {};
    Durability durability = Durability::kWritten;
    uint64_t generation = 0;  // of the log's packs when they were searched for the LSN
    MetaOp meta = {};
    std::function<Status()> exclusive = nullptr;  // run by the leader, alone

    Location location = {};
    Status status = {};
    bool counts = false;  // it is part of the batch
    bool again = false;   // packs were added: search them for the LSN again
    bool done = false;
    Waiter* waiter = nullptr;
  };
  using Batch = std::vector<Op*>;

  // The leader's role. It exists for the compiler only: nothing is locked. leading_ excludes
  // others.
  struct LAVA_CAPABILITY("role") Leader {
    void Begin() LAVA_ACQUIRE() {}
    void End() LAVA_RELEASE() {}
    void AssertHeld() const LAVA_ASSERT_CAPABILITY(this) {}
  };

  // A file that the leader appends to.
  struct Appended {
    std::unique_ptr<PhysicalLogWriter> writer;  // null: the next append makes a file
    uint64_t acknowledged = 0;                  // bytes of the file in acknowledged appends
    bool broken = false;                        // a write failed, or a new file is being made
  };

  // commit.cc
  Status Commit(Op* op) LAVA_EXCLUDES(mutex_) { return CommitAll({op}); }
  Status CommitAll(const Batch& ops) LAVA_EXCLUDES(mutex_);
  Status RunExclusive(std::function<Status()> what) LAVA_EXCLUDES(mutex_);
  void Lead() LAVA_REQUIRES(mutex_);
  void Gather() LAVA_REQUIRES(mutex_);
  Batch TakeBatch() LAVA_REQUIRES(mutex_, leader_);
  void Judge(Op* op, const Batch& before) LAVA_REQUIRES(mutex_, leader_);
  Status JudgeAppend(Op* op, const Batch& before) LAVA_REQUIRES(mutex_);
  Status JudgeMeta(Op* op, const Batch& before) LAVA_REQUIRES(mutex_, leader_);
  Status WriteBatch(const Batch& batch) LAVA_REQUIRES(leader_) LAVA_EXCLUDES(mutex_);
  Status WriteMeta(const Batch& batch, bool sync) LAVA_REQUIRES(leader_) LAVA_EXCLUDES(mutex_);
  Status WriteData(const Batch& batch, bool sync) LAVA_REQUIRES(leader_) LAVA_EXCLUDES(mutex_);
  Status WriteFrame(Appended* file, FrameType type, Slice payload, bool sync) LAVA_REQUIRES(leader_)
      LAVA_EXCLUDES(mutex_);
  /// Everything that was written to the file is acknowledged. Returns the bytes since the last
  /// call.
  uint64_t Acknowledge(Appended* file) LAVA_REQUIRES(leader_) LAVA_EXCLUDES(mutex_);
  /// Records the result of a sync: a failed one is final.
  Status Synced(Status status) LAVA_REQUIRES(leader_) LAVA_EXCLUDES(mutex_);
  void Apply(const Batch& batch) LAVA_REQUIRES(mutex_, leader_);
  void ApplyMeta(const MetaOp& op) LAVA_REQUIRES(mutex_, leader_);
  /// For the leader, which needs no mutex to read; the analysis does not know that.
  const Status& failed() const LAVA_REQUIRES(leader_) LAVA_NO_THREAD_SAFETY_ANALYSIS {
    return failed_;
  }
  Index& index() LAVA_REQUIRES(leader_) LAVA_NO_THREAD_SAFETY_ANALYSIS { return index_; }
  Status AskPacks(LogId id, uint64_t lsn, uint64_t* generation) LAVA_EXCLUDES(mutex_);
  std::string Describe(const char* what, LogId id, uint64_t lsn) const;

  // physical.cc
  Status EnsureData() LAVA_REQUIRES(leader_) LAVA_EXCLUDES(mutex_);
  Status EnsureMeta() LAVA_REQUIRES(leader_) LAVA_EXCLUDES(mutex_);
  Status SyncByName(FileKind kind, uint32_t number) LAVA_REQUIRES(leader_) LAVA_EXCLUDES(mutex_);
  Status SyncFiles(bool data) LAVA_REQUIRES(leader_) LAVA_EXCLUDES(mutex_);
  Status NewFile(FileKind kind, uint32_t number, FileHeader* header,
                 std::unique_ptr<PhysicalLogWriter>* writer) LAVA_REQUIRES(leader_)
      LAVA_EXCLUDES(mutex_);
  Status Tidy(const std::vector<LogId>& written) LAVA_REQUIRES(leader_) LAVA_EXCLUDES(mutex_);
  Status PackSome(LogicalLog* log, size_t keep) LAVA_REQUIRES(leader_) LAVA_EXCLUDES(mutex_);
  Status PackUnderPressure() LAVA_REQUIRES(leader_) LAVA_EXCLUDES(mutex_);
  Status SealData() LAVA_REQUIRES(leader_) LAVA_EXCLUDES(mutex_);
  Status WriteIndexFile(uint32_t number) LAVA_REQUIRES(leader_) LAVA_EXCLUDES(mutex_);
  using Packs = std::vector<std::pair<LogicalLog*, Pack>>;
  Status WritePacksAndDirectory(uint32_t number, bool beside, PhysicalLogWriter* writer,
                                Packs* packs, uint64_t* directory_offset) LAVA_REQUIRES(leader_);
  Status WritePack(LogicalLog* log, size_t begin, bool beside, PhysicalLogWriter* writer,
                   Pack* pack) LAVA_REQUIRES(leader_);
  void Sealed(uint32_t number, uint64_t bytes, const Packs& packs) LAVA_REQUIRES(leader_)
      LAVA_EXCLUDES(mutex_);
  Status RollMeta() LAVA_REQUIRES(leader_) LAVA_EXCLUDES(mutex_);

  // maintenance.cc
  Status RemoveDataFile(uint32_t number) LAVA_REQUIRES(maintenance_mutex_) LAVA_EXCLUDES(mutex_);
  Status MoveLiving(const std::shared_ptr<DataFile>& file) LAVA_REQUIRES(maintenance_mutex_)
      LAVA_EXCLUDES(mutex_);
  Status MovePack(const std::shared_ptr<DataFile>& file, LogId id, const Pack& pack,
                  uint64_t trimmed_to) LAVA_REQUIRES(maintenance_mutex_) LAVA_EXCLUDES(mutex_);
  Status Collect(bool any) LAVA_EXCLUDES(mutex_, maintenance_mutex_);
  Status RemoveBefore(uint32_t meta) LAVA_REQUIRES(maintenance_mutex_);
  uint32_t FileToCollect(bool any) const LAVA_REQUIRES(mutex_);
  bool NeedsMaintenance() const LAVA_REQUIRES(mutex_);
  void ScheduleMaintenance() LAVA_REQUIRES(mutex_);
  void CountWritten(uint64_t bytes) LAVA_EXCLUDES(mutex_);
  void ChargeIndex() LAVA_REQUIRES(mutex_);

  // recovery.cc
  Status RemoveLeftOver(const std::vector<std::string>& names);

  std::string PathOf(FileKind kind, uint32_t number) const {
    return options_.directory + "/" + FileName(kind, number);
  }

  const LogOptions options_;
  std::unique_ptr<fs::DirectoryLock> directory_lock_;

  Mutex mutex_;
  std::deque<Op*> queue_ LAVA_GUARDED_BY(mutex_);
  bool leading_ LAVA_GUARDED_BY(mutex_) = false;
  bool gathering_ LAVA_GUARDED_BY(mutex_) = false;
  bool closed_ LAVA_GUARDED_BY(mutex_) = false;
  CondVar gathered_;
  struct {
    size_t ops = 0;            // in the last batch
    uint64_t sync_micros = 0;  // of the last batch that was synced
  } last_batch_ LAVA_GUARDED_BY(mutex_);
  // Only the leader changes these two, under the mutex, so it reads them without it: failed(),
  // index(). One exception: a collection marks a file as unreadable, which no leader reads.
  Status failed_ LAVA_GUARDED_BY(mutex_);  // a failed sync: final
  Index index_ LAVA_GUARDED_BY(mutex_);
  bool files_changed_ LAVA_GUARDED_BY(mutex_) = true;  // a file may have become due for collection
  Statistics statistics_ LAVA_GUARDED_BY(mutex_);
  uint64_t charged_bytes_ LAVA_GUARDED_BY(mutex_) = 0;

  Leader leader_;
  // If a data file is broken, its index goes to a separate file.
  Appended data_ LAVA_GUARDED_BY(leader_), meta_ LAVA_GUARDED_BY(leader_);
  std::vector<std::shared_ptr<DataFile>> obsolete_ LAVA_GUARDED_BY(leader_);
  uint32_t next_data_ LAVA_GUARDED_BY(leader_) = 1;
  uint32_t last_meta_ LAVA_GUARDED_BY(leader_) = 0;        // highest number ever tried
  uint32_t last_sound_meta_ LAVA_GUARDED_BY(leader_) = 0;  // the next one follows it; 0: none
  std::atomic<uint64_t> data_since_checkpoint_{0};
  std::atomic<uint64_t> meta_since_checkpoint_{0};

  // One checkpoint or collection at a time.
  Mutex maintenance_mutex_ LAVA_ACQUIRED_BEFORE(mutex_);
  struct Job {
    Mutex running LAVA_ACQUIRED_BEFORE(mutex);
    Mutex mutex;
    LavaLogImpl* log LAVA_GUARDED_BY(mutex) = nullptr;  // null: the log was closed
    bool queued LAVA_GUARDED_BY(mutex) = false;
  };
  std::shared_ptr<Job> job_ = std::make_shared<Job>();
};

}  // namespace lava::log
