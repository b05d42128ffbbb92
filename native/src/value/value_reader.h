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

/// Where all records of one key stand in a value file.
/// Units:      bytes.
struct ValuePlace {
  uint64_t offset = 0, bytes = 0;
};

/// What the dense key index says of a record; the key is the iterator's.
struct StoredPlace {
  FileId birth;
  uint64_t raw_bytes = 0;
  ValuePlace place;  // of the record alone
};

/// Walks a value file's dense key index in order, by (key, birth); reads no value.
/// Threads:    one thread.
/// Ownership:  the reader must outlive it; key() is valid until the next Next().
/// Errors:     an error ends the walk: Valid() is false and status() says why.
class ValueKeyIterator {
 public:
  virtual ~ValueKeyIterator() = default;
  virtual bool Valid() const = 0;
  virtual void Next() = 0;
  virtual Slice key() const = 0;
  virtual const FileId& birth() const = 0;
  virtual uint64_t raw_bytes() const = 0;
  /// Where the whole record stands.
  virtual uint64_t record_offset() const = 0;
  virtual uint64_t record_bytes() const = 0;
  StoredPlace stored_place() const {
    return {birth(), raw_bytes(), {record_offset(), record_bytes()}};
  }
  virtual Status status() const = 0;
};

/// Gets values of one file in ascending order of their keys out of pieces of the file that it reads
/// ahead, past the cache: for compactions that take values along.
/// Threads:    one thread.
/// Ownership:  the reader must outlive it; a value is valid until the next one is got.
class ValueScanner {
 public:
  virtual ~ValueScanner() = default;
  /// As ValueReader::Get(), but the value is as it is stored.
  virtual Status GetStored(Slice key, const FileId& birth, StoredValue* stored) = 0;
  /// The value that GetStored() gave last; valid as long.
  virtual Status Decode(const StoredValue& stored, Slice* value) = 0;
  Status Get(Slice key, const FileId& birth, Slice* value) {
    StoredValue stored;
    LAVA_RETURN_IF_ERROR(GetStored(key, birth, &stored));
    return Decode(stored, value);
  }
};

/// An open value SST: footer, properties, top index and dictionary in memory, crit-bit trees
/// through the cache (index segment), small values through its data segment.
/// Threads:    any thread.
/// Ownership:  cache, counter and counters must outlive it; iterators must not. The destructor
///             erases the file's blocks from the cache and releases what was charged.
/// Errors:     Corruption (path and offset), IOError, NeedsFile of any read; NotSupported of Open.
class ValueReader : public Attachment {
 public:
  struct ReadCounters {                         // of the caller; may be null
    std::atomic<uint64_t> value_reads{0};       // reads of records from storage
    std::atomic<uint64_t> value_bytes_read{0};  // their bytes
    std::atomic<uint64_t> value_cache_hits{0};  // records found in the cache
    std::atomic<uint64_t> index_reads{0};       // crit-bit partitions read from storage
    CacheUse cache;
  };
  static Result<std::shared_ptr<ValueReader>> Open(std::unique_ptr<fs::RandomFile> file,
                                                   BlockCache* cache, MemoryCounter* counter,
                                                   ReadCounters* counters);
  /// NeedsFile, with the file's name as its message, until it is there: see LateValueReader.
  virtual Status Presence() const { return Status::OK(); }
  /// The value of (key, birth): *value borrows from *pin. NotFound when this file has none of that
  /// key and birth: found out without I/O but for a warm-up of the index, save for one wrong
  /// candidate in 256. With a warm index a Get is one read of exactly the record's bytes.
  /// fill_cache: small values stay in the cache's data segment.
  virtual Status Get(Slice key, const FileId& birth, bool fill_cache, Slice* value,
                     std::shared_ptr<const void>* pin) const = 0;
  /// The same piece by piece, past the cache. False, and the sink got nothing: it cannot be read so
  /// (compressed, not what is expected), and Get() tells more. Errors: also the sink's; one may
  /// come when the sink has all pieces.
  virtual Result<bool> GetInPieces(Slice key, const FileId& birth,
                                   const PiecewiseRead& read) const = 0;
  /// piece_bytes_max: of what it reads at once while keys go on from where they were.
  virtual std::unique_ptr<ValueScanner> NewScanner(uint64_t piece_bytes_max) const = 0;

  /// The steps of a Get, for who reads many values at once: where the key's records are, or
  /// NotFound, by the index alone;
  virtual Status Locate(Slice key, const FileId& birth, ValuePlace* place) const = 0;
  /// the value, copied to the raw_bytes bytes at `to`, if the cache has it: else false;
  virtual Result<bool> CopyCached(const ValuePlace& place, Slice key, const FileId& birth,
                                  uint64_t raw_bytes, char* to) const = 0;
  /// and the same out of `records`, the bytes of the file at that place. NotFound: they are another
  /// key's, or of other births. Corruption also when the value has not raw_bytes bytes.
  virtual Status CopyFrom(Slice records, const ValuePlace& place, Slice key, const FileId& birth,
                          bool fill_cache, uint64_t raw_bytes, char* to) const = 0;
  virtual const fs::RandomFile& file() const = 0;
  /// What scans read ahead of the file; null where keys that follow each other do not stand so.
  virtual ScanAhead* ahead() const = 0;
  /// Counts reads of records that the caller made.
  virtual void CountReads(uint64_t reads, uint64_t bytes) const = 0;

  /// For the collector: every key, and then the value of one of them as it is stored.
  virtual std::unique_ptr<ValueKeyIterator> NewKeyIterator() const = 0;
  /// Checks what stands in the file at a place that its iterator showed with this key, and gives
  /// the value undecoded: *stored borrows from record. A value of codec kZstdDictionary means
  /// something in this file alone: what goes elsewhere is decoded by DecodeStored().
  virtual Status TakeStored(Slice key, const StoredPlace& at, Slice record, Compression* codec,
                            Slice* stored) const = 0;
  /// Replaces *raw by the value that TakeStored() gave.
  virtual Status DecodeStored(const StoredPlace& at, Compression codec, Slice stored,
                              std::string* raw) const = 0;
  /// Reads the record that the iterator stands at into *buffer, and takes it.
  /// Errors: InvalidArgument when it stands at none.
  Status ReadStored(const ValueKeyIterator& at, std::string* buffer, Compression* codec,
                    Slice* stored) const;
  /// Reads everything and checks every checksum, and that both indexes agree with the records.
  virtual Status VerifyAll() const = 0;
  virtual const ValueFileProperties& properties() const = 0;
  virtual const std::string& path() const = 0;
};

}  // namespace lava
