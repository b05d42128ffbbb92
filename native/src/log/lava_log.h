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

/// What is known of a record when an append returns.
enum class Durability : uint8_t {
  kWritten,  // survives the end of the process
  kSynced,   // survives a power cut
};

/// Where a record stands, until its log is trimmed beyond it or it is collected.
struct Location {
  uint32_t file = 0;
  uint32_t offset = 0;
  uint32_t bytes = 0;  // of its data
};

struct LogOptions {
  fs::FileSystem* file_system = nullptr;
  std::string directory;
  /// A physical log is sealed when it is that long.
  uint64_t file_bytes = 256ull << 20;
  /// After so many bytes of data a checkpoint is taken: what a recovery reads at most, beside
  /// one batch.
  uint64_t checkpoint_bytes = 32ull << 20;
  /// A batch gathers so many bytes at most, and waits for other writers so long at most.
  uint64_t batch_bytes = 1ull << 20;
  uint64_t gather_micros = 200;
  /// So many of a log's newest records are known one by one, since an LSN that comes late has to
  /// ask the packs of older ones.
  uint32_t direct_entries = 1024;
  /// The oldest file is collected when this part of all sealed files is garbage.
  uint32_t garbage_percent = 50;
  /// Charged with what the index takes; null: nobody is. It must outlive the log.
  MemoryCounter* memory = nullptr;
  /// Collections and checkpoints run here; null: only when Maintain() is called.
  os::Executor* executor = nullptr;
};

/// LavaLog: logical logs over shared physical ones (lavastore 3.3.1, lavastore-pageserver 5).
/// LSNs of a log mostly ascend; gaps are allowed, and may be filled later.
/// Threads:    any.
/// Ownership:  options.file_system and options.executor must outlive it. Destruction without
///             Close() loses nothing that was acknowledged.
/// Durability: as each call says. A record that was never acknowledged may be there after a crash.
/// Errors:     IOError and NoSpace: nothing of the call is acknowledged, and it may be repeated.
///             After a failed sync every call that writes is refused with its error. Corruption
///             names file and offset.
class LavaLog {
 public:
  /// Errors: Busy when another one has the directory; Corruption; NotSupported for a newer format.
  static Result<std::unique_ptr<LavaLog>> Open(const LogOptions& options);
  virtual ~LavaLog() = default;

  /// Makes a logical log; synced. Errors: InvalidArgument when the name is taken.
  virtual Result<LogId> Create(const std::string& name) = 0;
  /// Errors: NotFound.
  virtual Result<LogId> Find(const std::string& name) = 0;
  virtual std::vector<std::pair<LogId, std::string>> List() = 0;
  /// Deletes a logical log with all its records; synced. Errors: NotFound.
  virtual Status Delete(LogId id) = 0;

  /// Errors: NotFound for the log; InvalidArgument below what is trimmed, for an LSN that is there,
  /// and for more than 64 MiB.
  virtual Status Append(LogId id, uint64_t lsn, Slice data, Durability durability,
                        Location* location = nullptr) = 0;
  /// Forgets all records below lsn. Trimmed records do not come back once the call returned, after
  /// a power cut only with kSynced. Errors: NotFound for the log.
  virtual Status Trim(LogId id, uint64_t lsn, Durability durability) = 0;

  /// Errors: NotFound for the log or the LSN.
  virtual Status Read(LogId id, uint64_t lsn, std::string* data) = 0;
  /// The highest LSN that was ever appended and the lowest that is not trimmed.
  /// Errors: NotFound for the log.
  virtual Status Bounds(LogId id, uint64_t* trimmed_to, uint64_t* last_lsn) = 0;

  /// Walks over a log's records by ascending LSN.
  /// Threads:    one. Ownership: must not outlive the log.
  /// Isolation:  records that come or go ahead of it are seen or not.
  class Cursor {
   public:
    virtual ~Cursor() = default;
    /// Moves to the first record that is not below lsn.
    virtual void Seek(uint64_t lsn) = 0;
    /// Takes the next record; NotFound behind the last one. The data are valid until the next call.
    virtual Status Next(uint64_t* lsn, Slice* data) = 0;
  };
  virtual std::unique_ptr<Cursor> NewCursor(LogId id) = 0;

  /// Makes everything that was acknowledged durable.
  virtual Status Sync() = 0;
  /// Takes a checkpoint, and collects the oldest file while there is more garbage than allowed.
  virtual Status Maintain() = 0;
  virtual Status Checkpoint() = 0;
  /// Collects the oldest data file, however much of it is garbage; NotFound when none is sealed.
  virtual Status CollectOldest() = 0;

  struct Statistics {
    uint64_t logical_logs = 0;
    uint64_t data_files = 0, data_file_bytes = 0;
    uint64_t live_bytes = 0;   // at least what lives: a pack that is trimmed in part counts whole
    uint64_t index_bytes = 0;  // memory
    uint64_t direct_entries = 0;
    uint64_t appended_bytes = 0, appended_records = 0;
    uint64_t batches = 0, syncs = 0;
    uint64_t written_bytes = 0;  // to data and metadata files, checkpoints and indexes included
    uint64_t collections = 0, collected_bytes_read = 0, collected_bytes_moved = 0;
    uint64_t checkpoints = 0;
    uint64_t recovered_bytes_read = 0;
  };
  virtual Statistics statistics() = 0;

  /// Takes a checkpoint. Waits for jobs that run; nothing may be called afterwards.
  virtual Status Close() = 0;
};

}  // namespace lava::log
