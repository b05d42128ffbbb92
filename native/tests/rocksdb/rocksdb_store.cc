// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/rocksdb/rocksdb_store.h"

#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <rocksdb/merge_operator.h>
#include <rocksdb/table.h>
#include <rocksdb/write_batch.h>

#include "tests/history/model_store.h"

namespace lava::testing {
namespace {

class Concatenation final : public rocksdb::AssociativeMergeOperator {
 public:
  bool Merge(const rocksdb::Slice&, const rocksdb::Slice* existing, const rocksdb::Slice& operand,
             std::string* out, rocksdb::Logger*) const override {
    out->clear();
    if (existing != nullptr) out->assign(existing->data(), existing->size());
    out->append(operand.data(), operand.size());
    return true;
  }
  const char* Name() const override { return "concatenation"; }
};

Status Of(const rocksdb::Status& status) {
  return status.ok() ? Status::OK() : Status::IOError("rocksdb: " + status.ToString());
}

// The smallest key after all that start with the prefix; empty: none.
std::string EndOf(std::string prefix) {
  while (!prefix.empty() && prefix.back() == '\xff') prefix.pop_back();
  if (!prefix.empty()) prefix.back() = static_cast<char>(static_cast<uint8_t>(prefix.back()) + 1);
  return prefix;
}

// After every key of a history, which begins with a partition.
const std::string kBehindAll(1, static_cast<char>(kPartitionMax + 1));

class RocksDBStore final : public Store {
 public:
  RocksDBStore() : env_(rocksdb::NewMemEnv(rocksdb::Env::Default())) { OpenIn("/db0").ok(); }
  ~RocksDBStore() override { Close(); }

  Status Write(const Operation& write) override {
    rocksdb::WriteBatch batch;
    Add(write, &batch);
    return Of(db_->Write({}, &batch));
  }
  Status WriteBatch(std::span<const Operation> writes) override {
    rocksdb::WriteBatch batch;
    for (const Operation& write : writes) Add(write, &batch);
    return Of(db_->Write({}, &batch));
  }
  Status Refused(uint64_t) override { return Status::InvalidArgument("as it should be"); }

  Result<Value> Get(uint32_t table, const std::string& key, int32_t slot) override {
    std::string value;
    const rocksdb::Status status = db_->Get(ReadAt(slot), tables_[table], key, &value);
    if (status.IsNotFound()) return Value();
    LAVA_RETURN_IF_ERROR(Of(status));
    return Value(std::move(value));
  }
  Result<bool> Contains(uint32_t table, const std::string& key, int32_t slot) override {
    LAVA_ASSIGN_OR_RETURN(const Value value, Get(table, key, slot));
    return value.has_value();
  }
  Result<bool> ContainsPrefix(uint32_t table, const std::string& prefix, int32_t slot) override {
    const std::unique_ptr<rocksdb::Iterator> iterator(
        db_->NewIterator(ReadAt(slot), tables_[table]));
    iterator->Seek(prefix);
    LAVA_RETURN_IF_ERROR(Of(iterator->status()));
    return iterator->Valid() && iterator->key().starts_with(prefix);
  }
  Result<std::vector<Model::Entry>> Scan(const Operation& scan) override {
    const ScanRequest request = RequestOf(scan);
    const Slice prefix = request.lower.substr(0, request.prefix_bytes);
    const std::unique_ptr<rocksdb::Iterator> iterator(
        db_->NewIterator(ReadAt(scan.slot), tables_[scan.table]));
    std::vector<Model::Entry> entries;
    for (iterator->Seek(rocksdb::Slice(request.lower)); iterator->Valid(); iterator->Next()) {
      const Slice key(iterator->key().data(), iterator->key().size());
      if (request.lower_exclusive && key == request.lower) continue;
      if (!key.starts_with(prefix)) break;
      if (prefix.empty() && !request.upper.empty() && key >= request.upper) break;
      entries.emplace_back(key.substr(std::min<size_t>(request.skip_key_bytes, key.size())),
                           request.keys_only ? "" : iterator->value().ToString());
    }
    LAVA_RETURN_IF_ERROR(Of(iterator->status()));
    return entries;
  }

  bool HasSnapshot(int32_t slot) const override { return snapshots_.count(slot) != 0; }
  Status TakeSnapshot(int32_t slot) override {
    ReleaseSnapshot(slot);
    snapshots_[slot] = db_->GetSnapshot();
    return Status::OK();
  }
  void ReleaseSnapshot(int32_t slot) override {
    const auto it = snapshots_.find(slot);
    if (it == snapshots_.end()) return;
    db_->ReleaseSnapshot(it->second);
    snapshots_.erase(it);
  }
  Status Checkpoint(int32_t) override { return Status::OK(); }
  Status Import(const ImportPlan& plan) override {
    std::vector<std::vector<Model::Entry>> copied(kHistoryTableCount);
    for (const ImportPart& part : plan)
      LAVA_RETURN_IF_ERROR(Copy(part.slot, part.first, part.last, &copied));
    Close();
    LAVA_RETURN_IF_ERROR(OpenIn("/db" + std::to_string(++directories_)));
    for (uint32_t table = 0; table < kHistoryTableCount; ++table)
      for (const Model::Entry& entry : copied[table])
        LAVA_RETURN_IF_ERROR(Of(db_->Put({}, tables_[table], entry.first, entry.second)));
    return Status::OK();
  }
  Status Reopen() override {
    LAVA_RETURN_IF_ERROR(Flush());
    const std::string directory = db_->GetName();
    Close();
    return OpenIn(directory);
  }
  Status Flush() override { return Of(db_->Flush({}, tables_)); }
  Status CompactAll() override {
    for (rocksdb::ColumnFamilyHandle* table : tables_)
      LAVA_RETURN_IF_ERROR(Of(db_->CompactRange({}, table, nullptr, nullptr)));
    return Status::OK();
  }
  void RunJobs(uint64_t) override {}
  Status DropTable(uint32_t table) override {
    return Of(db_->DeleteRange({}, tables_[table], "", kBehindAll));
  }
  Status SetTtl(uint32_t, int64_t) override { return Status::OK(); }
  Status Tune(uint32_t, uint64_t) override { return Status::OK(); }
  void TuneHost(uint64_t) override {}
  void SetTime(int64_t, bool) override {}
  Status CheckAtEnd() override { return Status::OK(); }

 private:
  Status OpenIn(const std::string& directory) {
    rocksdb::DBOptions options;
    options.env = env_.get();
    options.create_if_missing = options.create_missing_column_families = true;
    rocksdb::ColumnFamilyOptions small;
    small.write_buffer_size = 16 << 10;
    small.target_file_size_base = 4 << 10;
    small.max_bytes_for_level_base = 16 << 10;
    small.level0_file_num_compaction_trigger = 2;
    small.compression = rocksdb::kNoCompression;
    small.merge_operator = std::make_shared<Concatenation>();
    std::vector<rocksdb::ColumnFamilyDescriptor> families = {
        {rocksdb::kDefaultColumnFamilyName, small}};
    for (const HistoryTable& table : kHistoryTables) families.push_back({table.name, small});
    rocksdb::DB* db = nullptr;
    LAVA_RETURN_IF_ERROR(Of(rocksdb::DB::Open(options, directory, families, &tables_, &db)));
    db_.reset(db);
    default_ = tables_.front();
    tables_.erase(tables_.begin());
    return Status::OK();
  }
  void Close() {
    while (!snapshots_.empty()) ReleaseSnapshot(snapshots_.begin()->first);
    for (rocksdb::ColumnFamilyHandle* table : tables_) db_->DestroyColumnFamilyHandle(table);
    if (db_ != nullptr) db_->DestroyColumnFamilyHandle(default_);
    tables_.clear();
    db_.reset();
  }
  rocksdb::ReadOptions ReadAt(int32_t slot) const {
    rocksdb::ReadOptions options;
    if (slot >= 0) options.snapshot = snapshots_.at(slot);
    return options;
  }
  void Add(const Operation& o, rocksdb::WriteBatch* batch) {
    rocksdb::ColumnFamilyHandle* table = tables_[o.table];
    if (o.op == Op::kPut || o.op == Op::kPutExternal) batch->Put(table, o.key, o.value);
    if (o.op == Op::kDelete) batch->Delete(table, o.key);
    if (o.op == Op::kAppend || o.op == Op::kAppendExternal) batch->Merge(table, o.key, o.value);
    if (o.op == Op::kDeletePrefix) batch->DeleteRange(table, o.key, EndOf(o.key));
    if (o.op == Op::kDeleteRange && o.key < o.upper) batch->DeleteRange(table, o.key, o.upper);
  }
  Status Copy(int32_t slot, uint32_t first, uint32_t last,
              std::vector<std::vector<Model::Entry>>* to) {
    Operation whole;
    whole.slot = HasSnapshot(slot) ? slot : -1;
    for (uint32_t table = 0; table < kHistoryTableCount; ++table) {
      whole.table = table;
      LAVA_ASSIGN_OR_RETURN(const std::vector<Model::Entry> entries, Scan(whole));
      for (const Model::Entry& entry : entries) {
        const auto partition = static_cast<uint8_t>(entry.first[0]);
        if (partition >= first && partition <= last) (*to)[table].push_back(entry);
      }
    }
    return Status::OK();
  }

  const std::unique_ptr<rocksdb::Env> env_;
  std::unique_ptr<rocksdb::DB> db_;
  rocksdb::ColumnFamilyHandle* default_ = nullptr;
  std::vector<rocksdb::ColumnFamilyHandle*> tables_;
  std::map<int32_t, const rocksdb::Snapshot*> snapshots_;
  int directories_ = 0;
};

}  // namespace

std::unique_ptr<Store> NewRocksDBStore() { return std::make_unique<RocksDBStore>(); }

}  // namespace lava::testing
