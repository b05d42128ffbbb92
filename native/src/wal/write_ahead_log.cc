// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "wal/write_ahead_log.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/coding.h"
#include "base/internal_key.h"
#include "base/mutex.h"
#include "base/value_reference.h"
#include "host/process_parts.h"
#include "lava/db.h"
#include "lava/options.h"
#include "lava/slice.h"
#include "lava/status.h"
#include "manifest/version.h"
#include "manifest/version_edit.h"
#include "value/value_log_writer.h"
#include "wal/wal_record.h"

namespace lava {

void WriteAheadLog::Open(std::unique_ptr<Wal> wal, std::optional<uint64_t> flushed) {
  LAVA_DCHECK(wal_ == nullptr && wal != nullptr);
  wal_ = std::move(wal);
  MutexLock lock(&mutex_);
  sealed_through_ = flushed.value_or(0);
}

Status WriteAheadLog::WriteOne(WalRecord::Kind kind, Slice internal_key, uint32_t prefix_bytes,
                               Slice value) {
  MutexLock lock(&mutex_);
  record_.Clear();
  record_.Add(kind, internal_key, prefix_bytes, value);
  return wal_->Append(record_.bytes());
}

// A replay needs this number to tell a value that a power cut took from one that is damaged.
uint64_t WriteAheadLog::LoggedUnder() const {
  return synced() ? WalRecord::kSynced : files_.boot();
}

Status WriteAheadLog::WriteReference(Slice internal_key, uint32_t prefix_bytes, Slice reference) {
  if (!enabled()) return Status::OK();
  LAVA_DCHECK(!reference.empty());
  MutexLock lock(&mutex_);
  record_.Clear();
  record_.AddLogged(internal_key, prefix_bytes, LoggedUnder(), reference);
  return wal_->Append(record_.bytes());
}

Status WriteAheadLog::WriteBatchOf(const WriteBatch& batch,
                                   const std::vector<std::string>& references) {
  if (!enabled()) return Status::OK();
  LAVA_DCHECK(references.empty() || references.size() == batch.count());
  MutexLock lock(&mutex_);
  record_.Clear();
  for (size_t i = 0; i < batch.count(); ++i) {
    const WriteBatch::Operation& operation = batch.operations()[i];
    char id_bytes[kTableIdBytes];
    EncodeBigEndian(id_bytes, operation.table->id(), kTableIdBytes);
    const InternalKey key(partitions_.bytes(), id_bytes, batch.key(operation));
    const uint32_t prefix_bytes = PartitionRange::InternalPrefix(operation.prefix_bytes);
    const bool put = operation.kind == WriteBatch::Kind::kPut;
    // The record of an append always has the appended elements themselves.
    if (put && !references.empty() && !references[i].empty()) {
      record_.AddLogged(key.slice(), prefix_bytes, LoggedUnder(), references[i]);
      continue;
    }
    // The numbers of both enums are the same for these kinds.
    record_.Add(static_cast<WalRecord::Kind>(operation.kind), key.slice(), prefix_bytes,
                batch.value(operation));
  }
  return wal_->Append(record_.bytes());
}

Status WriteAheadLog::WriteRangeDelete(uint64_t table_id, Slice lower, Slice upper) {
  if (!enabled()) return Status::OK();
  MutexLock lock(&mutex_);
  record_.Clear();
  partitions_.ForEach(table_id, lower, upper, [this](Slice begin, Slice end) {
    mutex_.AssertHeld();
    record_.Add(WalRecord::Kind::kDeleteRange, begin, 0, end);
  });
  return wal_->Append(record_.bytes());
}

Status WriteAheadLog::WriteDrop(uint64_t table_id) {
  if (!enabled()) return Status::OK();
  MutexLock lock(&mutex_);
  record_.Clear();
  partitions_.ForEach(table_id, {}, {}, [this](Slice begin, Slice end) {
    mutex_.AssertHeld();
    record_.Add(WalRecord::Kind::kDeleteRange, begin, 0, end);
  });
  record_.Add(WalRecord::Kind::kDropTable, TableStart(0, partitions_.bytes(), table_id), 0, {});
  return wal_->Append(record_.bytes());
}

Status WriteAheadLog::WriteCreate(const TableRegistration& table) {
  if (!enabled()) return Status::OK();
  VersionEdit edit;
  edit.registered.push_back(table);
  std::string value;
  EncodeEdit(edit, &value);
  return WriteOne(WalRecord::Kind::kCreateTable, TableStart(0, partitions_.bytes(), table.id), 0,
                  value);
}

bool WriteAheadLog::HasUnsealed() const {
  if (!enabled()) return false;
  MutexLock lock(&mutex_);
  return wal_->last() > sealed_through_;
}

uint64_t WriteAheadLog::Seal() {
  if (!enabled()) return 0;
  MutexLock lock(&mutex_);
  return sealed_through_ = wal_->last();
}

Status WriteAheadLog::Decode(Slice record, Decoded* decoded) {
  decoded->bytes = record.size();
  while (!record.empty()) {
    Decoded::Change& next = decoded->changes.emplace_back();
    LAVA_RETURN_IF_ERROR(WalRecord::Take(&record, &next.change));
    LAVA_RETURN_IF_ERROR(Check(next.change));
    if (next.change.kind != WalRecord::Kind::kPutReference &&
        next.change.kind != WalRecord::Kind::kPutLogged)
      continue;
    LAVA_RETURN_IF_ERROR(ReadValue(next.change, &next.logged.emplace(), &decoded->lost));
    if (decoded->lost) return Status::OK();
    decoded->bytes += next.logged->size();
  }
  return Status::OK();
}

Status WriteAheadLog::Check(const WalRecord::Change& change) const {
  // No shorter key was ever written, and later code reads this many bytes without looking.
  const size_t bytes_min = partitions_.bytes() + kTableIdBytes;
  if (change.key.size() >= bytes_min &&
      (change.kind != WalRecord::Kind::kDeleteRange || change.value.size() >= bytes_min))
    return Status::OK();
  return Status::Corruption("a key of " + std::to_string(change.key.size()) +
                            " bytes, fewer than the " + std::to_string(bytes_min) +
                            " of partition and table");
}

// Reads the value of a change from its log segment. The value is put into the memtable again,
// because a segment of an earlier opening cannot become a value file any more.
Status WriteAheadLog::ReadValue(const WalRecord::Change& change, std::string* value, bool* lost) {
  Slice in = change.value;
  std::optional<uint64_t> logged_under;  // none: a record of kind kPutReference
  if (change.kind == WalRecord::Kind::kPutLogged && !GetFixed64(&in, &logged_under.emplace(0)))
    return Status::Corruption("where a value was logged is malformed");
  ValueReference reference;
  if (!DecodeReference(in, &reference) || !reference.is_logged() ||
      reference.raw_bytes > kValueBytesMax)
    return Status::Corruption("where a value was logged is malformed");
  const std::string path = path_ + "/" + reference.blob_file.ValueFileName();
  Status status;
  if (segment_ == nullptr || segment_->path() != path) {
    Result<std::unique_ptr<fs::RandomFile>> file = files_.OpenRandom(path);
    status = file.status();
    if (file.ok()) segment_ = std::move(file).value();
  }
  if (status.ok() && reference.logged_bytes > segment_->size())
    status = Status::Corruption(path + " ends before the value that was logged at offset " +
                                std::to_string(reference.logged_offset));
  if (status.ok())
    status = ReadLogged(*segment_, change.key,
                        {reference.logged_offset, reference.logged_bytes,
                         static_cast<uint32_t>(reference.raw_bytes)},
                        value);
  // If neither the write-ahead log nor the log segment is synced, a power cut may take more of the
  // one than of the other. The replay then ends before the first lost value, so that the state is
  // one of the past. Without a power cut a missing value is damage.
  *lost = MayBeCut(logged_under) && (status.IsCorruption() || status.IsNotFound());
  return *lost ? Status::OK() : status;
}

// Whether a power cut may have taken a logged value although the record survived.
bool WriteAheadLog::MayBeCut(std::optional<uint64_t> logged_under) const {
  if (!logged_under) return mode_ == WalMode::kWal;
  if (*logged_under == WalRecord::kSynced) return false;
  return *logged_under == 0 || *logged_under != files_.boot();
}

Result<TableRegistration> WriteAheadLog::CreatedIn(const WalRecord::Change& change) const {
  FileTable no_files;
  VersionEdit edit;
  LAVA_RETURN_IF_ERROR(DecodeEdit(change.value, 0, &no_files, &edit));
  if (edit.registered.size() != 1 || edit.registered.front().id != TableOf(change))
    return Status::Corruption("a table that was created is not the one of its key");
  return edit.registered.front();
}

}  // namespace lava
