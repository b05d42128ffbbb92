// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/history/model_store.h"

namespace lava::testing {
namespace {

Model EmptyModel() {
  Model model;
  for (const HistoryTable& table : kHistoryTables) model.CreateTable(table.name);
  return model;
}

const char* NameOf(uint32_t table) { return kHistoryTables[table].name; }

}  // namespace

ScanRequest RequestOf(const Operation& scan) {
  ScanRequest request;
  request.lower = scan.key;
  if (!scan.prefix) request.upper = scan.upper;
  request.lower_exclusive = scan.exclusive;
  request.prefix_bytes = scan.prefix ? kPrefixBytes : 0;
  request.keys_only = scan.keys_only;
  request.skip_key_bytes = scan.skip;
  request.entries_max = scan.entries_max;
  request.bytes_max = scan.bytes_max;
  return request;
}

ModelStore::ModelStore() : model_(EmptyModel()) {}

Status ModelStore::Write(const Operation& o) {
  const KeyRef key{o.key, PrefixBytesOf(o.table)};
  switch (o.op) {
    case Op::kPut:
    case Op::kPutExternal:
      model_.Put(NameOf(o.table), key, o.value);
      break;
    case Op::kDelete:
      model_.Delete(NameOf(o.table), key);
      break;
    case Op::kAppend:
    case Op::kAppendExternal:
      model_.Append(NameOf(o.table), key, o.value);
      break;
    case Op::kDeletePrefix:
      model_.DeletePrefix(NameOf(o.table), o.key);
      break;
    default:
      model_.DeleteRange(NameOf(o.table), o.key, o.upper);
  }
  return Status::OK();
}

Status ModelStore::WriteBatch(std::span<const Operation> writes) {
  for (const Operation& write : writes) LAVA_RETURN_IF_ERROR(Write(write));
  return Status::OK();
}

Result<Store::Value> ModelStore::Get(uint32_t table, const std::string& key, int32_t slot) {
  return At(slot).Get(NameOf(table), key);
}

Result<bool> ModelStore::Contains(uint32_t table, const std::string& key, int32_t slot) {
  return At(slot).Get(NameOf(table), key).has_value();
}

Result<bool> ModelStore::ContainsPrefix(uint32_t table, const std::string& prefix, int32_t slot) {
  ScanRequest request;
  request.lower = prefix;
  request.prefix_bytes = static_cast<uint32_t>(prefix.size());
  return !At(slot).Scan(NameOf(table), request).empty();
}

Result<std::vector<Model::Entry>> ModelStore::Scan(const Operation& scan) {
  return At(scan.slot).Scan(NameOf(scan.table), RequestOf(scan));
}

Status ModelStore::TakeSnapshot(int32_t slot) {
  snapshots_.insert_or_assign(slot, model_);
  return Status::OK();
}

void ModelStore::CopyPartitions(int32_t slot, uint32_t first, uint32_t last, Model* to) const {
  const Model& from = HasSnapshot(slot) ? At(slot) : model_;
  for (uint32_t table = 0; table < kHistoryTableCount; ++table) {
    for (const Model::Entry& entry : from.Scan(NameOf(table), {})) {
      const auto partition = static_cast<uint8_t>(entry.first[0]);
      if (partition >= first && partition <= last)
        to->Put(NameOf(table), {entry.first, PrefixBytesOf(table)}, entry.second);
    }
  }
}

Status ModelStore::Import(const ImportPlan& plan) {
  Model next = EmptyModel();
  for (const ImportPart& part : plan) CopyPartitions(part.slot, part.first, part.last, &next);
  model_ = std::move(next);
  snapshots_.clear();
  return Status::OK();
}

Status ModelStore::Reopen() {
  snapshots_.clear();
  return Status::OK();
}

Status ModelStore::DropTable(uint32_t table) {
  model_.DropTable(NameOf(table));
  model_.CreateTable(NameOf(table));
  return Status::OK();
}

}  // namespace lava::testing
