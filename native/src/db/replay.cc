#include <optional>
#include <utility>

#include "db/writer.h"

// Replays the write-ahead log into memtables.
namespace lava {

Status Writer::Replay() {
  if (wal_->enabled()) LAVA_RETURN_IF_ERROR(ReplayAll());
  seal_requested_ = false;
  return Status::OK();
}

Status Writer::ReplayAll() {
  MutexLock write(&mutex_);
  Replayed replayed;
  LAVA_RETURN_IF_ERROR(wal_->Replay([this, &replayed](Slice record) {
    mutex_.AssertHeld();
    return replayed.lost ? Status::OK() : ReplayRecord(record, &replayed);
  }));
  LAVA_RETURN_IF_ERROR(ReplayTables(&replayed));
  // The next opening must not replay the skipped records before the records written from now on.
  return replayed.lost ? FlushHere() : Status::OK();
}

// A flush during the replay may have removed tables from the manifest that were created again
// later.
Status Writer::ReplayTables(Replayed* replayed) {
  MutexUnlock others(&mutex_);
  MutexLock install(tree_->versions.install_mutex());
  for (const auto& [id, table] : replayed->created) {
    if (!tree_->versions.state().tables.contains(id)) {
      VersionEdit edit;
      edit.registered.push_back(table);
      LAVA_RETURN_IF_ERROR(tree_->Log(edit));
    }
  }
  return Status::OK();
}

// The manifest has the current registration of a table that was dropped and created again; the
// record has the one of its creation.
Status Writer::ReplayTable(const WalRecord::Change& change, Replayed* replayed) {
  const uint64_t id = wal_->TableOf(change);
  if (change.kind == WalRecord::Kind::kDropTable) {
    dropped_in_active_.push_back(id);
    replayed->created.erase(id);
    if (std::optional<TableRegistration> known = tables_->ReplayDrop(id))
      replayed->dropped.try_emplace(id, std::move(*known));
    return Status::OK();
  }
  LAVA_ASSIGN_OR_RETURN(TableRegistration table, wal_->CreatedIn(change));
  const auto before = replayed->dropped.find(id);
  if (before != replayed->dropped.end()) table = before->second;
  replayed->created[id] = table;
  tables_->ReplayCreate(table);
  return Status::OK();
}

// Applies all changes of a record or, if a logged value is lost, none.
Status Writer::ReplayRecord(Slice record, Replayed* replayed) {
  WriteAheadLog::Decoded decoded;
  LAVA_RETURN_IF_ERROR(wal_->Decode(record, &decoded));
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

void Writer::ReplayChange(const WalRecord::Change& change, Slice value) {
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
