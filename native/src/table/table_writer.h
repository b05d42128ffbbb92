// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

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
  uint32_t partition_bytes = 1;  // of an internal key, before its table id
  /// Largest value of one record: merges fold lists only up to this size.
  uint64_t value_bytes_max = kListBytesMax;
  bool sync = false;
  /// All index partitions of a file are kept for TakeIndexPartitions() if they fit into this.
  /// 0: never.
  uint64_t kept_index_partition_bytes = 0;
  /// False: all records go to data blocks, as in versions 1 and 2, which only tests still write.
  bool decouple_records = true;
};

/// Properties of a finished key SST. Its properties block stores all but the file's size and
/// checksum; the manifest stores these two and most of the others.
struct TableProperties {
  uint64_t file_bytes = 0;
  uint32_t file_crc32c = 0;      // of all bytes of the file; only its writer sets it, otherwise 0
  uint32_t partition_bytes = 1;  // of an internal key, before its table id
  uint64_t records = 0, deletes = 0, appends = 0, prefix_deletes = 0, range_tombstones = 0;
  uint64_t raw_key_bytes = 0, raw_value_bytes = 0;
  uint64_t data_blocks = 0, index_partitions = 0;  // blocks of records; blocks of index and filter
  /// [lower, upper) covers every record, prefix delete (to its prefix's end) and range tombstone.
  /// Both are empty in an empty file; otherwise an empty upper means that there is no upper bound.
  std::string lower, upper;
  struct PerTable {
    uint64_t records = 0, bytes = 0;  // of keys and values, uncompressed, with those in value files
    int64_t oldest_expiry_ms = INT64_MAX;  // reserved for TTL-driven compaction
  };
  std::map<uint64_t, PerTable> tables;  // by table id
  /// A blob file that references of this file name by its index in blob_files.
  struct NamedBlobFile {
    struct Share {
      uint64_t partition = 0;
      uint64_t records = 0, raw_bytes = 0;  // number of references, and bytes of their values
    };
    FileId blob_file;
    std::vector<Share> partitions;  // ascending
  };
  std::vector<NamedBlobFile> blob_files;
};

/// Writes one key SST (docs/ksst-format.md). Records must be added in RecordIterator order, range
/// tombstones at any time.
/// Threads:    one thread.
/// Durability: after Finish() is OK: flushed (synced if options.sync) and closed.
/// Errors:     IOError, NoSpace: the first one is repeated by every later call, and the file is
///             garbage, which the caller must remove. InvalidArgument: a record out of order, of a
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
  /// Call this after Finish(). Returns all index partitions before compression, in order, for
  /// TableReader::Warm(). Empty if they took more than kept_index_partition_bytes.
  virtual std::vector<std::string> TakeIndexPartitions() = 0;
};

/// The least key behind all keys that start with prefix; empty if there is none (all 0xff).
std::string PrefixEnd(Slice prefix);

}  // namespace lava
