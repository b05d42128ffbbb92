#include <functional>

#include "db/db_impl.h"

namespace lava {

std::string WalDirectory(const DBOptions& options, const std::string& path) {
  if (!options.wal_directory.empty()) return options.wal_directory;
  const size_t slash = path.find_last_of('/');
  return slash == std::string::npos ? "wal" : path.substr(0, slash) + "/wal";
}

Status DBImpl::OpenWal(VersionEdit* first) {
  const std::optional<uint64_t> flushed = manifest_->state().wal_flushed;
  if (options_.wal == WalMode::kNone) {
    if (!flushed) return Status::OK();
    return Status::InvalidArgument(
        "the instance has a write-ahead log, and options.wal says that it has none: what is only "
        "in the log would be lost");
  }
  const std::string directory = WalDirectory(options_, path_);
  // Not past the page cache as this instance's own files may go: others share it.
  LAVA_ASSIGN_OR_RETURN(
      std::shared_ptr<log::LavaLog> log,
      lease_->host()->wals()->Open(FilesOf(options_, nullptr), options_.volume, directory));
  LAVA_ASSIGN_OR_RETURN(wal_, Wal::Open(std::move(log), path_, directory,
                                        options_.wal == WalMode::kWalSync, flushed));
  first->wal_flushed = flushed.value_or(0);
  return Status::OK();
}

Status DBImpl::LogWrite(WalRecord::Kind kind, Slice internal_key, uint32_t prefix_bytes,
                        Slice value) {
  if (wal_ == nullptr) [[likely]]
    return Status::OK();
  wal_record_.Clear();
  wal_record_.Add(kind, internal_key, prefix_bytes, value);
  return wal_->Append(wal_record_);
}

Status DBImpl::LogWrite(const WriteBatch& batch) {
  if (wal_ == nullptr) return Status::OK();
  wal_record_.Clear();
  for (const WriteBatch::Operation& operation : batch.operations()) {
    const auto* table = static_cast<const TableImpl*>(operation.table);
    const InternalKey key(options_.partition_bytes, table->id_bytes(), batch.key(operation));
    // The kinds of both have the same numbers.
    wal_record_.Add(static_cast<WalRecord::Kind>(operation.kind), key.slice(),
                    InternalPrefix(operation.prefix_bytes), batch.value(operation));
  }
  return wal_->Append(wal_record_);
}

Status DBImpl::LogRangeDelete(const TableImpl& table, Slice lower, Slice upper) {
  if (wal_ == nullptr) return Status::OK();
  wal_record_.Clear();
  ForEachRange(table, lower, upper, [this](Slice begin, Slice end) {
    wal_record_.Add(WalRecord::Kind::kDeleteRange, begin, 0, end);
  });
  return wal_->Append(wal_record_);
}

// Nobody else has the instance yet. More than a memtable holds goes to files in this thread: a
// replay needs no more memory than writing did, whatever the log has gathered and the lease has
// become.
Status DBImpl::ReplayWal() {
  if (wal_ == nullptr) return Status::OK();
  WriteLock write(write_mutex_);
  return wal_->Replay([this, &write](Slice record) {
    const bool fits =
        active_->arena_bytes() + record.size() <= memtable_limit_ &&
        lease_->write_buffer_used_bytes() + record.size() <= lease_->write_buffer_bytes();
    if (!fits && !active_->empty()) LAVA_RETURN_IF_ERROR(FlushHere(&write));
    while (!record.empty()) {
      WalRecord::Change change;
      LAVA_RETURN_IF_ERROR(WalRecord::Take(&record, &change));
      LAVA_RETURN_IF_ERROR(ReplayChange(change));
    }
    active_bytes_.store(active_->arena_bytes(), std::memory_order_relaxed);
    return Status::OK();
  });
}

// Holds write.
Status DBImpl::ReplayChange(const WalRecord::Change& change) {
  // No shorter one was written; what would be read beyond it is not the record's.
  const size_t bytes_min = options_.partition_bytes + kTableIdBytes;
  if (change.key.size() < bytes_min ||
      (change.kind == WalRecord::Kind::kDeleteRange && change.value.size() < bytes_min)) {
    return Status::Corruption("a key of " + std::to_string(change.key.size()) +
                              " bytes, fewer than the " + std::to_string(bytes_min) +
                              " of partition and table");
  }
  switch (change.kind) {
    case WalRecord::Kind::kPut:
      active_->Put(change.key, change.prefix_bytes, change.value);
      break;
    case WalRecord::Kind::kDelete:
      DeleteLocked(change.key, change.prefix_bytes);
      break;
    case WalRecord::Kind::kAppend:
      active_->Append(change.key, change.prefix_bytes, change.value);
      break;
    case WalRecord::Kind::kDeletePrefix:
      DeletePrefixLocked(change.key);
      break;
    case WalRecord::Kind::kDeleteRange:
      active_->DeleteRange(change.key, change.value);
      break;
  }
  return Status::OK();
}

}  // namespace lava
