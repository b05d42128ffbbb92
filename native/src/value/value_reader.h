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
#include "value/value_file.h"

namespace lava {

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
  virtual Status status() const = 0;
};

/// Gets values of one file in ascending order of their keys, as a scan wants them: the first few as
/// Get() does, later ones out of pieces of the file that it reads ahead, past the cache.
/// Threads:    one thread.
/// Ownership:  the reader must outlive it; a value is valid until the next Get() or its pin's end.
class ValueScanner {
 public:
  virtual ~ValueScanner() = default;
  /// As ValueReader::Get(). *pin may stay null.
  virtual Status Get(Slice key, const FileId& birth, Slice* value,
                     std::shared_ptr<const void>* pin) = 0;
};

/// Reads values of one file as they are stored, in ascending order: for the collector. A record of
/// a device's block and more is read by itself, so that dead ones are never read; of smaller ones
/// that stand near each other, those between them come along, in pieces of up to 256 KiB: they are
/// in blocks that must be read anyway, and a call for each would cost more than their bytes.
/// Threads:    one thread.
/// Ownership:  the reader must outlive it; *stored is valid until the next Read().
/// Errors:     as ValueReader::ReadStored.
class StoredValueReader {
 public:
  virtual ~StoredValueReader() = default;
  virtual Status Read(const ValueKeyIterator& at, Compression* codec, uint32_t* raw_bytes,
                      Slice* stored) = 0;
  virtual uint64_t bytes_read() const = 0;
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
  };
  static Result<std::shared_ptr<ValueReader>> Open(std::unique_ptr<fs::RandomFile> file,
                                                   BlockCache* cache, MemoryCounter* counter,
                                                   ReadCounters* counters);
  /// The value of (key, birth): *value borrows from *pin. NotFound when this file has none of that
  /// key and birth: found out without I/O but for a warm-up of the index, save for one wrong
  /// candidate in 256. With a warm index a Get is one read of exactly the record's bytes.
  /// fill_cache: small values stay in the cache's data segment.
  virtual Status Get(Slice key, const FileId& birth, bool fill_cache, Slice* value,
                     std::shared_ptr<const void>* pin) const = 0;
  virtual std::unique_ptr<ValueScanner> NewScanner() const = 0;
  /// For the collector: every key, and then the value of one of them as it is stored.
  virtual std::unique_ptr<ValueKeyIterator> NewKeyIterator() const = 0;
  /// Reads the record that the iterator stands at, checks it, and gives its value undecoded.
  /// *stored borrows from *buffer. A value of codec kZstdDictionary means something in this file
  /// alone: what goes elsewhere is decoded by DecodeStored().
  virtual Status ReadStored(const ValueKeyIterator& at, std::string* buffer, Compression* codec,
                            uint32_t* raw_bytes, Slice* stored) const = 0;
  /// Replaces *raw by the value that ReadStored() gave where the iterator stands.
  virtual Status DecodeStored(const ValueKeyIterator& at, Compression codec, uint32_t raw_bytes,
                              Slice stored, std::string* raw) const = 0;
  virtual std::unique_ptr<StoredValueReader> NewStoredReader() const = 0;
  /// Reads everything and checks every checksum, and that both indexes agree with the records.
  virtual Status VerifyAll() const = 0;
  virtual const ValueFileProperties& properties() const = 0;
  virtual const std::string& path() const = 0;
};

}  // namespace lava
