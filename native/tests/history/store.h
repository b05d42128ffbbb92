#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lava/status.h"
#include "testing/model.h"
#include "tests/history/operation.h"

namespace lava::testing {

/// What a history is played on: LavaKV with some options, a model, another engine. Keys and bounds
/// are those of Operation. Calls that may answer Busy are repeated inside.
/// Threads: one.
class Store {
 public:
  using Value = std::optional<std::string>;
  virtual ~Store() = default;

  /// kPut, kDelete, kAppend, kDeletePrefix, kDeleteRange; kPutExternal and kAppendExternal, by
  /// default as kPut and kAppend.
  virtual Status Write(const Operation& write) = 0;
  virtual Status WriteBatch(std::span<const Operation> writes) = 0;
  /// Makes a mistake, chosen by number: InvalidArgument, and nothing is changed.
  virtual Status Refused(uint64_t number) = 0;

  // slot: a snapshot's, or -1. All of a table that was dropped since can still be read there.
  virtual Result<Value> Get(uint32_t table, const std::string& key, int32_t slot) = 0;
  virtual Result<bool> Contains(uint32_t table, const std::string& key, int32_t slot) = 0;
  virtual Result<bool> ContainsPrefix(uint32_t table, const std::string& prefix, int32_t slot) = 0;
  virtual Result<std::vector<Value>> MultiGet(uint32_t table, std::span<const Operation> keys,
                                              int32_t slot) = 0;
  /// All pages. A scan without bounds: Operation with entries_max.
  virtual Result<std::vector<Model::Entry>> Scan(const Operation& scan) = 0;

  virtual bool HasSnapshot(int32_t slot) const = 0;
  virtual Status TakeSnapshot(int32_t slot) = 0;
  virtual void ReleaseSnapshot(int32_t slot) = 0;
  /// Has the slot's snapshot flushed, and its files and metadata looked at.
  virtual Status Checkpoint(int32_t slot) = 0;
  /// Goes on in a new instance made of ranges of partitions of snapshots, which do not overlap; a
  /// slot without snapshot stands for the newest state. All snapshots are gone then.
  struct ImportPart {
    int32_t slot = -1;
    uint32_t first = 0, last = kPartitionMax;
  };
  using ImportPlan = std::vector<ImportPart>;
  virtual Status Import(const ImportPlan& plan) = 0;
  /// Flushes, closes and opens, perhaps with other options. All snapshots are gone then.
  virtual Status Reopen() = 0;
  virtual Status Flush() = 0;
  virtual Status CompactAll() = 0;
  virtual void RunJobs(uint64_t count) = 0;
  virtual Status DropTable(uint32_t table) = 0;
  virtual Status SetTtl(uint32_t table, int64_t ttl_ms) = 0;
  /// Changes what no answer depends on: from which size on values go to value files, and who writes
  /// them anew.
  virtual Status Tune(uint32_t table, uint64_t number) = 0;
  /// The same of what all instances of a process share: its limit of space, which is never full,
  /// its background threads, and the CPU time that they may use.
  virtual void TuneHost(uint64_t number) = 0;
  /// What a layer above does with the log that it shares, chosen by number. No answer depends on
  /// it.
  virtual Status Entries(uint64_t) { return Status::OK(); }
  /// confirmed: the store's steady clock has gone on as far, where that is the test's.
  virtual void SetTime(int64_t now_ms, bool confirmed) = 0;
  /// At the end, all snapshots released: what must hold of the store itself.
  virtual Status CheckAtEnd() = 0;
};

Store::ImportPlan PlanOf(const Operation& import);

}  // namespace lava::testing
