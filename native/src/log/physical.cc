// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/framing.h"
#include "base/mutex.h"
#include "lava/status.h"
#include "log/format.h"
#include "log/index.h"
#include "log/lava_log_impl.h"
#include "log/physical_log.h"
#include "os/random.h"

namespace lava::log {
namespace {

// Direct entries of all logs may take 1 / kDirectShare of the live bytes, and at least
// kDirectBytesMin.
constexpr uint64_t kDirectShare = 400;
constexpr uint64_t kDirectBytesMin = 4 << 20;

}  // namespace

Status LavaLogImpl::NewFile(FileKind kind, uint32_t number, FileHeader* header,
                            std::unique_ptr<PhysicalLogWriter>* writer) {
  header->kind = kind;
  header->number = number;
  if (header->file_id == 0) header->file_id = os::RandomBits128().low | 1;
  LAVA_ASSIGN_OR_RETURN(
      *writer, PhysicalLogWriter::Create(options_.file_system, PathOf(kind, number), *header));
  // Synced at once, so that a file with an incomplete header has no other content.
  LAVA_RETURN_IF_ERROR((*writer)->Sync());
  CountWritten((*writer)->size());
  return options_.file_system->SyncDirectory(options_.directory);
}

// Only an error of the device is final. A file that could not be opened is unchanged, and the next
// batch tries again.
Status LavaLogImpl::SyncByName(FileKind kind, uint32_t number) {
  bool asked = false;
  const Status status = options_.file_system->SyncFile(PathOf(kind, number), &asked);
  return asked ? Synced(status) : status;
}

Status LavaLogImpl::EnsureData() {
  if (data_.broken) {
    // An index of the acknowledged records must exist before anything else is written.
    const uint32_t number = data_.writer->header().number;
    LAVA_RETURN_IF_ERROR(SyncByName(FileKind::kData, number));
    LAVA_RETURN_IF_ERROR(WriteIndexFile(number));
    data_.writer.reset();
    data_.broken = false;
  }
  if (data_.writer != nullptr) return Status::OK();
  FileHeader header;
  std::unique_ptr<PhysicalLogWriter> writer;
  const uint32_t number = next_data_++;
  LAVA_RETURN_IF_ERROR(NewFile(FileKind::kData, number, &header, &writer));
  data_.acknowledged = writer->size();
  data_.writer = std::move(writer);
  MutexLock lock(&mutex_);
  index_.AddFile(std::make_shared<DataFile>(options_.file_system, options_.directory, header));
  index_.SetActive(number);
  return Status::OK();
}

Status LavaLogImpl::RollMeta() {
  // Once another file may say how much of this one counts, nothing more is written to this one.
  const bool broken = std::exchange(meta_.broken, true);
  if (last_sound_meta_ != 0) {
    // Includes bytes from another process, and from this one before a write failed.
    const bool is_open = meta_.writer != nullptr && !broken;
    LAVA_RETURN_IF_ERROR(is_open ? Synced(meta_.writer->Sync())
                                 : SyncByName(FileKind::kMeta, last_sound_meta_));
  }
  FileHeader header;
  header.previous = last_sound_meta_;
  header.previous_bytes = meta_.acknowledged;
  std::unique_ptr<PhysicalLogWriter> writer;
  // Every attempt has its own number, because a failed file may exist in part.
  LAVA_RETURN_IF_ERROR(NewFile(FileKind::kMeta, ++last_meta_, &header, &writer));
  last_sound_meta_ = last_meta_;
  meta_.acknowledged = writer->size();
  meta_.writer = std::move(writer);
  meta_.broken = false;
  return Status::OK();
}

Status LavaLogImpl::EnsureMeta() {
  if (meta_.writer != nullptr && !meta_.broken) return Status::OK();
  return RollMeta();
}

Status LavaLogImpl::SyncFiles(bool data) {
  Status status;
  if (meta_.writer != nullptr && !meta_.broken) status = meta_.writer->Sync();
  if (status.ok() && data && data_.writer != nullptr && !data_.broken)
    status = data_.writer->Sync();
  return Synced(status);
}

Status LavaLogImpl::WritePack(LogicalLog* log, size_t begin, bool beside, PhysicalLogWriter* writer,
                              Pack* pack) {
  const std::vector<IndexEntry> entries = log->DirectFrom(begin, log->PackLength(begin));
  std::string payload = writer->NewPayload();
  PutPack(log->id(), entries, &payload);
  *pack = {.first = entries.front().lsn,
           .last = entries.back().lsn,
           .count = static_cast<uint32_t>(entries.size()),
           .file = index().active(),
           .offset = static_cast<uint32_t>(writer->size()),
           .bytes = static_cast<uint32_t>(payload.size() + kFrameHeaderBytes),
           .in_index_file = beside};
  for (const IndexEntry& entry : entries) pack->data_bytes += RecordBytes(log->id(), entry);
  return writer->Append(FrameType::kPack, payload);
}

Status LavaLogImpl::PackSome(LogicalLog* log, size_t keep) {
  while (log->direct().size() >= keep + kPackEntries) {
    Pack pack;
    Status status = WritePack(log, 0, false, data_.writer.get(), &pack);
    if (status.ok()) status = data_.writer->Flush();
    if (!status.ok()) {
      data_.broken = true;
      return status;
    }
    Acknowledge(&data_);
    MutexLock lock(&mutex_);
    index_.Packed(log, pack);
  }
  return Status::OK();
}

Status LavaLogImpl::PackUnderPressure() {
  const uint64_t allowed = std::max(kDirectBytesMin, index().live_bytes() / kDirectShare);
  if (index().direct_entries() * sizeof(IndexEntry) <= allowed) return Status::OK();
  for (const auto& [id, log] : index().logs()) LAVA_RETURN_IF_ERROR(PackSome(log.get(), 0));
  return Status::OK();
}

Status LavaLogImpl::Tidy(const std::vector<LogId>& written) {
  if (data_.writer == nullptr || data_.broken) return Status::OK();
  if (data_.acknowledged >= options_.file_bytes) return SealData();
  for (const LogId id : written) {
    if (LogicalLog* const log = index().Find(id)) {
      LAVA_RETURN_IF_ERROR(PackSome(log, options_.direct_entries));
    }
  }
  return PackUnderPressure();
}

Status LavaLogImpl::WritePacksAndDirectory(uint32_t number, bool beside, PhysicalLogWriter* writer,
                                           Packs* packs, uint64_t* directory_offset) {
  Directory directory;
  directory.records_end = data_.acknowledged;
  for (const auto& [id, log] : index().logs()) {
    Directory::OfLog of_log{.log = id, .packs = {}};
    for (const Pack& pack : log->packs()) {
      if (pack.file == number) of_log.packs.push_back(pack);
    }
    for (size_t begin = 0; begin < log->direct().size();) {
      Pack pack;
      LAVA_RETURN_IF_ERROR(WritePack(log.get(), begin, beside, writer, &pack));
      begin += pack.count;
      packs->emplace_back(log.get(), pack);
      of_log.packs.push_back(pack);
    }
    if (!of_log.packs.empty()) directory.logs.push_back(std::move(of_log));
  }
  const uint64_t at = writer->size();
  std::string payload = writer->NewPayload();
  PutDirectory(directory, &payload);
  LAVA_RETURN_IF_ERROR(writer->Append(FrameType::kDirectory, payload));
  LAVA_RETURN_IF_ERROR(writer->Flush());
  *directory_offset = at;
  return Status::OK();
}

void LavaLogImpl::Sealed(uint32_t number, uint64_t bytes, const Packs& packs) {
  MutexLock lock(&mutex_);
  for (const auto& [log, pack] : packs) index_.Packed(log, pack);
  DataFileInfo* const info = index_.FindFile(number);
  info->sealed = true;
  info->bytes = bytes;
  files_changed_ = true;
  index_.SetActive(0);
  ChargeIndex();
}

Status LavaLogImpl::SealData() {
  const uint32_t number = data_.writer->header().number;
  LAVA_CHECK(number == index().active());
  Packs packs;
  uint64_t directory = 0;
  Status status = WritePacksAndDirectory(number, false, data_.writer.get(), &packs, &directory);
  if (!status.ok()) {
    data_.broken = true;
    return status;
  }
  // A trailer says that everything before it is on the device. The directory omits trimmed records,
  // so their trim must not be lost.
  status = SyncFiles(true);
  if (status.ok()) {
    status = data_.writer->AppendTrailer(directory);
    if (status.ok()) status = data_.writer->Flush();
    if (!status.ok()) {
      data_.broken = true;
      return status;
    }
    Acknowledge(&data_);
    status = data_.writer->Sync();
  }
  if (!status.ok()) {
    MutexLock lock(&mutex_);
    failed_ = status;
    return status;
  }
  (void)data_.writer->Close();  // everything is synced
  Sealed(number, data_.writer->size(), packs);
  data_.writer.reset();
  return Status::OK();
}

Status LavaLogImpl::WriteIndexFile(uint32_t number) {
  LAVA_RETURN_IF_ERROR(SyncFiles(false));  // as SealData does
  FileHeader header = index().FindFile(number)->file->header();
  header.kind = FileKind::kIndex;
  const std::string path = PathOf(FileKind::kIndex, number);
  const std::string unfinished = path + kUnfinished;
  LAVA_ASSIGN_OR_RETURN(const std::unique_ptr<PhysicalLogWriter> writer,
                        PhysicalLogWriter::Create(options_.file_system, unfinished, header));
  Packs packs;
  uint64_t directory_offset = 0;
  LAVA_RETURN_IF_ERROR(
      WritePacksAndDirectory(number, true, writer.get(), &packs, &directory_offset));
  LAVA_RETURN_IF_ERROR(writer->AppendTrailer(directory_offset));
  LAVA_RETURN_IF_ERROR(writer->Sync());
  LAVA_RETURN_IF_ERROR(writer->Close());
  LAVA_RETURN_IF_ERROR(options_.file_system->Rename(unfinished, path));
  LAVA_RETURN_IF_ERROR(options_.file_system->SyncDirectory(options_.directory));
  CountWritten(writer->size());
  Sealed(number, data_.acknowledged, packs);
  return Status::OK();
}

}  // namespace lava::log
