// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "host/job_memory.h"
#include "host/scheduler.h"
#include "lava/db.h"
#include "testing/chosen_file_system.h"
#include "testing/random.h"
#include "testing/sim_executor.h"
#include "testing/test_clock.h"
#include "tests/history/mem_volume.h"
#include "tests/history/option_sets.h"
#include "tests/history/store.h"

namespace lava::testing {

/// LavaKV with an option set.
/// Ownership:  a given file system must outlive it; otherwise it has its own.
class LavaStore final : public Store {
 public:
  /// Totals over the instances of all stores until they were closed. One thread at a time.
  struct Totals {
    uint64_t collections = 0, collection_values_dead = 0, value_reads = 0, merged_value_bytes = 0;
    uint64_t values_logged = 0, external_values = 0, external_elements = 0, entries_read = 0;
    uint64_t missing_files = 0, reads_that_needed_a_file = 0, missing_files_in_checkpoints = 0;
  };
  static Totals& TotalsOfAll();

  LavaStore(const OptionSet& set, uint64_t seed, fs::FileSystem* file_system = nullptr);
  ~LavaStore() override;

  /// Opens the instance in directory() or creates it. Must be called first.
  Status Open();
  Status OpenAt(const std::string& directory) { return OpenIn(directory, {}); }
  /// Closes without a flush.
  void CloseNow();
  /// From the next open on, uses the other store's time and TTLs.
  void TakeTimes(const LavaStore& other) {
    clock_.Advance(other.now_ms_ - now_ms_);
    now_ms_ = other.now_ms_;
    time_ = other.time_;
    ttl_ms_ = other.ttl_ms_;
  }
  /// From the next open on, another job of the same lease runs concurrently and never ends, so that
  /// jobs without memory wait.
  void HaveAJobBeside() { job_beside_ = true; }
  /// Imports find only some of their files; the others arrive at any moment, or when a read needs
  /// them.
  void HaveMissingFiles() { has_missing_files_ = true; }
  /// File operations fail, so background work may fail.
  void MayFail() { may_fail_ = true; }
  bool is_open() const { return db_ != nullptr; }
  const std::string& directory() const { return directory_; }
  DB* db() { return db_.get(); }
  /// Its own file system, for option sets in memory.
  CrashableFileSystem& memory() { return memory_.value(); }
  TestClock& clock() { return clock_; }

  Status Write(const Operation& write) override;
  Status WriteBatch(std::span<const Operation> writes) override;
  Status Refused(uint64_t number) override;
  Result<Value> Get(uint32_t table, const std::string& key, int32_t slot) override;
  Result<bool> Contains(uint32_t table, const std::string& key, int32_t slot) override;
  Result<bool> ContainsPrefix(uint32_t table, const std::string& prefix, int32_t slot) override;
  Result<std::vector<Model::Entry>> Scan(const Operation& scan) override;
  bool HasSnapshot(int32_t slot) const override { return snapshots_.count(slot) != 0; }
  Status TakeSnapshot(int32_t slot) override;
  void ReleaseSnapshot(int32_t slot) override { snapshots_.erase(slot); }
  Status Checkpoint(int32_t slot) override;
  Status Import(const ImportPlan& plan) override;
  Status Reopen() override;
  Status Flush() override;
  Status CompactAll() override;
  void RunJobs(uint64_t count) override;
  Status DropTable(uint32_t table) override;
  Status SetTtl(uint32_t table, int64_t ttl_ms) override;
  Status Tune(uint32_t table, uint64_t number) override;
  void TuneHost(uint64_t number) override;
  Status Entries(uint64_t number) override;
  void SetTime(int64_t now_ms, bool confirmed) override;
  Status CheckAtEnd() override;

 private:
  Status OpenIn(const std::string& directory, std::span<const ImportSource> imports);
  Result<Table*> TableAt(uint32_t table);
  Snapshot* SnapshotAt(int32_t slot) const;
  std::string ToStore(const std::string& key) const;
  uint32_t PrefixOf(uint32_t table) const;
  Status Finish(const std::function<Status()>& call);
  Status Apply(const Operation& write);
  Status Adopt(int32_t slot, const std::string& directory, ImportSource* source);
  // entries.cc
  struct Logged {
    EntryLocation location;
    std::string bytes;
  };
  Status PutExternal(const Operation& put);
  Status AppendExternal(const Operation& append);
  Status CheckExternal(const Operation& put);
  Status ReadEntry(const Logged& logged);
  Status FinishEntries(uint64_t segment);
  // missing_files.cc
  Status Place(const Snapshot::File& file, const std::string& directory, ImportSource* source);
  std::string PathOf(const Snapshot::File& file) const;
  void AwaitFiles();
  void StopBringing();
  Status Bring(const std::string& name);
  Status BringLocked(const std::string& name);
  Status BringAny();
  Status BringAll();
  template <typename Read>
  Status WithFiles(Read read) {
    while (true) {
      Status status = read();
      if (!status.IsNeedsFile()) return status;
      ++TotalsOfAll().reads_that_needed_a_file;
      LAVA_RETURN_IF_ERROR(Bring(std::string(status.message())));
    }
  }
  Status CheckAtRest();
  Status CheckFiles(std::span<const Snapshot::File> files) const;
  Status CheckRecordCounts();
  Status CheckClosed();

  const OptionSet set_;
  std::optional<ChosenFileSystem> memory_;
  std::unique_ptr<FileVolume> file_volume_;
  std::unique_ptr<fs::FileSystem> posix_;
  std::unique_ptr<MemVolume> volume_;  // mounted again for each open
  fs::FileSystem* fs_;
  std::string root_;
  bool may_fail_ = false;
  bool job_beside_ = false;
  bool has_missing_files_ = false;
  Random arrival_random_;
  mutable std::mutex missing_mutex_;
  // name -> where the file waits; guarded by missing_mutex_
  std::map<std::string, std::string> missing_files_;
  // With real threads, a write waits for jobs, and jobs wait for files: a separate thread provides
  // the files.
  std::thread bringing_;
  std::atomic<bool> stop_bringing_{false};
  MemoryCounter beside_;
  std::optional<JobMemory::Grant> beside_grant_;
  std::shared_ptr<Lease> beside_lease_;
  bool owns_root_ = false;  // of a real file system
  TestClock clock_;
  std::unique_ptr<Scheduler> scheduler_;
  std::unique_ptr<os::Executor> jobs_;  // on its threads
  std::unique_ptr<SimExecutor> simulated_;
  uint32_t openings_ = 0, directories_ = 0;
  uint64_t separation_bytes_ = 0;
  lava::WriteBatch batch_;  // reused, like users do
  PinnedValue value_;
  uint32_t extra_ = 0;  // partition bytes in addition to the first
  std::string directory_;
  int64_t now_ms_ = 0;
  std::optional<TtlTime> time_;  // as in a checkpoint
  std::map<uint32_t, int64_t> ttl_ms_;
  std::unique_ptr<DB> db_;
  std::map<uint32_t, Table*> tables_;  // of this open
  std::map<int32_t, std::shared_ptr<Snapshot>> snapshots_;
  std::vector<Logged> logged_;  // in this open, and not released
};

}  // namespace lava::testing
