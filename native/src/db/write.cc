// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/internal_key.h"
#include "base/list_parts.h"
#include "base/mutex.h"
#include "base/partition_range.h"
#include "base/record.h"
#include "db/counters.h"
#include "db/dead_ranges.h"
#include "db/read_view.h"
#include "db/table_impl.h"
#include "db/version_search.h"
#include "db/writer.h"
#include "lava/db.h"
#include "lava/event_listener.h"
#include "lava/options.h"
#include "lava/slice.h"
#include "lava/status.h"
#include "manifest/version.h"
#include "memtable/memtable.h"
#include "read/readers.h"
#include "table/table_reader.h"
#include "table/table_writer.h"
#include "wal/wal_record.h"

namespace lava {
namespace {

// Estimated memory of a record in the memtable besides its key and value, for sealing early enough.
constexpr uint64_t kRecordOverheadBytes = 64;

}  // namespace

void WriteBatch::Add(Kind kind, Table* table, KeyRef key, Slice value) {
  Operation operation;
  operation.kind = kind;
  operation.table = table;
  operation.key_offset = bytes_.size();
  operation.key_bytes = static_cast<uint32_t>(std::min<size_t>(key.key.size(), UINT32_MAX));
  operation.prefix_bytes = key.prefix_bytes;
  bytes_.append(key.key.substr(0, operation.key_bytes));
  operation.value_offset = bytes_.size();
  operation.value_bytes = value.size();
  operation.borrowed = nullptr;
  bytes_.append(value);
  operations_.push_back(operation);
}

Status Writer::CheckValue(const TableImpl& table, Slice value) const {
  LAVA_RETURN_IF_ERROR(CheckValueBytes(table, value.size()));
  if (table.kind() == TableKind::kList && !IsWritableList(value)) [[unlikely]]
    return NotWritable(table);
  return Status::OK();
}

Status Writer::CheckValueBytes(const TableImpl& table, uint64_t bytes) {
  return bytes <= kValueBytesMax ? Status::OK()
                                 : AboveLimit("value", table.name(), bytes, kValueBytesMax);
}

Status Writer::NotWritable(const TableImpl& table) {
  return Status::InvalidArgument("value of list '" + table.name() +
                                 "' is not one of whole segments, see lava/list_format.h");
}

Status Writer::CheckOperation(const WriteBatch& batch, const WriteBatch::Operation& operation,
                              TableImpl** table) const {
  LAVA_RETURN_IF_ERROR(tables_->Check(operation.table, table));
  LAVA_RETURN_IF_ERROR(
      instance_->partitions.CheckKey(**table, {batch.key(operation), operation.prefix_bytes}));
  LAVA_RETURN_IF_ERROR(CheckValue(**table, batch.value(operation)));
  if (operation.kind == WriteBatch::Kind::kAppend && (*table)->kind() != TableKind::kList)
    return Status::InvalidArgument("append to table '" + (*table)->name() + "', which is no list");
  return Status::OK();
}

Status Writer::WasDropped(const TableImpl& table) {
  return Status::Closed("table '" + table.name() + "' was dropped");
}

Status Writer::Put(Table* table, KeyRef key, Slice value) {
  TableImpl* impl;
  LAVA_RETURN_IF_ERROR(tables_->Check(table, &impl));
  LAVA_RETURN_IF_ERROR(instance_->partitions.CheckKey(*impl, key));
  LAVA_RETURN_IF_ERROR(CheckValue(*impl, value));
  const InternalKey internal(instance_->options.partition_bytes, impl->id_bytes(), key.key);
  // Evaluated once, because the table's bound may change.
  const bool large =
      instance_->IsOversize(value) || separation_tuner_->IsLarge(*impl, value.size());
  const uint64_t bytes = key.key.size() + (large ? kLoggedBytesMax : value.size());
  MutexLock lock(&mutex_);
  LAVA_RETURN_IF_ERROR(MakeRoomFor(*impl, bytes + kRecordOverheadBytes));
  const uint32_t prefix_bytes = PartitionRange::InternalPrefix(key.prefix_bytes);
  const LiveNote note(impl->dead(), internal.slice());
  separation_tuner_->CountPut(impl, value.size());
  if (large) [[unlikely]] {
    LAVA_RETURN_IF_ERROR(LogValue(*impl, internal.slice(), value, &reference_));
    LAVA_RETURN_IF_ERROR(wal_->WriteReference(internal.slice(), prefix_bytes, reference_));
    PutLogged(*impl, internal.slice(), prefix_bytes, reference_);
  } else {
    LAVA_RETURN_IF_ERROR(wal_->Write(WalRecord::Kind::kPut, internal.slice(), prefix_bytes, value));
    active_->Put(internal.slice(), prefix_bytes, value);
  }
  if (last_write_.is_noted() && !large && impl->Separates(value.size())) [[unlikely]]
    last_write_.Note(impl, internal.slice(), prefix_bytes, 0);
  Wrote(key.key.size() + value.size());
  return Status::OK();
}

Status Writer::Delete(Table* table, KeyRef key) {
  TableImpl* impl;
  LAVA_RETURN_IF_ERROR(tables_->Check(table, &impl));
  LAVA_RETURN_IF_ERROR(instance_->partitions.CheckKey(*impl, key));
  const InternalKey internal(instance_->options.partition_bytes, impl->id_bytes(), key.key);
  MutexLock lock(&mutex_);
  LAVA_RETURN_IF_ERROR(MakeRoomFor(*impl, key.key.size() + kRecordOverheadBytes, Purpose::kFree));
  LAVA_RETURN_IF_ERROR(wal_->Write(WalRecord::Kind::kDelete, internal.slice(),
                                   PartitionRange::InternalPrefix(key.prefix_bytes), {}));
  DeleteLocked(internal.slice(), PartitionRange::InternalPrefix(key.prefix_bytes));
  Wrote(key.key.size());
  return Status::OK();
}

Status Writer::Append(Table* table, KeyRef key, Slice segments) {
  TableImpl* impl;
  LAVA_RETURN_IF_ERROR(tables_->Check(table, &impl));
  LAVA_RETURN_IF_ERROR(instance_->partitions.CheckKey(*impl, key));
  LAVA_RETURN_IF_ERROR(CheckValue(*impl, segments));
  if (impl->kind() != TableKind::kList)
    return Status::InvalidArgument("append to table '" + impl->name() + "', which is no list");
  const InternalKey internal(instance_->options.partition_bytes, impl->id_bytes(), key.key);
  const bool large = instance_->IsOversize(segments);
  const uint64_t bytes = key.key.size() + (large ? kLoggedBytesMax : segments.size());
  MutexLock lock(&mutex_);
  LAVA_RETURN_IF_ERROR(MakeRoomFor(*impl, bytes + kRecordOverheadBytes));
  if (large) [[unlikely]]
    LAVA_RETURN_IF_ERROR(LogAppended(*impl, internal.slice(), segments, &reference_));
  LAVA_RETURN_IF_ERROR(wal_->Write(WalRecord::Kind::kAppend, internal.slice(),
                                   PartitionRange::InternalPrefix(key.prefix_bytes), segments));
  const LiveNote note(impl->dead(), internal.slice());
  if (large) [[unlikely]]
    AppendLogged(internal.slice(), PartitionRange::InternalPrefix(key.prefix_bytes), reference_);
  else
    active_->Append(internal.slice(), PartitionRange::InternalPrefix(key.prefix_bytes), segments);
  if (last_write_.is_noted() && !large && impl->SeparatesSegments(segments.size())) [[unlikely]]
    last_write_.Note(impl, internal.slice(), PartitionRange::InternalPrefix(key.prefix_bytes),
                     segments.size());
  Wrote(key.key.size() + segments.size());
  return Status::OK();
}

Status Writer::DeletePrefix(Table* table, Slice prefix) {
  TableImpl* impl;
  LAVA_RETURN_IF_ERROR(tables_->Check(table, &impl));
  LAVA_RETURN_IF_ERROR(instance_->partitions.CheckKey(*impl, {prefix, 0}));
  const InternalKey internal(instance_->options.partition_bytes, impl->id_bytes(), prefix);
  MutexLock lock(&mutex_);
  LAVA_RETURN_IF_ERROR(MakeRoomFor(*impl, prefix.size() + kRecordOverheadBytes, Purpose::kFree));
  LAVA_RETURN_IF_ERROR(wal_->Write(WalRecord::Kind::kDeletePrefix, internal.slice(), 0, {}));
  DeletePrefixLocked(internal.slice());
  Wrote(prefix.size());
  return Status::OK();
}

Status Writer::Write(const WriteBatch& batch) {
  // All operations are checked before the first record is written, so that either all or none are
  // written.
  for (const WriteBatch::Operation& operation : batch.operations()) {
    TableImpl* table;
    LAVA_RETURN_IF_ERROR(CheckOperation(batch, operation, &table));
  }
  if (batch.count() == 0) return Status::OK();
  if (batch.byte_count() > kListBytesMax)
    return Status::InvalidArgument("a batch has " + std::to_string(batch.byte_count()) +
                                   " bytes, the limit is " + std::to_string(kListBytesMax));
  MutexLock lock(&mutex_);
  LAVA_RETURN_IF_ERROR(WaitIfStalled(MemtableBytesOf(batch)));
  for (const WriteBatch::Operation& operation : batch.operations())
    LAVA_RETURN_IF_ERROR(CheckNotDropped(*static_cast<TableImpl*>(operation.table)));
  std::vector<std::string> references;
  LAVA_RETURN_IF_ERROR(LogValues(batch, &references));
  LAVA_RETURN_IF_ERROR(wal_->WriteBatchOf(batch, references));
  for (size_t i = 0; i < batch.count(); ++i)
    Apply(batch, batch.operations()[i], references.empty() ? Slice() : Slice(references[i]));
  Wrote(batch.byte_count());
  return Status::OK();
}

// Estimated memory of the batch in the memtable.
uint64_t Writer::MemtableBytesOf(const WriteBatch& batch) const {
  uint64_t bytes = batch.count() * kRecordOverheadBytes;
  for (const WriteBatch::Operation& operation : batch.operations()) {
    const bool oversize = instance_->IsOversize(batch.value(operation));
    bytes += operation.key_bytes + (oversize ? kLoggedBytesMax : operation.value_bytes);
  }
  return bytes;
}

void Writer::Apply(const WriteBatch& batch, const WriteBatch::Operation& operation,
                   Slice reference) {
  const auto* table = static_cast<const TableImpl*>(operation.table);
  const InternalKey key(instance_->options.partition_bytes, table->id_bytes(),
                        batch.key(operation));
  const uint32_t prefix_bytes = PartitionRange::InternalPrefix(operation.prefix_bytes);
  switch (operation.kind) {
    case WriteBatch::Kind::kPut: {
      const LiveNote note(table->dead(), key.slice());
      if (!reference.empty()) return PutLogged(*table, key.slice(), prefix_bytes, reference);
      return active_->Put(key.slice(), prefix_bytes, batch.value(operation));
    }
    case WriteBatch::Kind::kDelete:
      return DeleteLocked(key.slice(), prefix_bytes);
    case WriteBatch::Kind::kAppend: {
      const LiveNote note(table->dead(), key.slice());
      if (!reference.empty()) return AppendLogged(key.slice(), prefix_bytes, reference);
      return active_->Append(key.slice(), prefix_bytes, batch.value(operation));
    }
    case WriteBatch::Kind::kDeletePrefix:
      return DeletePrefixLocked(key.slice());
  }
}

Status Writer::Apply(const WriteAheadLog::Decoded& record) {
  bool fits;
  {
    MutexLock lock(&mutex_);
    fits = active_->empty() || HasRoomFor(record.bytes);
  }
  if (!fits) LAVA_RETURN_IF_ERROR(FlushHere());
  MutexLock lock(&mutex_);
  for (const WriteAheadLog::Decoded::Change& change : record.changes)
    ApplyChange(change.change, change.value());
  active_bytes_.store(active_->arena_bytes(), std::memory_order_relaxed);
  return Status::OK();
}

void Writer::ApplyChange(const WalRecord::Change& change, Slice value) {
  switch (change.kind) {
    case WalRecord::Kind::kPut:
    case WalRecord::Kind::kPutReference:
    case WalRecord::Kind::kPutLogged:
      return active_->Put(change.key, change.prefix_bytes, value);
    case WalRecord::Kind::kDelete:
      return DeleteLocked(change.key, change.prefix_bytes);
    case WalRecord::Kind::kAppend:
      return active_->Append(change.key, change.prefix_bytes, value);
    case WalRecord::Kind::kDeletePrefix:
      return DeletePrefixLocked(change.key);
    case WalRecord::Kind::kDeleteRange:
      return active_->DeleteRange(change.key, value);
    case WalRecord::Kind::kDropTable:
      return dropped_in_active_.push_back(wal_->TableOf(change));
    case WalRecord::Kind::kCreateTable:
      return;  // a creation changes no record
  }
}

void Writer::DeleteLocked(Slice internal_key, uint32_t prefix_bytes) {
  if (tree_->has_older()) {
    active_->Delete(internal_key, prefix_bytes);
  } else {
    active_->Erase(internal_key);
  }
}

void Writer::DeletePrefixLocked(Slice internal_prefix) {
  if (OlderMayHavePrefix(internal_prefix)) {
    active_->DeletePrefix(internal_prefix);
  } else {
    active_->ErasePrefix(internal_prefix);
  }
}

bool Writer::OlderMayHavePrefix(Slice internal_prefix) const {
  if (!tree_->has_older()) return false;
  const ViewRef view = tree_->view();
  if (!view) return true;  // the instance was closed
  const std::string end = PrefixEnd(internal_prefix);
  for (const std::shared_ptr<SealedRun>& run : view->sealed) {
    MemTable::Copied copied;
    run->memtable->CopyRange(internal_prefix, false, end, 2, true, &copied);
    if (copied.entries.empty()) continue;
    const MemTable::Copied::Entry& first = copied.entries.front();
    // If the run's only record under the prefix is the deletion of this very prefix, it hides all
    // older records.
    const bool hides_all = copied.entries.size() == 1 && first.kind == RecordKind::kPrefixDelete &&
                           first.key_bytes == internal_prefix.size();
    return !hides_all;
  }
  bool found = false;
  ForEachEntryIn(*view->version, internal_prefix, end, [&](const KeyFileEntry& entry) {
    // If the filter cannot be read, a superfluous tombstone is the safe choice.
    const TableReader* const reader = ReaderOf(entry);
    const Result<bool> may = reader == nullptr ? true : reader->MayHavePrefix(internal_prefix);
    found = !may.ok() || *may;
    return !found;
  });
  return found;
}

Status Writer::DeleteRange(Table* table, Slice lower, Slice upper) {
  TableImpl* impl;
  LAVA_RETURN_IF_ERROR(tables_->Check(table, &impl));
  if (!lower.empty()) LAVA_RETURN_IF_ERROR(instance_->partitions.CheckBound(*impl, lower, "lower"));
  if (!upper.empty()) LAVA_RETURN_IF_ERROR(instance_->partitions.CheckBound(*impl, upper, "upper"));
  if (!upper.empty() && lower >= upper) return Status::OK();
  MutexLock lock(&mutex_);
  LAVA_RETURN_IF_ERROR(
      MakeRoomFor(*impl, lower.size() + upper.size() + 2 * kRecordOverheadBytes, Purpose::kFree));
  LAVA_RETURN_IF_ERROR(wal_->WriteRangeDelete(impl->id(), lower, upper));
  DeleteRangeLocked(*impl, lower, upper);
  Wrote(lower.size() + upper.size());
  return Status::OK();
}

void Writer::DeleteRangeLocked(const TableImpl& table, Slice lower, Slice upper) {
  instance_->partitions.ForEach(table.id(), lower, upper, [this](Slice begin, Slice end) {
    mutex_.AssertHeld();
    active_->DeleteRange(begin, end);
  });
}

Status Writer::LogCreated(const TableRegistration& table) {
  MutexLock lock(&mutex_);
  return wal_->WriteCreate(table);
}

Status Writer::DropTable(TableImpl* impl) {
  MutexLock lock(&mutex_);
  if (instance_->closed.load()) return Status::Closed("the instance was closed");
  LAVA_RETURN_IF_ERROR(CheckNotDropped(*impl));
  LAVA_RETURN_IF_ERROR(wal_->WriteDrop(impl->id()));
  DeleteRangeLocked(*impl, {}, {});
  dropped_in_active_.push_back(impl->id());
  Wrote(0);
  // Tombstones and drop are one step under mutex_: see TableRegistry.
  tables_->Drop(impl);
  instance_->notifier->Queue(&EventListener::OnTableDropped, [impl] {
    TableDroppedInfo info;
    info.table = impl->name();
    return info;
  });
  return Status::OK();
}

void Writer::Wrote(uint64_t user_bytes) {
  active_bytes_.store(active_->arena_bytes(), std::memory_order_relaxed);
  Counters::AddUnshared(&instance_->counters.writes, 1);
  Counters::AddUnshared(&instance_->counters.user_bytes_written, user_bytes);
}

}  // namespace lava
