// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <map>

#include "tests/history/store.h"

namespace lava::testing {

/// The oracle: sorted maps.
class ModelStore : public Store {
 public:
  ModelStore();
  explicit ModelStore(Model model) : model_(std::move(model)) {}
  /// The newest state.
  const Model& now() const { return model_; }
  Status Write(const Operation& write) override;
  Status WriteBatch(std::span<const Operation> writes) override;
  Status Refused(uint64_t) override { return Status::InvalidArgument("as it should be"); }
  Result<Value> Get(uint32_t table, const std::string& key, int32_t slot) override;
  Result<bool> Contains(uint32_t table, const std::string& key, int32_t slot) override;
  Result<bool> ContainsPrefix(uint32_t table, const std::string& prefix, int32_t slot) override;
  Result<std::vector<Model::Entry>> Scan(const Operation& scan) override;
  bool HasSnapshot(int32_t slot) const override { return snapshots_.count(slot) != 0; }
  Status TakeSnapshot(int32_t slot) override;
  void ReleaseSnapshot(int32_t slot) override { snapshots_.erase(slot); }
  Status Checkpoint(int32_t) override { return Status::OK(); }
  Status Import(const ImportPlan& plan) override;
  Status Reopen() override;
  Status Flush() override { return Status::OK(); }
  Status CompactAll() override { return Status::OK(); }
  void RunJobs(uint64_t) override {}
  Status DropTable(uint32_t table) override;
  Status SetTtl(uint32_t, int64_t) override { return Status::OK(); }
  Status Tune(uint32_t, uint64_t) override { return Status::OK(); }
  void TuneHost(uint64_t) override {}
  void SetTime(int64_t, bool) override {}
  Status CheckAtEnd() override { return Status::OK(); }

 private:
  const Model& At(int32_t slot) const { return slot < 0 ? model_ : snapshots_.at(slot); }
  void CopyPartitions(int32_t slot, uint32_t first, uint32_t last, Model* to) const;

  Model model_;
  std::map<int32_t, Model> snapshots_;
};

/// A wrong store, to verify that errors are noticed: it ignores deletes in table 1 except in
/// batches.
class ForgetfulStore final : public ModelStore {
 public:
  Status Write(const Operation& write) override {
    if (write.op == Op::kDelete && write.table == 1) return Status::OK();
    return ModelStore::Write(write);
  }
};

/// The request of a scan's first page, with the operation's keys.
ScanRequest RequestOf(const Operation& scan);

}  // namespace lava::testing
