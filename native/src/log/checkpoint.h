// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "fs/file_system.h"
#include "log/index.h"

namespace lava::log {

/// Where the part of the log begins that a checkpoint does not contain.
struct CheckpointStart {
  uint32_t meta = 0;         // the first metadata file that counts
  uint32_t data = 0;         // the data file that was being written, or would have been next
  uint64_t data_offset = 0;  // offset in that file; 0: its beginning
  uint64_t data_sequence = 0;
  uint32_t next_data = 0;
  LogId next_id = 0;
  /// Sealed files, each with the bytes of all records that were ever in it.
  std::vector<std::pair<uint32_t, uint64_t>> sealed;
};

/// The content of a checkpoint: namespace and index (lavastore 3.3.1, "Checkpoint and Garbage
/// Collection"). A checkpoint is fuzzy: logs are added one after another while the others go on,
/// and all changes since its start are replayed over it.
struct CheckpointContent {
  CheckpointStart start;
  struct OfLog {
    LogId id = 0;
    std::string name;
    uint64_t trimmed_to = 0, last_lsn = 0;
    std::vector<Pack> packs;
    std::vector<IndexEntry> direct;  // of start.data
  };
  std::vector<OfLog> logs;
};

/// Writes a checkpoint in pieces. The file gets its name when all of it is durable.
/// Threads:    one.
/// Ownership:  the file system must outlive it.
/// Errors:     IOError, NoSpace; the writer is useless afterwards.
class CheckpointWriter {
 public:
  static Result<std::unique_ptr<CheckpointWriter>> Create(fs::FileSystem* file_system,
                                                          const std::string& directory,
                                                          const CheckpointStart& start);
  /// Encodes the current state of a log, with its direct entries if they are in start.data.
  static void Encode(const LogicalLog& log, const CheckpointStart& start, uint32_t active,
                     std::string* out);
  Status Append(uint64_t logs, Slice encoded);
  Status Finish();
  uint64_t size() const { return writer_->size(); }

 private:
  fs::FileSystem* file_system_ = nullptr;
  std::string directory_, path_;
  std::unique_ptr<PhysicalLogWriter> writer_;
  uint64_t logs_ = 0;
};

/// Errors: Corruption, naming file and offset; NotSupported for a newer format; IOError.
Status ReadCheckpoint(fs::FileSystem* file_system, const std::string& directory, uint32_t number,
                      CheckpointContent* content);

}  // namespace lava::log
