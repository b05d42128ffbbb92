// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "db/job_working_sets.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "base/value_reference.h"
#include "collection/collection_job.h"
#include "compaction/compaction_job.h"
#include "compaction/flush_job.h"
#include "compaction/value_merge.h"
#include "db/instance_context.h"
#include "job/job_context.h"
#include "lava/options.h"
#include "manifest/version.h"
#include "memtable/memtable.h"
#include "policy/working_sets.h"
#include "value_log/value_log_segment.h"

namespace lava {
namespace {

// Assumed size of a key in a memtable, because a memtable does not know the bytes of its keys.
constexpr uint64_t kUsualKeyBytes = 64;
constexpr uint64_t kReferenceBytes = 16;
// Assumed ratio of a file's bytes before and after compression.
constexpr uint64_t kInflated = 4;

// Estimates that all keys are as long as the first one, and take no more than the file can hold.
uint64_t KeyBytesOf(uint64_t records, const std::string& lower, uint64_t bytes_max) {
  return std::min(records * lower.size(), bytes_max);
}

void AddInput(const FileMeta& file, JobShape* shape) {
  const uint64_t key_bytes = KeyBytesOf(file.records, file.lower, file.raw_bytes);
  shape->records += file.records;
  shape->key_bytes += key_bytes;
  shape->index_bytes += kInflated * file.bytes;  // the file may consist of references
  shape->value_bytes += file.raw_bytes - key_bytes;
}

void AddValues(const ValueFileMeta& file, JobShape* shape) {
  shape->separated_records += file.records;
  shape->separated_bytes += file.raw_bytes;
}

uint64_t ReferencedBytes(const CompactionInput& input) {
  uint64_t bytes = 0;
  for (const CompactionInput::Level& level : input.inputs)
    for (const KeyFileEntry& entry : level.entries)
      for (const BlobReference& reference : entry.file->blob_references)
        bytes += reference.raw_bytes;
  return bytes;
}

JobShape ShapeOf(const InstanceContext& instance, const std::map<uint64_t, TableOptions>& tables) {
  JobShape shape;
  shape.block_bytes = instance.options.block_bytes;
  shape.index_partition_bytes = instance.options.index_partition_bytes;
  // A volume itself charges the buffers of its files.
  if (instance.options.volume == nullptr) shape.file_buffer_bytes = kJobFileBufferBytes;
  shape.key_file_bytes = instance.options.target_file_bytes;
  shape.value_file_bytes = instance.options.value_file_bytes;
  shape.zstd = instance.options.compression == Compression::kZstd ||
               instance.options.bottom_compression == Compression::kZstd ||
               instance.options.value_compression == Compression::kZstd;
  shape.kept_index_bytes_max = instance.KeptIndexBytes();
  shape.inputs = 0;
  shape.separates = std::any_of(tables.begin(), tables.end(),
                                [](const auto& it) { return it.second.separation_bytes > 0; });
  return shape;
}

}  // namespace

uint64_t WorkingSetOf(const InstanceContext& instance, const FlushInput& input) {
  JobShape shape = ShapeOf(instance, input.tables);
  shape.key_file_bytes = UINT64_MAX;  // a flush writes one file
  for (const std::shared_ptr<const MemTable>& run : input.runs) {
    const uint64_t key_bytes = std::min(run->live_bytes(), run->record_count() * kUsualKeyBytes);
    ++shape.inputs;
    shape.records += run->record_count();
    shape.key_bytes += key_bytes;
    shape.value_bytes += run->live_bytes() - key_bytes;
  }
  if (shape.separates) {
    shape.separated_bytes = shape.value_bytes;
    for (const auto& [id, table] : input.tables)
      if (table.separation_bytes > 0)
        shape.separated_records =
            std::max(shape.separated_records,
                     std::min(shape.records, shape.value_bytes / table.separation_bytes));
  }
  shape.index_bytes = shape.key_bytes + shape.records * kReferenceBytes;
  // Logged values whose neighbours have died are read and rewritten, one at a time.
  uint64_t logged = 0;
  for (const std::shared_ptr<ValueLogSegment>& segment : input.segments)
    if (segment->records() > 1) logged = std::max(logged, segment->largest_bytes());
  return FlushWorkingSet(shape) + 2 * logged;
}

uint64_t WorkingSetOf(const InstanceContext& instance, const CompactionInput& input) {
  JobShape shape = ShapeOf(instance, input.tables);
  for (const CompactionInput::Level& level : input.inputs) {
    for (const KeyFileEntry& entry : level.entries) AddInput(*entry.file, &shape);
    // Files of a deeper level are read one after another.
    shape.inputs += level.level == 0 ? static_cast<uint32_t>(level.entries.size()) : 1;
  }
  for (const ValueFileMeta* file : input.merged_values) AddValues(*file, &shape);
  shape.merged_ahead_bytes = ValueMerge::AheadBytesOf(input.merged_values);
  const bool lists = std::any_of(input.tables.begin(), input.tables.end(),
                                 [](const auto& it) { return it.second.kind == TableKind::kList; });
  if (lists) shape.together_bytes = std::min(ReferencedBytes(input), ValueMerge::kListTailBytesMax);
  return CompactionWorkingSet(shape);
}

uint64_t WorkingSetOf(const InstanceContext& instance, const CollectionInput& input) {
  JobShape shape = ShapeOf(instance, input.tables);
  shape.separates = true;
  for (const std::shared_ptr<ValueFileMeta>& file : input.files) {
    ++shape.inputs;
    shape.records += file->records;
    shape.key_bytes += KeyBytesOf(file->records, file->lower, kInflated * file->bytes);
    AddValues(*file, &shape);
  }
  return input.files.empty() ? 0 : CollectionWorkingSet(shape);
}

}  // namespace lava
