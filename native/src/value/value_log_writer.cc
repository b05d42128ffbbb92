// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "value/value_log_writer.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/block.h"
#include "base/checksum.h"
#include "base/compression.h"
#include "base/file_id.h"
#include "base/value_reference.h"
#include "fs/file_system.h"
#include "lava/options.h"
#include "lava/slice.h"
#include "lava/status.h"
#include "lava/value_pieces.h"
#include "memory/memory_counter.h"
#include "value/format.h"
#include "value/log_index.h"
#include "value/record_pieces.h"
#include "value/value_file.h"

namespace lava {
namespace {

using namespace vsst;  // NOLINT: this folder's own

class LogWriter final : public ValueLogWriter {
 public:
  LogWriter(const ValueLogOptions& options, std::unique_ptr<fs::AppendFile> file, std::string path,
            const FileId& id)
      : options_(options),
        file_(std::move(file)),
        path_(std::move(path)),
        id_(id),
        compressor_(options.compression) {
    footer_.unique_id = UniqueIdOf(path_);
    footer_.is_log = true;
  }

  Status Append(Slice key, Slice value, uint32_t blob_file_index, LoggedRecord* record) override;
  Status AppendFrom(Slice key, ValueSource* value, uint32_t blob_file_index,
                    LoggedRecord* record) override;
  Status Flush() override { return Keep(file_->Flush()); }
  Status Sync() override { return Keep(file_->SyncData()); }
  uint64_t bytes() const override { return records_end_; }
  const FileId& id() const override { return id_; }
  Status AddLive(Slice key, const LoggedRecord& record) override;
  Status Finish(ValueFileProperties* properties) override;

 private:
  Status Invalid(const std::string& what) const {
    return Status::InvalidArgument(path_ + ": " + what);
  }
  Status Keep(Status status) {
    if (status_.ok()) status_ = std::move(status);
    return status_;
  }
  void Write(Slice bytes);
  void WriteRecord(Slice key, Slice value, uint32_t blob_file_index);
  void WriteLarge(Slice key, Slice value, uint32_t blob_file_index);
  void WritePieces(Slice key, ValueSource* value, uint32_t blob_file_index);
  Status Check(Slice key, uint64_t value_bytes, uint32_t blob_file_index) const;
  Status Wrote(uint64_t offset, uint64_t value_bytes, uint32_t blob_file_index,
               LoggedRecord* record);
  bool Compresses(uint64_t value_bytes) const {
    return options_.compression != Compression::kNone &&
           value_bytes <= options_.compressed_bytes_max;
  }
  BlockHandle WriteBlock(Slice raw);

  const ValueLogOptions options_;
  std::unique_ptr<fs::AppendFile> file_;
  const std::string path_;
  const FileId id_;
  Compressor compressor_;
  Footer footer_;
  Status status_;  // the first error
  bool finished_ = false;
  uint64_t offset_ = 0, records_end_ = 0;
  uint32_t crc_ = 0;
  std::vector<BlobReference> blob_files_;  // live records of each blob file, by index
  std::optional<LogIndexBuilder> index_;   // from the first AddLive() on
  uint32_t last_blob_file_index_ = 0;      // of the last live record
  ValueFileProperties properties_;
  std::string compressed_, record_, last_key_;
};

void LogWriter::Write(Slice bytes) {
  if (!Keep(file_->Append(bytes)).ok()) return;
  crc_ = Crc32c(bytes, crc_);
  offset_ += bytes.size();
}

Status LogWriter::Check(Slice key, uint64_t value_bytes, uint32_t blob_file_index) const {
  if (!status_.ok()) return status_;
  if (finished_ || index_) return Invalid("the value log has ended");
  if (blob_file_index >= kLogBlobFilesMax) return Invalid("a key has too many values in one log");
  if (key.size() > kRecordKeyBytesMax || value_bytes > kRecordValueBytesMax)
    return Invalid("a key of " + std::to_string(key.size()) + " bytes, or a value of " +
                   std::to_string(value_bytes) + ", is beyond the limit");
  return Status::OK();
}

// Completes the append of the record that was written at offset.
Status LogWriter::Wrote(uint64_t offset, uint64_t value_bytes, uint32_t blob_file_index,
                        LoggedRecord* record) {
  *record = {offset, offset_ - offset, static_cast<uint32_t>(value_bytes), blob_file_index};
  while (blob_files_.size() <= blob_file_index)
    blob_files_.push_back({{id_.origin, id_.number + blob_files_.size()}});
  records_end_ = offset_;
  if (record_.capacity() > kBufferKeptBytesMax) record_ = {};
  if (compressed_.capacity() > kBufferKeptBytesMax) compressed_ = {};
  return status_;
}

Status LogWriter::Append(Slice key, Slice value, uint32_t blob_file_index, LoggedRecord* record) {
  LAVA_RETURN_IF_ERROR(Check(key, value.size(), blob_file_index));
  const uint64_t offset = offset_;
  if (value.size() > kBufferKeptBytesMax)
    WriteLarge(key, value, blob_file_index);
  else
    WriteRecord(key, value, blob_file_index);
  return Wrote(offset, value.size(), blob_file_index, record);
}

Status LogWriter::AppendFrom(Slice key, ValueSource* value, uint32_t blob_file_index,
                             LoggedRecord* record) {
  const uint64_t size = value->size();
  LAVA_RETURN_IF_ERROR(Check(key, size, blob_file_index));
  // Compression needs the whole value in memory.
  ScopedCharge memory;
  if (Compresses(size) && (options_.memory == nullptr || memory.Try(options_.memory, size))) {
    const auto whole = std::make_unique_for_overwrite<char[]>(size);
    LAVA_RETURN_IF_ERROR(ReadWhole(value, whole.get()));
    return Append(key, Slice(whole.get(), size), blob_file_index, record);
  }
  const uint64_t offset = offset_;
  WritePieces(key, value, blob_file_index);
  return Wrote(offset, size, blob_file_index, record);
}

void LogWriter::WriteRecord(Slice key, Slice value, uint32_t blob_file_index) {
  StoredValue stored;
  stored.raw_bytes = static_cast<uint32_t>(value.size());
  stored.codec = compressor_.Compress(value, &compressed_);
  stored.bytes = stored.codec == Compression::kNone ? value : Slice(compressed_);
  EncodeRecord(footer_.unique_id, offset_, blob_file_index, key, stored, &record_);
  Write(record_);
}

// Writes the value without copying it. Compresses it only if the budget grants memory for the
// compressed bytes.
void LogWriter::WriteLarge(Slice key, Slice value, uint32_t blob_file_index) {
  ScopedCharge memory;
  const bool compresses = Compresses(value.size()) &&
                          (options_.memory == nullptr || memory.Try(options_.memory, value.size()));
  const Compression codec =
      compresses ? compressor_.Compress(value, &compressed_) : Compression::kNone;
  const Slice stored = codec == Compression::kNone ? value : Slice(compressed_);
  EncodeRecordFront(blob_file_index, key, stored.size(), &record_);
  PieceChecksum checksum(footer_.unique_id, offset_);
  checksum.Add(record_);
  checksum.Add(stored);
  Write(record_);
  Write(stored);
  Write(checksum.Seal(codec, static_cast<uint32_t>(value.size())));
}

void LogWriter::WritePieces(Slice key, ValueSource* value, uint32_t blob_file_index) {
  std::optional<ScopedCharge> memory;
  if (options_.memory != nullptr) memory.emplace(options_.memory, kPieceBytes);
  const auto buffer = std::make_unique_for_overwrite<char[]>(kPieceBytes);
  EncodeRecordFront(blob_file_index, key, value->size(), &record_);
  PieceChecksum checksum(footer_.unique_id, offset_);
  checksum.Add(record_);
  Write(record_);
  for (uint64_t at = 0; at < value->size() && status_.ok();) {
    const auto length = static_cast<size_t>(std::min<uint64_t>(kPieceBytes, value->size() - at));
    if (!Keep(value->Read(at, length, buffer.get())).ok()) return;
    const Slice piece(buffer.get(), length);
    checksum.Add(piece);
    Write(piece);
    at += length;
  }
  Write(checksum.Seal(Compression::kNone, static_cast<uint32_t>(value->size())));
}

Status LogWriter::AddLive(Slice key, const LoggedRecord& record) {
  if (!status_.ok()) return status_;
  if (finished_) return Invalid("the value log has ended");
  if (index_ &&
      (key < last_key_ || (key == last_key_ && record.blob_file_index <= last_blob_file_index_)))
    return Invalid("a live key does not ascend");
  if (record.offset > records_end_ || record.bytes > records_end_ - record.offset ||
      record.blob_file_index >= blob_files_.size())
    return Invalid("a live record that was not appended");
  if (!index_) {
    index_.emplace(/*several_blob_files=*/blob_files_.size() > 1);
    properties_.lower = key;
  }
  index_->Add(key, record);
  last_key_.assign(key);
  last_blob_file_index_ = record.blob_file_index;
  ++blob_files_[record.blob_file_index].records;
  blob_files_[record.blob_file_index].raw_bytes += record.raw_bytes;
  ++properties_.records;
  properties_.raw_bytes += record.raw_bytes;
  properties_.stored_bytes += StoredBytesOf(record.blob_file_index, key.size(), record.bytes);
  return Status::OK();
}

BlockHandle LogWriter::WriteBlock(Slice raw) {
  std::string stored;
  const Compression codec = compressor_.Compress(raw, &stored);
  if (codec == Compression::kNone) stored = raw;
  const BlockHandle handle{offset_, static_cast<uint32_t>(stored.size())};
  SealBlock(footer_.unique_id, offset_, codec, static_cast<uint32_t>(raw.size()), &stored);
  Write(stored);
  return handle;
}

Status LogWriter::Finish(ValueFileProperties* properties) {
  if (finished_) return Invalid("the value log has ended");
  finished_ = true;
  if (properties_.records > 0) {
    for (const BlobReference& blob_file : blob_files_)
      if (blob_file.records == 0) return Invalid("nothing lives of a blob file between others");
    properties_.upper = last_key_ + '\0';
    properties_.blob_files = std::move(blob_files_);
    footer_.several_blob_files = properties_.blob_files.size() > 1;
  }
  std::string raw;
  EncodeProperties(properties_, properties_.blob_files, &raw);
  footer_.properties = WriteBlock(raw);
  footer_.top_index = WriteBlock(index_ ? Slice(index_->payload()) : Slice());
  raw.clear();
  EncodeFooter(footer_, offset_, &raw);
  Write(raw);
  if (status_.ok()) status_ = options_.sync ? file_->Sync() : file_->Flush();
  if (status_.ok()) status_ = file_->Close();
  file_.reset();
  if (!status_.ok()) return status_;
  properties_.file_bytes = offset_;
  properties_.file_crc32c = crc_;
  *properties = std::move(properties_);
  return status_;
}

}  // namespace

std::unique_ptr<ValueLogWriter> ValueLogWriter::Create(const ValueLogOptions& options,
                                                       std::unique_ptr<fs::AppendFile> file,
                                                       std::string path, const FileId& id) {
  return std::make_unique<LogWriter>(options, std::move(file), std::move(path), id);
}

Status ReadLogged(const fs::RandomFile& file, Slice key, const LoggedRecord& at,
                  std::string* value) {
  std::string bytes(at.bytes, '\0');
  LAVA_RETURN_IF_ERROR(file.Read(at.offset, bytes.size(), bytes.data()));
  const RecordSource source{file.path(), UniqueIdOf(file.path()), UINT32_MAX};
  RecordView record;
  LAVA_RETURN_IF_ERROR(DecodeRecord(source, at.offset, bytes, &record));
  if (record.bytes != at.bytes || record.key != key || record.value.raw_bytes != at.raw_bytes)
    return CorruptionAt(file.path(), at.offset, "another record stands where a value was logged");
  if (record.value.codec == Compression::kNone) {  // avoids a second copy
    const auto front = static_cast<size_t>(record.value.bytes.data() - bytes.data());
    bytes.resize(front + at.raw_bytes);
    bytes.erase(0, front);
    *value = std::move(bytes);
    return Status::OK();
  }
  value->resize(at.raw_bytes);
  if (!Decompress(record.value.codec, record.value.bytes, value->data(), at.raw_bytes))
    return CorruptionAt(file.path(), at.offset, "a value does not decompress to its raw length");
  return Status::OK();
}

Result<bool> ReadLoggedInPieces(const fs::RandomFile& file, Slice key, const LoggedRecord& at,
                                const PiecewiseRead& read) {
  return ReadInPieces(file, UniqueIdOf(file.path()), at.offset, at.bytes, key, std::nullopt, read);
}

}  // namespace lava
