// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

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
  uint32_t log = 0;  // the n-th created log
  uint64_t lsn = 0;
  std::string data = {};
  bool synced = false;
};
std::string Describe(const LogOperation& operation);

/// A sequence of valid operations.
std::vector<LogOperation> GenerateLogHistory(uint64_t seed, size_t operations);
/// Options drawn by the seed, with files and checkpoints of some KiB.
log::LogOptions DrawLogOptions(uint64_t seed);

/// The content of a log, for comparisons.
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
/// Errors: those of the log; Corruption when its answers contradict each other.
Result<LogContent> ContentOf(log::LavaLog* log);

/// The result of a history's first `upto` operations when only the first `names` changes of names
/// and the first `records` appends count. Threads: one.
class LogModel {
 public:
  explicit LogModel(const std::vector<LogOperation>& history) : history_(history) {}
  LogContent After(size_t upto, size_t names, size_t records) const;
  static bool IsName(const LogOperation& operation);
  static bool IsRecord(const LogOperation& operation);

 private:
  const std::vector<LogOperation>& history_;
};

/// Plays operations on a log that it opens. Threads: one.
class LogPlayer {
 public:
  explicit LogPlayer(const log::LogOptions& options) : options_(options) {}
  Status Open();
  /// The call's result; OK when there is nothing to collect.
  Status Apply(const LogOperation& operation);
  log::LavaLog* log() { return log_.get(); }

 private:
  const log::LogOptions options_;
  std::unique_ptr<log::LavaLog> log_;
};

/// The name of the n-th log that a history creates.
std::string LogName(uint32_t log);

}  // namespace lava::testing
