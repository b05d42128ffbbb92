// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/file_id.h"
#include "base/internal_key.h"
#include "base/mutex.h"
#include "base/value_reference.h"
#include "db/checked_source.h"
#include "db/counters.h"
#include "db/instance_context.h"
#include "db/read_view.h"
#include "db/table_impl.h"
#include "db/writer.h"
#include "job/value_output.h"
#include "lava/db.h"
#include "lava/list_format.h"
#include "lava/options.h"
#include "lava/slice.h"
#include "lava/status.h"
#include "lava/value_pieces.h"
#include "memory/memory_counter.h"
#include "value/value_log_writer.h"
#include "value_log/value_log_segment.h"

namespace lava {
namespace {

// A value larger than 1/kCompressedLeaseShare of the lease is stored uncompressed, so that reads
// can return it in pieces. Decompression would need the compressed and the uncompressed value in
// memory as a whole.
constexpr uint64_t kCompressedLeaseShare = 8;

}  // namespace

// Does not replace a full segment, or a segment to which a write has failed: WaitIfStalled() seals
// it together with its memtable before the next write.
Status Writer::MakeValueLogSegment() {
  if (segments_.values() != nullptr) return Status::OK();
  const FileId id = tree_->versions.NewFileId();
  const ValueLogOptions options{
      .compression = instance_->options.value_compression,
      .sync = instance_->syncs(),
      .memory = instance_->budget.counter(MemoryPurpose::kMemtables),
      .compressed_bytes_max = instance_->lease->capacity_bytes() / kCompressedLeaseShare};
  // Uses the page cache, because a value is written at once and may be read soon.
  LAVA_ASSIGN_OR_RETURN(
      std::shared_ptr<ValueLogSegment> segment,
      ValueLogSegment::Create(FileSystemOf(instance_->options, nullptr),
                              instance_->path + "/" + id.ValueFileName(), id, options));
  // Otherwise a power cut could remove the file's name, and with it acknowledged values.
  LAVA_RETURN_IF_ERROR(instance_->SyncNameOfLogSegment());
  Attach(segment);
  segments_.BeginValues(std::move(segment));
  return Status::OK();
}

void Writer::Attach(std::shared_ptr<ValueLogSegment> segment) {
  segments_.Add(std::move(segment));
  auto attached = std::make_shared<ValueLogSegments>();
  attached->all = segments_.all();
  active_->Attach(std::move(attached));
}

template <typename Body>
Status Writer::LogBy(uint64_t bytes, std::string* reference, const Body& write) {
  segments_.PrepareForValue(bytes);
  LAVA_RETURN_IF_ERROR(MakeValueLogSegment());
  ValueReference logged;
  const uint64_t before = segments_.values()->bytes();
  const Status status = write(&logged);
  segments_.ValueAppended(before);
  LAVA_RETURN_IF_ERROR(status);
  reference->clear();
  EncodeReference(logged, reference);
  LAVA_DCHECK(reference->size() <= kLoggedBytesMax);
  Counters::AddUnshared(&instance_->counters.values_logged, 1);
  return Status::OK();
}

Status Writer::LogValue(const TableImpl& table, Slice internal_key, Slice value,
                        std::string* reference) {
  return LogBy(value.size(), reference, [&](ValueReference* logged) {
    mutex_.AssertHeld();
    logged->timestamp = TimestampOf(table.options(), value);
    return segments_.values()->Append(internal_key, value,
                                      instance_->options.wal == WalMode::kWalSync, logged);
  });
}

Status Writer::LogFrom(const TableImpl& table, Slice internal_key, ValueSource* value,
                       std::string* reference) {
  CheckedSource checked(value, table.kind());
  return LogBy(value->size(), reference, [&](ValueReference* logged) {
    mutex_.AssertHeld();
    const Status status = segments_.values()->AppendFrom(
        internal_key, &checked, instance_->options.wal == WalMode::kWalSync, logged);
    logged->timestamp = checked.Timestamp(table.options());
    return checked.is_writable() ? status : NotWritable(table);
  });
}

// A list may have several parts. References distinguish the parts by their blob files, and a
// segment of the value log has one blob file, so each part gets a new segment.
Status Writer::LogAppended(const TableImpl& table, Slice internal_key, Slice segments,
                           std::string* reference) {
  segments_.EndValues();
  return LogValue(table, internal_key, segments, reference);
}

// Writes a reference from LogValue() or LogAppended() instead of the value.
void Writer::PutLogged(const TableImpl& table, Slice internal_key, uint32_t prefix_bytes,
                       Slice reference) {
  LAVA_DCHECK(!reference.empty() && !segments_.empty());
  if (table.kind() != TableKind::kList)
    return active_->PutReference(internal_key, prefix_bytes, reference);
  std::string part;
  AppendListSegment(ListSegment::kReference, reference, &part);
  active_->PutParts(internal_key, prefix_bytes, part);
}

void Writer::AppendLogged(Slice internal_key, uint32_t prefix_bytes, Slice reference) {
  LAVA_DCHECK(!reference.empty() && !segments_.empty());
  std::string part;
  AppendListSegment(ListSegment::kReference, reference, &part);
  active_->AppendParts(internal_key, prefix_bytes, part);
}

// Closing syncs the write-ahead log, so the values that the log refers to must be synced first.
void Writer::SyncLogSegments() {
  if (instance_->options.wal != WalMode::kWal) return;
  std::vector<std::shared_ptr<ValueLogSegment>> segments;
  {
    MutexLock write(&mutex_);
    MutexLock state(tree_->mutex());
    segments = segments_.all();
    for (const std::shared_ptr<SealedRun>& run : tree_->sealed().runs())
      segments.insert(segments.end(), run->segments.begin(), run->segments.end());
  }
  // Close() reports no error of these syncs, because in this mode a power cut may lose values
  // anyway.
  for (const std::shared_ptr<ValueLogSegment>& segment : segments)
    static_cast<void>(segment->Sync());
  if (!segments.empty()) static_cast<void>(instance_->files->SyncDirectory(instance_->path));
}

Status Writer::LogValues(const WriteBatch& batch, std::vector<std::string>* references) {
  for (size_t i = 0; i < batch.count(); ++i) {
    const WriteBatch::Operation& operation = batch.operations()[i];
    auto& table = *static_cast<TableImpl*>(operation.table);
    const Slice value = batch.value(operation);
    const bool put = operation.kind == WriteBatch::Kind::kPut;
    LAVA_DCHECK(references->empty() || references->size() == batch.count());
    if (put) separation_tuner_->CountPut(&table, value.size());
    const bool oversize = instance_->IsOversize(value);
    if (!oversize && (!put || !separation_tuner_->IsLarge(table, value.size()))) continue;
    references->resize(batch.count());
    const InternalKey key(instance_->options.partition_bytes, table.id_bytes(),
                          batch.key(operation));
    LAVA_RETURN_IF_ERROR(put ? LogValue(table, key.slice(), value, &(*references)[i])
                             : LogAppended(table, key.slice(), value, &(*references)[i]));
  }
  return Status::OK();
}

}  // namespace lava
