// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/coding.h"
#include "fuzz/fuzz_input.h"
#include "log/checkpoint.h"
#include "log/lava_log.h"
#include "log/physical_log.h"
#include "testing/mem_file_system.h"

namespace lava::fuzzing {

/// A small LavaLog. An input's first byte determines its files (bit 0):
///   0: payloads, each preceded by a byte for the file (modulo 3: checkpoint, names, data) and the
///      type of the frame, and by its length u16, as frames with correct checksums; with bit 1 set
///      the data file ends with a trailer that names its last frame as its directory;
///   1: edits (position u16, byte u8) of the bytes of the files of a good log.
/// For any files, opening must end with a Status. A log that opens must be readable (or name the
/// damage), writable, and, without damage, have the same content when it is opened again.
inline constexpr const char* kFuzzLog = "/log";

inline log::LogOptions FuzzLogOptions(testing::MemFileSystem* files) {
  log::LogOptions options;
  options.file_system = files;
  options.directory = kFuzzLog;
  options.file_bytes = 700;
  options.direct_entries = 2;
  return options;
}

/// A log with two logical logs, sealed files, an unsealed one and a checkpoint.
inline const std::vector<std::pair<std::string, std::string>>& GoodLogFiles() {
  static const std::vector<std::pair<std::string, std::string>> good = [] {
    testing::MemFileSystem files;
    auto log = log::LavaLog::Open(FuzzLogOptions(&files));
    if (!log.ok()) FuzzFailed("log", "a good log");
    const log::LogId a = *(*log)->Create("a"), b = *(*log)->Create("b");
    for (uint64_t lsn = 1; lsn <= 12; ++lsn) {
      if (!(*log)->Append(a, lsn, std::string(40, 'a'), log::Durability::kWritten).ok() ||
          !(*log)->Append(b, 2 * lsn, std::string(lsn, 'b'), log::Durability::kSynced).ok())
        FuzzFailed("log", "a good append");
      if (lsn == 8 && !(*log)->Checkpoint().ok()) FuzzFailed("log", "a good checkpoint");
      if (lsn == 10 && !(*log)->Trim(a, 3, log::Durability::kWritten).ok())
        FuzzFailed("log", "a good trim");
    }
    std::vector<std::pair<std::string, std::string>> found;
    for (const std::string& path : files.Paths()) found.emplace_back(path, *files.Content(path));
    return found;
  }();
  return good;
}

inline std::string CheckpointStartPayload(uint64_t data_offset) {
  std::string payload;
  for (const uint64_t number : {uint64_t{0}}) PutVarint64(&payload, number);
  payload.push_back(1);
  for (const uint64_t number :
       {uint64_t{1}, uint64_t{1}, data_offset, uint64_t{0}, uint64_t{2}, uint64_t{3}, uint64_t{0}})
    PutVarint64(&payload, number);
  return payload;
}

inline void PutFrames(InputReader* in, bool trailer, testing::MemFileSystem* files) {
  constexpr log::FileKind kKinds[] = {log::FileKind::kCheckpoint, log::FileKind::kMeta,
                                      log::FileKind::kData};
  std::string contents[3];
  std::unique_ptr<FrameWriter> writers[3];
  for (size_t i = 0; i < 3; ++i) {
    log::EncodeFileHeader({.kind = kKinds[i], .number = 1, .file_id = i + 5}, &contents[i]);
    writers[i] = std::make_unique<FrameWriter>(i + 5);
  }
  size_t last_data = log::kFileHeaderBytes;
  const auto put = [&](size_t file, uint8_t type, Slice payload) {
    if (file == 2) last_data = contents[2].size();
    if (!writers[file]->Append(type, payload, &contents[file]).ok())
      FuzzFailed("log", "a good frame");
  };
  put(0, 5, CheckpointStartPayload(0));
  while (!in->done()) {
    const uint8_t what = in->Byte();
    const size_t length = in->Short();
    const Slice payload = in->Take(length);
    put(what % 3, what / 3 % 6, payload);
  }
  if (trailer) log::PutTrailer(7, last_data, &contents[2]);
  for (size_t i = 0; i < 3; ++i) {
    const std::string path = std::string(kFuzzLog) + "/" + log::FileName(kKinds[i], 1);
    if (!files->SetContent(path, contents[i]).ok()) FuzzFailed("log", "no file");
  }
}

inline void PutEdited(InputReader* in, testing::MemFileSystem* files) {
  std::vector<std::pair<std::string, std::string>> edited = GoodLogFiles();
  size_t bytes = 0;
  for (const auto& [path, content] : edited) bytes += content.size();
  while (!in->done()) {
    size_t at = in->Short() % bytes, i = 0;
    for (; at >= edited[i].second.size(); ++i) at -= edited[i].second.size();
    edited[i].second[at] = static_cast<char>(in->Byte());
  }
  for (const auto& [path, content] : edited) {
    if (!files->SetContent(path, content).ok()) FuzzFailed("log", "no file");
  }
}

inline void CheckLogError(const Status& status) {
  const bool fits = status.IsCorruption() || status.code() == Status::Code::kNotSupported;
  if (!fits || status.message().find(kFuzzLog) == Slice::npos)
    FuzzFailed("log", "opening bad files failed with " + status.ToString());
}

/// All readable content, and the end of each log.
inline std::string ContentOfLog(log::LavaLog* log) {
  std::string content;
  for (const auto& [id, name] : log->List()) {
    content += "log " + name + ":";
    const auto cursor = log->NewCursor(id);
    cursor->Seek(0);
    uint64_t lsn = 0, before = 0;
    Slice data;
    Status status = cursor->Next(&lsn, &data);
    for (bool first = true; status.ok(); status = cursor->Next(&lsn, &data), first = false) {
      if (!first && lsn <= before) FuzzFailed("log", "LSNs do not ascend");
      before = lsn;
      content += std::to_string(lsn) + "=" + std::string(data) + ";";
    }
    if (!status.IsNotFound()) {
      CheckLogError(status);
      content += "damaged";
    }
  }
  return content;
}

inline int RunLogInput(const uint8_t* data, size_t size) {
  InputReader in(InputSlice(data, size));
  const uint8_t how = in.Byte();
  testing::MemFileSystem files;
  if (!files.CreateDirectory(kFuzzLog).ok()) FuzzFailed("log", "no directory");
  if ((how & 1) != 0) {
    PutEdited(&in, &files);
  } else {
    PutFrames(&in, (how & 2) != 0, &files);
  }
  auto log = log::LavaLog::Open(FuzzLogOptions(&files));
  if (!log.ok()) {
    CheckLogError(log.status());
    return 0;
  }
  const std::string found = ContentOfLog(log->get());
  log->reset();
  log = log::LavaLog::Open(FuzzLogOptions(&files));
  if (!log.ok())
    FuzzFailed("log", "a log that opened does not open again: " + log.status().ToString());
  // A second open may find damage at another position.
  if (found.find("damaged") == std::string::npos && ContentOfLog(log->get()) != found)
    FuzzFailed("log", "the second open does not find the same content: " + found);
  const auto id = (*log)->Create("of the fuzzer");
  if (!id.ok()) return 0;  // the name exists, or no number is left
  if (!(*log)->Append(*id, 9, "new", log::Durability::kSynced).ok())
    FuzzFailed("log", "a log that opened cannot be written to");
  log->reset();
  log = log::LavaLog::Open(FuzzLogOptions(&files));
  if (!log.ok()) FuzzFailed("log", "a log does not open after a write: " + log.status().ToString());
  std::string read;
  const Status status = (*log)->Read(*id, 9, &read);
  if (!status.ok() || read != "new")
    FuzzFailed("log", "a written record is missing: " + status.ToString());
  return 0;
}

inline std::vector<std::string> LogSeeds() {
  const auto put = [](uint8_t file, uint8_t type, Slice payload, std::string* out) {
    out->push_back(static_cast<char>(file + 3 * type));
    out->push_back(static_cast<char>(payload.size() & 0xff));
    out->push_back(static_cast<char>(payload.size() >> 8));
    out->append(payload);
  };
  std::string end(1, '\0'), names(1, '\0'), batch(1, '\0'), pack(1, '\0'), directory(1, '\0');
  end.push_back(3);
  PutVarint64(&end, 0);
  log::PutMetaOp({.kind = log::MetaOp::Kind::kCreate, .log = 3, .name = "a"}, &names);
  log::PutMetaOp({.kind = log::MetaOp::Kind::kCreate, .log = 4, .name = "b"}, &names);
  log::PutMetaOp({.kind = log::MetaOp::Kind::kTrim, .log = 3, .lsn = 2}, &names);
  log::PutMetaOp({.kind = log::MetaOp::Kind::kDelete, .log = 4}, &names);
  const auto offset = static_cast<uint32_t>(log::kFileHeaderBytes + kFrameHeaderBytes + 1);
  log::PutRecord(3, 2, "two", &batch);
  const auto second = static_cast<uint32_t>(offset + batch.size() - 1);
  log::PutRecord(3, 5, "five", &batch);
  log::PutPack(3, {{2, offset, 3}, {5, second, 4}}, &pack);
  log::Pack listed{.first = 2, .last = 5, .count = 2, .file = 1, .data_bytes = 21};
  listed.offset = static_cast<uint32_t>(log::kFileHeaderBytes + kFrameHeaderBytes + batch.size());
  listed.bytes = static_cast<uint32_t>(kFrameHeaderBytes + pack.size());
  log::PutDirectory({.logs = {{.log = 3, .packs = {listed}}}, .records_end = 9}, &directory);
  std::string frames;
  put(0, 5, end, &frames);
  put(1, 4, names, &frames);
  put(2, 1, batch, &frames);
  put(2, 2, pack, &frames);
  std::string sealed = frames;
  put(2, 3, directory, &sealed);
  return {'\0' + frames,
          '\2' + sealed,
          '\0' + sealed,
          "\1",
          std::string("\1\x40\x01\x55", 4),
          std::string("\1\x90\x04\x01\x10\x00\x02", 7)};
}

}  // namespace lava::fuzzing
