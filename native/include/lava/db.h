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

/// A user's key: partition bytes, then the rest. prefix_bytes > 0 says that the first that many
/// bytes are a prefix that may be deleted as a whole (Flink: key group, key and namespace of a
/// map's entry); it must be the same in every call that names this key.
struct KeyRef {
  Slice key;
  uint32_t prefix_bytes = 0;
};

/// One registered state in an instance. Ownership: the DB's; valid until the DB is destroyed.
/// Threads: any thread.
class Table {
 public:
  virtual ~Table() = default;
  virtual const std::string& name() const = 0;
  virtual uint64_t id() const = 0;  // 40 bits
  virtual TableOptions options() const = 0;
};

/// A value that was read. Reusable: keep one per thread to avoid allocation.
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
  /// The engine's side: data in own storage, or borrowed from what pin keeps alive.
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
/// Ownership:  shared; releasing the last reference unpins its files. May outlive Close() of the
///             DB as an object: every call then returns Closed, and Close() unpinned its files.
/// Errors:     NoSpace from every call, also from reads through it, once writes had waited half a
///             minute for a limit in bytes that only files of snapshots exceeded: the oldest
///             snapshot is given up, and its files are removed.
class Snapshot {
 public:
  struct File {
    std::string name;  // file name in the DB's directory, unique over all instances for ever
    uint64_t bytes = 0;
    uint32_t crc32c = 0;   // of the whole file (Castagnoli, as java.util.zip.CRC32C)
    bool missing = false;  // not there yet: see DB::MissingFiles()
  };
  virtual ~Snapshot() = default;

  /// Waits up to timeout_ms (at most 100) until all sealed runs of this snapshot are in files.
  /// Errors:     Busy: call again. IOError, NoSpace: the last flush attempt failed; the run is
  ///             still readable and is tried again when this is called again.
  virtual Status WaitFlushed(uint32_t timeout_ms) = 0;
  /// The files, and the metadata from which DB::Open imports them. Only after WaitFlushed is OK.
  virtual Status Files(std::vector<File>* files, std::string* metadata) = 0;

  /// What was in no file when the snapshot was taken. Units: bytes.
  struct Flushed {
    uint64_t sealed_bytes = 0;  // of the sealed memtables
    uint64_t file_bytes = 0;    // of the files that they have become so far
  };
  /// Whole once WaitFlushed is OK; may be asked after Close() of the DB, too.
  virtual Flushed flushed() const = 0;
};

/// What a checkpoint's metadata holds, for a look before an import.
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

/// One predecessor to adopt. Its files must already lie in the DB's directory under their names,
/// but for those that are named missing: see DB::MissingFiles().
struct ImportSource {
  std::string metadata;          // from Snapshot::Files
  uint32_t partition_first = 0;  // inclusive: what of it to show
  uint32_t partition_last = 0xff;
  std::vector<std::string> missing = {};  // names of files that come later
};

struct ScanRequest {
  /// Bounds in user keys; an empty upper means the end of the table's partitions.
  Slice lower;                   // inclusive, unless lower_exclusive
  Slice upper;                   // exclusive
  bool lower_exclusive = false;  // continue behind the last key of the page before
  /// When > 0, lower's first that many bytes are the prefix all keys must have (upper is ignored).
  /// Shows keys that were written with the same prefix_bytes; others with that prefix may be left
  /// out, since filters know whole keys and prefixes that were named.
  uint32_t prefix_bytes = 0;
  bool keys_only = false;
  /// False for scans of much that is not read again soon: what is not in the cache is read ahead
  /// past it, 128 KiB in each run at most, charged to the budget; block by block if that refuses.
  bool fill_cache = true;
  /// Leading bytes of each user key to leave out of the page.
  uint32_t skip_key_bytes = 0;
  uint32_t entries_max = 1024;
  /// The page ends before an entry that would pass it; a single entry may be larger.
  uint64_t bytes_max = 64 << 10;
};

/// Entries of a scan, one after the other: u32 big-endian key length, u32 big-endian value
/// length, key bytes, value bytes (none when keys_only). List values are in list_format.h form.
struct ScanPage {
  std::string bytes;
  uint32_t entries = 0;
  bool done = false;     // nothing further in the range
  std::string last_key;  // the last entry's whole user key: where the next page continues
};

/// A scan of several tables at once, in the order in which the tree holds them: partition by
/// partition, and within a partition table by table.
struct TablesScanRequest {
  std::span<Table* const> tables;  // ascending by id, each once
  /// Where the page before ended: the table's place in `tables` and the last entry's whole user
  /// key. An empty key: the scan begins at the first entry.
  uint32_t after_table = 0;
  Slice after_key;
  bool fill_cache = true;  // as in ScanRequest
  uint32_t entries_max = 1024;
  /// Entries and sections together, as in ScanRequest.
  uint64_t bytes_max = 64 << 10;
};

/// Neighbouring entries of a page that are of the same table and partition.
struct ScanSection {
  static constexpr uint32_t kBytes = 12;  // what one counts as in bytes_max
  uint32_t table = 0;                     // its place in TablesScanRequest::tables
  uint32_t partition = 0;
  uint32_t entries = 0;  // at least 1
};
struct TablesScanPage {
  ScanPage page;
  std::vector<ScanSection> sections;  // of all entries, in their order
};

/// Operations applied as a whole. Threads: one thread. Ownership: copies keys and values, but for
/// borrowed ones, which must outlive the batch's use.
class WriteBatch {
 public:
  enum class Kind : uint8_t { kPut = 1, kDelete = 2, kAppend = 3, kDeletePrefix = 4 };
  struct Operation {
    Kind kind;
    Table* table;
    uint64_t key_offset, value_offset, value_bytes;
    uint32_t key_bytes, prefix_bytes;
    const char* borrowed;  // the value; null: it is in the batch
  };
  /// A put or an append of a value that is not copied.
  void Borrow(Kind kind, Table* table, KeyRef key, Slice value) {
    Add(kind, table, key, {});
    operations_.back().borrowed = value.data();
    operations_.back().value_bytes = value.size();
    borrowed_bytes_ += value.size();
  }
  void Put(Table* table, KeyRef key, Slice value) { Add(Kind::kPut, table, key, value); }
  void Delete(Table* table, KeyRef key) { Add(Kind::kDelete, table, key, {}); }
  void Append(Table* table, KeyRef key, Slice segments) {
    Add(Kind::kAppend, table, key, segments);
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
  /// What it keeps of the heap, also once it is cleared.
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
  uint64_t records_stepped_over = 0;  // by scans of prefixes: deletions and what they hide
  uint64_t filter_useful = 0, block_reads = 0;
  uint64_t stall_us = 0;  // time that writes waited, by themselves or by answering Busy
  uint64_t background_errors = 0;
  uint64_t records_expired = 0;  // dropped by TTL in compaction
  uint64_t snapshots_open = 0;
  uint64_t estimated_records = 0;
  // Value files of the current version; they count into live_files and live_file_bytes too.
  uint64_t value_files = 0, value_file_bytes = 0;
  uint64_t hot_value_file_bytes = 0;  // of files for keys that were written often
  uint64_t value_raw_bytes = 0;       // of the values in them, before compression
  /// Raw bytes of values that no reference reaches. Equal unless a file was collected before or
  /// adopted in part; values whose references are only hidden yet do not count.
  uint64_t garbage_bytes_min = 0, garbage_bytes_max = 0;
  uint64_t value_bytes_written = 0;                // by flushes and compactions
  uint64_t value_reads = 0, value_bytes_read = 0;  // from storage, of records in value files
  uint64_t gc_jobs = 0, running_gc = 0;
  /// Of the files that were collected: bytes of values read, and the whole files' bytes.
  uint64_t gc_bytes_read = 0, gc_input_bytes = 0;
  uint64_t gc_bytes_written = 0, gc_values_dead = 0;
  uint64_t value_files_expired = 0;  // dropped whole and unread: all in them had expired
  uint64_t merged_value_bytes = 0;   // raw, written anew by compactions that took files along
  /// What was planned of that, by the reason: ValuePolicy.
  uint64_t merged_for_garbage_bytes = 0, merged_for_order_bytes = 0, merged_down_bytes = 0;
  /// Of value files by the level that their values were written to: sorted groups (files that one
  /// job wrote in key order), and how many files cover one key where they are most.
  uint64_t value_groups_at_level[8] = {}, value_overlap_at_level[8] = {};
  /// Of live_file_bytes, what would be left after all compactions and collections, and the raw
  /// bytes of values that newer records hide but no compaction has dropped yet. Both estimated from
  /// how many records compactions found overwritten so far.
  uint64_t estimated_live_bytes = 0, estimated_hidden_bytes = 0;
  uint64_t space_pressure_percent = 0;  // of the nearer limit of space; 0 without one
  uint64_t space_stall_us = 0;          // of stall_us, waited for space
  uint64_t memtable_killed_bytes = 0;   // keys and values that died before they were flushed
  /// CPU time of the threads that ran jobs, failed ones included.
  uint64_t flush_cpu_us = 0, compaction_cpu_us = 0, gc_cpu_us = 0;
  /// Versions that jobs installed, and the CPU time of that: writing the manifest and publishing.
  uint64_t versions_installed = 0, install_cpu_us = 0;
  uint64_t files_installed = 0;       // that these versions added or took out, moved ones twice
  uint64_t values_logged = 0;         // written to a value file by their own put: large, or logged
  uint64_t files_refused_direct = 0;  // go through the page cache though direct I/O was asked for
  uint64_t snapshots_given_up = 0;    // because writes needed the space that they kept
  /// Of the block cache: what it holds of this instance's files now, and lookups since the instance
  /// was opened. Index partitions that readers keep are asked without one.
  uint64_t cache_used_bytes = 0, cache_hits = 0, cache_misses = 0;
  /// Of stall_us, what was waited for flushes, and for compactions of level 0; a write that waited
  /// for several things counts where it waited last.
  uint64_t flush_stall_us = 0, compaction_stall_us = 0;
  uint64_t external_values = 0;    // that are stored in entries of the layer above
  uint64_t entry_bytes = 0;        // of entries that were logged
  uint64_t damaged_files = 0;      // that jobs found damaged; see BackgroundEvent
  uint64_t listener_failures = 0;  // calls of listeners that threw
  uint64_t events_dropped = 0;     // that listeners were not told, for want of memory
};
/// What an instance's jobs met that no call tells by itself.
struct BackgroundEvent {
  Status::Code code = Status::Code::kOk;  // of the failure
  /// What failed has worked again. Never so with a damaged file: it stays damaged.
  bool over = false;
  std::string message;  // what was being done, with file and offset; no keys
  std::string file;     // the name of a damaged file; else empty
  /// Of a damaged file: the names of the tables that it holds records of. Empty otherwise.
  std::vector<std::string> tables;
  uint64_t failures = 0;  // attempts that failed so, until now
  int64_t since_ms = 0;   // when the first failed, by the wall clock
};

/// Counters of one table, from the files' properties and the memtables.
struct TableStatistics {
  uint64_t live_bytes = 0;  // key and value bytes in files, before compression; an upper bound
  uint64_t records = 0;
  /// Raw bytes of the table's values in value files, and what of them is garbage: a value file's
  /// garbage is shared out by what its tables have of it. Both 0 for files of manifests before
  /// format 3, which do not say whose values they hold.
  uint64_t value_raw_bytes = 0, garbage_bytes = 0;
  uint64_t value_files = 0;       // that hold values of the table
  uint64_t separation_bytes = 0;  // from which size on values go there now; 0: never
  uint64_t large_bytes = 0;       // from which on to the value log, as they are put; 0: never
};

/// Where bytes are in the log that an instance shares with the layer above it: an entry, or the
/// record of a value that ends one. Units: bytes.
struct EntryLocation {
  uint64_t segment = 0;  // ascending while the instance is open: DB::EntrySegmentName()
  uint64_t offset = 0, bytes = 0;
  uint64_t sequence = 0;  // of an entry: one above that of the entry before, from 1 on
};

/// The entries that stand one behind the other in these bytes of a segment, from an offset of it
/// on, wherever they were brought. name: DB::EntrySegmentName(), which each checksum covers.
/// Errors: Corruption, with name and offset; entries got those before.
Status DecodeEntries(const std::string& name, uint64_t offset, Slice bytes,
                     std::vector<std::string>* entries);

/// LavaKV: an embedded store of tables in one log-structured tree.
/// Threads:    writes from one thread at a time (checked: a second writer waits); reads, scans,
///             snapshots and statistics from any thread, beside the writer.
/// Durability: by options.wal; without a write-ahead log, data is durable when a Snapshot's files
///             are, or after Flush() with options.sync. A crash never leaves a directory that opens
///             wrongly.
/// Errors:     any call may return Closed, Corruption, IOError, NeedsFile; writes also Busy
///             (after at most 100 ms; nothing was written: call again), NoSpace, MemoryLimit and
///             InvalidArgument (limits of options.h, key outside the instance's partitions).
/// Ownership:  the caller's; Close() first, or the destructor closes.
class DB {
 public:
  virtual ~DB() = default;

  /// Opens or creates the instance in path. With imports, path must hold no instance yet; the
  /// sources' files are adopted with bounds, nothing is read but their footers and indexes; of
  /// files that come later nothing at all.
  static Result<std::unique_ptr<DB>> Open(const DBOptions& options, const std::string& path,
                                          std::span<const ImportSource> imports = {});

  /// Deletes the files of the instance in path and its write-ahead log, and leaves what is not its
  /// own, and the directory. Stopped midway it may be called again; what it left is no instance.
  /// options: file_system, volume, wal and wal_directory as the instance was opened with; a lease.
  /// Errors: Busy while somebody has it open; InvalidArgument when it has a log and options.wal
  /// says that it has none.
  static Status Destroy(const DBOptions& options, const std::string& path);

  /// Opens the table, creating it if it is new; for a known one, options replace the old ones.
  /// Errors: InvalidArgument for a name whose hash another table has (names both).
  virtual Result<Table*> CreateTable(std::string_view name, const TableOptions& options) = 0;
  virtual Status SetTableOptions(Table* table, const TableOptions& options) = 0;
  /// Deletes all of the table's data and its registration; the Table becomes unusable (Closed).
  virtual Status DropTable(Table* table) = 0;
  /// All tables that the manifest knows, registered in this run or not.
  virtual std::vector<TableInfo> ListTables() const = 0;

  virtual Status Put(Table* table, KeyRef key, Slice value) = 0;
  /// As Put(), of a value that need not be in memory as a whole. Of one that the budget's share of
  /// memtables has no room for, pieces go to a value file as they come; whoever else writes waits.
  /// Errors: also the source's. Busy: nothing of it was kept.
  virtual Status PutFrom(Table* table, KeyRef key, ValueSource* value) = 0;
  virtual Status Delete(Table* table, KeyRef key) = 0;
  /// segments: list_format.h. Only for TableKind::kList. Reads nothing.
  virtual Status Append(Table* table, KeyRef key, Slice segments) = 0;
  /// As Append(), of segments that need not be in memory as a whole; with a write-ahead log, whose
  /// record has them, they are. Errors: as PutFrom().
  virtual Status AppendFrom(Table* table, KeyRef key, ValueSource* segments) = 0;
  /// Deletes all keys that start with prefix and were written with prefix_bytes == its length.
  /// Writes nothing when there are none.
  virtual Status DeletePrefix(Table* table, Slice prefix) = 0;
  /// Deletes all keys of the table in [lower, upper).
  virtual Status DeleteRange(Table* table, Slice lower, Slice upper) = 0;
  /// All or nothing; never straddles a seal.
  virtual Status Write(const WriteBatch& batch) = 0;

  /// One log for two layers (XLL 3; docs/changelog.md): the layer above, which logs each of its
  /// changes, has its entries in segments in the instance's directory, and a value that ends one is
  /// stored there alone: the segment is a value file of the tree, too. Writes, as those above.
  ///
  /// Logs an entry, which may be anything: *location is where it was put (a nameless append).
  virtual Status AppendEntry(Slice entry, EntryLocation* location) = 0;
  /// Logs an entry and puts the value that ends it, which may begin before the entry does in as
  /// many bytes as the entry's end lacks of it: at most kInlineBytesMax, else InvalidArgument.
  virtual Status PutExternal(Table* table, KeyRef key, Slice value, Slice entry,
                             EntryLocation* location) = 0;
  static constexpr size_t kInlineBytesMax = 1;
  static constexpr uint32_t kAppendedMax = 64;
  /// The same for the last write, when that was a Put() of a value or an Append() of one element to
  /// a list without TTL, is still in the active memtable as it was made, is of a size to be stored
  /// apart, and the value or the element ends the entry: late binding, for a layer that updates
  /// first and logs then. NotFound: it is not so, or the segment has kAppendedMax elements of the
  /// list, and nothing was done; writes are watched from the first call on. IOError, NoSpace: as
  /// NotFound.
  virtual Status BindExternal(Slice entry, EntryLocation* location) = 0;
  /// Where in a segment that is still held the key's newest value stands. NotFound: nowhere there.
  virtual Status GetExternal(Table* table, KeyRef key, EntryLocation* location) = 0;
  /// An entry as it was logged, by its location; and, by what GetExternal() told, the value alone,
  /// without a look at the rest of its entry (a targeted read). Errors: NotFound: the segment was
  /// released and is gone. InvalidArgument: no such segment or place was ever told. Corruption.
  virtual Status ReadEntry(const EntryLocation& location, std::string* entry) = 0;
  virtual Status ReadEntryValue(const EntryLocation& location, std::string* value) = 0;
  /// The next entry begins a new segment. No I/O. As writes are, of the writing thread.
  virtual Status RollEntries() = 0;
  /// Ends a segment that entries do not go to any more: its file, EntrySegmentName() in the
  /// directory, is whole then and does not change. Any thread. InvalidArgument: entries still go
  /// there. IOError, NoSpace: it has no end and never will; its entries can be read.
  virtual Status FinishEntries(uint64_t segment) = 0;
  /// The other layer's durable position: it has all entries up to this sequence elsewhere. A
  /// segment's file goes once all of its entries are released and the tree does not refer to it.
  /// Any thread.
  virtual Status ReleaseEntries(uint64_t through) = 0;
  /// After an opening with a write-ahead log, for the other layer to go on from its durable
  /// position: entries of earlier runs that were not released, behind that sequence, in their
  /// order. What was acknowledged with kWalSync is all there, with kWal all up to some entry. The
  /// sequences of new ones follow. Before the first release; of one thread.
  /// Errors: Corruption, naming the file: an entry that was acknowledged is not sound, or missing;
  /// what entry() returned, which ends it.
  virtual Status RecoverEntries(
      uint64_t after, const std::function<Status(uint64_t sequence, Slice entry)>& entry) = 0;
  virtual std::string EntrySegmentName(uint64_t segment) const = 0;

  /// NotFound when absent. snapshot may be null: the newest state.
  virtual Status Get(Table* table, KeyRef key, PinnedValue* value,
                     Snapshot* snapshot = nullptr) = 0;
  /// As Get(), but what has more than kWholeBytesMax and is in value files goes to the sink, so
  /// that no more of it than a piece is in memory, if it is stored uncompressed; *value is empty
  /// then. The sink's Begin() tells which of both it is. Errors: also the sink's. After any but
  /// NotFound, what the sink got must not be used: a checksum is known when all of its bytes are
  /// there.
  virtual Status GetTo(Table* table, KeyRef key, PinnedValue* value, ValueSink* sink,
                       Snapshot* snapshot = nullptr) = 0;
  /// OK or NotFound; never reads a separated value.
  virtual Status Contains(Table* table, KeyRef key, Snapshot* snapshot = nullptr) = 0;
  /// Whether any key of the table that was written with prefix_bytes == prefix.size() starts with
  /// prefix: OK or NotFound. Asks runs from the newest to the oldest and stops at the first that
  /// knows.
  virtual Status ContainsPrefix(Table* table, Slice prefix, Snapshot* snapshot = nullptr) = 0;
  /// found[i] tells whether values[i] was filled.
  virtual Status MultiGet(Table* table, std::span<const KeyRef> keys, std::span<PinnedValue> values,
                          std::span<bool> found, Snapshot* snapshot = nullptr) = 0;
  /// One page. Without a snapshot pages are not isolated from each other: keys added ahead of
  /// the scan are visited.
  virtual Status Scan(Table* table, const ScanRequest& request, ScanPage* page,
                      Snapshot* snapshot = nullptr) = 0;

  /// One page of all the tables' entries. As Scan() otherwise: one walk shows what a scan for each
  /// table and partition would.
  virtual Status ScanTables(const TablesScanRequest& request, TablesScanPage* page,
                            Snapshot* snapshot = nullptr) = 0;

  /// Seals the active memtable and pins the current view; no I/O.
  virtual Result<std::shared_ptr<Snapshot>> TakeSnapshot() = 0;
  /// Seals, and waits up to timeout_ms (at most 100) for the flush. Busy: call again.
  virtual Status Flush(uint32_t timeout_ms) = 0;
  /// Compacts what was written before the first call to the last level, in one go (expired records
  /// go); what is written meanwhile may stay above. *ticket: 0 in the first call; Busy: call again
  /// with it. Whoever gives up leaves the work to go on, and its answer to nobody.
  virtual Status CompactAll(uint32_t timeout_ms, uint64_t* ticket) = 0;

  /// What was imported as missing, is named by the current version and has not arrived yet; the
  /// files that most reads ask come first. A read that meets one answers NeedsFile, whose message
  /// is the file's name: bring it, call FileArrived() and read again. Background work leaves such
  /// files alone until they are there; writes never ask for them. An instance that is closed while
  /// files are missing is not to be opened again: that answers Corruption, naming one.
  virtual std::vector<Snapshot::File> MissingFiles() const = 0;
  /// A missing file lies in the directory now, whole, under its name. May be called beside
  /// everything else, in any order of the files.
  /// Errors:     Corruption, when it is not the file that the metadata describes, IOError: it is
  ///             still missing, and may be brought again. NotFound: nothing names it any more, and
  ///             it was removed. InvalidArgument: no file of this name is missing.
  virtual Status FileArrived(const std::string& name) = 0;

  /// What the clock that records expire by says now, milliseconds since the epoch. Between calls
  /// that time stands. A step back holds at once: from when this returns nothing is dropped that
  /// has not expired by it. A step ahead is believed after the machine's steady clock confirms it,
  /// or after it has stood for as long as it is itself, at most 24 hours; until then it counts only
  /// for timestamps from after the step. Whatever is told, nothing is dropped by a later time than
  /// the system's own clock says at that moment. Without a call the system's clock is asked.
  virtual void SetTime(int64_t now_ms) = 0;
  /// The same, and the caller knows that it is so: a step ahead is believed at once.
  virtual void BelieveTime(int64_t now_ms) = 0;
  /// The instance has data of which this was the time: the clock's first word is held against it.
  /// Ignored after the first SetTime().
  virtual void ContinueTime(const TtlTime& before) = 0;
  /// What a checkpoint is to carry for ContinueTime(), as of the last SetTime().
  virtual TtlTime time() const = 0;

  /// From now on; jobs that were planned before keep to the one before.
  virtual void SetValuePolicy(ValuePolicy policy) = 0;
  /// Why compactions wrote values of files anew or left them: a line for each such choice since the
  /// last call, oldest first, the last options.value_decisions_max of them. Names files and sizes,
  /// no keys.
  virtual std::vector<std::string> TakeValueDecisions() = 0;
  /// What jobs met since the last call, oldest first: a fault once when it begins and once when it
  /// is over, a damaged file once. Cheap while there is nothing. A file that is damaged is left
  /// alone by compactions and collections, can still be read where it is sound, and fails each
  /// Snapshot::Files() that it belongs to.
  virtual std::vector<BackgroundEvent> TakeBackgroundEvents() = 0;

  virtual DBStatistics statistics() const = 0;
  virtual TableStatistics table_statistics(Table* table) const = 0;

  /// Stops background work, waits up to 100 ms for jobs in flight, closes files. Idempotent. All
  /// later calls return Closed, whatever this one returns.
  /// Errors:     Busy: a job is amid a call to the system that cannot be broken off, as a long
  ///             sync: call again, or leave it to the destructor, which waits to the end.
  virtual Status Close() = 0;
  /// What callers still held when Close() ended, for whoever owns the instance to log (the engine
  /// has no log): how many snapshots, and a line for each of the oldest with its age, in builds
  /// without NDEBUG followed by the stack that took it. Empty: nothing, or not closed yet. A
  /// snapshot that was given up holds nothing and is not among them. Any thread.
  virtual std::string LeftOpen() const = 0;
};

/// Reads every byte of a key SST or value SST and checks it. Errors: Corruption, naming file,
/// offset, and the table (by name from tables, or its id) whose data it hits where that can be
/// told. With a volume (which may be null) the path is one in it: directory, slash, name.
Status VerifyFile(const std::string& path, std::span<const TableInfo> tables,
                  SharedVolume* volume = nullptr);

}  // namespace lava
