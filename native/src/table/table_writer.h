#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/file_id.h"
#include "base/range_tombstones.h"
#include "base/record.h"
#include "fs/file_system.h"
#include "lava/options.h"
#include "lava/status.h"

namespace lava {

struct TableWriterOptions {
  uint32_t block_bytes = 4096;
  uint32_t index_partition_bytes = 16384;
  uint32_t filter_bits_per_key = 10;
  Compression compression = Compression::kLz4;
  uint32_t partition_bytes = 1;  // where the table id stands in an internal key
  /// What one record's value may hold: merges fold lists up to here, and no further.
  uint64_t value_bytes_max = kListBytesMax;
  bool sync = false;
  /// Partitions of index are kept for TakePartitions() if all of a file's take no more. 0: never.
  uint64_t kept_partition_bytes = 0;
  /// False: all records in data blocks, as version 1 or 2, which only tests write now.
  bool decouple_records = true;
};

/// What a finished key SST holds; stored in its properties block and repeated in the manifest.
struct TableProperties {
  uint64_t file_bytes = 0;
  uint32_t file_crc32c = 0;      // of all bytes of the file; known to the writer only, else 0
  uint32_t partition_bytes = 1;  // where the table id stands in an internal key
  uint64_t records = 0, deletes = 0, appends = 0, prefix_deletes = 0, range_tombstones = 0;
  uint64_t raw_key_bytes = 0, raw_value_bytes = 0;
  uint64_t data_blocks = 0, partitions = 0;  // blocks of records; blocks of index and filter
  /// [lower, upper) covers every record, prefix delete (to its prefix's end) and range tombstone.
  /// Both are empty in an empty file; else an empty upper has no end.
  std::string lower, upper;
  struct PerTable {
    uint64_t records = 0, bytes = 0;  // of keys and values, before compression, wherever they are
    int64_t oldest_expiry_ms = INT64_MAX;  // reserved for TTL-driven compaction
  };
  std::map<uint64_t, PerTable> tables;  // by table id
  /// A birth name that references of this file have; its place here is its index in them.
  struct NamedBirth {
    struct Share {
      uint64_t partition = 0;
      uint64_t records = 0, raw_bytes = 0;  // that are referenced
    };
    FileId birth;
    std::vector<Share> partitions;  // ascending
  };
  std::vector<NamedBirth> births;
};

/// Writes one key SST (docs/ksst-format.md). Records in RecordIterator order; range tombstones at
/// any time.
/// Threads:    one thread.
/// Durability: after Finish() is OK: flushed (synced if options.sync) and closed.
/// Errors:     IOError, NoSpace: the first one is repeated by every later call, and the file is
///             garbage, to be removed by the caller. InvalidArgument: a record out of order, of a
///             reserved kind or beyond the limits of options.h; it was not added.
class TableWriter {
 public:
  virtual ~TableWriter() = default;
  static std::unique_ptr<TableWriter> Create(const TableWriterOptions& options,
                                             std::unique_ptr<fs::AppendFile> file,
                                             std::string path);
  virtual Status Add(const Record& record) = 0;
  virtual Status AddRangeTombstones(const RangeTombstoneSet& tombstones) = 0;
  virtual uint64_t estimated_bytes() const = 0;
  virtual Status Finish(TableProperties* properties) = 0;
  /// After Finish(): all partitions as they are before compression, in order, for
  /// TableReader::Warm(). Empty when they were too many to keep.
  virtual std::vector<std::string> TakePartitions() = 0;
};

/// The least key behind all keys that start with prefix; empty if there is none (all 0xff).
std::string PrefixEnd(Slice prefix);

}  // namespace lava
