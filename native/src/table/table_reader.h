// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/lookup.h"
#include "base/range_tombstones.h"
#include "base/record.h"
#include "cache/block_cache.h"
#include "fs/file_system.h"
#include "lava/db.h"
#include "memory/memory_counter.h"
#include "table/table_writer.h"

namespace lava {

/// An open key SST. Footer, properties, top index and range tombstones are in memory, the other
/// parts are cached.
/// Threads:    any thread.
/// Ownership:  cache, counter and counters must outlive it, and it must outlive its iterators. The
///             destructor erases the file's blocks from the cache and releases what it charged.
/// Errors:     Corruption (path and offset) and IOError of any read; NotSupported of Open() for a
///             newer format.
class TableReader {
 public:
  virtual ~TableReader() = default;
  struct ReadCounters {  // owned by the caller; may be null
    std::atomic<uint64_t> filter_useful{0}, block_reads{0};
    CacheUse cache;
  };
  static Result<std::shared_ptr<TableReader>> Open(std::unique_ptr<fs::RandomFile> file,
                                                   BlockCache* cache, MemoryCounter* counter,
                                                   ReadCounters* counters);
  /// Tells the lookup about the key's point record, then a prefix delete of its prefix, then range
  /// tombstones.
  virtual Status Get(Lookup* lookup) const = 0;
  /// Prefetches the memory that Get() will touch first into the processor's caches. When this is
  /// called for every run before the first Get(), their memory accesses overlap.
  virtual void Prefetch(const Lookup& lookup) const = 0;
  /// False only if no record of this file starts with prefix (by filters alone), and no prefix
  /// delete or range tombstone affects the prefix. True may be wrong.
  virtual Result<bool> MayHavePrefix(Slice prefix) const = 0;
  /// Whether the file has a kPrefixDelete record of exactly this prefix.
  virtual Result<bool> HasPrefixDelete(Slice prefix) const = 0;
  struct IterateOptions {
    bool fill_cache = true;        // compaction and savepoints: false
    uint32_t readahead_bytes = 0;  // if not 0: sequential reads of this size, past the cache
    // Without fill_cache: takes data blocks from the cache if it has them, and reads indexes
    // through the cache. Reads begin small and grow to readahead_bytes. For walks that are made
    // page by page.
    bool look_in_cache = false;
    // With fill_cache: charged while a walk goes on through blocks that the cache does not have,
    // which are then read ahead in growing pieces. If null or refused, the walk reads block by
    // block.
    MemoryCounter* ahead_memory = nullptr;
    bool goes_on = false;  // it continues an earlier walk: reads ahead at once
    /// Approximate bytes of the file that the walk will want. They are read ahead at once if the
    /// cache does not have the first of them. 0: unknown.
    uint64_t expected_bytes = 0;
  };
  virtual std::unique_ptr<RecordIterator> NewIterator(const IterateOptions& options) const = 0;
  /// Puts the index partitions that the file's writer kept into the cache, so that the first
  /// lookups in a new file need not read them. Wrong index partitions are ignored: lookups read
  /// them from the file.
  virtual void Warm(std::span<const std::string> index_partitions) const = 0;
  virtual const TableProperties& properties() const = 0;
  virtual const RangeTombstoneSet& range_tombstones() const = 0;
  virtual const std::string& path() const = 0;
};

}  // namespace lava
