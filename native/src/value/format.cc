// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "value/format.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/block.h"
#include "base/coding.h"
#include "base/compression.h"
#include "base/dictionary.h"
#include "base/hash.h"
#include "base/value_reference.h"
#include "lava/options.h"
#include "lava/slice.h"
#include "lava/status.h"
#include "value/value_file.h"

namespace lava::vsst {
namespace {

void PutHandle(const BlockHandle& handle, std::string* out) {
  PutFixed64(out, handle.offset);
  PutFixed32(out, handle.bytes);
}

BlockHandle ReadHandle(const char* from) {
  return BlockHandle{DecodeFixed64(from), DecodeFixed32(from + 8)};
}

/// Whether the block ends exactly at end; an offset that would overflow does not.
bool EndsAt(const BlockHandle& handle, uint64_t end) {
  return handle.offset <= end && end - handle.offset == handle.bytes + kBlockTrailerBytes;
}

/// Checks the tail that all versions share: footer bytes, version, checksum, magic. A footer of a
/// known version must also have the length of its version.
Status CheckFooterTail(const std::string& path, uint64_t file_bytes, Slice tail) {
  if (tail.size() < kFooterTailBytes) {
    return CorruptionAt(path, 0,
                        "a value SST has at least " + std::to_string(kPlainFooterBytes) +
                            " bytes, this file has " + std::to_string(file_bytes));
  }
  const char* fixed = tail.data() + tail.size() - kFooterTailBytes;
  if (DecodeFixed64(fixed + 16) != kMagic) {
    return CorruptionAt(path, file_bytes - 8,
                        "expected the magic number of a value SST: the file is cut short, "
                        "overwritten or no value SST");
  }
  uint32_t bytes = DecodeFixed32(fixed);
  uint32_t version = DecodeFixed32(fixed + 4);
  // The footer of a newer version may be longer than the tail that was read. Its checksum cannot be
  // verified then.
  bool whole = bytes >= kFooterTailBytes && bytes <= tail.size();
  bool intact = whole && Hash64(tail.substr(tail.size() - bytes, bytes - 16), file_bytes - bytes) ==
                             DecodeFixed64(fixed + 8);
  bool longer = bytes > kFooterBytes && bytes <= kFooterBytesMax && bytes <= file_bytes;
  if (version > kFormatVersion && (intact || longer)) {
    return Status::NotSupported(path + ": value SST of format version " + std::to_string(version) +
                                ", this library reads up to version " +
                                std::to_string(kFormatVersion) + ": use a newer library");
  }
  const bool known = bytes == (version == 2 ? kFooterBytes : kPlainFooterBytes) && version > 0 &&
                     version <= kFormatVersion;
  if (!intact || !known) {
    return CorruptionAt(path, file_bytes - std::min<uint64_t>(file_bytes, kPlainFooterBytes),
                        "the footer's checksum is wrong");
  }
  return Status::OK();
}

/// Reads the lengths at a record's front, and checks that the record fits into bytes.
const char* SplitRecord(Slice bytes, RecordView* record) {
  Slice rest = bytes;
  uint32_t key_bytes = 0, stored_bytes = 0;
  if (!GetVarint32(&rest, &record->blob_file_index) || !GetVarint32(&rest, &key_bytes) ||
      !GetVarint32(&rest, &stored_bytes) || key_bytes > kRecordKeyBytesMax ||
      !GetBytes(&rest, key_bytes, &record->key) ||
      !GetBytes(&rest, stored_bytes, &record->value.bytes) || rest.size() < kBlockTrailerBytes)
    return "a record's lengths pass the end of where it stands";
  record->bytes = bytes.size() - rest.size() + kBlockTrailerBytes;
  return nullptr;
}

/// Whether each blob file has records, and the blob files' sums are the file's.
bool AddsUp(std::span<const BlobReference> blob_files, uint64_t records, uint64_t raw_bytes) {
  for (const BlobReference& blob_file : blob_files) {
    if (blob_file.records == 0 || blob_file.records > records || blob_file.raw_bytes > raw_bytes)
      return false;
    records -= blob_file.records;
    raw_bytes -= blob_file.raw_bytes;
  }
  return records == 0 && raw_bytes == 0;
}

}  // namespace

void EncodeFooter(const Footer& footer, uint64_t offset, std::string* out) {
  std::string bytes;
  PutHandle(footer.top_index, &bytes);
  PutHandle(footer.properties, &bytes);
  PutFixed64(&bytes, footer.unique_id);
  if (footer.has_dictionary()) PutHandle(footer.dictionary, &bytes);
  PutFixed32(&bytes, static_cast<uint32_t>(footer.bytes()));
  PutFixed32(&bytes, footer.version());
  PutFixed64(&bytes, Hash64(bytes, offset));
  PutFixed64(&bytes, kMagic);
  out->append(bytes);
}

Status DecodeFooter(const std::string& path, uint64_t file_bytes, Slice tail, Footer* footer) {
  LAVA_RETURN_IF_ERROR(CheckFooterTail(path, file_bytes, tail));
  const char* end = tail.data() + tail.size();
  const uint32_t bytes = DecodeFixed32(end - kFooterTailBytes);
  const char* from = end - bytes;
  footer->top_index = ReadHandle(from);
  footer->properties = ReadHandle(from + 12);
  footer->unique_id = DecodeFixed64(from + 24);
  footer->dictionary = bytes == kFooterBytes ? ReadHandle(from + 32) : BlockHandle();
  const uint32_t version = DecodeFixed32(end - kFooterTailBytes + 4);
  footer->is_log = version >= 3;
  footer->several_blob_files = version == 4;
  uint64_t offset = file_bytes - bytes;
  if (!EndsAt(footer->top_index, offset) || !EndsAt(footer->properties, footer->top_index.offset)) {
    return CorruptionAt(path, offset, "the footer names blocks that do not end where they must");
  }
  if (bytes == kFooterBytes &&
      (!footer->has_dictionary() || footer->dictionary.bytes > kDictionaryBytesMax ||
       !EndsAt(footer->dictionary, footer->properties.offset))) {
    return CorruptionAt(path, offset,
                        "the footer names a dictionary that is empty, too large, or does not end "
                        "where it must");
  }
  return Status::OK();
}

void EncodeRecordFront(uint32_t blob_file_index, Slice key, uint64_t stored_bytes,
                       std::string* out) {
  out->clear();
  PutVarint32(out, blob_file_index);
  PutVarint32(out, static_cast<uint32_t>(key.size()));
  PutVarint32(out, static_cast<uint32_t>(stored_bytes));
  out->append(key);
}

void EncodeRecord(uint64_t unique_id, uint64_t offset, uint32_t blob_file_index, Slice key,
                  const StoredValue& value, std::string* out) {
  out->clear();
  out->reserve(key.size() + value.bytes.size() + kRecordOverheadBytesMax);
  EncodeRecordFront(blob_file_index, key, value.bytes.size(), out);
  out->append(value.bytes);
  SealBlock(unique_id, offset, value.codec, value.raw_bytes, out);
}

const char* RecordBytes(Slice front, uint64_t rest_bytes, uint64_t* bytes) {
  Slice rest = front;
  uint32_t blob_file_index = 0, key_bytes = 0, stored_bytes = 0;
  if (!GetVarint32(&rest, &blob_file_index) || !GetVarint32(&rest, &key_bytes) ||
      !GetVarint32(&rest, &stored_bytes))
    return "a record's lengths are cut short";
  *bytes = front.size() - rest.size() + uint64_t{key_bytes} + stored_bytes + kBlockTrailerBytes;
  return *bytes <= rest_bytes ? nullptr : "a record's lengths pass the end of where it stands";
}

uint64_t StoredBytesOf(uint32_t blob_file_index, uint64_t key_bytes, uint64_t record_bytes) {
  const auto varint_bytes = [](uint64_t number) {
    uint64_t bytes = 1;
    for (; number >= 0x80; number >>= 7) ++bytes;
    return bytes;
  };
  const uint64_t others =
      varint_bytes(blob_file_index) + varint_bytes(key_bytes) + key_bytes + kBlockTrailerBytes;
  // The stored length is a varint of unknown size: find the size with which all parts add up.
  for (uint64_t length_bytes = 1; length_bytes <= 5; ++length_bytes) {
    if (record_bytes < others + length_bytes) break;
    const uint64_t stored = record_bytes - others - length_bytes;
    if (varint_bytes(stored) == length_bytes) return stored;
  }
  return 0;
}

Status WrongChecksum(const std::string& path, uint64_t offset, uint64_t record_bytes) {
  return CorruptionAt(path, offset,
                      "the checksum of the record of " + std::to_string(record_bytes) +
                          " bytes is wrong: restore the file from a checkpoint");
}

Status DecodeRecord(const RecordSource& source, uint64_t offset, Slice bytes, RecordView* record) {
  if (const char* error = SplitRecord(bytes, record); error != nullptr)
    return CorruptionAt(source.path, offset, error);
  const char* trailer = bytes.data() + record->bytes - kBlockTrailerBytes;
  if (DecodeFixed64(trailer + 5) !=
      BlockChecksum(source.unique_id, offset, bytes.substr(0, record->bytes - 8))) {
    return WrongChecksum(source.path, offset, record->bytes);
  }
  uint8_t codec = static_cast<uint8_t>(trailer[0]);
  record->value.codec = static_cast<Compression>(codec);
  record->value.raw_bytes = DecodeFixed32(trailer + 1);
  const Compression last = source.has_dictionary ? kZstdDictionary : Compression::kZstd;
  if (codec > static_cast<uint8_t>(last) || record->value.raw_bytes > kRecordValueBytesMax ||
      !RawBytesPossible(record->value.codec, record->value.bytes, record->value.raw_bytes)) {
    return CorruptionAt(source.path, offset,
                        "the record's codec " + std::to_string(codec) + " or raw length " +
                            std::to_string(record->value.raw_bytes) + " is impossible");
  }
  if (record->blob_file_index >= source.blob_file_count)
    return CorruptionAt(source.path, offset,
                        "the record's blob file is not in the file's blob files");
  return Status::OK();
}

void EncodeProperties(const ValueFileProperties& p, std::span<const BlobReference> blob_files,
                      std::string* out) {
  for (uint64_t number : {p.records, p.raw_bytes, p.stored_bytes, p.tree_bytes, p.index_partitions})
    PutVarint64(out, number);
  PutLengthPrefixed(out, p.lower);
  PutLengthPrefixed(out, p.upper);
  PutVarint64(out, blob_files.size());
  for (const BlobReference& blob_file : blob_files) {
    PutFixed64(out, blob_file.blob_file.origin.high);
    PutFixed64(out, blob_file.blob_file.origin.low);
    PutVarint64(out, blob_file.blob_file.number);
    PutVarint64(out, blob_file.records);
    PutVarint64(out, blob_file.raw_bytes);
  }
}

const char* DecodeProperties(Slice in, ValueFileProperties* p, std::vector<FileId>* blob_files) {
  for (uint64_t* number :
       {&p->records, &p->raw_bytes, &p->stored_bytes, &p->tree_bytes, &p->index_partitions}) {
    if (!GetVarint64(&in, number)) return "the properties' counts are cut short";
  }
  Slice lower, upper;
  if (!GetLengthPrefixed(&in, &lower) || !GetLengthPrefixed(&in, &upper))
    return "the properties' bounds are cut short";
  p->lower = lower;
  p->upper = upper;
  bool bounded = p->records == 0 ? lower.empty() && upper.empty() : lower < upper;
  if (!bounded) return "the properties' bounds hold no key";
  uint64_t count = 0;
  if (!GetVarint64(&in, &count)) return "the properties' blob files are cut short";
  for (uint64_t i = 0; i < count; ++i) {
    BlobReference blob_file;
    if (!GetFixed64(&in, &blob_file.blob_file.origin.high) ||
        !GetFixed64(&in, &blob_file.blob_file.origin.low) ||
        !GetVarint64(&in, &blob_file.blob_file.number) || !GetVarint64(&in, &blob_file.records) ||
        !GetVarint64(&in, &blob_file.raw_bytes))
      return "the properties' blob files are cut short";
    blob_files->push_back(blob_file.blob_file);
    p->blob_files.push_back(blob_file);
  }
  if (!in.empty()) return "the properties have bytes behind their end";
  if (!AddsUp(p->blob_files, p->records, p->raw_bytes))
    return "the properties' blob files do not add up to the file's records";
  return SortBlobFiles(&p->blob_files) ? nullptr : "a blob file is there twice";
}

bool SortBlobFiles(std::vector<BlobReference>* blob_files) {
  std::sort(blob_files->begin(), blob_files->end());
  auto same = [](const BlobReference& a, const BlobReference& b) {
    return a.blob_file == b.blob_file;
  };
  return std::adjacent_find(blob_files->begin(), blob_files->end(), same) == blob_files->end();
}

}  // namespace lava::vsst
