// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/mutex.h"
#include "lava/status.h"
#include "log/format.h"
#include "log/index.h"
#include "log/lava_log.h"
#include "log/lava_log_impl.h"
#include "log/physical_log.h"
#include "os/clock.h"

namespace lava::log {

std::string LavaLogImpl::Describe(const char* what, LogId id, uint64_t lsn) const {
  return std::string(what) + " LSN " + std::to_string(lsn) + " of logical log " +
         std::to_string(id) + " in " + options_.directory;
}

Status LavaLogImpl::CommitAll(const Batch& ops) {
  if (ops.empty()) return Status::OK();
  Waiter waiter;
  MutexLock lock(&mutex_);
  if (closed_) return Status::Closed(options_.directory + ": the log was closed");
  for (Op* const op : ops) {
    op->waiter = &waiter;
    queue_.push_back(op);
  }
  if (gathering_) gathered_.NotifyOne();
  // Ops are done in the order of the queue.
  while (!ops.back()->done) {
    if (!leading_ && queue_.front()->waiter == &waiter) {
      Lead();
    } else {
      waiter.wake.Wait(&mutex_);
    }
  }
  for (Op* const op : ops) {
    if (!op->status.ok()) return op->status;
  }
  return Status::OK();
}

Status LavaLogImpl::RunExclusive(std::function<Status()> what) {
  Op op;
  op.kind = Op::Kind::kExclusive;
  op.exclusive = std::move(what);
  return Commit(&op);
}

void LavaLogImpl::Lead() {
  leading_ = true;
  leader_.Begin();
  Gather();
  const Batch batch = TakeBatch();
  Status status;
  uint64_t took = 0;
  {
    MutexUnlock unlock(&mutex_);
    const uint64_t began = os::MonotonicMicros();
    if (batch.front()->kind != Op::Kind::kExclusive) status = WriteBatch(batch);
    took = os::MonotonicMicros() - began;
    if (batch.front()->kind == Op::Kind::kExclusive) {
      Op* const op = batch.front();
      op->status = failed().ok() ? op->exclusive() : failed();
    }
  }
  if (status.ok()) Apply(batch);
  const bool synced = std::any_of(batch.begin(), batch.end(), [](const Op* op) {
    return op->counts && op->durability == Durability::kSynced;
  });
  if (synced) last_batch_.sync_micros = took;
  last_batch_.ops = batch.size();
  std::vector<LogId> written;
  for (Op* const op : batch) {
    if (op->counts && !status.ok()) op->status = status;
    if (op->counts && op->kind != Op::Kind::kMeta) written.push_back(op->log);
    op->done = true;  // its caller may take it away from here on
    if (op->waiter != nullptr) op->waiter->wake.NotifyOne();
  }
  {
    MutexUnlock unlock(&mutex_);
    obsolete_.clear();  // removes the files unless they are still being read
    // A failure here occurs again, and is reported, when the next batch needs the result.
    if (status.ok() && failed().ok()) (void)Tidy(written);
  }
  ChargeIndex();
  leader_.End();
  leading_ = false;
  if (!queue_.empty()) queue_.front()->waiter->wake.NotifyOne();
  ScheduleMaintenance();
}

void LavaLogImpl::Gather() {
  // Writers that the last sync released return at once. Without a short wait every second batch
  // would have only one of them, and the others would wait for two syncs each.
  const bool syncs = queue_.front()->durability == Durability::kSynced &&
                     queue_.front()->kind == Op::Kind::kAppend;
  if (!syncs || last_batch_.ops < 2 || queue_.size() >= last_batch_.ops) return;
  const uint64_t micros = std::min(options_.gather_micros, last_batch_.sync_micros / 4);
  gathering_ = true;
  const auto until = std::chrono::steady_clock::now() + std::chrono::microseconds(micros);
  while (queue_.size() < last_batch_.ops && gathered_.WaitUntil(&mutex_, until)) continue;
  gathering_ = false;
}

LavaLogImpl::Batch LavaLogImpl::TakeBatch() {
  Batch batch;
  uint64_t bytes = 0;
  while (!queue_.empty()) {
    Op* const op = queue_.front();
    if (op->kind == Op::Kind::kExclusive) {
      if (!batch.empty()) break;
      queue_.pop_front();
      batch.push_back(op);
      break;
    }
    bytes += op->data.size();
    if (!batch.empty() && bytes > options_.batch_bytes) break;
    queue_.pop_front();
    Judge(op, batch);
    batch.push_back(op);
  }
  return batch;
}

void LavaLogImpl::Judge(Op* op, const Batch& before) {
  if (!failed_.ok()) {
    op->status = failed_;
    return;
  }
  op->status = op->kind == Op::Kind::kMeta ? JudgeMeta(op, before) : JudgeAppend(op, before);
  op->counts = op->status.ok() && !op->again;
  if (op->kind == Op::Kind::kMove && op->status.IsNotFound()) op->status = Status::OK();
}

Status LavaLogImpl::JudgeAppend(Op* op, const Batch& before) {
  const LogicalLog* const log = index_.Find(op->log);
  if (log == nullptr) {
    return Status::NotFound(Describe("append", op->log, op->lsn) + ": there is no such log");
  }
  if (op->kind == Op::Kind::kMove) {
    return op->lsn < log->trimmed_to() ? Status::NotFound() : Status::OK();
  }
  if (op->lsn < log->trimmed_to()) {
    return Status::InvalidArgument(Describe("append", op->log, op->lsn) + ": trimmed up to " +
                                   std::to_string(log->trimmed_to()));
  }
  bool there = log->FindDirect(op->lsn) != nullptr;
  for (const Op* const other : before) {
    there |= other->counts && other->kind == Op::Kind::kAppend && other->log == op->log &&
             other->lsn == op->lsn;
  }
  if (there) {
    return Status::InvalidArgument(Describe("append", op->log, op->lsn) + ": it is there");
  }
  op->again = op->lsn <= log->last_lsn() && op->generation != log->pack_generation();
  return Status::OK();
}

Status LavaLogImpl::JudgeMeta(Op* op, const Batch& before) {
  MetaOp& meta = op->meta;
  switch (meta.kind) {
    case MetaOp::Kind::kCreate: {
      bool taken = index_.FindByName(meta.name) != nullptr;
      for (const Op* const other : before) {
        taken |= other->counts && other->kind == Op::Kind::kMeta &&
                 other->meta.kind == MetaOp::Kind::kCreate && other->meta.name == meta.name;
      }
      if (taken) {
        return Status::InvalidArgument("create logical log " + meta.name + " in " +
                                       options_.directory + ": the name is taken");
      }
      meta.log = index_.next_id();
      index_.SeeId(meta.log);
      return Status::OK();
    }
    case MetaOp::Kind::kDelete:
    case MetaOp::Kind::kTrim:
      if (index_.Find(meta.log) != nullptr) return Status::OK();
      return Status::NotFound(Describe("trim or delete up to", meta.log, meta.lsn) +
                              ": there is no such log");
    case MetaOp::Kind::kRemoveFile:
      return Status::OK();
  }
  return Status::OK();
}

Status LavaLogImpl::WriteBatch(const Batch& batch) {
  bool meta = false, data = false, sync = false;
  for (const Op* const op : batch) {
    if (!op->counts) continue;
    (op->kind == Op::Kind::kMeta ? meta : data) = true;
    sync |= op->durability == Durability::kSynced;
  }
  // A log must be known before its records are durable.
  if (meta) LAVA_RETURN_IF_ERROR(WriteMeta(batch, sync));
  if (data) LAVA_RETURN_IF_ERROR(WriteData(batch, sync));
  return Status::OK();
}

Status LavaLogImpl::WriteMeta(const Batch& batch, bool sync) {
  LAVA_RETURN_IF_ERROR(EnsureMeta());
  std::string payload = meta_.writer->NewPayload();
  for (const Op* const op : batch) {
    if (op->counts && op->kind == Op::Kind::kMeta) PutMetaOp(op->meta, &payload);
  }
  LAVA_RETURN_IF_ERROR(WriteFrame(&meta_, FrameType::kMeta, payload, sync));
  meta_since_checkpoint_ += Acknowledge(&meta_);
  return Status::OK();
}

Status LavaLogImpl::WriteData(const Batch& batch, bool sync) {
  LAVA_RETURN_IF_ERROR(EnsureData());
  std::string payload = data_.writer->NewPayload();
  const uint64_t base = data_.writer->next_payload_offset();
  for (Op* const op : batch) {
    if (!op->counts || op->kind == Op::Kind::kMeta) continue;
    op->location = {data_.writer->header().number, static_cast<uint32_t>(base + payload.size()),
                    static_cast<uint32_t>(op->data.size())};
    PutRecord(op->log, op->lsn, op->data, &payload);
  }
  // Unsynced changes of names are older than these records, so they are synced first.
  if (sync && meta_.writer != nullptr && !meta_.broken)
    LAVA_RETURN_IF_ERROR(Synced(meta_.writer->SyncData()));
  LAVA_RETURN_IF_ERROR(WriteFrame(&data_, FrameType::kBatch, payload, sync));
  data_since_checkpoint_ += Acknowledge(&data_);
  return Status::OK();
}

Status LavaLogImpl::WriteFrame(Appended* file, FrameType type, Slice payload, bool sync) {
  Status status = file->writer->Append(type, payload);
  if (status.ok() && !sync) status = file->writer->Flush();
  file->broken = !status.ok();
  if (!status.ok() || !sync) return status;
  return Synced(file->writer->SyncData());
}

uint64_t LavaLogImpl::Acknowledge(Appended* file) {
  const uint64_t bytes = file->writer->size() - file->acknowledged;
  CountWritten(bytes);
  file->acknowledged = file->writer->size();
  return bytes;
}

Status LavaLogImpl::Synced(Status status) {
  MutexLock lock(&mutex_);
  ++statistics_.syncs;
  if (!status.ok()) failed_ = status;
  return status;
}

void LavaLogImpl::Apply(const Batch& batch) {
  bool any = false;
  for (const Op* const op : batch) {
    if (!op->counts) continue;
    any = true;
    if (op->kind == Op::Kind::kMeta) {
      ApplyMeta(op->meta);
      files_changed_ = true;
      continue;
    }
    LogicalLog* const log = index_.Find(op->log);
    if (log == nullptr) continue;  // deleted in the same batch
    index_.AddDirect(log, {op->lsn, op->location.offset, op->location.bytes});
    if (op->kind == Op::Kind::kMove) {
      statistics_.collected_bytes_moved += op->data.size();
    } else {
      statistics_.appended_bytes += op->data.size();
      ++statistics_.appended_records;
    }
  }
  if (any) ++statistics_.batches;
}

void LavaLogImpl::ApplyMeta(const MetaOp& op) {
  switch (op.kind) {
    case MetaOp::Kind::kCreate:
      LAVA_CHECK(index_.Create(op.log, op.name) != nullptr);
      return;
    case MetaOp::Kind::kDelete:
      index_.Delete(op.log);
      return;
    case MetaOp::Kind::kTrim:
      index_.Trim(op.log, op.lsn);
      return;
    case MetaOp::Kind::kRemoveFile:
      obsolete_.push_back(index_.FindFile(static_cast<uint32_t>(op.log))->file);
      obsolete_.back()->MarkObsolete();
      index_.RemoveFile(static_cast<uint32_t>(op.log));
      return;
  }
}

Status LavaLogImpl::AskPacks(LogId id, uint64_t lsn, uint64_t* generation) {
  std::vector<std::pair<Pack, std::shared_ptr<DataFile>>> packs;
  {
    MutexLock lock(&mutex_);
    const LogicalLog* const log = index_.Find(id);
    if (log == nullptr || lsn > log->last_lsn()) {
      *generation = 0;
      return Status::OK();
    }
    *generation = log->pack_generation();
    if (log->IsInDensePack(lsn)) {
      return Status::InvalidArgument(Describe("append", id, lsn) + ": it is there");
    }
    for (const Pack& pack : log->PacksWith(lsn, lsn)) {
      packs.emplace_back(pack, index_.FindFile(pack.file)->file);
    }
  }
  std::vector<IndexEntry> entries;
  for (const auto& [pack, file] : packs) {
    LAVA_RETURN_IF_ERROR(file->ReadPack(pack, id, &entries));
    const auto at =
        std::lower_bound(entries.begin(), entries.end(), lsn,
                         [](const IndexEntry& entry, uint64_t l) { return entry.lsn < l; });
    if (at != entries.end() && at->lsn == lsn) {
      return Status::InvalidArgument(Describe("append", id, lsn) + ": it is there");
    }
  }
  return Status::OK();
}

}  // namespace lava::log
