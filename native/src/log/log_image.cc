// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "log/log_image.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/coding.h"
#include "base/framing.h"
#include "fs/file_system.h"
#include "lava/slice.h"
#include "lava/status.h"
#include "log/checkpoint.h"
#include "log/format.h"
#include "log/index.h"
#include "log/physical_log.h"

namespace lava::log {
namespace {

// Metadata files are never that long, because a checkpoint is taken before.
constexpr uint64_t kMetaBytesMax = 1ull << 30;

struct Listed {
  std::vector<uint32_t> of[4];  // by kind, ascending
  std::vector<std::string> unfinished;
};

Result<Listed> ListFiles(fs::FileSystem* file_system, const std::string& directory) {
  LAVA_ASSIGN_OR_RETURN(const std::vector<std::string> names, file_system->List(directory));
  Listed listed;
  for (const std::string& name : names) {
    FileKind kind{};
    uint32_t number = 0;
    const Slice ending(kUnfinished);
    if (name.size() > ending.size() && Slice(name).substr(name.size() - ending.size()) == ending) {
      listed.unfinished.push_back(name);
    } else if (ParseFileName(name, &kind, &number)) {
      listed.of[static_cast<size_t>(kind)].push_back(number);
    }
  }
  for (std::vector<uint32_t>& numbers : listed.of) std::sort(numbers.begin(), numbers.end());
  return listed;
}

// Bytes that are taken for a torn end are skipped, so they are read twice.
Status SameTwice(Slice once, Slice again, const std::string& path) {
  if (once == again) return Status::OK();
  return Status::IOError(path + ": two reads of its end gave different bytes; try again");
}

class ImageReader {
 public:
  ImageReader(fs::FileSystem* files, const std::string& directory, LogImage* image)
      : files_(files), directory_(directory), image_(image) {}
  Status Read();

 private:
  /// Whether a file has no complete header, so that nothing was written after it yet.
  Result<bool> IsOnlyMade(FileKind kind, uint32_t number);
  Status ReadMeta(uint32_t first, std::vector<uint32_t> numbers, std::vector<MetaOp>* ops);
  Status ReadMetaFile(uint32_t number, uint64_t limit, std::vector<MetaOp>* ops);
  Status LoadData(const std::vector<uint32_t>& datas, const CheckpointContent& content,
                  const std::vector<MetaOp>& ops);
  /// Adds the data files that were not removed to the index. unindexed: files older than the
  /// checkpoint that were never sealed; it has their live records.
  Status AddFiles(const std::vector<uint32_t>& datas, const CheckpointContent& content,
                  const std::set<uint32_t>& removed, std::vector<uint32_t>* unindexed);
  /// Adds what the checkpoint says about the logs, without records of removed files.
  Status AddLogs(const CheckpointContent& content, const std::vector<MetaOp>& ops,
                 const std::set<uint32_t>& removed);
  /// Adds the records that were written after the checkpoint.
  Status AddLaterRecords(const CheckpointContent& content);
  /// Removes the files from the index. Errors: Corruption if a log has records in one of them.
  Status RemoveUnindexed(const std::vector<uint32_t>& unindexed);
  Status FileIsGone(uint32_t number, const std::string& log) const;
  void ReplayNames(const std::vector<MetaOp>& ops);
  Status LoadSealed(const std::shared_ptr<DataFile>& file);
  Status ScanUnsealed(const std::shared_ptr<DataFile>& file, uint64_t from, uint64_t sequence);
  Status ScanFrame(const Frame& frame, uint32_t number);
  /// A power cut may leave any part of the unsynced bytes; the end of a process cuts its last
  /// write.
  TailRule RuleOf(const FileHeader& header) const {
    const bool same = header.boot != 0 && header.boot == static_cast<uint32_t>(files_->boot());
    return same ? TailRule::kLastUnsynced : TailRule::kUnsynced;
  }
  std::string PathOf(FileKind kind, uint32_t number) const {
    return directory_ + "/" + FileName(kind, number);
  }

  fs::FileSystem* const files_;
  const std::string& directory_;
  LogImage* const image_;
};

}  // namespace

Status ImageReader::Read() {
  LAVA_ASSIGN_OR_RETURN(Listed listed, ListFiles(files_, directory_));
  image_->left_over = std::move(listed.unfinished);
  const auto& checkpoints = listed.of[static_cast<size_t>(FileKind::kCheckpoint)];
  const auto& metas = listed.of[static_cast<size_t>(FileKind::kMeta)];
  const auto& datas = listed.of[static_cast<size_t>(FileKind::kData)];
  for (const uint32_t number : listed.of[static_cast<size_t>(FileKind::kIndex)]) {
    if (std::binary_search(datas.begin(), datas.end(), number)) continue;
    image_->left_over.push_back(FileName(FileKind::kIndex, number));
  }
  // Numbers are never used again, even if their file was not completed.
  if (!metas.empty()) image_->last_meta = metas.back();
  if (!datas.empty()) image_->next_data = datas.back() + 1;
  if (checkpoints.empty()) {
    image_->fresh = true;  // the first checkpoint comes before the first record
    if (datas.empty()) return Status::OK();
    return Status::Corruption(directory_ + ": there are data files, the first " +
                              FileName(FileKind::kData, datas.front()) + ", but no checkpoint");
  }
  image_->checkpoint = checkpoints.back();
  CheckpointContent content;
  LAVA_RETURN_IF_ERROR(ReadCheckpoint(files_, directory_, checkpoints.back(), &content));
  if (content.start.meta != checkpoints.back()) {
    return Status::Corruption(PathOf(FileKind::kCheckpoint, checkpoints.back()) +
                              ": the checkpoint names metadata file " +
                              std::to_string(content.start.meta));
  }
  image_->next_data = std::max(image_->next_data, content.start.next_data);
  if (content.start.next_id > 0) image_->index.SeeId(content.start.next_id - 1);
  std::vector<MetaOp> ops;
  LAVA_RETURN_IF_ERROR(ReadMeta(content.start.meta, metas, &ops));
  LAVA_RETURN_IF_ERROR(LoadData(datas, content, ops));
  for (const FileKind kind : {FileKind::kMeta, FileKind::kCheckpoint}) {
    for (const uint32_t number : listed.of[static_cast<size_t>(kind)]) {
      if (number < content.start.meta) image_->left_over.push_back(FileName(kind, number));
    }
  }
  return Status::OK();
}

Result<bool> ImageReader::IsOnlyMade(FileKind kind, uint32_t number) {
  LAVA_ASSIGN_OR_RETURN(const uint64_t bytes, files_->FileSize(PathOf(kind, number)));
  if (bytes > kFileHeaderBytes) return false;
  FileHeader header;
  const Status status = ReadFileHeader(files_, directory_, kind, number, &header);
  if (!status.ok() && !status.IsCorruption()) return status;
  return !status.ok();
}

Status ImageReader::ReadMeta(uint32_t first, std::vector<uint32_t> numbers,
                             std::vector<MetaOp>* ops) {
  while (!numbers.empty() && numbers.back() > first) {
    LAVA_ASSIGN_OR_RETURN(const bool only_made, IsOnlyMade(FileKind::kMeta, numbers.back()));
    if (!only_made) break;
    numbers.pop_back();
  }
  // From the last file back, since each says how much of its predecessor counts.
  std::vector<std::pair<uint32_t, uint64_t>> chain;
  uint64_t limit = UINT64_MAX;
  for (uint32_t number = numbers.empty() ? 0 : numbers.back(); number >= first && number > 0;) {
    FileHeader header;
    LAVA_RETURN_IF_ERROR(ReadFileHeader(files_, directory_, FileKind::kMeta, number, &header));
    if (header.previous >= number) {
      return Status::Corruption(PathOf(FileKind::kMeta, number) + ": it follows number " +
                                std::to_string(header.previous));
    }
    chain.emplace_back(number, limit);
    if (number == first) break;
    number = header.previous;
    limit = header.previous_bytes;
  }
  if (chain.empty() || chain.back().first != first) {
    return Status::Corruption(PathOf(FileKind::kMeta, first) +
                              ": the checkpoint needs it, and no later file leads to it");
  }
  for (auto at = chain.rbegin(); at != chain.rend(); ++at) {
    LAVA_RETURN_IF_ERROR(ReadMetaFile(at->first, at->second, ops));
  }
  image_->last_sound_meta = chain.front().first;
  return Status::OK();
}

Status ImageReader::ReadMetaFile(uint32_t number, uint64_t limit, std::vector<MetaOp>* ops) {
  const std::string path = PathOf(FileKind::kMeta, number);
  LAVA_ASSIGN_OR_RETURN(const std::string bytes, files_->ReadWhole(path, kMetaBytesMax));
  const bool whole = limit != UINT64_MAX;
  if (whole && bytes.size() < limit) {
    return Status::Corruption(path + ": it has " + std::to_string(bytes.size()) +
                              " bytes, but the next one says " + std::to_string(limit));
  }
  FileHeader header;
  LAVA_RETURN_IF_ERROR(DecodeFileHeader(bytes, FileKind::kMeta, number, &header).WithContext(path));
  const Slice frames = Slice(bytes).substr(0, whole ? limit : bytes.size());
  FrameReader reader(frames.substr(std::min(frames.size(), kFileHeaderBytes)),
                     {.name = path,
                      .file_id = header.file_id,
                      .durable_bytes = whole ? limit : 0,
                      .tail_rule = RuleOf(header),
                      .base_offset = kFileHeaderBytes,
                      .durable_of = [](const Frame& frame) { return DurableOf(frame.payload); }});
  Frame frame;
  FrameReader::Outcome outcome = reader.Next(&frame);
  for (; outcome == FrameReader::Outcome::kFrame; outcome = reader.Next(&frame)) {
    const std::string where = path + " at offset " + std::to_string(frame.offset);
    Slice in = frame.payload;
    uint64_t durable = 0;
    if (frame.type != static_cast<uint8_t>(FrameType::kMeta) || !GetVarint64(&in, &durable)) {
      return Status::Corruption(where + ": a frame of type " + std::to_string(frame.type));
    }
    while (!in.empty()) {
      MetaOp op;
      LAVA_RETURN_IF_ERROR(GetMetaOp(&in, &op).WithContext(where));
      ops->push_back(std::move(op));
    }
  }
  if (outcome == FrameReader::Outcome::kCorruption) return reader.status();
  if (outcome == FrameReader::Outcome::kTornTail) {
    LAVA_ASSIGN_OR_RETURN(const std::string again, files_->ReadWhole(path, kMetaBytesMax));
    LAVA_RETURN_IF_ERROR(SameTwice(bytes, again, path));
  }
  LAVA_ASSIGN_OR_RETURN(const uint64_t size, files_->FileSize(path));
  if (size > bytes.size()) {
    return Status::IOError(path + ": " + std::to_string(bytes.size()) + " of its " +
                           std::to_string(size) + " bytes were read; try again");
  }
  image_->meta_bytes = reader.offset();
  image_->read_bytes += bytes.size();
  return Status::OK();
}

Status ImageReader::LoadData(const std::vector<uint32_t>& datas, const CheckpointContent& content,
                             const std::vector<MetaOp>& ops) {
  std::set<uint32_t> removed;
  for (const MetaOp& op : ops) {
    if (op.kind != MetaOp::Kind::kRemoveFile) continue;
    const auto number = static_cast<uint32_t>(op.log);
    removed.insert(number);
    // Its number must not be given to another file, which would be removed with it.
    image_->next_data = std::max(image_->next_data, number + 1);
  }
  std::vector<uint32_t> unindexed;
  LAVA_RETURN_IF_ERROR(AddFiles(datas, content, removed, &unindexed));
  LAVA_RETURN_IF_ERROR(AddLogs(content, ops, removed));
  LAVA_RETURN_IF_ERROR(AddLaterRecords(content));
  LAVA_RETURN_IF_ERROR(RemoveUnindexed(unindexed));
  image_->index.Recount();
  if (image_->index.active() == 0) return Status::OK();
  DataFileInfo* const info = image_->index.FindFile(image_->index.active());
  info->record_bytes = info->live_bytes;
  return Status::OK();
}

Status ImageReader::AddFiles(const std::vector<uint32_t>& datas, const CheckpointContent& content,
                             const std::set<uint32_t>& removed, std::vector<uint32_t>* unindexed) {
  for (const uint32_t number : datas) {
    if (removed.count(number) != 0) {
      for (const FileKind kind : {FileKind::kData, FileKind::kIndex}) {
        LAVA_ASSIGN_OR_RETURN(const bool there, files_->Exists(PathOf(kind, number)));
        if (there) image_->left_over.push_back(FileName(kind, number));
      }
      continue;
    }
    LAVA_ASSIGN_OR_RETURN(const uint64_t bytes, files_->FileSize(PathOf(FileKind::kData, number)));
    if (bytes <= kFileHeaderBytes) {
      image_->left_over.push_back(FileName(FileKind::kData, number));  // no record was in it
      continue;
    }
    FileHeader header;
    LAVA_RETURN_IF_ERROR(ReadFileHeader(files_, directory_, FileKind::kData, number, &header));
    auto file = std::make_shared<DataFile>(files_, directory_, header);
    LAVA_ASSIGN_OR_RETURN(const bool sealed, file->IsSealed());
    DataFileInfo* const info = image_->index.AddFile(file);
    info->sealed = sealed;
    info->bytes = bytes;
    if (!sealed) {
      if (number < content.start.data) {
        unindexed->push_back(number);
        continue;
      }
      if (number != datas.back()) {
        return Status::Corruption(file->path() + ": it has no directory at its end");
      }
      image_->index.SetActive(number);
    }
  }
  for (const auto& [number, bytes] : content.start.sealed) {
    if (DataFileInfo* const info = image_->index.FindFile(number)) info->record_bytes = bytes;
  }
  return Status::OK();
}

Status ImageReader::AddLogs(const CheckpointContent& content, const std::vector<MetaOp>& ops,
                            const std::set<uint32_t>& removed) {
  const uint32_t at = content.start.data;
  // Names first, so that records of deleted logs are skipped.
  const bool own = image_->index.FindFile(at) != nullptr && !image_->index.FindFile(at)->sealed;
  for (const CheckpointContent::OfLog& of_log : content.logs) {
    LogicalLog* const log = image_->index.Create(of_log.id, of_log.name);
    if (log == nullptr) {
      return Status::Corruption(PathOf(FileKind::kCheckpoint, content.start.meta) +
                                ": logical log " + of_log.name + " is there twice");
    }
    log->SeeLsn(of_log.last_lsn);
    log->Trim(of_log.trimmed_to, [](uint32_t, uint64_t) {});
  }
  ReplayNames(ops);
  for (const CheckpointContent::OfLog& of_log : content.logs) {
    LogicalLog* const log = image_->index.Find(of_log.id);
    if (log == nullptr) continue;
    for (const Pack& pack : of_log.packs) {
      if (pack.last < log->trimmed_to() || removed.count(pack.file) != 0) continue;
      if (pack.file > at || (pack.file == at && !own)) continue;
      if (image_->index.FindFile(pack.file) == nullptr) return FileIsGone(pack.file, of_log.name);
      log->AddPack(pack);
    }
    for (const IndexEntry& entry : of_log.direct) {
      if (entry.lsn < log->trimmed_to() || removed.count(at) != 0) continue;
      if (image_->index.FindFile(at) == nullptr) return FileIsGone(at, of_log.name);
      if (own) log->AddDirect(entry);
    }
  }
  return Status::OK();
}

Status ImageReader::AddLaterRecords(const CheckpointContent& content) {
  const uint32_t at = content.start.data;
  for (const auto& [number, info] : image_->index.files()) {
    if (number < at) continue;
    if (info.sealed) {
      LAVA_RETURN_IF_ERROR(LoadSealed(info.file));
    } else {
      const bool from_start = number == at && content.start.data_offset != 0;
      LAVA_RETURN_IF_ERROR(ScanUnsealed(info.file,
                                        from_start ? content.start.data_offset : kFileHeaderBytes,
                                        from_start ? content.start.data_sequence : 0));
    }
  }
  return Status::OK();
}

Status ImageReader::RemoveUnindexed(const std::vector<uint32_t>& unindexed) {
  for (const uint32_t number : unindexed) {
    // The checkpoint no longer knows the file, because its removal was under way.
    for (const auto& [id, log] : image_->index.logs()) {
      for (const Pack& pack : log->packs()) {
        if (pack.file != number) continue;
        return Status::Corruption(PathOf(FileKind::kData, number) +
                                  ": it has no directory at its end");
      }
    }
    image_->index.RemoveFile(number);
    image_->left_over.push_back(FileName(FileKind::kData, number));
  }
  return Status::OK();
}

Status ImageReader::FileIsGone(uint32_t number, const std::string& log) const {
  return Status::Corruption(PathOf(FileKind::kData, number) +
                            ": the file is gone, but records of logical log " + log + " are in it");
}

void ImageReader::ReplayNames(const std::vector<MetaOp>& ops) {
  for (const MetaOp& op : ops) {
    switch (op.kind) {
      case MetaOp::Kind::kCreate: {
        image_->index.SeeId(op.log);
        if (image_->index.Find(op.log) != nullptr) break;  // the checkpoint has it
        // The other log was not acknowledged, because the write that created it failed.
        if (const LogicalLog* const other = image_->index.FindByName(op.name))
          image_->index.Delete(other->id());
        LAVA_CHECK(image_->index.Create(op.log, op.name) != nullptr);
        break;
      }
      case MetaOp::Kind::kDelete:
        image_->index.Delete(op.log);
        break;
      case MetaOp::Kind::kTrim:
        if (LogicalLog* const log = image_->index.Find(op.log)) {
          log->Trim(op.lsn, [](uint32_t, uint64_t) {});
        }
        break;
      case MetaOp::Kind::kRemoveFile:
        break;
    }
  }
}

Status ImageReader::LoadSealed(const std::shared_ptr<DataFile>& file) {
  Directory directory;
  LAVA_RETURN_IF_ERROR(file->ReadDirectory(&directory));
  uint64_t* const record_bytes = &image_->index.FindFile(file->number())->record_bytes;
  *record_bytes = 0;
  for (const Directory::OfLog& of_log : directory.logs) {
    for (const Pack& pack : of_log.packs) *record_bytes += pack.data_bytes;
    image_->index.SeeId(of_log.log);
    LogicalLog* const log = image_->index.Find(of_log.log);
    if (log == nullptr) continue;
    for (const Pack& pack : of_log.packs) {
      log->SeeLsn(pack.last);
      if (pack.last >= log->trimmed_to()) log->AddPack(pack);
    }
  }
  return Status::OK();
}

Status ImageReader::ScanUnsealed(const std::shared_ptr<DataFile>& file, uint64_t from,
                                 uint64_t sequence) {
  // The file may be longer than its recorded size (AppendFile::SyncData).
  LAVA_ASSIGN_OR_RETURN(const std::unique_ptr<fs::RandomFile> opened,
                        files_->OpenRandom(file->path()));
  const uint64_t size = opened->size();
  if (size < from) {
    return Status::Corruption(file->path() + ": it ends at " + std::to_string(size) +
                              ", but the checkpoint has what stands up to " + std::to_string(from));
  }
  std::string bytes(size - from, '\0');
  if (!bytes.empty()) LAVA_RETURN_IF_ERROR(opened->Read(from, bytes.size(), bytes.data()));
  image_->read_bytes += bytes.size();
  FrameReader reader(bytes,
                     {.name = file->path(),
                      .file_id = file->header().file_id,
                      .first_sequence = sequence,
                      .tail_rule = RuleOf(file->header()),
                      .base_offset = from,
                      .durable_of = [](const Frame& frame) { return DurableOf(frame.payload); }});
  Frame frame;
  FrameReader::Outcome outcome = reader.Next(&frame);
  for (; outcome == FrameReader::Outcome::kFrame; outcome = reader.Next(&frame)) {
    LAVA_RETURN_IF_ERROR(
        ScanFrame(frame, file->number())
            .WithContext(file->path() + " at offset " + std::to_string(frame.offset)));
  }
  if (outcome == FrameReader::Outcome::kCorruption) return reader.status();
  if (outcome == FrameReader::Outcome::kTornTail) {
    std::string again(bytes.size(), '\0');
    LAVA_RETURN_IF_ERROR(opened->Read(from, again.size(), again.data()));
    LAVA_RETURN_IF_ERROR(SameTwice(bytes, again, file->path()));
  }
  image_->data_bytes = reader.offset();
  image_->tail_bytes += image_->data_bytes - from;
  return Status::OK();
}

Status ImageReader::ScanFrame(const Frame& frame, uint32_t number) {
  Slice in = frame.payload;
  uint64_t durable = 0;
  if (!GetVarint64(&in, &durable)) return Status::Corruption("a frame without its first number");
  switch (static_cast<FrameType>(frame.type)) {
    case FrameType::kBatch:
      while (!in.empty()) {
        const uint64_t offset = frame.offset + kFrameHeaderBytes + frame.payload.size() - in.size();
        Record record;
        LAVA_RETURN_IF_ERROR(GetRecord(&in, &record));
        image_->index.SeeId(record.log);
        LogicalLog* const log = image_->index.Find(record.log);
        if (log == nullptr) continue;
        log->SeeLsn(record.lsn);
        if (record.lsn < log->trimmed_to()) continue;
        log->AddDirect(
            {record.lsn, static_cast<uint32_t>(offset), static_cast<uint32_t>(record.data.size())});
      }
      return Status::OK();
    case FrameType::kPack: {
      LogId id = 0;
      std::vector<IndexEntry> entries;
      LAVA_RETURN_IF_ERROR(GetPack(frame.payload, &id, &entries));
      LogicalLog* const log = image_->index.Find(id);
      if (log == nullptr) return Status::OK();
      Pack pack{.first = entries.front().lsn,
                .last = entries.back().lsn,
                .count = static_cast<uint32_t>(entries.size()),
                .file = number,
                .offset = static_cast<uint32_t>(frame.offset),
                .bytes = static_cast<uint32_t>(frame.payload.size() + kFrameHeaderBytes)};
      for (const IndexEntry& entry : entries) {
        pack.data_bytes += RecordBytes(id, entry);
        log->RemoveDirect(entry);
      }
      if (pack.last >= log->trimmed_to() && !log->HasPack(pack)) log->AddPack(pack);
      return Status::OK();
    }
    case FrameType::kDirectory:
      return Status::OK();  // sealing the file did not finish
    case FrameType::kMeta:
    case FrameType::kCheckpoint:
      break;
  }
  return Status::Corruption("a frame of type " + std::to_string(frame.type));
}

Status ReadLogImage(fs::FileSystem* file_system, const std::string& directory, LogImage* image) {
  return ImageReader(file_system, directory, image).Read();
}

}  // namespace lava::log
