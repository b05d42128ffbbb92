// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "base/internal_key.h"
#include "base/record.h"
#include "base/value_reference.h"
#include "db/counters.h"
#include "db/dead_ranges.h"
#include "db/file_runs.h"
#include "db/read_view.h"
#include "db/scanner.h"
#include "db/table_impl.h"
#include "lava/db.h"
#include "lava/slice.h"
#include "lava/status.h"
#include "manifest/version.h"
#include "memtable/memtable.h"
#include "read/merge_run.h"
#include "table/table_writer.h"

namespace lava {

namespace {

// The verdict of one run about the keys under a prefix, if newer runs have nothing there.
enum class Verdict : uint8_t {
  kNothing,  // ask an older run
  kLive,     // a key is there
  kDeleted,  // no key is there, nor in older runs
  kUnclear,  // some older keys are deleted: only a merge shows whether all are
};

// After this many deletions the verdict of a run is kUnclear. The scan that decides then remembers
// the range without keys.
constexpr uint32_t kDeletionsMax = 16;

bool IsDeletion(RecordKind kind) {
  return kind == RecordKind::kDelete || kind == RecordKind::kPrefixDelete;
}

Verdict JudgeMemTable(const MemTable& run, Slice prefix, Slice end) {
  MemTable::Copied copied;
  run.CopyRange(prefix, false, end, 1, true, &copied);
  if (copied.entries.empty())
    return run.has_range_tombstones() ? Verdict::kUnclear : Verdict::kNothing;
  // A logged value is in no value file yet, so it is not marked as expired.
  if (!IsDeletion(copied.entries[0].kind)) return Verdict::kLive;
  copied = {};
  run.CopyRange(prefix, false, end, kDeletionsMax, true, &copied);
  for (const MemTable::Copied::Entry& entry : copied.entries)
    if (!IsDeletion(entry.kind)) return Verdict::kLive;
  return copied.end && run.HasPrefixDelete(prefix) ? Verdict::kDeleted : Verdict::kUnclear;
}

// Whether the record refers to a value that has expired. Such a record still hides older records.
bool HasExpired(const Version& version, const TableImpl& table, const Record& record) {
  ValueReference reference;
  return record.kind == RecordKind::kPutReference && DecodeReference(record.value, &reference) &&
         lava::HasExpired(version, table.id(), reference);
}

Result<Verdict> JudgeFiles(const Version& version, const TableImpl& table, MergeRun* run,
                           Slice prefix) {
  RecordIterator& records = run->records();
  bool all_deleted = false, some_deleted = run->has_range_tombstones();
  uint32_t deletions = 0;
  for (records.Seek(prefix); records.Valid(); records.Next()) {
    const Record& record = records.record();
    if (!record.key.starts_with(prefix)) break;
    if (record.kind == RecordKind::kPut || IsAppend(record.kind) || HasParts(record.kind) ||
        (record.kind == RecordKind::kPutReference && !HasExpired(version, table, record)))
      return Verdict::kLive;
    if (++deletions > kDeletionsMax) return Verdict::kUnclear;
    some_deleted = true;
    all_deleted |= record.kind == RecordKind::kPrefixDelete && record.key == prefix;
  }
  LAVA_RETURN_IF_ERROR(records.status());
  if (all_deleted) return Verdict::kDeleted;
  return some_deleted ? Verdict::kUnclear : Verdict::kNothing;
}

}  // namespace

Status Scanner::ContainsPrefix(Table* table, Slice prefix, Snapshot* snapshot) const {
  TableImpl* impl;
  LAVA_RETURN_IF_ERROR(context_.tables->Check(table, &impl));
  LAVA_RETURN_IF_ERROR(context_.partitions->CheckBound(*impl, prefix, "prefix"));
  const InternalKey internal(context_.partitions->bytes(), impl->id_bytes(), prefix);
  const Slice key = internal.slice();
  const std::string end = PrefixEnd(key);
  LAVA_ASSIGN_OR_RETURN(const ViewRef view, context_.ViewOf(snapshot));
  Counters::Add(&context_.counters->reads, 1);
  // Behind the dead range nothing is known. A newer run may hide records of older runs there, so
  // only a merge gives the answer.
  std::string known;
  const bool knows =
      snapshot == nullptr && impl->dead().watches() && impl->dead().Find(key, &known);
  if (knows && known >= end) return Status::NotFound();
  Verdict verdict = knows ? Verdict::kUnclear : Verdict::kNothing;
  if (view->active != nullptr && verdict == Verdict::kNothing)
    verdict = JudgeMemTable(*view->active, key, end);
  for (size_t i = 0; i < view->sealed.size() && verdict == Verdict::kNothing; ++i)
    verdict = JudgeMemTable(*view->sealed[i]->memtable, key, end);
  if (verdict == Verdict::kNothing) {
    LAVA_RETURN_IF_ERROR(ForEachFileRun(
        *view->version, key, end, key, {}, {}, [&](std::unique_ptr<MergeRun> run) -> Result<bool> {
          LAVA_ASSIGN_OR_RETURN(verdict, JudgeFiles(*view->version, *impl, run.get(), key));
          return verdict == Verdict::kNothing;
        }));
  }
  if (verdict == Verdict::kLive) return Status::OK();
  if (verdict != Verdict::kUnclear) return Status::NotFound();
  ScanRequest request;
  request.lower = prefix;
  request.prefix_bytes = static_cast<uint32_t>(prefix.size());
  request.keys_only = true;
  request.entries_max = 1;
  ScanPage page;
  LAVA_RETURN_IF_ERROR(Scan(table, request, &page, snapshot));
  return page.entries > 0 ? Status::OK() : Status::NotFound();
}

}  // namespace lava
