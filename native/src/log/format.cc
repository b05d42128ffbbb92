// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "log/format.h"

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/checksum.h"
#include "base/coding.h"
#include "lava/slice.h"
#include "lava/status.h"

namespace lava::log {
namespace {

constexpr Slice kMagic("LavaLog\n", 8);
constexpr uint64_t kTrailerMagic = 0x0a444e4547414c4cull;
constexpr const char* kPrefixes[] = {"DATA-", "META-", "INDEX-", "CHECKPOINT-"};
constexpr size_t kNumberDigits = 8;

uint32_t RecordCrc(LogId log, uint64_t lsn, Slice data) {
  char identity[16];
  EncodeFixed64(identity, log);
  EncodeFixed64(identity + 8, lsn);
  return Crc32c(data, Crc32c(Slice(identity, sizeof(identity))));
}

// Whether that many numbers of at least one byte each fit in `in`. Checked so that the count of a
// damaged file never reserves memory.
bool CanHold(Slice in, uint64_t count) { return count <= in.size(); }

}  // namespace

std::string FileName(FileKind kind, uint32_t number) {
  std::string digits = std::to_string(number);
  if (digits.size() < kNumberDigits) digits.insert(0, kNumberDigits - digits.size(), '0');
  return kPrefixes[static_cast<size_t>(kind)] + digits;
}

bool ParseFileName(Slice name, FileKind* kind, uint32_t* number) {
  for (size_t i = 0; i < std::size(kPrefixes); ++i) {
    const Slice prefix(kPrefixes[i]);
    if (name.substr(0, prefix.size()) != prefix) continue;
    const Slice digits = name.substr(prefix.size());
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), *number);
    if (error != std::errc() || end != digits.data() + digits.size()) return false;
    *kind = static_cast<FileKind>(i);
    return name == Slice(FileName(*kind, *number));
  }
  return false;
}

void EncodeFileHeader(const FileHeader& header, std::string* out) {
  const size_t begin = out->size();
  out->append(kMagic);
  PutFixed32(out, kFormatVersion);
  PutFixed32(out, static_cast<uint32_t>(header.kind));
  PutFixed32(out, header.number);
  PutFixed32(out, header.previous);
  PutFixed64(out, header.previous_bytes);
  PutFixed64(out, header.file_id);
  PutFixed32(out, header.boot);
  PutFixed32(out, Crc32c(Slice(*out).substr(begin)));
  LAVA_CHECK(out->size() - begin == kFileHeaderBytes);
}

Status DecodeFileHeader(Slice bytes, FileKind kind, uint32_t number, FileHeader* header) {
  if (bytes.size() < kFileHeaderBytes) return Status::Corruption("the file has no whole header");
  Slice in = bytes.substr(0, kFileHeaderBytes);
  if (in.substr(0, kMagic.size()) != kMagic) {
    return Status::Corruption("the file does not begin as one of LavaLog's does");
  }
  if (Crc32c(in.substr(0, kFileHeaderBytes - 4)) !=
      DecodeFixed32(in.data() + kFileHeaderBytes - 4)) {
    return Status::Corruption("the file's header has a wrong checksum");
  }
  in.remove_prefix(kMagic.size());
  uint32_t version = 0, got_kind = 0;
  GetFixed32(&in, &version);
  if (version != kFormatVersion) {
    return Status::NotSupported("the file has format version " + std::to_string(version) +
                                ", this library knows " + std::to_string(kFormatVersion));
  }
  GetFixed32(&in, &got_kind);
  GetFixed32(&in, &header->number);
  GetFixed32(&in, &header->previous);
  GetFixed64(&in, &header->previous_bytes);
  GetFixed64(&in, &header->file_id);
  GetFixed32(&in, &header->boot);
  if (got_kind != static_cast<uint32_t>(kind) || header->number != number) {
    return Status::Corruption("the file calls itself number " + std::to_string(header->number) +
                              " of kind " + std::to_string(got_kind));
  }
  header->kind = kind;
  return Status::OK();
}

uint64_t DurableOf(Slice payload) {
  uint64_t durable = 0;
  return GetVarint64(&payload, &durable) ? durable : 0;
}

size_t RecordHeaderBytes(LogId log, uint64_t lsn, uint32_t bytes) {
  return VarintLength(log) + VarintLength(lsn) + VarintLength(bytes) + sizeof(uint32_t);
}

void PutRecord(LogId log, uint64_t lsn, Slice data, std::string* out) {
  PutVarint64(out, log);
  PutVarint64(out, lsn);
  PutVarint64(out, data.size());
  PutFixed32(out, RecordCrc(log, lsn, data));
  out->append(data);
}

Status GetRecord(Slice* in, Record* record) {
  uint64_t bytes = 0;
  uint32_t crc = 0;
  if (!GetVarint64(in, &record->log) || !GetVarint64(in, &record->lsn) ||
      !GetVarint64(in, &bytes) || bytes > kRecordBytesMax || !GetFixed32(in, &crc) ||
      !GetBytes(in, bytes, &record->data)) {
    return Status::Corruption("a record is not whole");
  }
  if (RecordCrc(record->log, record->lsn, record->data) != crc) {
    return Status::Corruption("a record has a wrong checksum");
  }
  return Status::OK();
}

void PutPack(LogId log, const std::vector<IndexEntry>& entries, std::string* out) {
  LAVA_CHECK(!entries.empty() && entries.size() <= kPackEntries);
  PutVarint64(out, log);
  PutVarint64(out, entries.size());
  PutVarint64(out, entries.front().lsn);
  uint64_t lsn = entries.front().lsn;
  int64_t offset = 0;
  for (const IndexEntry& entry : entries) {
    PutVarint64(out, entry.lsn - lsn);
    // Records of a log are mostly in order, so a negative step is rare: one bit marks it.
    const int64_t step = static_cast<int64_t>(entry.offset) - offset;
    PutVarint64(
        out, step < 0 ? (static_cast<uint64_t>(-step) << 1 | 1) : static_cast<uint64_t>(step) << 1);
    PutVarint64(out, entry.bytes);
    lsn = entry.lsn;
    offset = entry.offset;
  }
}

Status GetPack(Slice payload, LogId* log, std::vector<IndexEntry>* entries) {
  const Status bad = Status::Corruption("a pack of index entries contradicts itself");
  uint64_t durable = 0, count = 0, lsn = 0;
  if (!GetVarint64(&payload, &durable) || !GetVarint64(&payload, log) ||
      !GetVarint64(&payload, &count) || !GetVarint64(&payload, &lsn) || count == 0 ||
      count > kPackEntries || !CanHold(payload, count * 3)) {
    return bad;
  }
  entries->clear();
  entries->reserve(count);
  int64_t offset = 0;
  for (uint64_t i = 0; i < count; ++i) {
    uint64_t delta = 0, step = 0, bytes = 0;
    if (!GetVarint64(&payload, &delta) || !GetVarint64(&payload, &step) ||
        !GetVarint64(&payload, &bytes) || (i > 0 && delta == 0) || (i == 0 && delta != 0) ||
        lsn + delta < lsn || bytes > kRecordBytesMax || step >> 1 > UINT32_MAX) {
      return bad;
    }
    lsn += delta;
    offset += (step & 1) != 0 ? -static_cast<int64_t>(step >> 1) : static_cast<int64_t>(step >> 1);
    if (offset < 0 || offset > UINT32_MAX) return bad;
    entries->push_back({lsn, static_cast<uint32_t>(offset), static_cast<uint32_t>(bytes)});
  }
  return payload.empty() ? Status::OK() : bad;
}

void PutPackHandle(const Pack& pack, std::string* out) {
  PutVarint64(out, pack.first);
  PutVarint64(out, pack.last - pack.first);
  PutVarint32(out, pack.count);
  PutVarint32(out, pack.offset);
  PutVarint32(out, pack.bytes);
  PutVarint64(out, pack.data_bytes);
  out->push_back(pack.in_index_file ? 1 : 0);
}

bool GetPackHandle(Slice* in, Pack* pack) {
  uint64_t span = 0;
  Slice flag;
  if (!GetVarint64(in, &pack->first) || !GetVarint64(in, &span) || !GetVarint32(in, &pack->count) ||
      !GetVarint32(in, &pack->offset) || !GetVarint32(in, &pack->bytes) ||
      !GetVarint64(in, &pack->data_bytes) || !GetBytes(in, 1, &flag)) {
    return false;
  }
  pack->last = pack->first + span;
  pack->in_index_file = flag[0] == 1;
  return pack->last >= pack->first && pack->count > 0 && pack->count <= kPackEntries &&
         pack->count - 1 <= span && static_cast<unsigned char>(flag[0]) <= 1;
}

void PutDirectory(const Directory& directory, std::string* out) {
  PutVarint64(out, directory.records_end);
  PutVarint64(out, directory.logs.size());
  for (const Directory::OfLog& log : directory.logs) {
    PutVarint64(out, log.log);
    PutVarint64(out, log.packs.size());
    for (const Pack& pack : log.packs) PutPackHandle(pack, out);
  }
}

Status GetDirectory(Slice payload, uint32_t file, Directory* directory) {
  const Status bad = Status::Corruption("the directory of packs contradicts itself");
  uint64_t durable = 0, logs = 0;
  if (!GetVarint64(&payload, &durable) || !GetVarint64(&payload, &directory->records_end) ||
      !GetVarint64(&payload, &logs) || !CanHold(payload, logs)) {
    return bad;
  }
  directory->logs.clear();
  for (uint64_t i = 0; i < logs; ++i) {
    Directory::OfLog log;
    uint64_t packs = 0;
    if (!GetVarint64(&payload, &log.log) || !GetVarint64(&payload, &packs) ||
        !CanHold(payload, packs)) {
      return bad;
    }
    for (uint64_t j = 0; j < packs; ++j) {
      Pack pack;
      if (!GetPackHandle(&payload, &pack)) return bad;
      pack.file = file;
      log.packs.push_back(pack);
    }
    directory->logs.push_back(std::move(log));
  }
  return payload.empty() ? Status::OK() : bad;
}

void PutTrailer(uint64_t file_id, uint64_t directory_offset, std::string* out) {
  const size_t begin = out->size();
  PutFixed64(out, directory_offset);
  std::string checked(*out, begin);
  PutFixed64(&checked, file_id);
  PutFixed64(out, Crc32c(checked));
  PutFixed64(out, kTrailerMagic);
}

bool GetTrailer(Slice bytes, uint64_t file_id, uint64_t* directory_offset) {
  uint64_t offset = 0;
  Slice in = bytes;
  if (!GetFixed64(&in, &offset)) return false;
  std::string expected;
  PutTrailer(file_id, offset, &expected);
  *directory_offset = offset;
  return bytes == Slice(expected);
}

void PutMetaOp(const MetaOp& op, std::string* out) {
  out->push_back(static_cast<char>(op.kind));
  PutVarint64(out, op.log);
  if (op.kind == MetaOp::Kind::kTrim) PutVarint64(out, op.lsn);
  if (op.kind == MetaOp::Kind::kCreate) PutLengthPrefixed(out, op.name);
}

Status GetMetaOp(Slice* in, MetaOp* op) {
  const Status bad = Status::Corruption("a change of the namespace is not whole");
  Slice kind, name;
  if (!GetBytes(in, 1, &kind) || !GetVarint64(in, &op->log)) return bad;
  op->kind = static_cast<MetaOp::Kind>(kind[0]);
  switch (op->kind) {
    case MetaOp::Kind::kCreate:
      if (!GetLengthPrefixed(in, &name)) return bad;
      op->name = std::string(name);
      return Status::OK();
    case MetaOp::Kind::kTrim:
      return GetVarint64(in, &op->lsn) ? Status::OK() : bad;
    case MetaOp::Kind::kDelete:
      return Status::OK();
    case MetaOp::Kind::kRemoveFile:
      return op->log < UINT32_MAX ? Status::OK() : bad;
  }
  return Status::Corruption("the namespace has a change of an unknown kind, " +
                            std::to_string(static_cast<unsigned char>(kind[0])));
}

}  // namespace lava::log
