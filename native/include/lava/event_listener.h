// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lava/status.h"

namespace lava {

/// Why a memtable was sealed. A flush has the cause of the oldest memtable that it writes.
enum class FlushCause : uint8_t {
  kMemtableFull,  // it reached its limit of bytes
  kMemoryShared,  // the memtables of the lease reached their limit together
  kSnapshot,      // a snapshot was taken
  kRequested,     // DB::Flush()
  kCompactAll,    // DB::CompactAll()
  kReplay,        // the instance was opened, and its write-ahead log was replayed
};

enum class CompactionCause : uint8_t {
  kLevel0,     // level 0 has too many files
  kLevelSize,  // a deeper level has too many bytes
  kExposure,   // space is short, and upper levels hide garbage
  kOrder,      // scans pay for values to be put in the order of their keys
  kManual,     // DB::CompactAll()
};

enum class CollectionCause : uint8_t {
  kGarbage,  // enough of a value file is garbage
  kExpired,  // all values of the files have expired: they are dropped without being read
  kSpace,    // space is short, so less garbage suffices
};

/// The reason why a write waits.
enum class StallCause : uint8_t {
  kFlush,           // too many memtables wait for their flush
  kLevel0,          // level 0 has too many files
  kSpaceSlowdown,   // a low limit of space is passed: writes go on, slowed
  kSpaceLimit,      // the instance's high limit of space is reached
  kSpaceOfProcess,  // the high limit that several instances share is reached
};

enum class SnapshotEnd : uint8_t {
  kReleased,  // its owner released it
  kGivenUp,   // writes needed the space of its files
  kClosed,    // the instance was closed
};

/// The name of a cause for logs, such as "memtable full".
std::string_view NameOf(FlushCause cause) noexcept;
std::string_view NameOf(CompactionCause cause) noexcept;
std::string_view NameOf(CollectionCause cause) noexcept;
std::string_view NameOf(StallCause cause) noexcept;
std::string_view NameOf(SnapshotEnd end) noexcept;

/// Common to all events.
struct EventInfo {
  std::string path;  // of the instance
};

/// Common to all events of background jobs. Each attempt is a separate job.
struct JobEventInfo : EventInfo {
  uint64_t job = 0;  // joins begin and end; unique while the instance is open

  // Known at the end:
  Status status;             // Aborted: the instance is being closed
  uint64_t duration_us = 0;  // includes the deletion of files that are no longer needed
  /// Whether readers see the result. False with status OK: for a flush, an older flush still runs
  /// and installs both at its end; for other jobs, the result was discarded because the clock went
  /// back or because the inputs had disappeared.
  bool installed = false;
};

struct FlushInfo : JobEventInfo {
  FlushCause cause = FlushCause::kMemtableFull;
  uint32_t memtables = 0;
  uint64_t memtable_bytes = 0;

  // Known at the end:
  uint32_t files = 0;             // key and value files; 0: nothing was left to write
  uint64_t file_bytes = 0;        // of the key file
  uint64_t value_file_bytes = 0;  // of the value files
};

struct CompactionInfo : JobEventInfo {
  CompactionCause cause = CompactionCause::kLevel0;
  bool trivial_move = false;                   // files go to the next level as they are
  uint32_t input_level = 0, output_level = 0;  // of the first inputs; equal: within one level
  uint32_t input_files = 0;
  uint64_t input_file_bytes = 0;
  uint32_t merged_value_files = 0;  // files whose values are rewritten

  // Known at the end:
  uint32_t output_files = 0, output_value_files = 0;
  uint64_t read_bytes = 0, written_bytes = 0;  // of key files
  uint64_t written_value_bytes = 0;            // of value files
  uint64_t records_expired = 0;
};

struct CollectionInfo : JobEventInfo {
  CollectionCause cause = CollectionCause::kGarbage;
  uint32_t input_files = 0, expired_files = 0;  // the latter are dropped unread
  uint64_t input_file_bytes = 0;                // of both
  uint64_t garbage_bytes = 0;                   // estimated garbage of the inputs

  // Known at the end:
  uint32_t output_files = 0;
  uint64_t read_bytes = 0, written_bytes = 0;
  uint64_t values_dead = 0, values_expired = 0;  // values that were not copied
};

/// A stall begins with the first write that has to wait, also when the write returns Busy and is
/// repeated. It ends with the first write that need not wait or fails. It also ends, with status
/// OK, when a write waits for another cause: the next stall begins at the same moment.
struct StallInfo : EventInfo {
  uint64_t stall = 0;  // joins begin and end
  StallCause cause = StallCause::kFlush;
  // When it began:
  uint32_t memtables = 0;  // that wait for a flush
  uint32_t level0_files = 0;
  uint64_t file_bytes = 0;    // of the current version
  uint64_t pinned_bytes = 0;  // of files kept only by snapshots, if these count

  // Known at the end:
  Status status;  // result of the write; Closed: no further write came
  uint64_t duration_us = 0;
};

/// A file that a job found damaged. The file stays damaged, so there is no end event.
struct DamageInfo : EventInfo {
  std::string file;  // its name in the directory
  Status status;
  std::vector<std::string> tables;  // with records in the file
};

/// Background work fails in one way until it succeeds again.
struct BackgroundErrorInfo : EventInfo {
  Status status;
  int64_t since_ms = 0;   // wall-clock time of the first failure
  uint64_t failures = 0;  // so far
};

struct SnapshotInfo : EventInfo {
  uint64_t snapshot = 0;        // joins both events; unique within the process, ascending by age
  uint64_t memtable_bytes = 0;  // of memtables that were in no file when it was taken
  uint64_t file_bytes = 0;      // of the files that it had then

  // Known when it is released:
  SnapshotEnd end = SnapshotEnd::kReleased;
  uint64_t held_us = 0;
};

struct FileDeletedInfo : EventInfo {
  std::string file;  // its name in the directory
  Status status;     // of the removal; a file that stays is removed at the next opening
};

struct TableDroppedInfo : EventInfo {
  std::string table;
};

/// Receives events of an instance's own work. Infos contain no keys and no values.
///
/// Threads:    any thread that works for the instance: background threads, and threads that wait
///             for a stall to end, take or release a snapshot, flush, compact, drop a table, open
///             or close the instance. One call at a time for each instance, in the order of the
///             events; a listener of several instances is called by several threads at once. The
///             calling thread waits for the listener, so listeners must be quick. Other threads
///             leave their events to the calling thread and go on.
/// Locks:      the instance holds no locks during the call. A listener may call the DB's const
///             functions except LeftOpen(), and nothing that changes the instance or waits for it.
/// Ownership:  shared by DBOptions::listeners and the DB, which releases listeners when it is
///             destroyed. No listener is called after Close() returned OK.
/// Errors:     exceptions of a listener are caught and counted in DBStatistics::listener_failures.
///             An event is dropped, and counted in DBStatistics::events_dropped, when the system
///             refuses memory for it or when thousands wait for a slow listener. So a begin may
///             lack its end, or an end its begin.
class EventListener {
 public:
  virtual ~EventListener() = default;

  virtual void OnFlushBegin(const FlushInfo&) {}
  virtual void OnFlushEnd(const FlushInfo&) {}
  virtual void OnCompactionBegin(const CompactionInfo&) {}
  virtual void OnCompactionEnd(const CompactionInfo&) {}
  virtual void OnCollectionBegin(const CollectionInfo&) {}
  virtual void OnCollectionEnd(const CollectionInfo&) {}
  virtual void OnStallBegin(const StallInfo&) {}
  virtual void OnStallEnd(const StallInfo&) {}
  virtual void OnDamage(const DamageInfo&) {}
  virtual void OnBackgroundErrorBegin(const BackgroundErrorInfo&) {}
  virtual void OnBackgroundErrorEnd(const BackgroundErrorInfo&) {}
  virtual void OnSnapshotTaken(const SnapshotInfo&) {}
  virtual void OnSnapshotReleased(const SnapshotInfo&) {}
  virtual void OnFileDeleted(const FileDeletedInfo&) {}
  virtual void OnTableDropped(const TableDroppedInfo&) {}
};

}  // namespace lava
