#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "log/lava_log.h"

namespace lava::testing {

/// One call to a LavaLog.
struct LogOperation {
  enum class Kind : uint8_t {
    kCreate,
    kDelete,
    kAppend,
    kTrim,
    kSync,
    kCheckpoint,
    kMaintain,
    kCollect,
    kReopen,
  };
  Kind kind = Kind::kAppend;
  uint32_t log = 0;  // the n-th that was created
  uint64_t lsn = 0;
  std::string data = {};
  bool synced = false;
};
std::string Describe(const LogOperation& operation);

/// Operations that are all legal, one behind another.
std::vector<LogOperation> GenerateLogHistory(uint64_t seed, size_t operations);
/// Options drawn by the seed: files and checkpoints of some KiB.
log::LogOptions DrawLogOptions(uint64_t seed);

/// What a log has, for comparisons.
struct LogContent {
  struct OfLog {
    uint64_t trimmed_to = 0;
    std::map<uint64_t, std::string> records;
    bool operator==(const OfLog&) const = default;
  };
  std::map<std::string, OfLog> logs;
  bool operator==(const LogContent&) const = default;
  std::string ToString() const;
};
/// Errors: what the log answers; Corruption when its answers contradict each other.
Result<LogContent> ContentOf(log::LavaLog* log);

/// What a history leaves when of its first `upto` operations only the first `names` changes of
/// names and the first `records` appends count.
/// Threads: one.
class LogModel {
 public:
  explicit LogModel(const std::vector<LogOperation>& history) : history_(history) {}
  LogContent After(size_t upto, size_t names, size_t records) const;
  static bool IsName(const LogOperation& operation);
  static bool IsRecord(const LogOperation& operation);

 private:
  const std::vector<LogOperation>& history_;
};

/// Plays operations on a log that it opens.
/// Threads: one.
class LogPlayer {
 public:
  explicit LogPlayer(const log::LogOptions& options) : options_(options) {}
  Status Open();
  /// What the call answered; nothing to collect is OK.
  Status Apply(const LogOperation& operation);
  log::LavaLog* log() { return log_.get(); }

 private:
  const log::LogOptions options_;
  std::unique_ptr<log::LavaLog> log_;
};

/// Of the n-th log that a history creates.
std::string LogName(uint32_t log);

}  // namespace lava::testing
