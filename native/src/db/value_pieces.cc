// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "lava/value_pieces.h"

#include <cstdint>
#include <memory>

#include "base/internal_key.h"
#include "base/mutex.h"
#include "db/dead_ranges.h"
#include "db/table_impl.h"
#include "db/writer.h"
#include "lava/db.h"
#include "lava/options.h"
#include "lava/status.h"
#include "memory/memory_counter.h"

namespace lava {
// Reads the value as a whole: for values that fit into a memtable, and for values that a record of
// the write-ahead log contains.
template <typename Body>
Status Writer::WithWhole(ValueSource* value, const Body& write) {
  const ScopedCharge charge(instance_->budget.counter(MemoryPurpose::kScans), value->size());
  const auto whole = std::make_unique_for_overwrite<char[]>(value->size());
  LAVA_RETURN_IF_ERROR(ReadWhole(value, whole.get()));
  return write(Slice(whole.get(), value->size()));
}

Status Writer::PutFrom(Table* table, KeyRef key, ValueSource* value) {
  TableImpl* impl;
  LAVA_RETURN_IF_ERROR(tables_->Check(table, &impl));
  LAVA_RETURN_IF_ERROR(instance_->partitions.CheckKey(*impl, key));
  LAVA_RETURN_IF_ERROR(CheckValueBytes(*impl, value->size()));
  if (!instance_->IsOversize(value->size()))
    return WithWhole(value, [&](Slice whole) { return Put(table, key, whole); });
  const InternalKey internal(instance_->options.partition_bytes, impl->id_bytes(), key.key);
  const uint32_t prefix_bytes = PartitionRange::InternalPrefix(key.prefix_bytes);
  MutexLock lock(&mutex_);
  LAVA_RETURN_IF_ERROR(MakeRoomFor(*impl, key.key.size() + 2 * kLoggedBytesMax));
  const LiveNote note(impl->dead(), internal.slice());
  separation_tuner_->CountPut(impl, value->size());
  LAVA_RETURN_IF_ERROR(LogFrom(*impl, internal.slice(), value, &reference_));
  LAVA_RETURN_IF_ERROR(wal_->WriteReference(internal.slice(), prefix_bytes, reference_));
  PutLogged(*impl, internal.slice(), prefix_bytes, reference_);
  Wrote(key.key.size() + value->size());
  return Status::OK();
}

Status Writer::AppendFrom(Table* table, KeyRef key, ValueSource* segments) {
  TableImpl* impl;
  LAVA_RETURN_IF_ERROR(tables_->Check(table, &impl));
  LAVA_RETURN_IF_ERROR(instance_->partitions.CheckKey(*impl, key));
  LAVA_RETURN_IF_ERROR(CheckValueBytes(*impl, segments->size()));
  if (!instance_->IsOversize(segments->size()) || wal_->enabled() ||
      impl->kind() != TableKind::kList)
    return WithWhole(segments, [&](Slice whole) { return Append(table, key, whole); });
  const InternalKey internal(instance_->options.partition_bytes, impl->id_bytes(), key.key);
  MutexLock lock(&mutex_);
  LAVA_RETURN_IF_ERROR(MakeRoomFor(*impl, key.key.size() + 2 * kLoggedBytesMax));
  segments_.EndValues();  // as in LogAppended()
  LAVA_RETURN_IF_ERROR(LogFrom(*impl, internal.slice(), segments, &reference_));
  const LiveNote note(impl->dead(), internal.slice());
  AppendLogged(internal.slice(), PartitionRange::InternalPrefix(key.prefix_bytes), reference_);
  Wrote(key.key.size() + segments->size());
  return Status::OK();
}

}  // namespace lava
