// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

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

/// Limit of a key: 16 MiB - 1 KiB, so that the key's length with the engine's additions fits 24
/// bits. The limits below are part of the contract. Calls that exceed a limit fail with
/// InvalidArgument.
inline constexpr uint64_t kKeyBytesMax = (16u << 20) - 1024;
/// Limit of a value, and of a list with all appended elements, so that a value fits a Java array
/// together with its key. A list that exceeds the limit becomes a ListSegment::kTooLong, because no
/// call could return it.
inline constexpr uint64_t kListBytesMax = (2ull << 30) - (4u << 20);
inline constexpr uint64_t kValueBytesMax = kListBytesMax;
/// Memory does not limit a value's size. A value larger than both the memtable divided by
/// kValueMemtableShare and kValueInMemoryAlways is written to a value file at once, and memory
/// holds only a reference to it.
inline constexpr uint64_t kValueMemtableShare = 4, kValueInMemoryAlways = 1u << 20;
/// Limit of an entry of the log that an instance shares with the layer above it.
inline constexpr uint64_t kEntryBytesMax = 1u << 30;   // 1 GiB
inline constexpr uint32_t kTableNameBytesMax = 65535;  // limit of Flink's formats; may be empty
inline constexpr uint32_t kTableIdBytes = 5;           // a 40-bit hash of the table's name

enum class Compression : uint8_t { kNone = 0, kLz4 = 1, kZstd = 2 };

/// Positions of expiry timestamps in a table's values (Flink's TtlSerializer: 8 bytes, big endian,
/// milliseconds, before the user's value).
enum class TtlLayout : uint8_t {
  kNone = 0,   // no record of the table ever expires
  kValue = 1,  // timestamp at offset 0 of the value
  kMap = 2,    // timestamp at offset 1, after the null flag
  kList = 3,   // timestamp at offset 0 of every list element
};

enum class TableKind : uint8_t {
  kValue = 0,  // put, get, delete
  kMap = 1,    // as kValue, with prefix deletes
  kList = 2,   // values are list segments (list_format.h); append allowed
};

/// For TableOptions::separation_bytes: the instance chooses the bound from the size of its tree,
/// the frequency of collections and the frequency of scans of the table's values.
inline constexpr uint64_t kSeparationAutomatic = INT64_MAX;
/// The bound until the instance has enough data to choose one.
inline constexpr uint64_t kSeparationDefault = 4096;

/// For DBOptions::large_value_bytes: chosen for each table from the share of its values that die in
/// memory, and from the frequency of scans.
inline constexpr uint64_t kLargeAutomatic = INT64_MAX;

/// Options of one table.
/// Threads: a value. Ownership: owns its members.
struct TableOptions {
  TableKind kind = TableKind::kValue;
  TtlLayout ttl_layout = TtlLayout::kNone;
  int64_t ttl_ms = 0;  // 0: nothing expires
  /// Values of this size and above are moved out of the tree into value files (LavaStore 3.3,
  /// DiffKV 4). 0: no value is moved. kSeparationAutomatic: the instance chooses the size. Lists
  /// with TTL are never moved. The option applies to later flushes and compactions. It is not
  /// stored, so CreateTable() must set it after each open. Values that are too large for the
  /// memtable (kValueMemtableShare) go to value files in any case.
  uint64_t separation_bytes = 0;
};

/// The data that survives a crash although it is not in files yet.
enum class WalMode : uint8_t {
  kNone,     // none: a checkpoint is the durable copy
  kWal,      // all data after a process kill; all but the last writes after a power cut
  kWalSync,  // all acknowledged writes
};

/// The choice of jobs that rewrite values, to reclaim garbage and to keep values in order. Files do
/// not depend on the policy: an instance may be opened with any policy, and the policy may change
/// at run time.
enum class ValuePolicy : uint8_t {
  kAutomatic,  // the cheaper job in each case
  kCollect,    // only collections, which leave values in their blob files (LavaStore 3.3.2,
               // Scavenger 3.3)
  kMerge,      // only compactions, for the keys that they move down (DiffKV 3.3, 3.4)
  kGreedy,     // only collections, of the file with most garbage at any cost (DiffKV 4.2)
};

/// Options of one instance.
/// Threads:    a value. A DB copies the options at DB::Open().
/// Ownership:  shares the lease, the volume and the listeners; the DB keeps them alive. Borrows
///             file_system, which must outlive the DB.
/// Units:      bytes unless the name says otherwise.
/// Errors:     DB::Open() returns InvalidArgument for unusable options.
struct DBOptions {
  /// Leading bytes of every user key before the table id (Flink: the key group), 1 or 2.
  uint32_t partition_bytes = 1;
  /// Inclusive range of partitions that this instance may hold, as big-endian numbers.
  uint32_t partition_first = 0;
  uint32_t partition_last = 0xff;
  /// Memory and threads; required.
  std::shared_ptr<Lease> lease;
  /// The volume for the files; the DB's path is then a directory in it. Null: files are in
  /// file_system.
  std::shared_ptr<SharedVolume> volume;
  /// For tests; null: the posix file system.
  fs::FileSystem* file_system = nullptr;
  /// Direct I/O, used if file_system is null: for reads of users and of background work; and for
  /// writes of flushes, compactions and collections. Files that refuse direct I/O use the page
  /// cache, and DBStatistics::files_refused_direct counts them.
  bool use_direct_reads = false;
  bool use_direct_io_for_flush_and_compaction = false;
  bool create_if_missing = true;
  /// Syncs files and manifest before they are used (local recovery). Off: a power cut may lose the
  /// directory, but never makes it open with wrong data.
  bool sync = false;
  /// With a write-ahead log each write is in the log when the call returns, and an open restores
  /// writes that are in no file. Files and manifest are synced as with `sync`. An instance that had
  /// a log cannot be opened without one.
  WalMode wal = WalMode::kNone;
  /// The directory of the log. All instances of a process that name this directory (and use the
  /// same volume) share the log. Empty: "wal" beside the instance's own directory.
  std::string wal_directory;

  /// With a write-ahead log: values of at least this size go to the instance's value log at their
  /// put, if their table separates values of that size. The value log's record replaces the
  /// write-ahead record, and a flush leaves the value in the value log. 0: never. kLargeAutomatic:
  /// starts at 8 KiB, or at 32 KiB with kWalSync.
  uint64_t large_value_bytes = kLargeAutomatic;

  /// The active memtable is sealed at this many arena bytes. 0: derived from the lease's share.
  uint64_t memtable_bytes = 0;
  uint32_t block_bytes = 4096;
  uint32_t index_partition_bytes = 16384;
  uint32_t filter_bits_per_key = 10;  // 0: no filters
  Compression compression = Compression::kLz4;
  Compression bottom_compression = Compression::kLz4;
  uint64_t target_file_bytes = 32ull << 20;
  uint64_t value_file_bytes = 64ull << 20;
  Compression value_compression = Compression::kLz4;  // of each value in a value file
  /// Other policies are for comparison; see ValuePolicy.
  ValuePolicy value_policy = ValuePolicy::kAutomatic;
  uint32_t value_decisions_max = 0;  // lines kept for DB::TakeValueDecisions()
  /// Garbage, in percent of a value file's bytes, at which the file is collected (approximate);
  /// above 100: never.
  uint32_t collection_garbage_percent = 25;
  /// Concurrent collections while space is short; 0: the number of threads minus one.
  uint32_t collection_jobs_max = 0;
  /// Additional cost of a rewritten byte, in percent: incremental checkpoints upload it. Applies
  /// after the first Snapshot::Files(), to collections and to compactions of L0.
  uint32_t collection_upload_cost_percent = 0;
  /// Compactions rewrite the values of files that overlap this many other files, in key order; 0:
  /// never. value_merge_scan_percent: upper bound for values rewritten for order, in percent of the
  /// bytes that scans have read. Without scans nothing is rewritten (LavaStore 3.2.2; DiffKV 3.4).
  uint32_t value_sorted_runs_max = 8;
  uint32_t value_merge_scan_percent = 25;
  /// Limits of the space that files take, in percent of the live bytes (as estimated, and at least
  /// space_live_bytes_floor), and in bytes. Past a low limit writes are slowed: to
  /// slowed_bytes_per_second or to twice the rate at which collections free space, and down to a
  /// sixteenth of that rate. Past a high limit writes return Busy. Collections and compactions are
  /// preferred meanwhile. When these jobs cannot free more space, writes continue past a ratio, and
  /// return NoSpace past a limit in bytes. Deletes never wait for space. Data in memory is not
  /// included. 0: no limit. A high limit alone implies a low one (Scavenger 3.5).
  uint32_t space_low_percent = 0, space_high_percent = 0;
  uint64_t space_low_bytes = 0, space_high_bytes = 0;
  uint64_t space_live_bytes_floor = 256ull << 20;
  uint64_t slowed_bytes_per_second = 16ull << 20;
  uint64_t level1_bytes = 128ull << 20;
  uint32_t level_multiplier = 10;
  uint32_t level_count = 7;
  uint32_t l0_compaction_trigger = 4;
  uint32_t l0_stall_trigger = 24;  // writes return Busy while this many L0 files cover one key
  uint32_t sealed_runs_max = 4;  // unflushed runs at which a write waits once the memtable is full

  /// Receive flushes, compactions and other events: see event_listener.h.
  std::vector<std::shared_ptr<EventListener>> listeners;
};

}  // namespace lava
