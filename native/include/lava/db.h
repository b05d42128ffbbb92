// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lava/host.h"
#include "lava/options.h"
#include "lava/slice.h"
#include "lava/status.h"
#include "lava/ttl_time.h"
#include "lava/value_pieces.h"

namespace lava {

/// The flush that repeated calls of DB::Flush() wait for.
/// Threads:    one at a time.
/// Ownership:  the caller's, of one flush.
struct FlushTicket {
  uint64_t seal = 0;           // the newest seal to wait for; 0: no call was made
  uint64_t failures_seen = 0;  // failures of flushes that need not be reported
};

/// A user's key: partition bytes, then the rest. prefix_bytes > 0: the first prefix_bytes bytes are
/// a prefix that may be deleted as a whole (Flink: key group, key and namespace of a map entry).
/// Every call that names this key must use the same prefix_bytes.
struct KeyRef {
  Slice key;
  uint32_t prefix_bytes = 0;
};

/// One registered state in an instance.
/// Threads:    any thread.
/// Ownership:  the DB's; valid until the DB is destroyed.
class Table {
 public:
  virtual ~Table() = default;
  virtual const std::string& name() const = 0;
  virtual uint64_t id() const = 0;  // 40 bits
  virtual TableOptions options() const = 0;
};

/// A value that was read. Reusable: keep one per thread to avoid allocations.
/// Ownership:  data() is valid until the next use as an output, Reset() or destruction, and must
///             not outlive the DB.
class PinnedValue {
 public:
  PinnedValue() = default;
  PinnedValue(const PinnedValue&) = delete;
  PinnedValue& operator=(const PinnedValue&) = delete;
  Slice data() const { return data_; }
  void Reset() {
    data_ = {};
    pin_.reset();
  }
  /// For the engine: data in own storage, or borrowed and kept alive by pin.
  std::string* storage() { return &storage_; }
  void UseStorage() {
    pin_.reset();
    data_ = storage_;
  }
  void Pin(Slice data, std::shared_ptr<const void> pin) {
    data_ = data;
    pin_ = std::move(pin);
  }

 private:
  Slice data_;
  std::string storage_;
  std::shared_ptr<const void> pin_;
};

/// A pinned, sealed view of an instance.
/// Threads:    any thread.
/// Ownership:  shared; releasing the last reference unpins its files. The object may outlive
///             Close() of the DB, which unpins its files; every later call returns Closed.
/// Errors:     NoSpace from every call, also from reads through the snapshot, after the DB has
///             given it up. The DB gives up the oldest snapshot and removes its files when writes
///             have waited half a minute for a limit in bytes that only files of snapshots exceed.
class Snapshot {
 public:
  struct File {
    std::string name;  // in the DB's directory; unique over all instances for ever
    uint64_t bytes = 0;
    uint32_t crc32c = 0;   // of the whole file (Castagnoli, as java.util.zip.CRC32C)
    bool missing = false;  // not fetched yet: see DB::MissingFiles()
  };
  virtual ~Snapshot() = default;

  /// Waits up to timeout_ms (at most 100) until all sealed runs of this snapshot are in files.
  /// Errors:     Busy: call again. IOError, NoSpace: the last flush attempt failed. The run is
  ///             still readable; the next call tries again.
  virtual Status WaitFlushed(uint32_t timeout_ms) = 0;
  /// The files, and the metadata from which DB::Open imports them. Only after WaitFlushed is OK.
  virtual Status Files(std::vector<File>* files, std::string* metadata) = 0;

  /// Data that was in no file when the snapshot was taken. Units: bytes.
  struct Flushed {
    uint64_t sealed_bytes = 0;  // of the sealed memtables
    uint64_t file_bytes = 0;    // of the files written from them so far
  };
  /// Complete once WaitFlushed is OK. May be called after Close() of the DB.
  virtual Flushed flushed() const = 0;
};

/// The contents of a checkpoint's metadata, for inspection before an import.
struct TableInfo {
  std::string name;
  uint64_t id = 0;
  TableOptions options;
};
struct MetadataInfo {
  uint32_t format_version = 0;
  uint32_t partition_bytes = 0;
  std::vector<TableInfo> tables;
  std::vector<Snapshot::File> files;
};
/// Errors: Corruption, NotSupported (newer format).
Result<MetadataInfo> ReadMetadata(Slice metadata);

/// One predecessor to adopt. Its files must already be in the DB's directory under their names,
/// except for files listed in missing: see DB::MissingFiles().
struct ImportSource {
  std::string metadata;          // from Snapshot::Files
  uint32_t partition_first = 0;  // inclusive; other partitions are not imported
  uint32_t partition_last = 0xff;
  std::vector<std::string> missing = {};  // names of missing files
};

struct ScanRequest {
  /// Bounds in user keys; an empty upper means the end of the table's partitions.
  Slice lower;                   // inclusive, unless lower_exclusive
  Slice upper;                   // exclusive
  bool lower_exclusive = false;  // continue after the last key of the previous page
  /// If > 0, all keys must start with the first prefix_bytes bytes of lower; upper is ignored.
  /// Shows keys that were written with the same prefix_bytes. Other keys with that prefix may be
  /// left out, since filters contain only whole keys and declared prefixes.
  uint32_t prefix_bytes = 0;
  bool keys_only = false;
  /// Use false for large scans whose data is not read again soon. Blocks that are not cached are
  /// then read ahead without filling the cache, at most 128 KiB per run and charged to the budget;
  /// if the budget refuses, block by block.
  bool fill_cache = true;
  /// Leading bytes of each user key that are left out of the page.
  uint32_t skip_key_bytes = 0;
  uint32_t entries_max = 1024;
  /// The page ends before an entry that would exceed this; a single entry may be larger.
  uint64_t bytes_max = 64 << 10;
};

/// Entries of a scan, one after the other: u32 big-endian key length, u32 big-endian value
/// length, key bytes, value bytes (none when keys_only). List values are in list_format.h form.
struct ScanPage {
  std::string bytes;
  uint32_t entries = 0;
  bool done = false;     // the range has no further entries
  std::string last_key;  // the last entry's whole user key, for the next page
};

/// A scan of several tables at once in the order of the tree: partition by partition, and within a
/// partition table by table.
struct TablesScanRequest {
  std::span<Table* const> tables;  // ascending by id, each once
  /// The end of the previous page: the table's index in `tables` and the last entry's whole user
  /// key. An empty key starts at the first entry.
  uint32_t after_table = 0;
  Slice after_key;
  bool fill_cache = true;  // as in ScanRequest
  uint32_t entries_max = 1024;
  /// Limit for entries and sections together, as in ScanRequest.
  uint64_t bytes_max = 64 << 10;
};

/// Neighbouring entries of a page with the same table and partition.
struct ScanSection {
  static constexpr uint32_t kBytes = 12;  // counted in bytes_max for each section
  uint32_t table = 0;                     // index in TablesScanRequest::tables
  uint32_t partition = 0;
  uint32_t entries = 0;  // at least 1
};
struct TablesScanPage {
  ScanPage page;
  std::vector<ScanSection> sections;  // covering all entries, in their order
};

/// Operations that are applied as a whole.
/// Threads:    one thread.
/// Ownership:  copies keys and values. Borrowed values must outlive the use of the batch.
class WriteBatch {
 public:
  enum class Kind : uint8_t { kPut = 1, kDelete = 2, kAppend = 3, kDeletePrefix = 4 };
  struct Operation {
    Kind kind;
    Table* table;
    uint64_t key_offset, value_offset, value_bytes;
    uint32_t key_bytes, prefix_bytes;
    const char* borrowed;  // the value; null: the value is in the batch
  };
  /// Adds a put or an append whose value is not copied.
  void Borrow(Kind kind, Table* table, KeyRef key, Slice value) {
    Add(kind, table, key, {});
    operations_.back().borrowed = value.data();
    operations_.back().value_bytes = value.size();
    borrowed_bytes_ += value.size();
  }
  void Put(Table* table, KeyRef key, Slice value) { Add(Kind::kPut, table, key, value); }
  void Delete(Table* table, KeyRef key) { Add(Kind::kDelete, table, key, {}); }
  void Append(Table* table, KeyRef key, Slice list_segments) {
    Add(Kind::kAppend, table, key, list_segments);
  }
  void DeletePrefix(Table* table, Slice prefix) {
    Add(Kind::kDeletePrefix, table, {prefix, 0}, {});
  }
  void Clear() {
    operations_.clear();
    bytes_.clear();
    borrowed_bytes_ = 0;
  }
  size_t count() const { return operations_.size(); }
  size_t byte_count() const { return bytes_.size() + borrowed_bytes_; }
  /// Heap memory that the batch occupies, also after Clear().
  size_t kept_bytes() const {
    return operations_.capacity() * sizeof(Operation) + bytes_.capacity();
  }
  std::span<const Operation> operations() const { return operations_; }
  Slice key(const Operation& o) const { return Slice(bytes_).substr(o.key_offset, o.key_bytes); }
  Slice value(const Operation& o) const {
    if (o.borrowed != nullptr) return {o.borrowed, o.value_bytes};
    return Slice(bytes_).substr(o.value_offset, o.value_bytes);
  }

 private:
  void Add(Kind kind, Table* table, KeyRef key, Slice value);
  std::vector<Operation> operations_;
  std::string bytes_;
  size_t borrowed_bytes_ = 0;
};

/// Counters of an instance, cheap to read. Units: bytes, counts, microseconds.
struct DBStatistics {
  uint64_t memtable_active_bytes = 0, memtable_sealed_bytes = 0, sealed_runs = 0;
  uint64_t live_file_bytes = 0, live_files = 0;  // named by the current version
  uint64_t pinned_file_bytes = 0;                // kept only by snapshots
  uint64_t files_at_level[8] = {}, bytes_at_level[8] = {};
  uint64_t pending_compaction_bytes = 0;
  uint64_t running_flushes = 0, running_compactions = 0;
  uint64_t flushes = 0, compactions = 0, trivial_moves = 0;
  uint64_t flush_bytes_written = 0, compaction_bytes_read = 0, compaction_bytes_written = 0;
  uint64_t user_bytes_written = 0;
  uint64_t reads = 0, writes = 0, scans = 0;
  uint64_t records_stepped_over = 0;  // by scans of prefixes: deletions and deleted records
  uint64_t filter_useful = 0, block_reads = 0;
  uint64_t stall_us = 0;  // time that writes waited, within calls or after Busy
  uint64_t background_errors = 0;
  uint64_t records_expired = 0;  // dropped by TTL in compaction
  uint64_t snapshots_open = 0;
  uint64_t estimated_records = 0;
  // Value files of the current version; they count into live_files and live_file_bytes too.
  uint64_t value_files = 0, value_file_bytes = 0;
  uint64_t hot_value_file_bytes = 0;  // of files that hold values of frequently written keys
  uint64_t value_raw_bytes = 0;       // of the values in them, before compression
  /// Bounds of the raw bytes of values that no reference reaches. They are equal unless a file was
  /// collected before or adopted in part. Values whose references are only hidden do not count.
  uint64_t garbage_bytes_min = 0, garbage_bytes_max = 0;
  uint64_t value_bytes_written = 0;                // by flushes and compactions
  uint64_t value_reads = 0, value_bytes_read = 0;  // read from storage, of records in value files
  uint64_t collections = 0, running_collections = 0;
  /// Of collected files: bytes of values read, and the whole files' bytes.
  uint64_t collection_bytes_read = 0, collection_input_bytes = 0;
  uint64_t collection_bytes_written = 0, collection_values_dead = 0;
  uint64_t value_files_expired = 0;  // dropped whole and unread: all values had expired
  uint64_t merged_value_bytes = 0;   // raw bytes of values that compactions rewrote
  /// Raw bytes planned to be rewritten by compactions, by reason: see ValuePolicy.
  uint64_t merged_for_garbage_bytes = 0, merged_for_order_bytes = 0, merged_down_bytes = 0;
  /// Of value files, by the level that their values were written to: the number of sorted groups
  /// (files that one job wrote in key order), and the most files that cover a single key.
  uint64_t value_groups_at_level[8] = {}, value_overlap_at_level[8] = {};
  /// Part of live_file_bytes that would remain after all compactions and collections, and raw bytes
  /// of values that newer records hide but no compaction has dropped yet. Both are estimated from
  /// the share of overwritten records that earlier compactions found.
  uint64_t estimated_live_bytes = 0, estimated_hidden_bytes = 0;
  uint64_t space_pressure_percent = 0;  // of the tighter space limit; 0 without a limit
  uint64_t space_stall_us = 0;          // part of stall_us spent waiting for space
  uint64_t memtable_killed_bytes = 0;   // keys and values that died before their flush
  /// CPU time of threads that ran jobs, including failed ones.
  uint64_t flush_cpu_us = 0, compaction_cpu_us = 0, collection_cpu_us = 0;
  /// Versions that jobs installed, and the CPU time for writing the manifest and publishing.
  uint64_t versions_installed = 0, install_cpu_us = 0;
  uint64_t publish_cpu_us = 0;        // part of install_cpu_us under the mutex that writes need
  uint64_t files_installed = 0;       // files added or removed by these versions; moved ones twice
  uint64_t values_logged = 0;         // written to a value file by the put: large, or logged
  uint64_t files_refused_direct = 0;  // use the page cache although direct I/O was requested
  uint64_t snapshots_given_up = 0;    // because writes needed the space they pinned
  /// Block cache: bytes of this instance's files in the cache now, and lookups since the instance
  /// was opened. Index partitions that readers keep need no lookup.
  uint64_t cache_used_bytes = 0, cache_hits = 0, cache_misses = 0;
  /// Parts of stall_us spent waiting for flushes, and for compactions of level 0. A write that
  /// waited for several reasons counts for the last one.
  uint64_t flush_stall_us = 0, compaction_stall_us = 0;
  uint64_t external_values = 0;    // stored in entries of the layer above
  uint64_t entry_bytes = 0;        // of logged entries
  uint64_t damaged_files = 0;      // found by jobs; see BackgroundEvent
  uint64_t listener_failures = 0;  // listener calls that threw
  uint64_t events_dropped = 0;     // not delivered: the queue was full, or memory was refused
};
/// A failure of background work that no call reports by itself.
struct BackgroundEvent {
  Status::Code code = Status::Code::kOk;  // of the failure
  /// The failed work has succeeded again. Never true for a damaged file, which stays damaged.
  bool over = false;
  std::string message;  // the failed operation, with file and offset; no keys
  std::string file;     // name of a damaged file; otherwise empty
  /// For a damaged file: the names of the tables with records in it. Otherwise empty.
  std::vector<std::string> tables;
  uint64_t failures = 0;  // failed attempts of this kind so far
  int64_t since_ms = 0;   // wall-clock time of the first failure
};

/// Counters of one table, from the files' properties and the memtables.
struct TableStatistics {
  uint64_t live_bytes = 0;  // key and value bytes in files, before compression; an upper bound
  uint64_t records = 0;
  /// Raw bytes of the table's values in value files, and the garbage among them. A file's garbage
  /// is divided between its tables in proportion to their bytes. Both are 0 for files of manifests
  /// before format 3, which do not record the tables of value files.
  uint64_t value_raw_bytes = 0, garbage_bytes = 0;
  uint64_t value_files = 0;       // with values of the table
  uint64_t separation_bytes = 0;  // current minimum size of separated values; 0: none
  uint64_t large_bytes = 0;       // minimum size of values logged at their put; 0: none
};

/// The location of an entry, or of the record of a value that ends an entry, in the log that an
/// instance shares with the layer above it. Units: bytes.
struct EntryLocation {
  /// Number of the changelog segment, ascending while the instance is open:
  /// DB::ChangelogSegmentName().
  uint64_t segment = 0;
  uint64_t offset = 0, bytes = 0;
  uint64_t sequence = 0;  // of an entry: counts entries from 1 on
};

/// Decodes consecutive entries from bytes of a changelog segment that were read, or copied
/// elsewhere, from `offset` of the changelog segment on. name: DB::ChangelogSegmentName(), which
/// each checksum covers. Errors: Corruption, with name and offset; *entries then has the entries
/// before the damage.
Status DecodeEntries(const std::string& name, uint64_t offset, Slice bytes,
                     std::vector<std::string>* entries);

/// LavaKV: an embedded store of tables in one log-structured tree.
/// Threads:    one writing thread at a time (checked: a second writer waits). Reads, scans,
///             snapshots and statistics from any thread, also concurrently with the writer.
/// Durability: set by options.wal. Without a write-ahead log, data is durable when the files of a
///             Snapshot are, or after Flush() with options.sync. A crash never leaves a directory
///             that opens with wrong data.
/// Errors:     any call may return Closed, Corruption, IOError, NeedsFile; writes also Busy
///             (after at most 100 ms; nothing was written: call again), NoSpace, MemoryLimit and
///             InvalidArgument (limits of options.h, key outside the instance's partitions).
/// Ownership:  the caller's. Call Close() first; otherwise the destructor closes.
class DB {
 public:
  virtual ~DB() = default;

  /// Opens or creates the instance in path. With imports, path must not hold an instance yet. The
  /// sources' files are adopted with bounds; only their footers and indexes are read, and nothing
  /// of missing files.
  static Result<std::unique_ptr<DB>> Open(const DBOptions& options, const std::string& path,
                                          std::span<const ImportSource> imports = {});

  /// Deletes the files of the instance in path and its write-ahead log. Other files and the
  /// directory stay. An interrupted call may be repeated; the remaining files are no instance.
  /// options: file_system, volume, wal and wal_directory as the instance was opened with; a lease.
  /// Errors: Busy while the instance is open; InvalidArgument if the instance has a log but
  /// options.wal says otherwise.
  static Status Destroy(const DBOptions& options, const std::string& path);

  /// Opens the table, or creates a new one. For a known table the options replace the old ones.
  /// Durability: the registration is in the manifest when the call returns. It survives a process
  /// kill and, with options.sync or a write-ahead log, a power cut. With WalMode::kWal, a power cut
  /// may lose the new creation of a table that was dropped before.
  /// Errors: InvalidArgument if another table has the hash of this name (names both).
  virtual Result<Table*> CreateTable(std::string_view name, const TableOptions& options) = 0;
  virtual Status SetTableOptions(Table* table, const TableOptions& options) = 0;
  /// Deletes all of the table's data and its registration; the Table becomes unusable (Closed).
  /// Durability: the drop is as durable as a write. Without a write-ahead log, a crash before the
  /// next flush is installed undoes the drop: the registration and the data in files are kept.
  virtual Status DropTable(Table* table) = 0;
  /// All tables in the manifest, including those not yet opened with CreateTable().
  virtual std::vector<TableInfo> ListTables() const = 0;

  virtual Status Put(Table* table, KeyRef key, Slice value) = 0;
  /// As Put(), for a value that need not be in memory as a whole. If the memtables' share of the
  /// budget has too little memory for the value, its pieces are written to a value file as they
  /// arrive, and other writers wait. Errors: also the source's. Busy: no part of the value was
  /// kept.
  virtual Status PutFrom(Table* table, KeyRef key, ValueSource* value) = 0;
  virtual Status Delete(Table* table, KeyRef key) = 0;
  /// segments: see list_format.h. Only for TableKind::kList. Does not read the list.
  virtual Status Append(Table* table, KeyRef key, Slice list_segments) = 0;
  /// As Append(), for list segments that need not be in memory as a whole. With a write-ahead log
  /// they are in memory, because the log's record contains them. Errors: as PutFrom().
  virtual Status AppendFrom(Table* table, KeyRef key, ValueSource* list_segments) = 0;
  /// Deletes all keys that start with prefix and were written with prefix_bytes == its length.
  /// Writes nothing if there are no such keys.
  virtual Status DeletePrefix(Table* table, Slice prefix) = 0;
  /// Deletes all keys of the table in [lower, upper).
  virtual Status DeleteRange(Table* table, Slice lower, Slice upper) = 0;
  /// Applies the whole batch or nothing. A batch never spans two memtables.
  virtual Status Write(const WriteBatch& batch) = 0;

  /// One log for two layers (XLL 3; docs/changelog.md). The layer above logs each of its changes as
  /// an entry in changelog segments in the instance's directory. A value that ends an entry is
  /// stored only there, because the changelog segment also serves as a value file of the tree.
  /// These calls are writes.
  ///
  /// Logs an entry of any bytes. *location: that of the entry (a nameless append).
  virtual Status AppendEntry(Slice entry, EntryLocation* location) = 0;
  /// Logs an entry and puts the value at its end. The entry must end with the value, but up to
  /// kInlineBytesMax leading bytes of the value may be missing; otherwise InvalidArgument.
  virtual Status PutExternal(Table* table, KeyRef key, Slice value, Slice entry,
                             EntryLocation* location) = 0;
  static constexpr size_t kInlineBytesMax = 1;
  static constexpr uint32_t kAppendedMax = 64;
  /// As PutExternal(), for the last write (late binding): for a layer that updates first and then
  /// logs. The last write must be a Put(), or an Append() of one element to a list without TTL. Its
  /// value or element must still be unchanged in the active memtable, be large enough to be
  /// separated, and end the entry. The changelog segment must have fewer than kAppendedMax elements
  /// of the list. The DB tracks writes from the first call on. Errors: NotFound if a condition is
  /// not met; IOError, NoSpace. An error changes nothing.
  virtual Status BindExternal(Slice entry, EntryLocation* location) = 0;
  /// The location of the key's newest value in a changelog segment that still exists. NotFound:
  /// there is none.
  virtual Status GetExternal(Table* table, KeyRef key, EntryLocation* location) = 0;
  /// ReadEntry() reads a logged entry by its location. ReadEntryValue() reads only the value, by a
  /// location from GetExternal(), and not the rest of its entry (a targeted read).
  /// Errors: NotFound: the changelog segment was released and removed. InvalidArgument: no call has
  /// returned this location. Corruption.
  virtual Status ReadEntry(const EntryLocation& location, std::string* entry) = 0;
  virtual Status ReadEntryValue(const EntryLocation& location, std::string* value) = 0;
  /// Makes the next entry begin a new changelog segment. No I/O. Threads: the writing thread.
  virtual Status RollEntries() = 0;
  /// Ends a changelog segment that gets no more entries. Its file, ChangelogSegmentName() in the
  /// directory, is then complete and does not change any more. Threads: any thread. Errors:
  /// InvalidArgument: the changelog segment still gets entries. IOError, NoSpace: it cannot be
  /// ended, now or later; its entries can be read.
  virtual Status FinishEntries(uint64_t changelog_segment) = 0;
  /// Tells the other layer's durable position: it has stored all entries up to this sequence
  /// elsewhere. A changelog segment's file is removed once all of its entries are released and the
  /// tree does not refer to it. Threads: any thread.
  virtual Status ReleaseEntries(uint64_t through) = 0;
  /// For the other layer to continue from its durable position after an open with a write-ahead
  /// log. Passes the unreleased entries of earlier openings with sequences above `after`, in order.
  /// With kWalSync all acknowledged entries are there, with kWal all entries up to some point. The
  /// sequences of new entries follow. Call before the first release, from one thread.
  /// Errors: Corruption, naming the file: an acknowledged entry is damaged or missing. An error
  /// from entry() ends the call and is returned.
  virtual Status RecoverEntries(
      uint64_t after, const std::function<Status(uint64_t sequence, Slice entry)>& entry) = 0;
  virtual std::string ChangelogSegmentName(uint64_t changelog_segment) const = 0;

  /// NotFound if the key is absent. snapshot may be null, for the newest state.
  virtual Status Get(Table* table, KeyRef key, PinnedValue* value,
                     Snapshot* snapshot = nullptr) = 0;
  /// As Get(), but a value of more than kWholeBytesMax in value files goes to the sink, and *value
  /// is empty then. If it is stored uncompressed, only one piece at a time is in memory. The sink's
  /// Begin() is called only if the value goes to the sink.
  /// Errors: also the sink's. After any error but NotFound, data passed to the sink must not be
  /// used, because its checksum is verified only after the last piece.
  virtual Status GetTo(Table* table, KeyRef key, PinnedValue* value, ValueSink* sink,
                       Snapshot* snapshot = nullptr) = 0;
  /// OK or NotFound. Never reads a separated value.
  virtual Status Contains(Table* table, KeyRef key, Snapshot* snapshot = nullptr) = 0;
  /// OK if the table has a key that starts with prefix and was written with prefix_bytes ==
  /// prefix.size(); otherwise NotFound. Searches the runs from the newest to the oldest and stops
  /// at the first one that decides.
  virtual Status ContainsPrefix(Table* table, Slice prefix, Snapshot* snapshot = nullptr) = 0;
  /// Reads one page. Without a snapshot, pages are not isolated from each other: keys added ahead
  /// of the scan are visited.
  virtual Status Scan(Table* table, const ScanRequest& request, ScanPage* page,
                      Snapshot* snapshot = nullptr) = 0;

  /// Reads one page of the entries of all the tables. As Scan() otherwise: one walk shows the same
  /// entries as a scan of each table and partition.
  virtual Status ScanTables(const TablesScanRequest& request, TablesScanPage* page,
                            Snapshot* snapshot = nullptr) = 0;

  /// Seals the active memtable and pins the current view. No I/O.
  virtual Result<std::shared_ptr<Snapshot>> TakeSnapshot() = 0;
  /// Seals the active memtable and waits up to timeout_ms (at most 100) for its flush. *ticket: new
  /// for the first call. Later calls with the ticket seal nothing, and wait for the same flush.
  /// Errors: Busy: call again; the failure of a flush since the first call.
  virtual Status Flush(uint32_t timeout_ms, FlushTicket* ticket) = 0;
  /// Compacts all data written before the first call to the last level, in one go, and drops
  /// expired records. Data written meanwhile may stay in higher levels. *ticket: 0 in the first
  /// call. If the caller gives up, the work goes on and its result is lost.
  /// Errors: Busy: call again with the same ticket.
  virtual Status CompactAll(uint32_t timeout_ms, uint64_t* ticket) = 0;

  /// Files that were imported as missing, belong to the current version and have not arrived yet.
  /// Key files come first, from the top level down, since most reads need them. A read that needs a
  /// missing file returns NeedsFile with the file's name as message: fetch the file, call
  /// FileArrived() and read again. Background work does not touch missing files, and writes never
  /// need them. An instance that is closed while files are missing must not be opened again: the
  /// open returns Corruption, naming one of the files.
  virtual std::vector<Snapshot::File> MissingFiles() const = 0;
  /// Tells that a missing file is now complete in the directory, under its name. May be called
  /// concurrently with all other calls, for the files in any order.
  /// Errors:     Corruption: the file differs from its description in the metadata; IOError. In
  ///             both cases the file is still missing and may be fetched again. NotFound: the file
  ///             is not needed any more and was removed. InvalidArgument: no file of this name is
  ///             missing.
  virtual Status FileArrived(const std::string& name) = 0;

  /// Sets the clock for expiry, in milliseconds since the epoch. Between calls the time stands
  /// still. A step back takes effect at once: after this call nothing is dropped that has not
  /// expired by now_ms. A step ahead is accepted when the machine's steady clock confirms it, or
  /// when the step has lasted as long as its own length, at most 24 hours; until then it applies
  /// only to timestamps from after the step. In any case no record is dropped that has not expired
  /// by the system's clock at that moment. Without a call the system's clock is used.
  virtual void SetTime(int64_t now_ms) = 0;
  /// As SetTime(), but a step ahead is accepted at once, because the caller knows that it is right.
  virtual void AcceptTime(int64_t now_ms) = 0;
  /// Tells the time of the data from earlier openings; the first SetTime() is compared with this
  /// time. Ignored after the first SetTime().
  virtual void ContinueTime(const TtlTime& before) = 0;
  /// The time that a checkpoint must carry for ContinueTime(), as of the last SetTime().
  virtual TtlTime time() const = 0;

  /// Takes effect for new jobs; jobs that were planned before keep the old policy.
  virtual void SetValuePolicy(ValuePolicy policy) = 0;
  /// Reasons why compactions rewrote values of files or left them: one line for each decision since
  /// the last call, oldest first, at most the last options.value_decisions_max. Names files and
  /// sizes, no keys.
  virtual std::vector<std::string> TakeValueDecisions() = 0;
  /// Failures of jobs since the last call, oldest first: a fault is reported when it begins and
  /// when it is over, a damaged file once. Cheap if there are none. Compactions and collections do
  /// not touch a damaged file. Its undamaged parts can still be read. Snapshot::Files() fails for
  /// each snapshot with the file.
  virtual std::vector<BackgroundEvent> TakeBackgroundEvents() = 0;

  virtual DBStatistics statistics() const = 0;
  virtual TableStatistics table_statistics(Table* table) const = 0;

  /// Stops background work, waits up to 100 ms for running jobs, closes files. Idempotent. All
  /// later calls return Closed, whatever this call returns.
  /// Errors:     Busy: a job is in a system call that cannot be interrupted, such as a long sync.
  ///             Call again, or leave it to the destructor, which waits until the job ends.
  virtual Status Close() = 0;
  /// Objects that callers still held when Close() ended, for the owner of the instance to log (the
  /// engine has no log): the number of snapshots, and a line for each of the oldest with its age;
  /// in builds without NDEBUG followed by the stack that took it. Empty: none, or not closed yet.
  /// Snapshots that were given up hold nothing and are not included. Threads: any thread.
  virtual std::string LeftOpen() const = 0;
};

/// Reads every byte of a key SST or value SST and checks it. With a volume (which may be null) the
/// path is one in the volume: directory, slash, name.
/// Errors: Corruption, naming file, offset and, if known, the table of the damaged data (by name
/// from tables, or its id).
Status VerifyFile(const std::string& path, std::span<const TableInfo> tables,
                  SharedVolume* volume = nullptr);

}  // namespace lava
