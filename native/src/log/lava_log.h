// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "fs/file_system.h"
#include "lava/slice.h"
#include "lava/status.h"
#include "memory/memory_counter.h"
#include "os/executor.h"

namespace lava::log {

using LogId = uint64_t;

/// The guarantee for a record when its append returns.
enum class Durability : uint8_t {
  kWritten,  // survives the end of the process
  kSynced,   // survives a power cut
};

/// Where a record is, until its log is trimmed beyond it or the record is collected.
struct Location {
  uint32_t file = 0;
  uint32_t offset = 0;
  uint32_t bytes = 0;  // of the record's data
};

/// Options of LavaLog::Open(). Units: bytes, microseconds.
struct LogOptions {
  fs::FileSystem* file_system = nullptr;
  std::string directory;
  /// A physical log is sealed when it reaches this length.
  uint64_t file_bytes = 256ull << 20;
  /// A checkpoint is taken after this many bytes of data. A recovery reads at most these and one
  /// batch.
  uint64_t checkpoint_bytes = 32ull << 20;
  /// A batch has at most batch_bytes, and waits at most gather_micros for other writers.
  uint64_t batch_bytes = 1ull << 20;
  uint64_t gather_micros = 200;
  /// This many of a log's newest records have entries in memory. An append of an older LSN may have
  /// to read packs.
  uint32_t direct_entries = 1024;
  /// Files are collected, the oldest first, while more than this part of all sealed files is
  /// garbage.
  uint32_t garbage_percent = 50;
  /// Charged with the memory of the index; null: nothing is charged. It must outlive the log.
  MemoryCounter* memory = nullptr;
  /// Runs collections and checkpoints; null: they run only when Maintain() is called.
  os::Executor* executor = nullptr;
};

/// LavaLog: logical logs over shared physical ones (lavastore 3.3.1, lavastore-pageserver 5). LSNs
/// of a log mostly ascend; gaps are allowed, and may be filled later.
/// Threads:    any.
/// Ownership:  options.file_system and options.executor must outlive the log. Destruction without
///             Close() loses nothing that was acknowledged.
/// Durability: as each call says. A record that was never acknowledged may exist after a crash.
/// Errors:     IOError and NoSpace: no part of the call is acknowledged, and it may be repeated.
///             After a failed sync every call that writes fails with its error. Corruption names
///             file and offset.
class LavaLog {
 public:
  /// Errors: Busy when the directory is in use; Corruption; NotSupported for a newer format.
  static Result<std::unique_ptr<LavaLog>> Open(const LogOptions& options);
  virtual ~LavaLog() = default;

  /// Makes a logical log; synced. Errors: InvalidArgument when the name is taken.
  virtual Result<LogId> Create(const std::string& name) = 0;
  /// Errors: NotFound.
  virtual Result<LogId> Find(const std::string& name) = 0;
  virtual std::vector<std::pair<LogId, std::string>> List() = 0;
  /// Deletes a logical log with all its records; synced. Errors: NotFound.
  virtual Status Delete(LogId id) = 0;

  /// Errors: NotFound for the log; InvalidArgument for an LSN that is trimmed or exists already,
  /// and for more than 64 MiB.
  virtual Status Append(LogId id, uint64_t lsn, Slice data, Durability durability,
                        Location* location = nullptr) = 0;
  /// Forgets all records below lsn. Trimmed records do not return once the call has returned; with
  /// kSynced not even after a power cut. Errors: NotFound for the log.
  virtual Status Trim(LogId id, uint64_t lsn, Durability durability) = 0;

  /// Errors: NotFound for the log or the LSN.
  virtual Status Read(LogId id, uint64_t lsn, std::string* data) = 0;
  /// *trimmed_to is the lowest LSN that is not trimmed, *last_lsn the highest that was ever
  /// appended. Errors: NotFound for the log.
  virtual Status Bounds(LogId id, uint64_t* trimmed_to, uint64_t* last_lsn) = 0;

  /// Walks over a log's records by ascending LSN.
  /// Threads:    one.
  /// Ownership:  must not outlive the log.
  /// Isolation:  records that are added or removed ahead of the cursor may be seen or not.
  class Cursor {
   public:
    virtual ~Cursor() = default;
    /// Moves to the first record at or above lsn.
    virtual void Seek(uint64_t lsn) = 0;
    /// Takes the next record; NotFound after the last one. The data is valid until the next call.
    virtual Status Next(uint64_t* lsn, Slice* data) = 0;
  };
  virtual std::unique_ptr<Cursor> NewCursor(LogId id) = 0;

  /// Makes everything that was acknowledged durable.
  virtual Status Sync() = 0;
  /// Takes a checkpoint if it is due, and collects files while there is more garbage than allowed.
  virtual Status Maintain() = 0;
  virtual Status Checkpoint() = 0;
  /// Collects the oldest data file, whatever its share of garbage; NotFound when none is sealed.
  virtual Status CollectOldest() = 0;

  struct Statistics {
    uint64_t logical_logs = 0;
    uint64_t data_files = 0, data_file_bytes = 0;
    uint64_t live_bytes = 0;   // upper bound: a partly trimmed pack counts in full
    uint64_t index_bytes = 0;  // memory
    uint64_t direct_entries = 0;
    uint64_t appended_bytes = 0, appended_records = 0;
    uint64_t batches = 0, syncs = 0;
    uint64_t written_bytes = 0;  // to all files, including checkpoints and indexes
    uint64_t collections = 0, collected_bytes_read = 0, collected_bytes_moved = 0;
    uint64_t checkpoints = 0;
    uint64_t recovered_bytes_read = 0;
  };
  virtual Statistics statistics() = 0;

  /// Takes a checkpoint. Waits for running jobs; nothing may be called afterwards.
  virtual Status Close() = 0;
};

}  // namespace lava::log
