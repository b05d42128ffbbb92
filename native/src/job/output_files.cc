// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "job/output_files.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/guarded.h"
#include "base/range_tombstones.h"
#include "base/record.h"
#include "fs/file_system.h"
#include "job/job_context.h"
#include "lava/slice.h"
#include "lava/status.h"
#include "manifest/version.h"
#include "table/table_reader.h"
#include "table/table_writer.h"

namespace lava {

namespace {}  // namespace

OutputFiles::OutputFiles(const JobContext& context, const OutputLimits& limits,
                         RangeTombstoneSet tombstones)
    : context_(context), limits_(limits), tombstones_(std::move(tombstones)) {
  LAVA_CHECK(context.file_system != nullptr && context.next_file != nullptr);
}

OutputFiles::~OutputFiles() {
  writer_.reset();
  files_.clear();  // close the readers before the files are removed
  for (const std::string& path : created_) {
    // If this fails, recovery removes the file, since no manifest names it.
    (void)Tried([&] { (void)context_.file_system->Remove(path).ok(); });
  }
}

Status OutputFiles::OpenFile() {
  LAVA_DCHECK(writer_ == nullptr);
  id_ = context_.next_file();
  const std::string path = context_.PathOf(id_);
  LAVA_ASSIGN_OR_RETURN(std::unique_ptr<fs::AppendFile> file, CreateOutput(context_, path));
  created_.push_back(path);
  writer_ = TableWriter::Create(context_.writer, std::move(file), path);
  overlap_bytes_ = 0;
  return Status::OK();
}

void OutputFiles::CountOverlap(Slice key) {
  for (; below_ != limits_.below.end(); ++below_) {
    if (below_->upper.empty() || key < below_->upper) return;
    if (writer_ != nullptr) overlap_bytes_ += below_->file->bytes;
  }
}

bool OutputFiles::MustEnd(Slice key) {
  if (writer_ == nullptr) return false;
  // A file that hides a prefix of older runs must hold all of its own records under the prefix.
  // Otherwise the bounds of two files of one level would overlap.
  if (!carried_prefix_.empty() && key.starts_with(carried_prefix_)) return false;
  if (limits_.file_bytes != 0 && writer_->estimated_bytes() >= limits_.file_bytes) return true;
  return limits_.overlap_bytes != 0 && overlap_bytes_ > limits_.overlap_bytes;
}

Status OutputFiles::Add(const Record& record) {
  CountOverlap(record.key);
  if (MustEnd(record.key)) LAVA_RETURN_IF_ERROR(EndFile(record.key));
  if (writer_ == nullptr) LAVA_RETURN_IF_ERROR(OpenFile());
  if (record.kind == RecordKind::kPrefixDelete &&
      (carried_prefix_.empty() || !record.key.starts_with(carried_prefix_))) {
    carried_prefix_ = record.key;
  }
  return writer_->Add(record);
}

Status OutputFiles::EndFile(Slice border) {
  LAVA_DCHECK(writer_ != nullptr);
  const RangeTombstoneSet own = tombstones_.Clip(begin_, border);
  if (!own.empty()) LAVA_RETURN_IF_ERROR(writer_->AddRangeTombstones(own));
  TableProperties properties;
  LAVA_RETURN_IF_ERROR(writer_->Finish(&properties));
  const std::vector<std::string> partitions = writer_->TakeIndexPartitions();
  writer_.reset();
  std::shared_ptr<FileMeta> meta = MetaOf(id_, properties);
  LAVA_ASSIGN_OR_RETURN(std::shared_ptr<TableReader> reader, OpenReader(context_, *meta));
  reader->Warm(partitions);
  meta->reader.Set(std::move(reader));
  bytes_written_ += meta->bytes;
  files_.push_back(std::move(meta));
  begin_ = border;
  carried_prefix_.clear();
  return Status::OK();
}

Status OutputFiles::Finish(std::vector<std::shared_ptr<FileMeta>>* files) {
  if (writer_ == nullptr && !tombstones_.Clip(begin_, Slice()).empty())
    LAVA_RETURN_IF_ERROR(OpenFile());
  if (writer_ != nullptr) LAVA_RETURN_IF_ERROR(EndFile(Slice()));
  *files = std::exchange(files_, {});
  created_.clear();
  return Status::OK();
}

}  // namespace lava
