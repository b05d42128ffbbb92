// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "value_log/value_log_segment.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "base/check.h"
#include "base/file_id.h"
#include "base/mutex.h"
#include "base/value_reference.h"
#include "fs/file_system.h"
#include "lava/slice.h"
#include "lava/status.h"
#include "lava/value_pieces.h"
#include "value/record_pieces.h"
#include "value/value_log_writer.h"

namespace lava {
namespace {

// Small, because each record is written at once, so that other threads can read it.
constexpr size_t kBufferBytes = 64 << 10;

LoggedRecord RecordOf(const ValueReference& reference) {
  return {reference.logged_offset, reference.logged_bytes,
          static_cast<uint32_t>(reference.raw_bytes), 0};
}

}  // namespace

Status ValueLogSegment::Begin(const ValueLogOptions& options) {
  LAVA_ASSIGN_OR_RETURN(std::unique_ptr<fs::AppendFile> file,
                        file_system_->Create(path_, kBufferBytes));
  writer_ = ValueLogWriter::Create(options, std::move(file), path_, id_);
  return Status::OK();
}

Result<std::shared_ptr<ValueLogSegment>> ValueLogSegment::Create(fs::FileSystem* file_system,
                                                                 std::string path, const FileId& id,
                                                                 const ValueLogOptions& options) {
  std::shared_ptr<ValueLogSegment> segment(new ValueLogSegment(file_system, std::move(path), id));
  LAVA_RETURN_IF_ERROR(segment->Begin(options));
  return segment;
}

Status ValueLogSegment::Settle(Status appended, bool synced) {
  if (appended.ok()) appended = synced ? writer_->Sync() : writer_->Flush();
  LAVA_DCHECK(writer_->bytes() >= bytes_);
  bytes_ = writer_->bytes();
  if (!appended.ok()) sound_ = false;
  return appended;
}

void ValueLogSegment::Refer(const LoggedRecord& record, ValueReference* reference) {
  ++records_;
  largest_bytes_ = std::max(largest_bytes_, record.bytes);
  reference->blob_file = id_;
  reference->raw_bytes = record.raw_bytes;
  reference->logged_offset = record.offset;
  reference->logged_bytes = record.bytes;
}

Status ValueLogSegment::Append(Slice key, Slice value, bool synced, ValueReference* reference) {
  LoggedRecord record;
  LAVA_RETURN_IF_ERROR(Settle(writer_->Append(key, value, 0, &record), synced));
  Refer(record, reference);
  return Status::OK();
}

Status ValueLogSegment::AppendFrom(Slice key, ValueSource* value, bool synced,
                                   ValueReference* reference) {
  LoggedRecord record;
  LAVA_RETURN_IF_ERROR(Settle(writer_->AppendFrom(key, value, 0, &record), synced));
  Refer(record, reference);
  return Status::OK();
}

Status ValueLogSegment::Sync() {
  if (writer_ == nullptr || !sound_) return Status::OK();
  const Status status = writer_->Sync();
  if (!status.ok()) sound_ = false;
  return status;
}

Result<std::shared_ptr<fs::RandomFile>> ValueLogSegment::FileWith(uint64_t end) const {
  std::shared_ptr<fs::RandomFile> file;
  {
    MutexLock lock(&mutex_);
    file = file_;
  }
  if (file == nullptr || file->size() < end) {
    LAVA_ASSIGN_OR_RETURN(file, file_system_->OpenRandom(path_));
    MutexLock lock(&mutex_);
    if (file_ == nullptr || file_->size() < file->size()) file_ = file;
  }
  return file;
}

Status ValueLogSegment::Read(Slice key, const ValueReference& reference, std::string* value) const {
  const LoggedRecord record = RecordOf(reference);
  LAVA_ASSIGN_OR_RETURN(const std::shared_ptr<fs::RandomFile> file, FileWith(record.end()));
  return ReadLogged(*file, key, record, value);
}

Result<bool> ValueLogSegment::ReadInPieces(Slice key, const ValueReference& reference,
                                           const PiecewiseRead& read) const {
  const LoggedRecord record = RecordOf(reference);
  LAVA_ASSIGN_OR_RETURN(const std::shared_ptr<fs::RandomFile> file, FileWith(record.end()));
  return ReadLoggedInPieces(*file, key, record, read);
}

std::unique_ptr<ValueLogWriter> ValueLogSegment::TakeWriter() {
  return sound_ ? std::move(writer_) : nullptr;
}

}  // namespace lava
