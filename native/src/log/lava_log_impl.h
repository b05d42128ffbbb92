#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "log/checkpoint.h"
#include "log/index.h"
#include "log/lava_log.h"
#include "log/physical_log.h"

namespace lava::log {

/// Who leads, the thread whose call stands first in the queue, commits what is queued for all, and
/// is the only one that writes files and changes the index, which others read under the mutex.
class LavaLogImpl : public LavaLog {
 public:
  explicit LavaLogImpl(const LogOptions& options) : options_(options) {}
  ~LavaLogImpl() override;
  Status Recover();

  Result<LogId> Create(const std::string& name) override;
  Result<LogId> Find(const std::string& name) override;
  std::vector<std::pair<LogId, std::string>> List() override;
  Status Delete(LogId id) override;
  Status Append(LogId id, uint64_t lsn, Slice data, Durability durability,
                Location* location) override;
  Status Trim(LogId id, uint64_t lsn, Durability durability) override;
  Status Read(LogId id, uint64_t lsn, std::string* data) override;
  Status Bounds(LogId id, uint64_t* trimmed_to, uint64_t* last_lsn) override;
  std::unique_ptr<Cursor> NewCursor(LogId id) override;
  Status Sync() override;
  Status Maintain() override;
  Status Checkpoint() override;
  Status CollectOldest() override;
  Statistics statistics() override;
  Status Close() override;

  /// For cursors: the entries of a log from lsn on, ascending, with their files; *until: all up to
  /// there are among them. None: there is nothing behind.
  struct Found {
    Entry entry;
    std::shared_ptr<DataFile> file;
  };
  Status EntriesFrom(LogId id, uint64_t lsn, std::vector<Found>* found, uint64_t* until);

 private:
  struct Waiter {
    std::condition_variable wake;
  };
  struct Op {
    enum class Kind : uint8_t { kAppend, kMove, kMeta, kExclusive };
    Kind kind = Kind::kAppend;
    LogId log = 0;
    uint64_t lsn = 0;
    Slice data = {};
    Durability durability = Durability::kWritten;
    uint64_t generation = 0;  // of the log's packs when they were asked for the LSN
    MetaOp meta = {};
    std::function<Status()> exclusive = nullptr;  // what the leader does, alone

    Location location = {};
    Status status = {};
    bool counts = false;  // it is in the batch
    bool again = false;   // packs were added: ask them for the LSN again
    bool done = false;
    Waiter* waiter = nullptr;
  };
  using Batch = std::vector<Op*>;
  using Lock = std::unique_lock<std::mutex>;

  // commit.cc
  Status Commit(Op* op) { return CommitAll({op}); }
  Status CommitAll(const Batch& ops);
  Status RunExclusive(std::function<Status()> what);
  void Lead(Lock* lock);
  void Gather(Lock* lock);
  Batch TakeBatch();
  void Judge(Op* op, const Batch& before);
  Status JudgeAppend(Op* op, const Batch& before);
  Status JudgeMeta(Op* op, const Batch& before);
  Status WriteBatch(const Batch& batch);
  Status WriteMeta(const Batch& batch, bool sync);
  Status WriteData(const Batch& batch, bool sync);
  Status WriteFrame(PhysicalLogWriter* writer, FrameType type, Slice payload, bool sync,
                    bool* broken);
  /// What a sync answered: a failed one is final.
  Status Synced(Status status);
  void Apply(const Batch& batch);
  void ApplyMeta(const MetaOp& op);
  Status AskPacks(LogId id, uint64_t lsn, uint64_t* generation);
  std::string Describe(const char* what, LogId id, uint64_t lsn) const;

  // physical.cc: the leader's
  Status EnsureData();
  Status EnsureMeta();
  Status SyncByName(FileKind kind, uint32_t number);
  Status SyncFiles(bool data);
  Status NewFile(FileKind kind, uint32_t number, FileHeader* header,
                 std::unique_ptr<PhysicalLogWriter>* writer);
  Status Tidy(const std::vector<LogId>& written);
  Status PackSome(LogicalLog* log, size_t keep);
  Status PackUnderPressure();
  Status SealData();
  Status WriteIndexFile(uint32_t number);
  using Packs = std::vector<std::pair<LogicalLog*, Pack>>;
  Status WritePacksAndDirectory(uint32_t number, bool beside, PhysicalLogWriter* writer,
                                Packs* packs, uint64_t* directory_offset);
  Status WritePack(LogicalLog* log, size_t begin, bool beside, PhysicalLogWriter* writer,
                   Pack* pack);
  void Sealed(uint32_t number, uint64_t bytes, const Packs& packs);
  Status RollMeta();

  // maintenance.cc
  Status RemoveDataFile(uint32_t number);
  Status MoveLiving(const std::shared_ptr<DataFile>& file);
  Status MovePack(const std::shared_ptr<DataFile>& file, LogId id, const Pack& pack,
                  uint64_t trimmed_to);
  Status Collect(bool any);
  Status RemoveBefore(uint32_t meta);
  uint32_t FileToCollect(bool any) const;
  bool NeedsMaintenance() const;
  void ScheduleMaintenance(Lock* lock);
  void CountWritten(uint64_t bytes);
  void ChargeIndex();

  // recovery.cc
  Status RemoveLeftOver(const std::vector<std::string>& names);

  std::string PathOf(FileKind kind, uint32_t number) const {
    return options_.directory + "/" + FileName(kind, number);
  }

  const LogOptions options_;
  std::unique_ptr<fs::DirectoryLock> directory_lock_;

  std::mutex mutex_;
  std::deque<Op*> queue_;
  bool leading_ = false;
  bool gathering_ = false;
  bool closed_ = false;
  std::condition_variable gathered_;
  size_t last_batch_ops_ = 0;
  uint64_t last_sync_micros_ = 0;
  Status failed_;  // a failed sync: final
  Index index_;
  bool files_changed_ = true;  // whether one may be to be collected
  Statistics statistics_;
  uint64_t charged_bytes_ = 0;

  // The leader's.
  std::unique_ptr<PhysicalLogWriter> data_;  // null: the next append makes one
  uint64_t data_size_ = 0;                   // what of it is acknowledged
  bool data_broken_ = false;                 // a write failed: its index goes to a file beside it
  std::unique_ptr<PhysicalLogWriter> meta_;
  uint64_t meta_size_ = 0;
  bool meta_broken_ = false;
  std::vector<std::shared_ptr<DataFile>> doomed_;
  uint32_t next_data_ = 1;
  uint32_t last_meta_ = 0;        // ever tried
  uint32_t last_sound_meta_ = 0;  // that the next one follows; 0: none
  std::atomic<uint64_t> data_since_checkpoint_{0};
  std::atomic<uint64_t> meta_since_checkpoint_{0};

  std::mutex maintenance_mutex_;  // one checkpoint or collection at a time
  struct Job {
    std::mutex running;
    std::mutex mutex;            // of what follows
    LavaLogImpl* log = nullptr;  // null: it was closed
    bool queued = false;
  };
  std::shared_ptr<Job> job_ = std::make_shared<Job>();
};

}  // namespace lava::log
