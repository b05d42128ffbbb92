// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "job/value_output.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/coding.h"
#include "base/guarded.h"
#include "base/list_parts.h"
#include "base/record.h"
#include "base/value_reference.h"
#include "fs/file_system.h"
#include "job/job_context.h"
#include "lava/list_format.h"
#include "lava/options.h"
#include "lava/slice.h"
#include "lava/status.h"
#include "manifest/version.h"
#include "value/value_file.h"
#include "value/value_log_writer.h"
#include "value/value_reader.h"
#include "value_log/changelog_segment.h"

namespace lava {

namespace {

// The newest timestamp of list elements that may expire; none if one of them has no timestamp.
std::optional<uint64_t> NewestOf(Slice segments) {
  std::optional<uint64_t> newest;
  while (!segments.empty()) {
    ListSegment kind;
    Slice element;
    if (!NextListSegment(&segments, &kind, &element).ok() || kind != ListSegment::kElement ||
        element.size() < 8)
      return std::nullopt;
    const auto written = static_cast<int64_t>(DecodeBigEndian(element.data(), 8));
    if (!newest || written > static_cast<int64_t>(*newest)) newest = static_cast<uint64_t>(written);
  }
  return newest;
}

}  // namespace

std::optional<uint64_t> TimestampOf(const TableOptions& options, Slice value) {
  if (options.ttl_layout == TtlLayout::kList) return NewestOf(value);
  const size_t offset = options.ttl_layout == TtlLayout::kMap ? 1 : 0;
  if (options.ttl_layout == TtlLayout::kNone || value.size() < offset + 8) return std::nullopt;
  return DecodeBigEndian(value.data() + offset, 8);
}

ValueOutput::ValueOutput(const JobContext& context, const std::map<uint64_t, TableOptions>& tables,
                         uint32_t level)
    : context_(context), tables_(tables, context.writer.partition_bytes), level_(level) {}

ValueOutput::~ValueOutput() {
  cold_.writer.reset();
  hot_.writer.reset();
  files_.clear();  // close the readers before the files are removed
  for (const std::string& path : created_) {
    // If this fails, recovery removes the file, since no manifest names it.
    (void)Tried([&] { (void)context_.file_system->Remove(path).ok(); });
  }
}

Status ValueOutput::EnsureFile(Stream* stream, Slice key) {
  // All blob files of a key must be in one file.
  if (stream->writer != nullptr && stream->writer->estimated_bytes() >= context_.value_file_bytes &&
      key != stream->last_key)
    LAVA_RETURN_IF_ERROR(EndFile(stream));
  stream->last_key = key;
  if (stream->writer != nullptr) return Status::OK();
  stream->id = context_.next_file();
  if (stream->group == 0) stream->group = stream->id.number;
  const std::string path = context_.ValuePathOf(stream->id);
  LAVA_ASSIGN_OR_RETURN(std::unique_ptr<fs::AppendFile> file, CreateOutput(context_, path));
  created_.push_back(path);
  stream->writer = ValueWriter::Create(context_.value_writer, std::move(file), path);
  return Status::OK();
}

const TableOptions* ValueOutput::OptionsOf(Slice key, uint64_t raw_bytes) const {
  const TableOptions* options = tables_.OptionsOf(key);
  if (raw_bytes > context_.inline_bytes_max) return options;
  // Compactions drop expiring elements one by one, which must not require reads of value files.
  if (options == nullptr || options->separation_bytes == 0 ||
      options->ttl_layout == TtlLayout::kList || raw_bytes < options->separation_bytes)
    return nullptr;
  return options;
}

ValueOutput::Stream* ValueOutput::StreamOf(Slice key) {
  const bool hot = context_.drop_cache != nullptr && context_.drop_cache->IsHot(key);
  return hot ? &hot_ : &cold_;
}

void ValueOutput::Refer(Record* record, const Stream& stream, uint64_t raw_bytes,
                        std::optional<uint64_t> timestamp) {
  reference_.clear();
  EncodeReference({stream.id, raw_bytes, timestamp}, &reference_);
  record->kind = RecordKind::kPutReference;
  record->value = reference_;
}

Status ValueOutput::MoveOut(Record* record) {
  const bool put = record->kind == RecordKind::kPut;
  if (!put && !IsAppend(record->kind) && !HasParts(record->kind)) return Status::OK();
  const TableOptions* const options = OptionsOf(record->key, record->value.size());
  if (options == nullptr) return Status::OK();
  if (options->kind == TableKind::kList) return MoveOutList(*options, record);
  if (!put) return Status::OK();  // the table was not a list when this was written
  Stream* const stream = StreamOf(record->key);
  LAVA_RETURN_IF_ERROR(EnsureFile(stream, record->key));
  LAVA_RETURN_IF_ERROR(stream->writer->Add(record->key, stream->id, record->value));
  const std::optional<uint64_t> timestamp = TimestampOf(*options, record->value);
  Count(stream, record->key, record->value.size(), timestamp);
  Refer(record, *stream, record->value.size(), timestamp);
  return Status::OK();
}

Status ValueOutput::MoveOutList(const TableOptions& options, Record* record) {
  if (HasParts(record->kind))
    LAVA_RETURN_IF_ERROR(SplitList(record->value, &parts_));
  else
    parts_.assign(1, {false, record->value});
  const ListPart* largest = nullptr;
  for (const ListPart& part : parts_)
    if (!part.is_reference && (largest == nullptr || part.bytes.size() > largest->bytes.size()))
      largest = &part;
  if (largest == nullptr || !Separates(record->key, largest->bytes.size())) return Status::OK();
  Stream* const stream = StreamOf(record->key);
  LAVA_RETURN_IF_ERROR(EnsureFile(stream, record->key));
  LAVA_RETURN_IF_ERROR(stream->writer->Add(record->key, stream->id, largest->bytes));
  const uint64_t raw_bytes = largest->bytes.size();
  // Only the reference carries the timestamp: the file must not expire before a compaction has
  // removed the reference from the list.
  const std::optional<uint64_t> newest = TimestampOf(options, largest->bytes);
  Count(stream, record->key, raw_bytes, std::nullopt);
  reference_.clear();  // record->value never points into it
  for (const ListPart& part : parts_) {
    if (&part == largest)
      AppendListReference({stream->id, raw_bytes, newest}, &reference_);
    else
      AppendListPart(part, &reference_);
  }
  record->kind = WithParts(record->kind);
  record->value = reference_;
  return Status::OK();
}

Status ValueOutput::MoveStored(Record* record, const StoredValue& stored,
                               std::optional<uint64_t> timestamp) {
  Stream* const stream = StreamOf(record->key);
  LAVA_RETURN_IF_ERROR(EnsureFile(stream, record->key));
  LAVA_RETURN_IF_ERROR(stream->writer->AddStored(record->key, stream->id, stored.codec,
                                                 stored.raw_bytes, stored.bytes));
  Count(stream, record->key, stored.raw_bytes, timestamp);
  Refer(record, *stream, stored.raw_bytes, timestamp);
  return Status::OK();
}

Status ValueOutput::AddStored(Slice key, const FileId& blob_file, bool hot, Compression codec,
                              uint32_t raw_bytes, Slice stored, std::optional<uint64_t> timestamp) {
  Stream* stream = hot ? &hot_ : &cold_;
  LAVA_RETURN_IF_ERROR(EnsureFile(stream, key));
  Count(stream, key, raw_bytes, timestamp);
  return stream->writer->AddStored(key, blob_file, codec, raw_bytes, stored);
}

void ValueOutput::Count(Stream* stream, Slice key, uint64_t raw_bytes,
                        std::optional<uint64_t> timestamp) {
  stream->tables[tables_.IdOf(key).value_or(0)].Add(raw_bytes, timestamp);
}

Status ValueOutput::Add(Slice key, const FileId& blob_file, bool hot, Slice value,
                        std::optional<uint64_t> timestamp) {
  Stream* stream = hot ? &hot_ : &cold_;
  LAVA_RETURN_IF_ERROR(EnsureFile(stream, key));
  Count(stream, key, value.size(), timestamp);
  return stream->writer->Add(key, blob_file, value);
}

// The file is not added to created_: when the job fails, its values are still read from it.
void ValueOutput::Keep(std::unique_ptr<ValueLogWriter> writer) {
  const FileId id = writer->id();
  kept_[id].writer = std::move(writer);
}

Status ValueOutput::AddLogged(Slice key, const ValueReference& reference) {
  Kept& kept = kept_.at(reference.blob_file);
  kept.tables[tables_.IdOf(key).value_or(0)].Add(reference.raw_bytes, reference.timestamp);
  return kept.writer->AddLive(key, {reference.logged_offset, reference.logged_bytes,
                                    static_cast<uint32_t>(reference.raw_bytes)});
}

Status ValueOutput::EndKept(Kept* kept) {
  ValueFileProperties properties;
  LAVA_RETURN_IF_ERROR(kept->writer->Finish(&properties));
  return AddFile(kept->writer->id(), properties, std::move(kept->tables), kept->writer->id().number,
                 false);
}

Status ValueOutput::EndFile(Stream* stream) {
  if (stream->writer == nullptr) return Status::OK();
  ValueFileProperties properties;
  LAVA_RETURN_IF_ERROR(stream->writer->Finish(&properties));
  stream->writer.reset();
  return AddFile(stream->id, properties, std::exchange(stream->tables, {}), stream->group,
                 stream == &hot_);
}

Status ValueOutput::AddFile(const FileId& id, const ValueFileProperties& properties,
                            std::map<uint64_t, TableShare> tables, uint64_t group, bool hot) {
  std::shared_ptr<ValueFileMeta> meta = MetaOf(id, properties);
  LAVA_ASSIGN_OR_RETURN(std::shared_ptr<ValueReader> reader, OpenValueReader(context_, *meta));
  meta->reader.Set(std::move(reader));
  meta->hot = hot;
  meta->level = level_;
  meta->group = group;
  meta->tables = std::move(tables);
  bytes_written_ += meta->bytes;
  files_.push_back(std::move(meta));
  return Status::OK();
}

Status ValueOutput::Close() {
  LAVA_RETURN_IF_ERROR(EndFile(&cold_));
  LAVA_RETURN_IF_ERROR(EndFile(&hot_));
  for (auto& [id, kept] : kept_) LAVA_RETURN_IF_ERROR(EndKept(&kept));
  kept_.clear();
  for (const ChangelogSegment* segment : std::exchange(ended_, {}))
    LAVA_RETURN_IF_ERROR(AddFile(segment->id(), segment->properties(), segment->tables(),
                                 segment->id().number, false));
  return Status::OK();
}

Status ValueOutput::Finish(std::vector<std::shared_ptr<ValueFileMeta>>* files) {
  LAVA_RETURN_IF_ERROR(Close());
  *files = std::exchange(files_, {});
  created_.clear();
  return Status::OK();
}

}  // namespace lava
