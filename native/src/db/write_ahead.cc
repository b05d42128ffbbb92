#include <optional>
#include <string>
#include <utility>

#include "db/db_impl.h"

namespace lava {
std::string WalDirectory(const DBOptions& options, const std::string& path) {
  if (!options.wal_directory.empty()) return options.wal_directory;
  const size_t slash = path.find_last_of('/');
  return slash == std::string::npos ? "wal" : path.substr(0, slash) + "/wal";
}

Status DBImpl::OpenWal(VersionEdit* first) {
  const std::optional<uint64_t> flushed = tree_->versions.state().wal_flushed;
  if (instance_->options.wal == WalMode::kNone) {
    if (!flushed) return Status::OK();
    return Status::InvalidArgument(
        "the instance has a write-ahead log, and options.wal says that it has none: what is only "
        "in the log would be lost");
  }
  const std::string directory = WalDirectory(instance_->options, instance_->path);
  // Never with direct I/O, which is an option of each instance: instances share the log.
  LAVA_ASSIGN_OR_RETURN(
      std::shared_ptr<log::LavaLog> log,
      instance_->lease->host()->wals()->Open(FilesOf(instance_->options, nullptr),
                                             instance_->options.volume, directory));
  LAVA_RETURN_IF_ERROR(wal_.Open(std::move(log), directory, flushed));
  first->wal_flushed = flushed.value_or(0);
  remover_->SetReplayedThrough(wal_.last());
  return Status::OK();
}

// No other thread has the instance yet. Full memtables are flushed in this thread, so that a replay
// needs no more memory than the writes did, however long the log is and however small the lease has
// become.
Status DBImpl::ReplayWal() {
  if (!wal_.enabled()) return Status::OK();
  MutexLock write(&write_mutex_);
  Replayed replayed;
  LAVA_RETURN_IF_ERROR(wal_.Replay([this, &replayed](Slice record) {
    write_mutex_.AssertHeld();
    return replayed.lost ? Status::OK() : ReplayRecord(record, &replayed);
  }));
  LAVA_RETURN_IF_ERROR(ReplayTables(&replayed));
  // The next opening must not replay the skipped records before the records written from now on.
  return replayed.lost ? FlushHere() : Status::OK();
}

// A flush during the replay may have removed tables from the manifest that were created again
// later.
Status DBImpl::ReplayTables(Replayed* replayed) {
  MutexUnlock others(&write_mutex_);
  MutexLock install(tree_->versions.install_mutex());
  for (const auto& [id, table] : replayed->created) {
    if (!tree_->versions.state().tables.contains(id)) LAVA_RETURN_IF_ERROR(LogTable(table));
  }
  return Status::OK();
}

// The manifest has the current registration of a table that was dropped and created again; the
// record has the one of its creation.
Status DBImpl::ReplayTable(const WalRecord::Change& change, Replayed* replayed) {
  const uint64_t id = wal_.TableOf(change);
  if (change.kind == WalRecord::Kind::kDropTable) {
    dropped_in_active_.push_back(id);
    replayed->created.erase(id);
    if (std::optional<TableRegistration> known = tables_.ReplayDrop(id))
      replayed->dropped.try_emplace(id, std::move(*known));
    return Status::OK();
  }
  LAVA_ASSIGN_OR_RETURN(TableRegistration table, wal_.CreatedIn(change));
  const auto before = replayed->dropped.find(id);
  if (before != replayed->dropped.end()) table = before->second;
  replayed->created[id] = table;
  tables_.ReplayCreate(table);
  return Status::OK();
}

// Applies all changes of a record or, if a logged value is lost, none.
Status DBImpl::ReplayRecord(Slice record, Replayed* replayed) {
  WriteAheadLog::Decoded decoded;
  LAVA_RETURN_IF_ERROR(wal_.Decode(record, &decoded));
  replayed->lost = decoded.lost;
  if (replayed->lost) return Status::OK();
  const bool fits = active_->arena_bytes() + decoded.bytes <= instance_->memtable_bytes_max &&
                    instance_->lease->write_buffer_used_bytes() + decoded.bytes <=
                        instance_->lease->write_buffer_bytes();
  if (!fits && !active_->empty()) LAVA_RETURN_IF_ERROR(FlushHere());
  for (const WriteAheadLog::Decoded::Change& change : decoded.changes) {
    if (change.is_of_table()) {
      LAVA_RETURN_IF_ERROR(ReplayTable(change.change, replayed));
    } else {
      ReplayChange(change.change, change.value());
    }
  }
  active_bytes_.store(active_->arena_bytes(), std::memory_order_relaxed);
  return Status::OK();
}

void DBImpl::ReplayChange(const WalRecord::Change& change, Slice value) {
  switch (change.kind) {
    case WalRecord::Kind::kPut:
    case WalRecord::Kind::kPutReference:
    case WalRecord::Kind::kPutLogged:
      return active_->Put(change.key, change.prefix_bytes, value);
    case WalRecord::Kind::kDelete:
      return DeleteLocked(change.key, change.prefix_bytes);
    case WalRecord::Kind::kAppend:
      return active_->Append(change.key, change.prefix_bytes, value);
    case WalRecord::Kind::kDeletePrefix:
      return DeletePrefixLocked(change.key);
    case WalRecord::Kind::kDeleteRange:
      return active_->DeleteRange(change.key, value);
    case WalRecord::Kind::kDropTable:
    case WalRecord::Kind::kCreateTable:
      return;  // ReplayTable()
  }
}

}  // namespace lava
