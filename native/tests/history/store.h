// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lava/status.h"
#include "testing/model.h"
#include "tests/history/operation.h"

namespace lava::testing {

/// The store on which a history is played: LavaKV with some options, a model, another engine. Keys
/// and bounds are those of Operation. Busy calls are repeated inside. Threads: one.
class Store {
 public:
  using Value = std::optional<std::string>;
  virtual ~Store() = default;

  /// kPut, kDelete, kAppend, kDeletePrefix, kDeleteRange; kPutExternal and kAppendExternal, by
  /// default like kPut and kAppend.
  virtual Status Write(const Operation& write) = 0;
  virtual Status WriteBatch(std::span<const Operation> writes) = 0;
  /// Makes a mistake chosen by number: must return InvalidArgument and change nothing.
  virtual Status Refused(uint64_t number) = 0;

  // slot: a snapshot's, or -1. A table dropped since can still be read there.
  virtual Result<Value> Get(uint32_t table, const std::string& key, int32_t slot) = 0;
  virtual Result<bool> Contains(uint32_t table, const std::string& key, int32_t slot) = 0;
  virtual Result<bool> ContainsPrefix(uint32_t table, const std::string& prefix, int32_t slot) = 0;
  /// All pages. A scan without bounds: Operation with entries_max.
  virtual Result<std::vector<Model::Entry>> Scan(const Operation& scan) = 0;

  virtual bool HasSnapshot(int32_t slot) const = 0;
  virtual Status TakeSnapshot(int32_t slot) = 0;
  virtual void ReleaseSnapshot(int32_t slot) = 0;
  /// Flushes the slot's snapshot, and checks its files and metadata.
  virtual Status Checkpoint(int32_t slot) = 0;
  /// Continues in a new instance made of disjoint ranges of partitions of snapshots. A slot without
  /// snapshot means the newest state. Releases all snapshots.
  struct ImportPart {
    int32_t slot = -1;
    uint32_t first = 0, last = kPartitionMax;
  };
  using ImportPlan = std::vector<ImportPart>;
  virtual Status Import(const ImportPlan& plan) = 0;
  /// Flushes, closes and opens, possibly with other options. Releases all snapshots.
  virtual Status Reopen() = 0;
  virtual Status Flush() = 0;
  virtual Status CompactAll() = 0;
  virtual void RunJobs(uint64_t count) = 0;
  virtual Status DropTable(uint32_t table) = 0;
  virtual Status SetTtl(uint32_t table, int64_t ttl_ms) = 0;
  /// Changes settings that affect no answer: the separation size, and the value policy.
  virtual Status Tune(uint32_t table, uint64_t number) = 0;
  /// The same for settings shared by all instances of a process: its space limit, which is never
  /// reached, its background threads, and their CPU time.
  virtual void TuneHost(uint64_t number) = 0;
  /// Operations of a layer above on the shared log, chosen by number. No answer depends on them.
  virtual Status Entries(uint64_t) { return Status::OK(); }
  /// confirmed: the store's steady clock has advanced as far, if the test controls it.
  virtual void SetTime(int64_t now_ms, bool confirmed) = 0;
  /// At the end, with all snapshots released: checks the store's own invariants.
  virtual Status CheckAtEnd() = 0;
};

Store::ImportPlan PlanOf(const Operation& import);

}  // namespace lava::testing
