// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lava/slice.h"
#include "lava/status.h"

/// Encoding of LavaLog's files (docs/lavalog-format.md), without I/O.
/// Threads:    none shared.
/// Errors:     decoding checks everything; Corruption says what is wrong, the caller adds where.
namespace lava::log {

using LogId = uint64_t;

inline constexpr uint32_t kFormatVersion = 1;
/// Largest record. A physical log is at most as long as its capacity plus one batch.
inline constexpr uint32_t kRecordBytesMax = 64u << 20;
/// Most entries of a pack.
inline constexpr uint32_t kPackEntries = 256;

/// The kinds of physical logs.
enum class FileKind : uint8_t { kData = 0, kMeta = 1, kIndex = 2, kCheckpoint = 3 };
std::string FileName(FileKind kind, uint32_t number);
/// Suffix of a file that is not complete. It is renamed when it is.
inline constexpr const char* kUnfinished = ".tmp";
/// Whether name is that of a physical log; if so, *kind and *number are set.
bool ParseFileName(Slice name, FileKind* kind, uint32_t* number);

/// The first bytes of each file, before its frames.
struct FileHeader {
  FileKind kind = FileKind::kData;
  uint32_t number = 0;
  uint64_t file_id = 0;  // random; binds the file's frames to it
  // Of a metadata file: its predecessor, and how many bytes of that one count; 0: none.
  uint32_t previous = 0;
  uint64_t previous_bytes = 0;
  uint32_t boot = 0;  // FileSystem::boot() when it was written; 0: unknown
};
inline constexpr size_t kFileHeaderBytes = 48;
void EncodeFileHeader(const FileHeader& header, std::string* out);
Status DecodeFileHeader(Slice bytes, FileKind kind, uint32_t number, FileHeader* header);

/// Frames. Every payload begins with a varint that says how far the file had been synced when the
/// frame was written.
enum class FrameType : uint8_t {
  kBatch = 1,      // records of logical logs, one after another
  kPack = 2,       // up to 256 entries of one logical log
  kDirectory = 3,  // all packs of the file: its reverse index
  kMeta = 4,       // changes of the namespace
  kCheckpoint = 5,
};
/// The varint at the front of a frame's payload; 0 when there is none.
uint64_t DurableOf(Slice payload);

/// An entry of the index: where a record's header is, and the length of its data.
struct IndexEntry {
  uint64_t lsn = 0;
  uint32_t offset = 0;
  uint32_t bytes = 0;
  friend bool operator==(const IndexEntry&, const IndexEntry&) = default;
};

/// A record of a batch: log, LSN, length (varints), CRC32C of log, LSN and data, data. Each record
/// has its own checksum, so that it can be read without the others.
void PutRecord(LogId log, uint64_t lsn, Slice data, std::string* out);
size_t RecordHeaderBytes(LogId log, uint64_t lsn, uint32_t bytes);
inline uint64_t RecordBytes(LogId log, const IndexEntry& entry) {
  return RecordHeaderBytes(log, entry.lsn, entry.bytes) + entry.bytes;
}
struct Record {
  LogId log = 0;
  uint64_t lsn = 0;
  Slice data;  // borrows
};
/// Takes a record off the front of *in. Errors: Corruption.
Status GetRecord(Slice* in, Record* record);

/// A pack as memory keeps it: its range of LSNs, and where its frame is.
struct Pack {
  uint64_t first = 0, last = 0;
  uint32_t count = 0;
  uint32_t file = 0;           // the data file of the entries
  uint32_t offset = 0;         // of the frame
  uint32_t bytes = 0;          // of the frame
  uint64_t data_bytes = 0;     // of the records, with their headers
  bool in_index_file = false;  // the frame is in INDEX-<file>, not in DATA-<file>
  friend bool operator==(const Pack&, const Pack&) = default;
};
/// Entries must ascend by LSN; at least one and at most kPackEntries.
void PutPack(LogId log, const std::vector<IndexEntry>& entries, std::string* out);
Status GetPack(Slice payload, LogId* log, std::vector<IndexEntry>* entries);

/// The handle of a pack: all fields but `file`, which the reader knows otherwise.
void PutPackHandle(const Pack& pack, std::string* out);
bool GetPackHandle(Slice* in, Pack* pack);

/// A file's reverse index: the packs in it, by log.
struct Directory {
  struct OfLog {
    LogId log = 0;
    std::vector<Pack> packs;
  };
  std::vector<OfLog> logs;
  uint64_t records_end = 0;  // end of the last valid frame of records
};
void PutDirectory(const Directory& directory, std::string* out);
Status GetDirectory(Slice payload, uint32_t file, Directory* directory);

/// The last bytes of a sealed file: the offset of its directory's frame.
inline constexpr size_t kTrailerBytes = 24;
void PutTrailer(uint64_t file_id, uint64_t directory_offset, std::string* out);
/// False: the bytes are no trailer of that file.
bool GetTrailer(Slice bytes, uint64_t file_id, uint64_t* directory_offset);

/// A change of the namespace.
struct MetaOp {
  enum class Kind : uint8_t { kCreate = 1, kDelete = 2, kTrim = 3, kRemoveFile = 4 };
  Kind kind = Kind::kCreate;
  LogId log = 0;          // kRemoveFile: the data file's number
  uint64_t lsn = 0;       // kTrim: the first LSN that stays
  std::string name = {};  // kCreate
};
void PutMetaOp(const MetaOp& op, std::string* out);
Status GetMetaOp(Slice* in, MetaOp* op);

}  // namespace lava::log
