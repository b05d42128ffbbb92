// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "log/lava_log.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/mutex.h"
#include "lava/slice.h"
#include "lava/status.h"
#include "log/format.h"
#include "log/index.h"
#include "log/lava_log_impl.h"
#include "log/physical_log.h"

namespace lava::log {

Result<std::unique_ptr<LavaLog>> LavaLog::Open(const LogOptions& options) {
  LAVA_CHECK(options.file_system != nullptr);
  if (options.file_bytes > (2ull << 30) || options.batch_bytes > (64ull << 20)) {
    return Status::InvalidArgument(options.directory + ": a physical log has at most 2 GiB, not " +
                                   std::to_string(options.file_bytes) + ", and a batch 64 MiB");
  }
  auto log = std::make_unique<LavaLogImpl>(options);
  LAVA_RETURN_IF_ERROR(log->Recover());
  return std::unique_ptr<LavaLog>(std::move(log));
}

LavaLogImpl::~LavaLogImpl() {
  {
    MutexLock lock(&job_->mutex);
    job_->log = nullptr;
  }
  MutexLock running(&job_->running);
  if (options_.memory != nullptr) options_.memory->Release(charged_bytes_);
}

Result<LogId> LavaLogImpl::Create(const std::string& name) {
  Op op;
  op.kind = Op::Kind::kMeta;
  op.durability = Durability::kSynced;
  op.meta = {.kind = MetaOp::Kind::kCreate, .name = name};
  LAVA_RETURN_IF_ERROR(Commit(&op));
  return op.meta.log;
}

Result<LogId> LavaLogImpl::Find(const std::string& name) {
  MutexLock lock(&mutex_);
  const LogicalLog* const log = index_.FindByName(name);
  if (log != nullptr) return log->id();
  return Status::NotFound("no logical log " + name + " in " + options_.directory);
}

std::vector<std::pair<LogId, std::string>> LavaLogImpl::List() {
  MutexLock lock(&mutex_);
  std::vector<std::pair<LogId, std::string>> logs;
  for (const auto& [id, log] : index_.logs()) logs.emplace_back(id, log->name());
  return logs;
}

Status LavaLogImpl::Delete(LogId id) {
  Op op;
  op.kind = Op::Kind::kMeta;
  op.durability = Durability::kSynced;
  op.meta = {.kind = MetaOp::Kind::kDelete, .log = id};
  return Commit(&op);
}

Status LavaLogImpl::Append(LogId id, uint64_t lsn, Slice data, Durability durability,
                           Location* location) {
  if (data.size() > kRecordBytesMax) {
    return Status::InvalidArgument(Describe("append", id, lsn) + ": " +
                                   std::to_string(data.size()) + " bytes, at most " +
                                   std::to_string(kRecordBytesMax));
  }
  for (;;) {
    Op op;
    op.log = id;
    op.lsn = lsn;
    op.data = data;
    op.durability = durability;
    LAVA_RETURN_IF_ERROR(AskPacks(id, lsn, &op.generation));
    LAVA_RETURN_IF_ERROR(Commit(&op));
    if (op.again) continue;
    if (location != nullptr) *location = op.location;
    return Status::OK();
  }
}

Status LavaLogImpl::Trim(LogId id, uint64_t lsn, Durability durability) {
  Op op;
  op.kind = Op::Kind::kMeta;
  op.durability = durability;
  op.meta = {.kind = MetaOp::Kind::kTrim, .log = id, .lsn = lsn};
  return Commit(&op);
}

Status LavaLogImpl::Read(LogId id, uint64_t lsn, std::string* data) {
  std::shared_ptr<DataFile> file;
  IndexEntry entry;
  std::vector<std::pair<Pack, std::shared_ptr<DataFile>>> packs;
  {
    MutexLock lock(&mutex_);
    const LogicalLog* const log = index_.Find(id);
    if (log == nullptr) {
      return Status::NotFound(Describe("read", id, lsn) + ": there is no such log");
    }
    if (lsn >= log->trimmed_to()) {
      if (const IndexEntry* const direct = log->FindDirect(lsn)) {
        entry = *direct;
        file = index_.FindFile(index_.active())->file;
      } else {
        for (const Pack& pack : log->PacksWith(lsn, lsn)) {
          packs.emplace_back(pack, index_.FindFile(pack.file)->file);
        }
      }
    }
  }
  std::vector<IndexEntry> entries;
  for (size_t i = 0; i < packs.size() && file == nullptr; ++i) {
    LAVA_RETURN_IF_ERROR(packs[i].second->ReadPack(packs[i].first, id, &entries));
    const auto at = std::lower_bound(entries.begin(), entries.end(), lsn,
                                     [](const IndexEntry& e, uint64_t l) { return e.lsn < l; });
    if (at == entries.end() || at->lsn != lsn) continue;
    entry = *at;
    file = packs[i].second;
  }
  if (file == nullptr) return Status::NotFound();
  return file->ReadRecord(id, entry, data);
}

Status LavaLogImpl::Bounds(LogId id, uint64_t* trimmed_to, uint64_t* last_lsn) {
  MutexLock lock(&mutex_);
  const LogicalLog* const log = index_.Find(id);
  if (log == nullptr) return Status::NotFound(Describe("bounds", id, 0) + ": no such log");
  *trimmed_to = log->trimmed_to();
  *last_lsn = log->last_lsn();
  return Status::OK();
}

Status LavaLogImpl::Sync() {
  return RunExclusive([this] {
    leader_.AssertHeld();
    return SyncFiles(true);
  });
}

// Charges in any case: written records must be in the index, and only sealing and trimming make it
// smaller.
void LavaLogImpl::ChargeIndex() {
  if (options_.memory == nullptr) return;
  const uint64_t now = index_.memory_bytes_so_far();
  if (now > charged_bytes_) options_.memory->Charge(now - charged_bytes_);
  if (now < charged_bytes_) options_.memory->Release(charged_bytes_ - now);
  charged_bytes_ = now;
}

void LavaLogImpl::CountWritten(uint64_t bytes) {
  MutexLock lock(&mutex_);
  statistics_.written_bytes += bytes;
}

LavaLog::Statistics LavaLogImpl::statistics() {
  MutexLock lock(&mutex_);
  Statistics now = statistics_;
  now.logical_logs = index_.logs().size();
  now.data_files = index_.files().size();
  for (const auto& [number, info] : index_.files()) now.data_file_bytes += info.bytes;
  now.live_bytes = index_.live_bytes();
  now.index_bytes = index_.memory_bytes();
  now.direct_entries = index_.direct_entries();
  return now;
}

Status LavaLogImpl::Close() {
  {
    MutexLock lock(&job_->mutex);
    job_->log = nullptr;
  }
  MutexLock running(&job_->running);
  // The checkpoint records where every file ends, so that damage is never taken for a torn end.
  LAVA_RETURN_IF_ERROR(Checkpoint());
  MutexLock lock(&mutex_);
  closed_ = true;
  return Status::OK();
}

}  // namespace lava::log
