// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "compaction/flush_job.h"

#include <memory>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/range_tombstones.h"
#include "base/record.h"
#include "job/job_context.h"
#include "job/output_files.h"
#include "job/value_output.h"
#include "lava/slice.h"
#include "lava/status.h"
#include "manifest/version.h"
#include "memtable/memtable.h"
#include "read/merge_run.h"
#include "read/merging_iterator.h"
#include "value_log/logged_values.h"

namespace lava {

namespace {

// Answers the same for all keys: a flush must be fast, so it does not look at the files.
class AllOlderData final : public OlderData {
 public:
  explicit AllOlderData(bool any) : any_(any) {}
  bool MayHoldKey(Slice) const override { return any_; }
  bool MayHoldRange(Slice, Slice) const override { return any_; }

 private:
  const bool any_;
};

}  // namespace

Status RunFlush(const JobContext& context, const FlushInput& input, FlushOutput* output) {
  *output = {};
  const AllOlderData older(!input.nothing_older);
  RangeTombstoneSet tombstones;
  std::vector<std::unique_ptr<MergeRun>> runs;
  for (const std::shared_ptr<const MemTable>& table : input.runs) {
    LAVA_CHECK(table->sealed());
    runs.push_back(NewMemTableRun(table, false));
    if (!input.nothing_older) runs.back()->AddRangeTombstones(&tombstones);
  }
  MergeOptions options;
  options.compaction = true;
  options.older = &older;
  options.list_bytes_max = context.list_bytes_max;
  options.cancelled = context.cancelled;
  options.pacer = context.pacer;
  const std::unique_ptr<RecordIterator> records = NewMergingIterator(std::move(runs), options);
  OutputFiles files(context, OutputLimits{}, std::move(tombstones));
  ValueOutput values(context, input.tables, /*level=*/0);
  LoggedValues logged(input.segments);
  if (!input.segments.empty()) {
    for (records->SeekToFirst(); records->Valid(); records->Next()) logged.Weigh(records->record());
    LAVA_RETURN_IF_ERROR(records->status());
    logged.Choose(&values);
  }
  for (records->SeekToFirst(); records->Valid(); records->Next()) {
    Record record = records->record();
    LAVA_RETURN_IF_ERROR(logged.Place(&values, &record));
    LAVA_RETURN_IF_ERROR(values.MoveOut(&record));
    LAVA_RETURN_IF_ERROR(files.Add(record));
  }
  LAVA_RETURN_IF_ERROR(records->status());
  // Call everything that may fail before files are handed out.
  LAVA_RETURN_IF_ERROR(values.Close());
  std::vector<std::shared_ptr<FileMeta>> written;
  LAVA_RETURN_IF_ERROR(files.Finish(&written));
  LAVA_CHECK(written.size() <= 1);
  if (!written.empty()) output->file = std::move(written.front());
  LAVA_RETURN_IF_ERROR(values.Finish(&output->value_files));
  output->bytes_written = files.bytes_written();
  output->value_bytes_written = values.bytes_written();
  return Status::OK();
}

}  // namespace lava
