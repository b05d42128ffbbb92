// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/block.h"
#include "base/file_id.h"
#include "base/hash.h"
#include "lava/options.h"
#include "lava/slice.h"
#include "lava/status.h"
#include "value/value_file.h"

namespace lava::vsst {

/// Parts of the value SST format (docs/vsst-format.md) that all of its code shares.

inline constexpr uint64_t kMagic = 0x314c41566176616cull;  // "lavaVAL1" as bytes
/// Version 1: sorted files without a dictionary, which older libraries can read. Version 2: sorted
/// files with a dictionary. Version 3: value logs with one blob file. Version 4: those with
/// several.
inline constexpr uint32_t kFormatVersion = 4;
inline constexpr size_t kPlainFooterBytes = 56;    // of all versions but 2
inline constexpr size_t kFooterBytes = 68;         // of version 2
inline constexpr size_t kFooterTailBytes = 24;     // of every version: bytes, version, sum, magic
inline constexpr uint32_t kFooterBytesMax = 4096;  // of every version
/// Limits of one record. Its key is the user's key and the table id; its value may be a whole list.
inline constexpr uint64_t kRecordKeyBytesMax = kKeyBytesMax + 64;
inline constexpr uint64_t kRecordValueBytesMax = kListBytesMax;
/// Three lengths of one byte each, and a trailer.
inline constexpr uint64_t kRecordBytesMin = 3 + kBlockTrailerBytes;
inline constexpr uint64_t kRecordOverheadBytesMax = 3 * 5 + kBlockTrailerBytes;
inline constexpr size_t kKeyBlockBytes = 16384;  // of the dense key index, before compression

/// A buffer that a record has made larger than this is freed after the record.
inline constexpr size_t kBufferKeptBytesMax = 1 << 20;

/// Mixed into a file's checksums. The name without its directory is unique across all instances and
/// stays the same when the file is copied.
inline uint64_t UniqueIdOf(Slice path) { return Hash64(path.substr(path.rfind('/') + 1)); }
inline uint64_t KeyHash(Slice key) { return Hash64(key); }
/// Bits of the hash that neither the filters nor the fingerprints of key SSTs use.
inline uint8_t FingerprintOf(uint64_t hash) { return static_cast<uint8_t>(hash >> 32); }

struct Footer {
  BlockHandle top_index, properties;  // in a value log, top_index is the log index
  uint64_t unique_id = 0;             // mixed into every checksum
  BlockHandle dictionary{};           // without bytes: the file has none
  bool is_log = false;                // records in the order in which they were put
  bool several_blob_files = false;    // a value log with several blob files

  bool has_dictionary() const { return dictionary.bytes != 0; }
  uint32_t version() const {
    if (is_log) return several_blob_files ? 4 : 3;
    return has_dictionary() ? 2 : 1;
  }
  size_t bytes() const { return has_dictionary() ? kFooterBytes : kPlainFooterBytes; }
  /// Where the last index partition ends in the file.
  uint64_t index_end() const { return has_dictionary() ? dictionary.offset : properties.offset; }
};

/// Appends the footer. offset: where the footer begins in the file.
void EncodeFooter(const Footer& footer, uint64_t offset, std::string* out);
/// tail: the last min(file_bytes, kFooterBytes) bytes of the file.
/// Errors: Corruption; NotSupported for a newer version, whose message names both versions.
Status DecodeFooter(const std::string& path, uint64_t file_bytes, Slice tail, Footer* footer);

struct RecordView {
  uint32_t blob_file_index = 0;  // index into the file's blob files
  Slice key;
  StoredValue value;
  uint64_t bytes = 0;  // of the whole record
};

/// Replaces *out by the whole record. offset: where the record will begin in the file.
void EncodeRecord(uint64_t unique_id, uint64_t offset, uint32_t blob_file_index, Slice key,
                  const StoredValue& value, std::string* out);

/// Replaces *out by the part of a record that precedes its stored value.
void EncodeRecordFront(uint32_t blob_file_index, Slice key, uint64_t stored_bytes,
                       std::string* out);

/// The file from which records are read, for checksums and messages.
struct RecordSource {
  const std::string& path;
  uint64_t unique_id;
  size_t blob_file_count;
  bool has_dictionary = false;
};
/// Decodes and checks the record at the front of bytes, which may hold more than the record.
/// offset: where the record begins in the file. The view borrows from bytes. Everything is checked
/// but whether the value decompresses.
/// Errors: Corruption.
Status DecodeRecord(const RecordSource& source, uint64_t offset, Slice bytes, RecordView* record);

/// The Corruption of a record whose checksum is wrong.
Status WrongChecksum(const std::string& path, uint64_t offset, uint64_t record_bytes);

/// Computes a record's length from its first bytes. front: kRecordFrontBytes bytes, or all that are
/// left. rest_bytes: bytes from the record's beginning to the end of all records. Returns null, or
/// an error message.
const char* RecordBytes(Slice front, uint64_t rest_bytes, uint64_t* bytes);
inline constexpr size_t kRecordFrontBytes = 15;

/// Bytes of the stored value in a record of a value log; 0 if no such record exists.
uint64_t StoredBytesOf(uint32_t blob_file_index, uint64_t key_bytes, uint64_t record_bytes);

/// blob_files: in the order of their indexes.
void EncodeProperties(const ValueFileProperties& properties,
                      std::span<const BlobReference> blob_files, std::string* out);
/// Returns null, or an error message. *blob_files keeps the order of the indexes;
/// properties->blob_files is sorted.
const char* DecodeProperties(Slice in, ValueFileProperties* properties,
                             std::vector<FileId>* blob_files);
/// Sorts blob files. Returns false if a blob file occurs twice.
bool SortBlobFiles(std::vector<BlobReference>* blob_files);

}  // namespace lava::vsst
