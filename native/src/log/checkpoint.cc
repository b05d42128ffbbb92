// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "log/checkpoint.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/coding.h"
#include "base/framing.h"
#include "fs/file_system.h"
#include "lava/slice.h"
#include "lava/status.h"
#include "log/format.h"
#include "log/index.h"
#include "log/physical_log.h"
#include "os/random.h"

namespace lava::log {
namespace {

// The kinds of a checkpoint's pieces.
enum class Part : char { kStart = 1, kLogs = 2, kEnd = 3 };
// A longer file is no checkpoint.
constexpr uint64_t kCheckpointBytesMax = 4ull << 30;

bool IsPart(Slice byte, Part part) { return byte[0] == static_cast<char>(part); }

bool GetEntries(Slice* in, std::vector<IndexEntry>* entries) {
  uint64_t count = 0;
  if (!GetVarint64(in, &count) || count > in->size()) return false;
  uint64_t lsn = 0;
  for (uint64_t i = 0; i < count; ++i) {
    IndexEntry entry;
    uint64_t delta = 0;
    if (!GetVarint64(in, &delta) || !GetVarint32(in, &entry.offset) ||
        !GetVarint32(in, &entry.bytes) || entry.bytes > kRecordBytesMax || (i > 0 && delta == 0) ||
        lsn + delta < lsn) {
      return false;
    }
    lsn += delta;
    entry.lsn = lsn;
    entries->push_back(entry);
  }
  return true;
}

bool GetLog(Slice* in, CheckpointContent::OfLog* log) {
  Slice name;
  uint64_t packs = 0;
  if (!GetVarint64(in, &log->id) || !GetLengthPrefixed(in, &name) ||
      !GetVarint64(in, &log->trimmed_to) || !GetVarint64(in, &log->last_lsn) ||
      !GetVarint64(in, &packs) || packs > in->size()) {
    return false;
  }
  log->name = std::string(name);
  for (uint64_t i = 0; i < packs; ++i) {
    Pack pack;
    if (!GetVarint32(in, &pack.file) || !GetPackHandle(in, &pack)) return false;
    log->packs.push_back(pack);
  }
  return GetEntries(in, &log->direct);
}

bool GetStart(Slice* in, CheckpointStart* start) {
  uint64_t files = 0;
  if (!GetVarint32(in, &start->meta) || !GetVarint32(in, &start->data) ||
      !GetVarint64(in, &start->data_offset) || !GetVarint64(in, &start->data_sequence) ||
      !GetVarint32(in, &start->next_data) || !GetVarint64(in, &start->next_id) ||
      !GetVarint64(in, &files) || files > in->size()) {
    return false;
  }
  for (uint64_t i = 0; i < files; ++i) {
    std::pair<uint32_t, uint64_t> file;
    if (!GetVarint32(in, &file.first) || !GetVarint64(in, &file.second)) return false;
    start->sealed.push_back(file);
  }
  return in->empty();
}

class Parser {
 public:
  explicit Parser(CheckpointContent* content) : content_(content) {}

  Status Take(const Frame& frame) {
    const Status bad = Status::Corruption("a part of the checkpoint contradicts itself");
    Slice in = frame.payload;
    uint64_t durable = 0, count = 0;
    Slice part;
    if (frame.type != static_cast<uint8_t>(FrameType::kCheckpoint) || ended_ ||
        !GetVarint64(&in, &durable) || !GetBytes(&in, 1, &part)) {
      return bad;
    }
    const bool first = !started_;
    started_ = true;
    if (first) {
      const bool sound = IsPart(part, Part::kStart) && GetStart(&in, &content_->start);
      return sound ? Status::OK() : bad;
    }
    if (!GetVarint64(&in, &count)) return bad;
    if (IsPart(part, Part::kEnd)) {
      ended_ = true;
      return in.empty() && count == content_->logs.size() ? Status::OK() : bad;
    }
    if (!IsPart(part, Part::kLogs) || count > in.size()) return bad;
    for (uint64_t i = 0; i < count; ++i) {
      CheckpointContent::OfLog log;
      if (!GetLog(&in, &log)) return bad;
      content_->logs.push_back(std::move(log));
    }
    return in.empty() ? Status::OK() : bad;
  }
  bool ended() const { return ended_; }

 private:
  CheckpointContent* const content_;
  bool started_ = false, ended_ = false;
};

}  // namespace

Result<std::unique_ptr<CheckpointWriter>> CheckpointWriter::Create(fs::FileSystem* file_system,
                                                                   const std::string& directory,
                                                                   const CheckpointStart& start) {
  auto made = std::make_unique<CheckpointWriter>();
  made->file_system_ = file_system;
  made->directory_ = directory;
  made->path_ = directory + "/" + FileName(FileKind::kCheckpoint, start.meta);
  FileHeader header;
  header.kind = FileKind::kCheckpoint;
  header.number = start.meta;
  header.file_id = os::RandomBits128().low | 1;
  LAVA_ASSIGN_OR_RETURN(made->writer_,
                        PhysicalLogWriter::Create(file_system, made->path_ + kUnfinished, header));
  std::string payload = made->writer_->NewPayload();
  payload.push_back(static_cast<char>(Part::kStart));
  PutVarint32(&payload, start.meta);
  PutVarint32(&payload, start.data);
  PutVarint64(&payload, start.data_offset);
  PutVarint64(&payload, start.data_sequence);
  PutVarint32(&payload, start.next_data);
  PutVarint64(&payload, start.next_id);
  PutVarint64(&payload, start.sealed.size());
  for (const auto& [number, bytes] : start.sealed) {
    PutVarint32(&payload, number);
    PutVarint64(&payload, bytes);
  }
  LAVA_RETURN_IF_ERROR(made->writer_->Append(FrameType::kCheckpoint, payload));
  return made;
}

void CheckpointWriter::Encode(const LogicalLog& log, const CheckpointStart& start, uint32_t active,
                              std::string* out) {
  PutVarint64(out, log.id());
  PutLengthPrefixed(out, log.name());
  PutVarint64(out, log.trimmed_to());
  PutVarint64(out, log.last_lsn());
  uint64_t packs = 0;
  for (const Pack& pack : log.packs()) packs += pack.file <= start.data ? 1 : 0;
  PutVarint64(out, packs);
  for (const Pack& pack : log.packs()) {
    if (pack.file > start.data) continue;  // read from the file itself
    PutVarint32(out, pack.file);
    PutPackHandle(pack, out);
  }
  const bool has = active == start.data;
  PutVarint64(out, has ? log.direct().size() : 0);
  uint64_t lsn = 0;
  for (const IndexEntry& entry : log.direct()) {
    if (!has) break;
    PutVarint64(out, entry.lsn - lsn);
    PutVarint32(out, entry.offset);
    PutVarint32(out, entry.bytes);
    lsn = entry.lsn;
  }
}

Status CheckpointWriter::Append(uint64_t logs, Slice encoded) {
  std::string payload = writer_->NewPayload();
  payload.push_back(static_cast<char>(Part::kLogs));
  PutVarint64(&payload, logs);
  payload.append(encoded);
  logs_ += logs;
  return writer_->Append(FrameType::kCheckpoint, payload);
}

Status CheckpointWriter::Finish() {
  std::string payload = writer_->NewPayload();
  payload.push_back(static_cast<char>(Part::kEnd));
  PutVarint64(&payload, logs_);
  LAVA_RETURN_IF_ERROR(writer_->Append(FrameType::kCheckpoint, payload));
  LAVA_RETURN_IF_ERROR(writer_->Sync());
  LAVA_RETURN_IF_ERROR(writer_->Close());
  LAVA_RETURN_IF_ERROR(file_system_->Rename(path_ + kUnfinished, path_));
  return file_system_->SyncDirectory(directory_);
}

Status ReadCheckpoint(fs::FileSystem* file_system, const std::string& directory, uint32_t number,
                      CheckpointContent* content) {
  const std::string path = directory + "/" + FileName(FileKind::kCheckpoint, number);
  LAVA_ASSIGN_OR_RETURN(const std::string bytes, file_system->ReadWhole(path, kCheckpointBytesMax));
  FileHeader header;
  LAVA_RETURN_IF_ERROR(
      DecodeFileHeader(bytes, FileKind::kCheckpoint, number, &header).WithContext(path));
  FrameReader reader(Slice(bytes).substr(kFileHeaderBytes), {.name = path,
                                                             .file_id = header.file_id,
                                                             .durable_bytes = bytes.size(),
                                                             .base_offset = kFileHeaderBytes});
  Parser parser(content);
  Frame frame;
  for (;;) {
    const FrameReader::Outcome outcome = reader.Next(&frame);
    if (outcome == FrameReader::Outcome::kCorruption) return reader.status();
    if (outcome != FrameReader::Outcome::kFrame) break;
    LAVA_RETURN_IF_ERROR(
        parser.Take(frame).WithContext(path + " at offset " + std::to_string(frame.offset)));
  }
  if (!parser.ended()) {
    return Status::Corruption(path + ": the checkpoint ends at " + std::to_string(reader.offset()) +
                              " without its last part");
  }
  return Status::OK();
}

}  // namespace lava::log
