// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "compaction/compaction_job.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/range_tombstones.h"
#include "base/record.h"
#include "base/value_reference.h"
#include "compaction/older_files.h"
#include "compaction/value_merge.h"
#include "job/job_context.h"
#include "job/output_files.h"
#include "job/value_output.h"
#include "lava/status.h"
#include "manifest/version.h"
#include "os/job_break.h"
#include "read/merge_run.h"
#include "read/merging_iterator.h"
#include "read/readers.h"
#include "read/ttl_filter.h"
#include "table/table_reader.h"

namespace lava {

namespace {

constexpr uint32_t kReadaheadBytes = 256 << 10;

Result<std::vector<std::unique_ptr<MergeRun>>> OpenRuns(const CompactionInput& input) {
  TableReader::IterateOptions options;
  options.fill_cache = false;
  options.readahead_bytes = kReadaheadBytes;
  std::vector<std::unique_ptr<MergeRun>> runs;
  for (const CompactionInput::Level& level : input.inputs) {
    if (level.level == 0) {
      for (const KeyFileEntry& entry : level.entries) {
        LAVA_ASSIGN_OR_RETURN(std::unique_ptr<MergeRun> run, NewFileRun(entry, options));
        runs.push_back(std::move(run));
      }
    } else if (!level.entries.empty()) {
      runs.push_back(NewLevelRun(level.entries, options));
    }
  }
  return runs;
}

// Whether newer levels come first, and none is below the output.
bool AreInOrder(const CompactionInput& input) {
  for (size_t i = 0; i < input.inputs.size(); ++i) {
    if (input.inputs[i].level > input.output_level) return false;
    if (i > 0 && input.inputs[i - 1].level >= input.inputs[i].level) return false;
  }
  return true;
}

// Checked first: a file that arrives during the job would have had no tombstones at its start.
Status AllPresent(const CompactionInput& input) {
  for (const CompactionInput::Level& level : input.inputs)
    for (const KeyFileEntry& entry : level.entries)
      LAVA_RETURN_IF_ERROR(RequireReader(entry).status());
  return Status::OK();
}

RangeTombstoneSet CarriedTombstones(const std::vector<std::unique_ptr<MergeRun>>& runs,
                                    const OlderData& older) {
  RangeTombstoneSet all, carried;
  for (const auto& run : runs)
    if (run->has_range_tombstones()) run->AddRangeTombstones(&all);
  for (const RangeTombstone& t : all.ranges())
    if (older.MayHoldRange(t.begin, t.end)) carried.Add(t.begin, t.end);
  return carried;
}

// Turns an expired record into the tombstone that replaces it. False: no tombstone is needed.
bool ExpireRecord(const OlderData& older, Record* record) {
  // An expired operand adds nothing; the records below it stay.
  if (IsAppend(record->kind)) return false;
  if (!older.MayHoldKey(record->key)) return false;
  record->kind = RecordKind::kDelete;
  record->value = Slice();
  return true;
}

// References to values that are marked as expired, whatever the clock and the TTL are now.
class GoneReferences {
 public:
  GoneReferences(const CompactionInput& input, uint32_t partition_bytes)
      : version_(*input.version), tables_(input.tables, partition_bytes) {
    for (const auto& [id, blob_file] : version_.blob_files)
      any_ = any_ || !blob_file->expired_to_ms.empty();
  }
  bool Holds(const Record& record) const {
    if (!any_) return false;
    ValueReference reference;
    const std::optional<uint64_t> table = tables_.IdOf(record.key);
    return record.kind == RecordKind::kPutReference && table &&
           DecodeReference(record.value, &reference) && HasExpired(version_, *table, reference);
  }

 private:
  const Version& version_;
  const TablesByKey tables_;
  bool any_ = false;
};

}  // namespace

Status RunCompaction(const JobContext& context, const CompactionInput& input,
                     CompactionOutput* output) {
  *output = {};
  LAVA_CHECK(input.version != nullptr && !input.inputs.empty());
  LAVA_CHECK(input.output_level < kLevelCountMax);
  LAVA_DCHECK(AreInOrder(input));
  LAVA_RETURN_IF_ERROR(AllPresent(input));
  const OlderFiles older(input);
  LAVA_ASSIGN_OR_RETURN(std::vector<std::unique_ptr<MergeRun>> runs, OpenRuns(input));
  RangeTombstoneSet tombstones = CarriedTombstones(runs, older);
  MergeOptions options;
  options.compaction = true;
  options.older = &older;
  options.list_bytes_max = context.list_bytes_max;
  options.cancelled = context.cancelled;
  options.pacer = context.pacer;
  options.drop_cache = context.drop_cache;
  const std::unique_ptr<RecordIterator> records = NewMergingIterator(std::move(runs), options);

  OutputLimits limits;
  if (input.output_level > 0) {
    limits.file_bytes = input.target_file_bytes;
    limits.overlap_bytes = input.overlap_bytes_max;
    if (input.output_level + 1 < kLevelCountMax)
      limits.below = input.version->levels[input.output_level + 1];
  }
  OutputFiles files(context, limits, std::move(tombstones));
  ValueOutput values(context, input.tables, input.output_level);
  ValueMerge merge(*input.version, input.merged_values, &values);
  JobBreak brought_in(context.cancelled, context.pacer);  // for rewritten values
  const GoneReferences gone(input, context.writer.partition_bytes);
  TtlFilter ttl(input.tables, context.writer.partition_bytes, input.drop_time);
  uint64_t seen = 0;
  for (records->SeekToFirst(); records->Valid(); records->Next()) {
    Record record = records->record();
    if ((ttl.Apply(&record) == TtlFilter::Verdict::kExpired || gone.Holds(record)) &&
        !ExpireRecord(older, &record))
      continue;
    LAVA_RETURN_IF_ERROR(merge.Move(&record));
    LAVA_RETURN_IF_ERROR(brought_in.Look(merge.bytes_read() - seen));
    seen = merge.bytes_read();
    LAVA_RETURN_IF_ERROR(values.MoveOut(&record));
    LAVA_RETURN_IF_ERROR(files.Add(record));
  }
  LAVA_RETURN_IF_ERROR(records->status());
  // Call everything that may fail before files are handed out.
  LAVA_RETURN_IF_ERROR(values.Close());
  LAVA_RETURN_IF_ERROR(files.Finish(&output->files));
  LAVA_RETURN_IF_ERROR(values.Finish(&output->value_files));
  output->bytes_written = files.bytes_written();
  output->value_bytes_written = values.bytes_written();
  output->merged_value_bytes = merge.bytes_read();
  output->records_expired = ttl.expired_count();
  output->dropped = ttl.dropped();
  for (const CompactionInput::Level& level : input.inputs)
    for (const KeyFileEntry& entry : level.entries) output->bytes_read += entry.file->bytes;
  return Status::OK();
}

}  // namespace lava
