// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "process/lava_log_wal.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "host/process_parts.h"
#include "lava/slice.h"
#include "lava/status.h"
#include "log/lava_log.h"

namespace lava {
namespace {

class LavaLogWal final : public Wal {
 public:
  LavaLogWal(std::shared_ptr<log::LavaLog> log, std::string name, bool synced)
      : log_(std::move(log)), name_(std::move(name)), synced_(synced) {}
  /// Comes first.
  Status Find(const std::string& directory, std::optional<uint64_t> flushed);
  Status Replay(const std::function<Status(Slice)>& apply) override;
  Status Append(Slice record) override;
  uint64_t last() const override { return last_; }
  Status Flushed(uint64_t lsn) override;

 private:
  const std::shared_ptr<log::LavaLog> log_;
  const std::string name_;
  const bool synced_;
  log::LogId id_{};
  uint64_t flushed_ = 0;
  uint64_t last_ = 0;
};

Status LavaLogWal::Find(const std::string& directory, std::optional<uint64_t> flushed) {
  Result<log::LogId> id = log_->Find(name_);
  if (!id.ok() && !id.status().IsNotFound()) return std::move(id).status();
  if (!id.ok() && flushed) {
    return Status::Corruption("write-ahead log " + directory + " has no log of " + name_ +
                              ", whose last writes may be in it alone; name the directory where it "
                              "is (options.wal_directory), and the instance by the path that it "
                              "was made under");
  }
  if (!flushed) {
    if (id.ok()) LAVA_RETURN_IF_ERROR(log_->Delete(*id));
    id = log_->Create(name_);
    if (!id.ok()) return std::move(id).status();
  }
  id_ = *id;
  uint64_t trimmed_to = 0, last = 0;
  LAVA_RETURN_IF_ERROR(log_->Bounds(id_, &trimmed_to, &last));
  flushed_ = flushed.value_or(0);
  // No number is used twice. The last one may be known only from the manifest, or from the position
  // up to which the log was trimmed.
  last_ = std::max({flushed_, last, trimmed_to > 0 ? trimmed_to - 1 : 0});
  return Status::OK();
}

Status LavaLogWal::Replay(const std::function<Status(Slice)>& apply) {
  const auto cursor = log_->NewCursor(id_);
  cursor->Seek(flushed_ + 1);
  const uint64_t end = last_;
  last_ = flushed_;  // a memtable that is sealed during the replay holds the records up to last()
  uint64_t lsn = 0;
  Slice record;
  Status status = cursor->Next(&lsn, &record);
  for (; status.ok(); status = cursor->Next(&lsn, &record)) {
    const std::string where =
        "replay of write-ahead log " + name_ + ", record " + std::to_string(lsn);
    if (lsn != last_ + 1) {
      return Status::Corruption(where + ": record " + std::to_string(last_ + 1) + " is missing");
    }
    LAVA_RETURN_IF_ERROR(apply(record).WithContext(where));
    last_ = lsn;
  }
  last_ = end;
  return status.IsNotFound() ? Status::OK() : status.WithContext("replay of " + name_);
}

Status LavaLogWal::Append(Slice record) {
  const Status status = log_->Append(
      id_, last_ + 1, record, synced_ ? log::Durability::kSynced : log::Durability::kWritten);
  if (!status.ok()) [[unlikely]]
    return status.WithContext("write-ahead log of " + name_);
  ++last_;
  return Status::OK();
}

Status LavaLogWal::Flushed(uint64_t lsn) {
  if (lsn <= flushed_) return Status::OK();
  flushed_ = lsn;
  // Not synced, because the next trim makes up for one that is lost.
  return log_->Trim(id_, lsn + 1, log::Durability::kWritten);
}

}  // namespace

Result<std::unique_ptr<Wal>> OpenLavaLogWal(std::shared_ptr<log::LavaLog> log,
                                            const std::string& name, const std::string& directory,
                                            bool synced, std::optional<uint64_t> flushed) {
  auto wal = std::make_unique<LavaLogWal>(std::move(log), name, synced);
  LAVA_RETURN_IF_ERROR(wal->Find(directory, flushed));
  return std::unique_ptr<Wal>(std::move(wal));
}

}  // namespace lava
