#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace lava {

class EventListener;
class Lease;
class SharedVolume;

namespace fs {
class FileSystem;
}

/// Limits that are part of the contract; a call beyond one is refused with InvalidArgument.
/// 16 MiB - 1 KiB: with what the engine adds to it, a key's length fits 24 bits.
inline constexpr uint64_t kKeyBytesMax = (16u << 20) - 1024;
/// Of a value, and of a list with all that was appended to it: with its key it still fits a Java
/// array. A list that grows beyond becomes a ListSegment::kTooLong, since nobody could read it.
inline constexpr uint64_t kListBytesMax = (2ull << 30) - (4u << 20);
inline constexpr uint64_t kValueBytesMax = kListBytesMax;
/// Memory sets no limit to a value: one of more than a part of the memtable, and of more than
/// kValueInMemoryAlways, goes to a value file as it is written, and memory holds a reference to it.
inline constexpr uint64_t kValueMemtableShare = 4, kValueInMemoryAlways = 1u << 20;
/// Of an entry of the log that an instance shares with the layer above it.
inline constexpr uint64_t kEntryBytesMax = 1u << 30;   // 1 GiB
inline constexpr uint32_t kTableNameBytesMax = 65535;  // what Flink's formats hold; it may be empty
inline constexpr uint32_t kTableIdBytes = 5;           // a 40-bit hash of the table's name

enum class Compression : uint8_t { kNone = 0, kLz4 = 1, kZstd = 2 };

/// How expiry timestamps stand in a table's values (Flink's TtlSerializer: 8 bytes, big endian,
/// milliseconds, before the user's value).
enum class TtlLayout : uint8_t {
  kNone = 0,   // no record of the table ever expires
  kValue = 1,  // timestamp at offset 0 of the value
  kMap = 2,    // timestamp at offset 1, behind the null flag
  kList = 3,   // timestamp at offset 0 of every list element
};

enum class TableKind : uint8_t {
  kValue = 0,  // put, get, delete
  kMap = 1,    // the same, with prefix deletes
  kList = 2,   // values are list segments (list_format.h); append allowed
};

/// For TableOptions::separation_bytes: the instance finds the bound, from the size of its tree, how
/// often the collector copies, and how often scans show the table's values.
inline constexpr uint64_t kSeparationAutomatic = INT64_MAX;
/// What holds until it knows enough for that.
inline constexpr uint64_t kSeparationDefault = 4096;

/// For DBOptions::large_value_bytes: found for each table, from how many of its values die in
/// memory, and how often scans show them.
inline constexpr uint64_t kLargeAutomatic = INT64_MAX;

/// Options of one table. Threads: a value.
struct TableOptions {
  TableKind kind = TableKind::kValue;
  TtlLayout ttl_layout = TtlLayout::kNone;
  int64_t ttl_ms = 0;  // 0: nothing expires
  /// Values of this size and above are moved out of the tree into value files (LavaStore 3.3,
  /// DiffKV 4). 0: none; lists with TTL are not. Holds for what is flushed or compacted from now
  /// on; not kept in files: every open says it anew. kSeparationAutomatic: found by itself.
  /// Whatever it says, values that are too large for the memtable (kValueMemtableShare) go to value
  /// files.
  uint64_t separation_bytes = 0;
};

/// What of an instance survives before it is in files.
enum class WalMode : uint8_t {
  kNone,     // nothing: a checkpoint is the durable copy
  kWal,      // after the end of the process all; after a power cut all but the last writes
  kWalSync,  // all that was acknowledged
};

/// Who writes values anew, to give garbage back and to keep values in order. Says nothing of what
/// files hold: an instance may be opened with any, and told another while it runs.
enum class ValuePolicy : uint8_t {
  kAutomatic,  // for each compaction and collection, what costs less
  kCollect,    // collections alone, which inherit births (LavaStore 3.3.2, Scavenger 3.3)
  kMerge,      // compactions alone, with the keys that they move down (DiffKV 3.3, 3.4)
  kGreedy,     // collections alone, of the dirtiest file whatever it costs besides (DiffKV 4.2)
};

/// Options of one instance. Threads: a value. Units: bytes unless the name says otherwise.
struct DBOptions {
  /// Leading bytes of every user key that come before the table id (Flink: the key group), 1 or 2.
  uint32_t partition_bytes = 1;
  /// Inclusive range of partitions that this instance may hold, as big-endian numbers.
  uint32_t partition_first = 0;
  uint32_t partition_last = 0xff;
  /// Memory and threads; required. The DB keeps it alive.
  std::shared_ptr<Lease> lease;
  /// Where the files go, the DB's path then being a directory in it; null: to file_system. The DB
  /// keeps it alive.
  std::shared_ptr<SharedVolume> volume;
  /// For tests; null: the posix file system.
  fs::FileSystem* file_system = nullptr;
  /// Past the page cache, where file_system is null: reads of users and of background work; writes
  /// of flushes, compactions and collections. Files that refuse it go through the page cache, and
  /// DBStatistics::files_refused_direct counts them.
  bool use_direct_reads = false;
  bool use_direct_io_for_flush_and_compaction = false;
  bool create_if_missing = true;
  /// Sync files and manifest before they count (local recovery). Off: a power cut may lose the
  /// directory, never make it open wrongly.
  bool sync = false;
  /// With a write-ahead log each write is in it when it returns, and opening writes into memory
  /// again what no file has; files and manifest are synced as with `sync`. An instance that had one
  /// is not opened without.
  WalMode wal = WalMode::kNone;
  /// The directory of the log, which all instances of a process share that name it (and are in the
  /// same volume); empty: "wal" beside the instance's own.
  std::string wal_directory;

  /// With a write-ahead log, a value of at least so many bytes, of a table whose values of that
  /// size are separated, goes to the instance's value log as it is put, which is its write-ahead
  /// record, too, and the flush leaves it there. 0: never. kLargeAutomatic: begins at 8 KiB, or 32
  /// KiB with kWalSync.
  uint64_t large_value_bytes = kLargeAutomatic;

  /// 0: from the lease's share. The active memtable is sealed at this many arena bytes.
  uint64_t memtable_bytes = 0;
  uint32_t block_bytes = 4096;
  uint32_t index_partition_bytes = 16384;
  uint32_t filter_bits_per_key = 10;  // 0: no filters
  Compression compression = Compression::kLz4;
  Compression bottom_compression = Compression::kLz4;
  uint64_t target_file_bytes = 32ull << 20;
  uint64_t value_file_bytes = 64ull << 20;
  Compression value_compression = Compression::kLz4;  // of each value in a value file
  /// Forced for comparison; see ValuePolicy.
  ValuePolicy value_policy = ValuePolicy::kAutomatic;
  uint32_t value_decisions_max = 0;  // kept for DB::TakeValueDecisions()
  /// A value file is collected when about this share of its bytes is garbage, in percent; above
  /// 100: never.
  uint32_t gc_garbage_percent = 25;
  /// Collections that may run at once when space is short; 0: one less than there are threads.
  uint32_t gc_jobs_max = 0;
  /// What a rewritten byte costs besides, in percent: with incremental checkpoints it is uploaded.
  /// Counts once Snapshot::Files() was called, for collections and for compactions of L0.
  uint32_t gc_upload_cost_percent = 0;
  /// A compaction writes values anew, in key order, whose files overlap so many others there; 0:
  /// never. It may do that for so much, in percent, as scans have fetched values, so that who does
  /// not scan does not pay (LavaStore 3.2.2; DiffKV 3.4).
  uint32_t value_sorted_runs_max = 8;
  uint32_t value_merge_scan_percent = 25;
  /// Limits of the space that files take, in percent of what of it is live (as estimated, and at
  /// least space_live_bytes_floor), and in bytes. Past a low one writes are slowed, from
  /// slowed_bytes_per_second or twice what collections free down to a sixteenth of that, past a
  /// high one they answer Busy; collections and compactions hurry meanwhile. When these have
  /// nothing left to free, writes go on past a ratio and answer NoSpace past a limit in bytes.
  /// Deletes never wait for space. Data in memory comes on top. 0: no limit; a high one without a
  /// low one has that, too (Scavenger 3.5).
  uint32_t space_low_percent = 0, space_high_percent = 0;
  uint64_t space_low_bytes = 0, space_high_bytes = 0;
  uint64_t space_live_bytes_floor = 256ull << 20;
  uint64_t slowed_bytes_per_second = 16ull << 20;
  uint64_t level1_bytes = 128ull << 20;
  uint32_t level_multiplier = 10;
  uint32_t level_count = 7;
  uint32_t l0_compaction_trigger = 4;
  uint32_t l0_stall_trigger = 24;  // writes answer Busy when so many files of L0 cover one key
  uint32_t sealed_runs_max = 4;    // writes answer Busy at this many unflushed runs

  /// Are told of flushes, compactions and other events: see event_listener.h.
  std::vector<std::shared_ptr<EventListener>> listeners;
};

}  // namespace lava
