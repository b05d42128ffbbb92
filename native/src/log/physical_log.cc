// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "log/physical_log.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/coding.h"
#include "base/framing.h"
#include "base/mutex.h"
#include "fs/file_system.h"
#include "lava/slice.h"
#include "lava/status.h"
#include "log/format.h"

namespace lava::log {
namespace {

// With direct writes, a file with a smaller buffer would go through the page cache.
constexpr size_t kBufferBytes = 256 << 10;

}  // namespace

Result<std::unique_ptr<PhysicalLogWriter>> PhysicalLogWriter::Create(fs::FileSystem* file_system,
                                                                     const std::string& path,
                                                                     FileHeader header) {
  header.boot = static_cast<uint32_t>(file_system->boot());
  LAVA_ASSIGN_OR_RETURN(std::unique_ptr<fs::AppendFile> file,
                        file_system->Create(path, kBufferBytes));
  std::string bytes;
  EncodeFileHeader(header, &bytes);
  LAVA_RETURN_IF_ERROR(file->Append(bytes));
  return std::unique_ptr<PhysicalLogWriter>(new PhysicalLogWriter(std::move(file), path, header));
}

std::string PhysicalLogWriter::NewPayload() const {
  std::string payload;
  PutVarint64(&payload, durable_);
  return payload;
}

Status PhysicalLogWriter::Append(FrameType type, Slice payload) {
  return frames_.Append(static_cast<uint8_t>(type), payload,
                        [this](Slice piece) { return file_->Append(piece); });
}

Status PhysicalLogWriter::AppendTrailer(uint64_t directory_offset) {
  std::string trailer;
  PutTrailer(header_.file_id, directory_offset, &trailer);
  return file_->Append(trailer);
}

Status PhysicalLogWriter::Sync() {
  const uint64_t end = file_->size();
  if (durable_ == end && !open_ended_) return Status::OK();
  LAVA_RETURN_IF_ERROR(file_->Sync());
  durable_ = end;
  open_ended_ = false;
  return Status::OK();
}

Status PhysicalLogWriter::SyncData() {
  const uint64_t end = file_->size();
  if (durable_ == end) return Status::OK();
  LAVA_RETURN_IF_ERROR(file_->SyncData());
  durable_ = end;
  open_ended_ = true;
  return Status::OK();
}

DataFile::DataFile(fs::FileSystem* file_system, const std::string& directory,
                   const FileHeader& header)
    : file_system_(file_system),
      header_(header),
      path_(directory + "/" + FileName(FileKind::kData, header.number)),
      index_path_(directory + "/" + FileName(FileKind::kIndex, header.number)) {}

DataFile::~DataFile() {
  if (!obsolete_) return;
  data_.reset();
  index_.reset();
  // The next recovery removes files that cannot be removed now, because the metadata says that they
  // are gone. The index goes last: a data file without its index would look damaged.
  const Status removed = file_system_->Remove(path_);
  if (removed.ok() || removed.IsNotFound()) (void)file_system_->Remove(index_path_);
}

Status DataFile::Present(Status status) {
  if (!status.IsNotFound()) return status;
  return Status::Corruption("a file of the log is gone: " + std::string(status.message()));
}

Result<DataFile::File> DataFile::Open(const std::string& path, uint64_t end, File* cached) {
  MutexLock lock(&mutex_);
  if (*cached == nullptr || (*cached)->size() < end) {
    Result<std::unique_ptr<fs::RandomFile>> file = file_system_->OpenRandom(path);
    if (!file.ok()) return Present(std::move(file).status());
    *cached = std::move(file).value();
  }
  return *cached;
}

Status DataFile::ReadBytes(uint64_t offset, size_t length, char* to) {
  LAVA_ASSIGN_OR_RETURN(const File file, Open(path_, offset + length, &data_));
  return Present(file->Read(offset, length, to));
}

Status DataFile::TakeRecord(LogId log, const IndexEntry& entry, Slice bytes, uint64_t at,
                            Slice* data) const {
  LAVA_CHECK(entry.offset >= at && entry.offset + RecordBytes(log, entry) <= at + bytes.size());
  Slice in = bytes.substr(entry.offset - at, RecordBytes(log, entry));
  Record record;
  Status status = GetRecord(&in, &record);
  if (status.ok() && (!in.empty() || record.log != log || record.lsn != entry.lsn)) {
    status = Status::Corruption("another record stands there");
  }
  if (!status.ok()) {
    return status.WithContext(path_ + " at offset " + std::to_string(entry.offset) + ": LSN " +
                              std::to_string(entry.lsn) + " of logical log " + std::to_string(log));
  }
  *data = record.data;
  return Status::OK();
}

Status DataFile::ReadRecord(LogId log, const IndexEntry& entry, std::string* data) {
  data->resize(RecordBytes(log, entry));
  LAVA_RETURN_IF_ERROR(ReadBytes(entry.offset, data->size(), data->data()));
  Slice record;
  LAVA_RETURN_IF_ERROR(TakeRecord(log, entry, *data, entry.offset, &record));
  data->erase(0, data->size() - record.size());
  return Status::OK();
}

Status DataFile::ReadFrame(const std::string& path, File* cached, uint64_t offset, uint64_t bytes,
                           FrameType type, std::string* memory, Slice* payload) {
  LAVA_ASSIGN_OR_RETURN(const File file, Open(path, offset + bytes, cached));
  if (bytes > file->size() || offset > file->size() - bytes) {
    return Status::Corruption(path + " at offset " + std::to_string(offset) + ": a frame of " +
                              std::to_string(bytes) + " bytes, but the file ends at " +
                              std::to_string(file->size()));
  }
  memory->resize(bytes);
  LAVA_RETURN_IF_ERROR(Present(file->Read(offset, memory->size(), memory->data())));
  Frame frame;
  LAVA_RETURN_IF_ERROR(FrameReader::ReadOne(*memory, path, header_.file_id, offset, &frame));
  if (frame.type != static_cast<uint8_t>(type)) {
    return Status::Corruption(path + " at offset " + std::to_string(offset) + ": a frame of type " +
                              std::to_string(frame.type) + ", not " +
                              std::to_string(static_cast<int>(type)));
  }
  *payload = frame.payload;
  return Status::OK();
}

Status DataFile::ReadPack(const Pack& pack, LogId log, std::vector<IndexEntry>* entries) {
  const std::string& path = pack.in_index_file ? index_path_ : path_;
  std::string memory;
  Slice payload;
  LAVA_RETURN_IF_ERROR(ReadFrame(path, pack.in_index_file ? &index_ : &data_, pack.offset,
                                 pack.bytes, FrameType::kPack, &memory, &payload));
  LogId got = 0;
  Status status = GetPack(payload, &got, entries);
  if (status.ok() && (got != log || entries->size() != pack.count ||
                      entries->front().lsn != pack.first || entries->back().lsn != pack.last)) {
    status = Status::Corruption("another pack stands there");
  }
  return status.WithContext(path + " at offset " + std::to_string(pack.offset));
}

Result<bool> DataFile::TrailerOf(const std::string& path, uint64_t* directory_offset, File* file) {
  LAVA_ASSIGN_OR_RETURN(*file, Open(path, 0, file));
  const uint64_t size = (*file)->size();
  if (size < kFileHeaderBytes + kTrailerBytes) return false;
  char trailer[kTrailerBytes];
  LAVA_RETURN_IF_ERROR(Present((*file)->Read(size - kTrailerBytes, kTrailerBytes, trailer)));
  return GetTrailer(Slice(trailer, kTrailerBytes), header_.file_id, directory_offset) &&
         *directory_offset >= kFileHeaderBytes && *directory_offset < size - kTrailerBytes;
}

Result<bool> DataFile::IsSealed() {
  LAVA_ASSIGN_OR_RETURN(const bool beside, file_system_->Exists(index_path_));
  if (beside) return true;
  uint64_t directory = 0;
  File file;
  return TrailerOf(path_, &directory, &file);
}

Status DataFile::ReadDirectory(Directory* directory) {
  LAVA_ASSIGN_OR_RETURN(const bool beside, file_system_->Exists(index_path_));
  const std::string& path = beside ? index_path_ : path_;
  File file;
  uint64_t offset = 0;
  LAVA_ASSIGN_OR_RETURN(const bool sealed, TrailerOf(path, &offset, &file));
  if (!sealed) return Status::Corruption(path + ": the file does not end with its directory");
  std::string memory;
  Slice payload;
  LAVA_RETURN_IF_ERROR(ReadFrame(path, beside ? &index_ : &data_, offset,
                                 file->size() - kTrailerBytes - offset, FrameType::kDirectory,
                                 &memory, &payload));
  return GetDirectory(payload, header_.number, directory).WithContext(path);
}

Status ReadFileHeader(fs::FileSystem* file_system, const std::string& directory, FileKind kind,
                      uint32_t number, FileHeader* header) {
  const std::string path = directory + "/" + FileName(kind, number);
  LAVA_ASSIGN_OR_RETURN(const std::unique_ptr<fs::RandomFile> file, file_system->OpenRandom(path));
  std::string bytes(std::min<uint64_t>(file->size(), kFileHeaderBytes), '\0');
  LAVA_RETURN_IF_ERROR(file->Read(0, bytes.size(), bytes.data()));
  return DecodeFileHeader(bytes, kind, number, header).WithContext(path);
}

}  // namespace lava::log
