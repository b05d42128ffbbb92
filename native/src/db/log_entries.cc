// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/file_id.h"
#include "base/internal_key.h"
#include "base/list_parts.h"
#include "base/lookup.h"
#include "base/mutex.h"
#include "base/value_reference.h"
#include "db/counters.h"
#include "db/dead_ranges.h"
#include "db/instance_context.h"
#include "db/table_impl.h"
#include "db/writer.h"
#include "job/value_output.h"
#include "lava/db.h"
#include "lava/list_format.h"
#include "lava/options.h"
#include "lava/slice.h"
#include "lava/status.h"
#include "memory/memory_counter.h"
#include "value/value_log_writer.h"
#include "value_log/changelog_segment.h"

// Writes entries of the layer above to changelog segments.
namespace lava {
namespace {

static_assert(DB::kAppendedMax == kLogBlobFilesMax);

// The number of leading bytes of the value that the entry lacks, if the entry ends with the rest of
// the value; otherwise more than kInlineBytesMax.
size_t InlineBytesOf(Slice value, Slice entry) {
  for (size_t inline_bytes = 0; inline_bytes <= std::min(DB::kInlineBytesMax, value.size());
       ++inline_bytes)
    if (entry.ends_with(value.substr(inline_bytes))) return inline_bytes;
  return DB::kInlineBytesMax + 1;
}

}  // namespace

// One memtable may refer to several changelog segments. Its flush keeps a segment as a value file
// if enough of the segment's values live, and otherwise copies the live values.
Status Writer::MakeChangelogSegment() {
  if (segments_.TakesEntry()) return Status::OK();
  EndChangelogSegment();
  const FileId id = tree_->versions.NewFileId(kLogBlobFilesMax);
  const ValueLogOptions options{.compression = instance_->options.value_compression,
                                .sync = instance_->syncs()};
  // Uses the page cache, because the layer above will soon read the segment.
  LAVA_ASSIGN_OR_RETURN(
      std::shared_ptr<ChangelogSegment> segment,
      ChangelogSegment::Create(FileSystemOf(instance_->options, nullptr),
                               instance_->path + "/" + id.ValueFileName(), id, options,
                               instance_->budget.counter(MemoryPurpose::kMemtables)));
  LAVA_RETURN_IF_ERROR(instance_->SyncNameOfLogSegment());
  Attach(segment);
  changelog_->BeginSegment(segment);
  segments_.BeginChangelog(std::move(segment));
  return Status::OK();
}

// The next entry begins a new changelog segment.
void Writer::EndChangelogSegment() {
  segments_.EndChangelog();
  changelog_->EndSegment();
}

Status Writer::LogEntry(Slice entry, const ChangelogSegment::Value* value, EntryLocation* location,
                        ValueReference* reference) {
  LAVA_RETURN_IF_ERROR(MakeChangelogSegment());
  Slice head = entry;
  if (value != nullptr) head.remove_suffix(value->bytes.size() - value->inline_bytes);
  ChangelogSegment* const segment = segments_.changelog();
  const uint64_t before = segment->bytes();
  LoggedRecord logged;
  const ChangelogLog::Sequence sequence = changelog_->TakeSequence();
  location->sequence = sequence.number;
  LAVA_RETURN_IF_ERROR(segment->AppendEntry(sequence.number, sequence.skipped, head, value,
                                            instance_->options.wal == WalMode::kWalSync, &logged,
                                            reference));
  changelog_->Logged();
  location->segment = segment->id().number;
  location->offset = logged.offset;
  location->bytes = logged.bytes;
  segments_.EntryAppended(before);
  Counters::AddUnshared(&instance_->counters.entry_bytes, entry.size());
  if (value != nullptr) Counters::AddUnshared(&instance_->counters.external_values, 1);
  return Status::OK();
}

Status Writer::AppendEntry(Slice entry, EntryLocation* location) {
  if (entry.size() > kEntryBytesMax)
    return Status::InvalidArgument("an entry has " + std::to_string(entry.size()) +
                                   " bytes, the limit is " + std::to_string(kEntryBytesMax));
  MutexLock lock(&mutex_);
  LAVA_RETURN_IF_ERROR(WaitIfStalled(0));
  return LogEntry(entry, nullptr, location, nullptr);
}

Status Writer::PutExternal(Table* table, KeyRef key, Slice value, Slice entry,
                           EntryLocation* location) {
  TableImpl* impl;
  LAVA_RETURN_IF_ERROR(tables_->Check(table, &impl));
  LAVA_RETURN_IF_ERROR(instance_->partitions.CheckKey(*impl, key));
  LAVA_RETURN_IF_ERROR(CheckValue(*impl, value));
  if (impl->kind() == TableKind::kList)
    return Status::InvalidArgument("table '" + impl->name() +
                                   "' is a list: only values of others may end an entry");
  const size_t inline_bytes = InlineBytesOf(value, entry);
  if (inline_bytes > DB::kInlineBytesMax || entry.size() > kEntryBytesMax)
    return Status::InvalidArgument("an entry of " + std::to_string(entry.size()) +
                                   " bytes does not end with its value of " +
                                   std::to_string(value.size()) + ", or is too long");
  const InternalKey internal(instance_->options.partition_bytes, impl->id_bytes(), key.key);
  const uint32_t prefix_bytes = PartitionRange::InternalPrefix(key.prefix_bytes);
  MutexLock lock(&mutex_);
  LAVA_RETURN_IF_ERROR(MakeRoomFor(*impl, key.key.size() + 2 * kLoggedBytesMax));
  const ChangelogSegment::Value logged{internal.slice(), value, static_cast<uint32_t>(inline_bytes),
                                       impl->id(), TimestampOf(impl->options(), value)};
  ValueReference reference;
  LAVA_RETURN_IF_ERROR(LogEntry(entry, &logged, location, &reference));
  reference_.clear();
  EncodeReference(reference, &reference_);
  const Status appended = wal_->WriteReference(internal.slice(), prefix_bytes, reference_);
  if (!appended.ok()) {
    segments_.changelog()->Withdraw();
    return appended;
  }
  const LiveNote note(impl->dead(), internal.slice());
  active_->PutReference(internal.slice(), prefix_bytes, reference_);
  Wrote(key.key.size() + value.size());
  return Status::OK();
}

// With a write-ahead log, the record of the last write already contains the value, so no record is
// added.
Status Writer::BindExternal(Slice entry, EntryLocation* location) {
  MutexLock lock(&mutex_);
  if (instance_->closed.load()) return Status::Closed("the instance was closed");
  last_write_.NoteFromNowOn();
  const TableImpl* const table = last_write_.Take();
  if (table == nullptr || entry.size() > kEntryBytesMax) return Status::NotFound();
  LAVA_RETURN_IF_ERROR(last_write_.appended_bytes() == 0 ? BindPut(*table, entry, location)
                                                         : BindAppend(*table, entry, location));
  active_bytes_.store(active_->arena_bytes(), std::memory_order_relaxed);
  return Status::OK();
}

Status Writer::BindPut(const TableImpl& table, Slice entry, EntryLocation* location) {
  Lookup lookup(last_write_.internal_key(), last_write_.prefix_bytes());
  active_->Get(&lookup);
  lookup.Finish();
  if (!lookup.found() || lookup.reference() != nullptr) return Status::NotFound();
  const size_t inline_bytes = InlineBytesOf(lookup.value(), entry);
  if (inline_bytes > DB::kInlineBytesMax) return Status::NotFound();
  const ChangelogSegment::Value logged{last_write_.internal_key(), lookup.value(),
                                       static_cast<uint32_t>(inline_bytes), table.id(),
                                       TimestampOf(table.options(), lookup.value())};
  ValueReference reference;
  LAVA_RETURN_IF_ERROR(LogEntry(entry, &logged, location, &reference));
  reference_.clear();
  EncodeReference(reference, &reference_);
  active_->PutReference(last_write_.internal_key(), last_write_.prefix_bytes(), reference_);
  return Status::OK();
}

// Binds an append of one element. The entry lacks the element's head, which is only in the list.
Status Writer::BindAppend(const TableImpl& table, Slice entry, EntryLocation* location) {
  const Slice segment = active_->Tail(last_write_.internal_key(), last_write_.appended_bytes());
  Slice rest = segment, element;
  ListSegment kind;
  if (segment.empty() || !NextListSegment(&rest, &kind, &element).ok() || !rest.empty() ||
      kind != ListSegment::kElement || !entry.ends_with(element))
    return Status::NotFound();
  const ChangelogSegment* const changelog = segments_.changelog();
  if (changelog != nullptr && !changelog->HasBlobFileFor(last_write_.internal_key()))
    return Status::NotFound();
  const ChangelogSegment::Value logged{last_write_.internal_key(),
                                       segment,
                                       static_cast<uint32_t>(segment.size() - element.size()),
                                       table.id(),
                                       std::nullopt,
                                       /*appended=*/true};
  ValueReference reference;
  LAVA_RETURN_IF_ERROR(LogEntry(entry, &logged, location, &reference));
  reference_.clear();
  AppendListReference(reference, &reference_);
  active_->ReplaceTail(last_write_.internal_key(), last_write_.appended_bytes(), reference_);
  return Status::OK();
}

Status Writer::RollEntries() {
  MutexLock lock(&mutex_);
  if (instance_->closed.load()) return Status::Closed("the instance was closed");
  EndChangelogSegment();
  return Status::OK();
}

}  // namespace lava
