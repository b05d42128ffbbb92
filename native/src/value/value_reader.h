// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "base/block.h"
#include "base/file_id.h"
#include "base/record.h"
#include "cache/block_cache.h"
#include "fs/file_system.h"
#include "lava/slice.h"
#include "lava/status.h"
#include "memory/memory_counter.h"
#include "value/record_pieces.h"
#include "value/scan_ahead.h"
#include "value/value_file.h"

namespace lava {

/// Where all records of one key are in a value file.
/// Units:      bytes.
struct ValueHandle {
  uint64_t offset = 0, bytes = 0;
};

/// An entry of the dense key index, without its key: one record.
struct KeyIndexEntry {
  FileId blob_file;
  uint64_t raw_bytes = 0;
  ValueHandle handle;  // of this record only
};

/// Walks the dense key index of a value file, or the index of a value log, in order of (key,
/// blob file); reads no value.
/// Threads:    one thread.
/// Ownership:  the reader must outlive it; key() is valid until the next Next().
/// Errors:     an error ends the walk: Valid() is false and status() says why.
class ValueKeyIterator {
 public:
  virtual ~ValueKeyIterator() = default;
  virtual bool Valid() const = 0;
  virtual void Next() = 0;
  virtual Slice key() const = 0;
  virtual const FileId& blob_file() const = 0;
  virtual uint64_t raw_bytes() const = 0;
  /// Location of the whole record.
  virtual uint64_t record_offset() const = 0;
  virtual uint64_t record_bytes() const = 0;
  KeyIndexEntry index_entry() const {
    return {blob_file(), raw_bytes(), {record_offset(), record_bytes()}};
  }
  virtual Status status() const = 0;
};

/// Gets values of one file in ascending order of their keys, for compactions that rewrite values.
/// Reads a sorted file ahead in pieces, and bypasses the cache.
/// Threads:    one thread.
/// Ownership:  the reader must outlive it; a value is valid until the next Get() or GetStored().
/// Errors:     as ValueReader::Get().
class ValueScanner {
 public:
  virtual ~ValueScanner() = default;
  /// Like ValueReader::Get(), but returns the value as it is stored.
  virtual Status GetStored(Slice key, const FileId& blob_file, StoredValue* stored) = 0;
  /// Decodes the value that GetStored() gave last; *value is valid as long as the stored one.
  virtual Status Decode(const StoredValue& stored, Slice* value) = 0;
  Status Get(Slice key, const FileId& blob_file, Slice* value) {
    StoredValue stored;
    LAVA_RETURN_IF_ERROR(GetStored(key, blob_file, &stored));
    return Decode(stored, value);
  }
};

/// An open value SST. Footer, properties, top index and dictionary are in memory; crit-bit trees
/// are in the cache's index segment, small values in its data segment.
/// Threads:    any thread.
/// Ownership:  cache, counter and counters must outlive it, and it must outlive its iterators and
///             scanners. The destructor erases the file's blocks from the cache and releases what
///             it charged.
/// Errors:     Corruption (path and offset) and IOError of any read; NotSupported of Open().
class ValueReader {
 public:
  virtual ~ValueReader() = default;
  struct ReadCounters {                         // owned by the caller; may be null
    std::atomic<uint64_t> value_reads{0};       // reads of records from storage
    std::atomic<uint64_t> value_bytes_read{0};  // their bytes
    std::atomic<uint64_t> value_cache_hits{0};  // records found in the cache
    std::atomic<uint64_t> index_reads{0};       // index partitions read from storage
    CacheUse cache;
  };
  static Result<std::shared_ptr<ValueReader>> Open(std::unique_ptr<fs::RandomFile> file,
                                                   BlockCache* cache, MemoryCounter* counter,
                                                   ReadCounters* counters);
  /// Gets the value of (key, blob file); *value borrows from *pin. Returns NotFound if the file has
  /// no such record. Once the index is cached, an absent key costs no I/O, except for one in 256
  /// whose fingerprint matches another key's. A value costs one read of exactly its key's records.
  /// fill_cache: small values stay in the cache's data segment.
  virtual Status Get(Slice key, const FileId& blob_file, bool fill_cache, Slice* value,
                     std::shared_ptr<const void>* pin) const = 0;
  /// Like Get(), but hands the value to a sink in pieces and bypasses the cache. Returns false,
  /// with nothing handed to the sink, if the record is compressed or not the expected one; Get()
  /// then gives the value or the error. Errors: also those of the sink. An error may come after the
  /// last piece.
  virtual Result<bool> GetInPieces(Slice key, const FileId& blob_file,
                                   const PiecewiseRead& read) const = 0;
  /// piece_bytes_max: largest read while the keys asked for follow each other in the file.
  virtual std::unique_ptr<ValueScanner> NewScanner(uint64_t piece_bytes_max) const = 0;

  /// Locate(), CopyCached() and CopyFrom() are the steps of a Get(), for callers that read many
  /// values at once. Locate() finds the handle of the key's records, or NotFound, by the index
  /// alone.
  virtual Status Locate(Slice key, const FileId& blob_file, ValueHandle* handle) const = 0;
  /// Copies the value to the raw_bytes bytes at `to` if the cache has it; otherwise returns false.
  /// NotFound and Corruption: as CopyFrom().
  virtual Result<bool> CopyCached(const ValueHandle& handle, Slice key, const FileId& blob_file,
                                  uint64_t raw_bytes, char* to) const = 0;
  /// Copies the value out of `records`, the bytes that the handle names. NotFound: the records
  /// are another key's, or of other blob files. Corruption: also if the value's length is not
  /// raw_bytes.
  virtual Status CopyFrom(Slice records, const ValueHandle& handle, Slice key,
                          const FileId& blob_file, bool fill_cache, uint64_t raw_bytes,
                          char* to) const = 0;
  virtual const fs::RandomFile& file() const = 0;
  /// Readahead of scans over this file; null for a value log, whose records are not in key order.
  virtual ScanAhead* ahead() const = 0;
  /// Counts reads of records that the caller made.
  virtual void CountReads(uint64_t reads, uint64_t bytes) const = 0;

  /// For the collector: walks all keys; TakeStored() gives the value of one of them as it is
  /// stored.
  virtual std::unique_ptr<ValueKeyIterator> NewKeyIterator() const = 0;
  /// Checks record, the bytes at the handle of `at`, which NewKeyIterator() gave for key, and
  /// returns its value undecoded: *stored borrows from record. A value of codec kZstdDictionary can
  /// only be decoded with this file's dictionary: pass it through DecodeStored() before it goes to
  /// another file.
  virtual Status TakeStored(Slice key, const KeyIndexEntry& at, Slice record, Compression* codec,
                            Slice* stored) const = 0;
  /// Replaces *raw by the decoded value. codec, stored: as TakeStored() gave them.
  virtual Status DecodeStored(const KeyIndexEntry& at, Compression codec, Slice stored,
                              std::string* raw) const = 0;
  /// Reads the record of the iterator's entry into *buffer, and passes it to TakeStored(); *stored
  /// borrows from *buffer.
  /// Errors: InvalidArgument if the iterator is not valid.
  Status ReadStored(const ValueKeyIterator& at, std::string* buffer, Compression* codec,
                    Slice* stored) const;
  /// Reads the whole file, checks every checksum, and that the indexes agree with the records.
  virtual Status VerifyAll() const = 0;
  virtual const ValueFileProperties& properties() const = 0;
  virtual const std::string& path() const = 0;
};

}  // namespace lava
