#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "fs/file_system.h"
#include "log/index.h"

namespace lava::log {

/// Where what a checkpoint does not have begins.
struct CheckpointStart {
  uint32_t meta = 0;         // the first metadata file that counts
  uint32_t data = 0;         // the data file that was written, or would have been next
  uint64_t data_offset = 0;  // in it; 0: its beginning
  uint64_t data_sequence = 0;
  uint32_t next_data = 0;
  LogId next_id = 0;
  /// Files that are sealed, and the bytes of the records that were ever in them.
  std::vector<std::pair<uint32_t, uint64_t>> sealed;
};

/// What a checkpoint has: namespace and index (lavastore 3.3.1, "Checkpoint and Garbage
/// Collection"). It is fuzzy: logs are taken one behind another while others go on, and what
/// happened since its start is replayed over it.
struct CheckpointContent {
  CheckpointStart start;
  struct OfLog {
    LogId id = 0;
    std::string name;
    uint64_t trimmed_to = 0, last_lsn = 0;
    std::vector<Pack> packs;
    std::vector<Entry> direct;  // of start.data
  };
  std::vector<OfLog> logs;
};

/// Writes a checkpoint in pieces; its name is there when all of it is durable.
/// Threads:    one.
class CheckpointWriter {
 public:
  static Result<std::unique_ptr<CheckpointWriter>> Create(fs::FileSystem* file_system,
                                                          const std::string& directory,
                                                          const CheckpointStart& start);
  /// Encodes a log as it is now; direct entries only where they are of start.data.
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

/// Errors: Corruption, naming file and offset.
Status ReadCheckpoint(fs::FileSystem* file_system, const std::string& directory, uint32_t number,
                      CheckpointContent* content);

}  // namespace lava::log
