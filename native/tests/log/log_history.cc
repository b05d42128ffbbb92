// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/log/log_history.h"

#include <algorithm>
#include <utility>

#include "testing/random.h"

namespace lava::testing {
namespace {

using Kind = LogOperation::Kind;

class Generator {
 public:
  explicit Generator(uint64_t seed) : random_(seed) {}

  LogOperation Next() {
    const uint64_t what = random_.Uniform(100);
    if (living_.empty() || (what < 4 && living_.size() < 6)) return Create();
    if (what < 80) return Append();
    if (what < 87) return Trim();
    if (what < 89) return Delete();
    LogOperation operation;
    operation.kind = what < 91   ? Kind::kSync
                     : what < 93 ? Kind::kCheckpoint
                     : what < 95 ? Kind::kMaintain
                     : what < 98 ? Kind::kCollect
                                 : Kind::kReopen;
    return operation;
  }

 private:
  struct Living {
    uint64_t trimmed_to = 0, last = 0;
    std::vector<uint64_t> gaps;
  };

  LogOperation Create() {
    LogOperation operation;
    operation.kind = Kind::kCreate;
    operation.log = created_++;
    living_[operation.log] = {};
    return operation;
  }

  Living* Any(LogOperation* operation) {
    auto at = living_.begin();
    std::advance(at, random_.Uniform(living_.size()));
    operation->log = at->first;
    return &at->second;
  }

  LogOperation Append() {
    LogOperation operation;
    Living* const log = Any(&operation);
    operation.synced = random_.OneIn(3);
    operation.data = random_.SkewedBytes(random_.OneIn(20) ? 4000 : 200);
    if (!log->gaps.empty() && random_.OneIn(3)) {
      const size_t at = random_.Uniform(log->gaps.size());
      operation.lsn = log->gaps[at];
      log->gaps.erase(log->gaps.begin() + static_cast<ptrdiff_t>(at));
      return operation;
    }
    operation.lsn = std::max(log->last + 1, log->trimmed_to);
    while (random_.OneIn(6)) log->gaps.push_back(operation.lsn++);
    log->last = operation.lsn;
    return operation;
  }

  LogOperation Trim() {
    LogOperation operation;
    operation.kind = Kind::kTrim;
    Living* const log = Any(&operation);
    operation.synced = random_.OneIn(3);
    operation.lsn =
        log->trimmed_to + random_.Uniform(log->last + 3 - std::min(log->last, log->trimmed_to));
    log->trimmed_to = std::max(log->trimmed_to, operation.lsn);
    std::erase_if(log->gaps, [log](uint64_t lsn) { return lsn < log->trimmed_to; });
    return operation;
  }

  LogOperation Delete() {
    LogOperation operation;
    operation.kind = Kind::kDelete;
    Any(&operation);
    living_.erase(operation.log);
    return operation;
  }

  Random random_;
  uint32_t created_ = 0;
  std::map<uint32_t, Living> living_;
};

}  // namespace

std::string LogName(uint32_t log) { return "log " + std::to_string(log); }

std::string Describe(const LogOperation& operation) {
  static constexpr const char* kNames[] = {"create",     "delete",   "append",  "trim",  "sync",
                                           "checkpoint", "maintain", "collect", "reopen"};
  return std::string(kNames[static_cast<size_t>(operation.kind)]) + " " + LogName(operation.log) +
         " LSN " + std::to_string(operation.lsn) + " of " + std::to_string(operation.data.size()) +
         " bytes" + (operation.synced ? ", synced" : "");
}

std::vector<LogOperation> GenerateLogHistory(uint64_t seed, size_t operations) {
  Generator generator(seed);
  std::vector<LogOperation> history;
  while (history.size() < operations) history.push_back(generator.Next());
  return history;
}

log::LogOptions DrawLogOptions(uint64_t seed) {
  Random random(seed * 77 + 5);
  log::LogOptions options;
  options.directory = "/log";
  options.file_bytes = 1ull << random.Between(9, 14);
  options.checkpoint_bytes = 1ull << random.Between(10, 15);
  options.direct_entries = static_cast<uint32_t>(random.Uniform(20));
  options.garbage_percent = static_cast<uint32_t>(random.Between(10, 80));
  return options;
}

std::string LogContent::ToString() const {
  std::string text;
  for (const auto& [name, of_log] : logs) {
    text += name + " from " + std::to_string(of_log.trimmed_to) + ":";
    for (const auto& [lsn, data] : of_log.records) {
      text += " " + std::to_string(lsn) + "/" + std::to_string(data.size());
    }
    text += "; ";
  }
  return text;
}

Result<LogContent> ContentOf(log::LavaLog* log) {
  LogContent content;
  for (const auto& [id, name] : log->List()) {
    LogContent::OfLog& of_log = content.logs[name];
    uint64_t last = 0, lsn = 0;
    LAVA_RETURN_IF_ERROR(log->Bounds(id, &of_log.trimmed_to, &last));
    const auto cursor = log->NewCursor(id);
    cursor->Seek(0);
    Slice data;
    Status status = cursor->Next(&lsn, &data);
    for (; status.ok(); status = cursor->Next(&lsn, &data)) {
      std::string read;
      LAVA_RETURN_IF_ERROR(log->Read(id, lsn, &read));
      if (read != data || lsn > last || !of_log.records.emplace(lsn, data).second) {
        return Status::Corruption("a read and a scan of LSN " + std::to_string(lsn) + " of " +
                                  name + " do not agree");
      }
    }
    if (!status.IsNotFound()) return status;
  }
  return content;
}

bool LogModel::IsName(const LogOperation& operation) {
  return operation.kind == Kind::kCreate || operation.kind == Kind::kDelete ||
         operation.kind == Kind::kTrim;
}

bool LogModel::IsRecord(const LogOperation& operation) { return operation.kind == Kind::kAppend; }

LogContent LogModel::After(size_t upto, size_t names, size_t records) const {
  LogContent content;
  for (size_t i = 0; i < upto; ++i) {
    const LogOperation& o = history_[i];
    if (!IsName(o)) continue;
    if (names-- == 0) break;
    if (o.kind == Kind::kDelete) {
      content.logs.erase(LogName(o.log));
      continue;
    }
    LogContent::OfLog& of_log = content.logs[LogName(o.log)];
    of_log.trimmed_to = std::max(of_log.trimmed_to, o.lsn);
  }
  for (size_t i = 0; i < upto; ++i) {
    const LogOperation& o = history_[i];
    if (!IsRecord(o)) continue;
    if (records-- == 0) break;
    const auto at = content.logs.find(LogName(o.log));
    if (at != content.logs.end() && o.lsn >= at->second.trimmed_to) {
      at->second.records[o.lsn] = o.data;
    }
  }
  return content;
}

Status LogPlayer::Open() {
  log_.reset();
  LAVA_ASSIGN_OR_RETURN(log_, log::LavaLog::Open(options_));
  return Status::OK();
}

Status LogPlayer::Apply(const LogOperation& operation) {
  const auto durability = operation.synced ? log::Durability::kSynced : log::Durability::kWritten;
  switch (operation.kind) {
    case Kind::kCreate:
      return log_->Create(LogName(operation.log)).status();
    case Kind::kSync:
      return log_->Sync();
    case Kind::kCheckpoint:
      return log_->Checkpoint();
    case Kind::kMaintain:
      return log_->Maintain();
    case Kind::kCollect: {
      Status status = log_->CollectOldest();
      return status.IsNotFound() ? Status::OK() : status;
    }
    case Kind::kReopen:
      return Open();
    default:
      break;
  }
  LAVA_ASSIGN_OR_RETURN(const log::LogId id, log_->Find(LogName(operation.log)));
  switch (operation.kind) {
    case Kind::kDelete:
      return log_->Delete(id);
    case Kind::kTrim:
      return log_->Trim(id, operation.lsn, durability);
    default:
      return log_->Append(id, operation.lsn, operation.data, durability);
  }
}

}  // namespace lava::testing
