// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/guarded.h"
#include "base/mutex.h"
#include "lava/status.h"
#include "log/checkpoint.h"
#include "log/format.h"
#include "log/index.h"
#include "log/lava_log.h"
#include "log/lava_log_impl.h"
#include "log/physical_log.h"
#include "os/executor.h"

namespace lava::log {
namespace {

// Number of logs that a checkpoint encodes while other calls wait.
constexpr size_t kLogsAtOnce = 64;
// Bytes that a collection reads in one piece, and moves at once.
constexpr uint64_t kMoveBytes = 256 << 10;
// Largest gap between live records that is read along: a small one where little lives.
constexpr uint64_t kGapSparse = 64, kGapDense = 64 << 10;

}  // namespace

bool LavaLogImpl::NeedsMaintenance() const {
  if (data_since_checkpoint_ >= options_.checkpoint_bytes ||
      meta_since_checkpoint_ >= options_.checkpoint_bytes / 4) {
    return true;
  }
  return files_changed_ && FileToCollect(false) != 0;
}

// Releases the mutex for the call, because an executor may run the job at once.
void LavaLogImpl::ScheduleMaintenance() {
  if (options_.executor == nullptr || !failed_.ok() || !NeedsMaintenance()) return;
  {
    MutexLock job(&job_->mutex);
    if (job_->queued || job_->log == nullptr) return;  // queued, or being closed
    job_->queued = true;
  }
  MutexUnlock unlock(&mutex_);
  const auto maintain = [job = job_] {
    // Close() waits for this lock, and so for a running job.
    MutexLock running(&job->running);
    LavaLogImpl* log = nullptr;
    {
      MutexLock inner(&job->mutex);
      log = job->log;
    }
    // A failed job is repeated when there is more to do.
    if (log != nullptr) (void)Guarded("maintain a log", "", [log] { return log->Maintain(); });
    // Reset only now, so that the job's own commits ask for no further job. Work that came up
    // meanwhile is seen by the next commit.
    MutexLock inner(&job->mutex);
    job->queued = false;
  };
  const bool submitted =
      Tried([&] { options_.executor->Submit(os::Priority::kCollection, maintain); });
  if (!submitted) {
    MutexLock inner(&job_->mutex);
    job_->queued = false;
  }
}

uint32_t LavaLogImpl::FileToCollect(bool any) const {
  uint64_t bytes = 0, live = 0;
  uint32_t oldest = 0;
  for (const auto& [number, info] : index_.files()) {
    if (!info.sealed || info.unreadable) continue;
    if (info.live_bytes == 0 || any) return number;
    bytes += info.record_bytes;
    live += info.live_bytes;
    // Files that are almost all live are skipped: others of the same age have the garbage.
    const uint64_t garbage = info.record_bytes - std::min(info.record_bytes, info.live_bytes);
    if (oldest == 0 && garbage * 200 > info.record_bytes * options_.garbage_percent) {
      oldest = number;
    }
  }
  const uint64_t garbage = bytes - std::min(bytes, live);
  return garbage * 100 > bytes * options_.garbage_percent ? oldest : 0;
}

Status LavaLogImpl::Maintain() {
  for (;;) {
    bool checkpoint = false;
    {
      MutexLock lock(&mutex_);
      checkpoint = data_since_checkpoint_ >= options_.checkpoint_bytes ||
                   meta_since_checkpoint_ >= options_.checkpoint_bytes / 4;
    }
    if (checkpoint) LAVA_RETURN_IF_ERROR(Checkpoint());
    const Status status = Collect(false);
    if (status.IsNotFound()) return Status::OK();
    LAVA_RETURN_IF_ERROR(status);
  }
}

Status LavaLogImpl::CollectOldest() { return Collect(true); }

Status LavaLogImpl::Collect(bool any) {
  MutexLock one(&maintenance_mutex_);
  std::shared_ptr<DataFile> file;
  bool living = false;
  {
    MutexLock lock(&mutex_);
    const uint32_t number = FileToCollect(any);
    files_changed_ = number != 0;
    if (number == 0) {
      return Status::NotFound(options_.directory + ": no data file is to be collected");
    }
    const DataFileInfo* const info = index_.FindFile(number);
    file = info->file;
    living = info->live_bytes != 0;
  }
  if (living) {
    const Status status = MoveLiving(file);
    if (!status.ok()) {
      MutexLock lock(&mutex_);
      // A damaged file stays for its readers. Collecting it again would only fail again.
      if (status.IsCorruption()) index_.FindFile(file->number())->unreadable = true;
      return status.WithContext("collect " + file->path());
    }
  }
  return RemoveDataFile(file->number());
}

Status LavaLogImpl::RemoveDataFile(uint32_t number) {
  // The moved records become durable first, then the removal is recorded, then the file is removed.
  LAVA_RETURN_IF_ERROR(Sync());
  Op op;
  op.kind = Op::Kind::kMeta;
  op.durability = Durability::kSynced;
  op.meta = {.kind = MetaOp::Kind::kRemoveFile, .log = number};
  LAVA_RETURN_IF_ERROR(Commit(&op));
  MutexLock lock(&mutex_);
  ++statistics_.collections;
  return Status::OK();
}

Status LavaLogImpl::MoveLiving(const std::shared_ptr<DataFile>& file) {
  Directory directory;
  LAVA_RETURN_IF_ERROR(file->ReadDirectory(&directory));
  for (const Directory::OfLog& log : directory.logs) {
    for (const Pack& pack : log.packs) {
      uint64_t trimmed_to = 0;
      {
        MutexLock lock(&mutex_);
        const LogicalLog* const known = index_.Find(log.log);
        if (known == nullptr) break;
        trimmed_to = known->trimmed_to();
      }
      if (pack.last < trimmed_to) continue;
      LAVA_RETURN_IF_ERROR(MovePack(file, log.log, pack, trimmed_to));
    }
  }
  return Status::OK();
}

Status LavaLogImpl::MovePack(const std::shared_ptr<DataFile>& file, LogId id, const Pack& pack,
                             uint64_t trimmed_to) {
  std::vector<IndexEntry> entries;
  LAVA_RETURN_IF_ERROR(file->ReadPack(pack, id, &entries));
  std::erase_if(entries, [&](const IndexEntry& entry) { return entry.lsn < trimmed_to; });
  std::sort(entries.begin(), entries.end(),
            [](const IndexEntry& a, const IndexEntry& b) { return a.offset < b.offset; });
  uint64_t live = 0;
  for (const IndexEntry& entry : entries) live += RecordBytes(id, entry);
  const uint64_t span = entries.empty() ? 0
                                        : entries.back().offset + RecordBytes(id, entries.back()) -
                                              entries.front().offset;
  const uint64_t gap = live * 4 >= span ? kGapDense : kGapSparse;
  uint64_t read = pack.bytes;
  for (size_t i = 0; i < entries.size();) {
    const uint64_t from = entries[i].offset;
    uint64_t to = from + RecordBytes(id, entries[i]);
    size_t end = i + 1;
    for (; end < entries.size() && entries[end].offset <= to + gap; ++end) {
      const uint64_t next = entries[end].offset + RecordBytes(id, entries[end]);
      if (next - from > kMoveBytes) break;
      to = std::max(to, next);
    }
    std::string bytes(to - from, '\0');
    LAVA_RETURN_IF_ERROR(file->ReadBytes(from, bytes.size(), bytes.data()));
    read += bytes.size();
    std::vector<Op> ops(end - i);
    Batch batch;
    for (Op& op : ops) {
      const IndexEntry& entry = entries[i++];
      op.kind = Op::Kind::kMove;
      op.log = id;
      op.lsn = entry.lsn;
      LAVA_RETURN_IF_ERROR(file->TakeRecord(id, entry, bytes, from, &op.data));
      batch.push_back(&op);
    }
    LAVA_RETURN_IF_ERROR(CommitAll(batch));
  }
  MutexLock lock(&mutex_);
  statistics_.collected_bytes_read += read;
  return Status::OK();
}

Status LavaLogImpl::Checkpoint() {
  MutexLock one(&maintenance_mutex_);
  CheckpointStart start;
  // From here on, changes of names go to a file that the checkpoint does not remove, and records
  // are written after the recorded position. Replay finds those that the checkpoint contains as
  // well.
  LAVA_RETURN_IF_ERROR(RunExclusive([&] {
    leader_.AssertHeld();
    Status rolled = RollMeta();
    if (!rolled.ok()) return rolled;
    start.meta = last_meta_;
    start.next_data = next_data_;
    start.next_id = index().next_id();
    const bool writing = data_.writer != nullptr && !data_.broken;
    start.data = data_.writer != nullptr ? data_.writer->header().number : next_data_;
    start.data_offset = writing ? data_.acknowledged : 0;
    for (const auto& [number, info] : index().files()) {
      if (info.sealed) start.sealed.emplace_back(number, info.record_bytes);
    }
    start.data_sequence = writing ? data_.writer->next_sequence() : 0;
    data_since_checkpoint_ = 0;
    meta_since_checkpoint_ = 0;
    return rolled;
  }));
  LAVA_ASSIGN_OR_RETURN(const std::unique_ptr<CheckpointWriter> writer,
                        CheckpointWriter::Create(options_.file_system, options_.directory, start));
  LogId next = 0;
  for (;;) {
    std::string encoded;
    uint64_t logs = 0;
    {
      MutexLock lock(&mutex_);
      auto at = index_.logs().lower_bound(next);
      for (; at != index_.logs().end() && logs < kLogsAtOnce; ++at, ++logs) {
        CheckpointWriter::Encode(*at->second, start, index_.active(), &encoded);
        next = at->first + 1;
      }
    }
    if (logs == 0) break;
    LAVA_RETURN_IF_ERROR(writer->Append(logs, encoded));
  }
  // Everything that the checkpoint names must be on the device before the checkpoint counts.
  LAVA_RETURN_IF_ERROR(Sync());
  LAVA_RETURN_IF_ERROR(writer->Finish());
  {
    MutexLock lock(&mutex_);
    ++statistics_.checkpoints;
    statistics_.written_bytes += writer->size();
  }
  return RemoveBefore(start.meta);
}

Status LavaLogImpl::RemoveBefore(uint32_t meta) {
  LAVA_ASSIGN_OR_RETURN(const std::vector<std::string> names,
                        options_.file_system->List(options_.directory));
  for (const std::string& name : names) {
    FileKind kind{};
    uint32_t number = 0;
    if (!ParseFileName(name, &kind, &number) || number >= meta) continue;
    if (kind != FileKind::kMeta && kind != FileKind::kCheckpoint) continue;
    LAVA_RETURN_IF_ERROR(options_.file_system->Remove(options_.directory + "/" + name));
  }
  return Status::OK();
}

}  // namespace lava::log
