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

/// An open key SST: footer, properties, top index and range tombstones in memory, the rest
/// through the cache. Corruption messages name path and offset.
/// Threads:    any thread.
/// Ownership:  cache, counter and counters must outlive it; iterators must not. The destructor
///             erases the file's blocks from the cache and releases what was charged.
/// Errors:     Corruption, IOError, NeedsFile of any read; NotSupported of Open: a newer format.
class TableReader : public Attachment {
 public:
  struct ReadCounters {  // of the caller; may be null
    std::atomic<uint64_t> filter_useful{0}, block_reads{0};
    CacheUse cache;
  };
  static Result<std::shared_ptr<TableReader>> Open(std::unique_ptr<fs::RandomFile> file,
                                                   BlockCache* cache, MemoryCounter* counter,
                                                   ReadCounters* counters);
  /// NeedsFile, with the file's name as its message, until it is there: see LateTableReader.
  virtual Status Presence() const { return Status::OK(); }
  /// Tells lookup the point record, then a prefix delete of its prefix, then range tombstones.
  virtual Status Get(Lookup* lookup) const = 0;
  /// Fetches what Get will touch first into the processor's caches, as far as that is in memory:
  /// called for every run before the first Get, their waits for memory overlap.
  virtual void Prefetch(const Lookup& lookup) const = 0;
  /// The same for keys in ascending order, cheaper per key.
  virtual Status MultiGet(std::span<Lookup*> lookups) const = 0;
  /// False only if no record of this file starts with prefix (by filters alone) and no
  /// prefix delete or range tombstone matters to it; true may be wrong.
  virtual Result<bool> MayHavePrefix(Slice prefix) const = 0;
  /// Whether a kPrefixDelete record stands at exactly this prefix.
  virtual Result<bool> HasPrefixDelete(Slice prefix) const = 0;
  struct IterateOptions {
    bool fill_cache = true;        // compaction and savepoints: false
    uint32_t readahead_bytes = 0;  // > 0: sequential reads in pieces of this size, past the cache
    // Without fill_cache: data blocks that the cache has come from there, indexes go by it, and
    // pieces begin small and grow to readahead_bytes. For walks that are made page by page.
    bool look_in_cache = false;
    // With fill_cache: charged while a walk goes on through blocks that the cache does not have,
    // which are then read ahead in pieces that grow. Null, or refused: block by block.
    MemoryCounter* ahead_memory = nullptr;
    bool goes_on = false;  // a walk before this one ended where it begins: it is read ahead at once
    /// About what the walk will want of the file; as much is read ahead at once when the cache does
    /// not have its beginning. 0: not known.
    uint64_t expected_bytes = 0;
  };
  virtual std::unique_ptr<RecordIterator> NewIterator(const IterateOptions& options) const = 0;
  /// Puts what the file's writer kept of it into the cache, so that the first lookups in a new file
  /// need not read its index. What is wrong with it is left to these lookups.
  virtual void Warm(std::span<const std::string> partitions) const = 0;
  virtual const TableProperties& properties() const = 0;
  virtual const RangeTombstoneSet& range_tombstones() const = 0;
  virtual const std::string& path() const = 0;
};

}  // namespace lava
