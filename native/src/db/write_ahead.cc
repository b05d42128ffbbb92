#include <functional>

#include "base/coding.h"
#include "db/db_impl.h"

namespace lava {
namespace {

bool IsLogged(const WalRecord::Change& change) {
  return change.kind == WalRecord::Kind::kPutReference ||
         change.kind == WalRecord::Kind::kPutLogged;
}

bool IsOfTable(const WalRecord::Change& change) {
  return change.kind == WalRecord::Kind::kDropTable || change.kind == WalRecord::Kind::kCreateTable;
}

}  // namespace

std::string WalDirectory(const DBOptions& options, const std::string& path) {
  if (!options.wal_directory.empty()) return options.wal_directory;
  const size_t slash = path.find_last_of('/');
  return slash == std::string::npos ? "wal" : path.substr(0, slash) + "/wal";
}

Status DBImpl::OpenWal(VersionEdit* first) {
  const std::optional<uint64_t> flushed = versions_.state().wal_flushed;
  if (options_.wal == WalMode::kNone) {
    if (!flushed) return Status::OK();
    return Status::InvalidArgument(
        "the instance has a write-ahead log, and options.wal says that it has none: what is only "
        "in the log would be lost");
  }
  const std::string directory = WalDirectory(options_, path_);
  // Never with direct I/O, which is an option of each instance: instances share the log.
  LAVA_ASSIGN_OR_RETURN(
      std::shared_ptr<log::LavaLog> log,
      lease_->host()->wals()->Open(FilesOf(options_, nullptr), options_.volume, directory));
  LAVA_ASSIGN_OR_RETURN(wal_, Wal::Open(std::move(log), path_, directory,
                                        options_.wal == WalMode::kWalSync, flushed));
  first->wal_flushed = flushed.value_or(0);
  large_values_ = options_.large_value_bytes != 0;
  replayed_to_ = wal_->last();
  MutexLock write(&write_mutex_);
  sealed_to_ = flushed.value_or(0);
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

// A replay needs this number to tell a value that a power cut took from one that is damaged.
uint64_t DBImpl::LoggedUnder() const {
  return options_.wal == WalMode::kWalSync ? WalRecord::kSynced : fs_->boot();
}

Status DBImpl::LogReference(Slice internal_key, uint32_t prefix_bytes, Slice reference) {
  wal_record_.Clear();
  wal_record_.AddLogged(internal_key, prefix_bytes, LoggedUnder(), reference);
  return wal_->Append(wal_record_);
}

Status DBImpl::LogWrite(const WriteBatch& batch, const std::vector<std::string>& references) {
  if (wal_ == nullptr) return Status::OK();
  wal_record_.Clear();
  for (size_t i = 0; i < batch.count(); ++i) {
    const WriteBatch::Operation& operation = batch.operations()[i];
    const auto* table = static_cast<const TableImpl*>(operation.table);
    const InternalKey key(options_.partition_bytes, table->id_bytes(), batch.key(operation));
    const uint32_t prefix_bytes = PartitionRange::InternalPrefix(operation.prefix_bytes);
    const bool put = operation.kind == WriteBatch::Kind::kPut;
    // The record of an append always has the appended elements themselves.
    if (put && !references.empty() && !references[i].empty()) {
      wal_record_.AddLogged(key.slice(), prefix_bytes, LoggedUnder(), references[i]);
      continue;
    }
    // The numbers of both enums are the same for these kinds.
    wal_record_.Add(static_cast<WalRecord::Kind>(operation.kind), key.slice(), prefix_bytes,
                    batch.value(operation));
  }
  return wal_->Append(wal_record_);
}

Status DBImpl::LogRangeDelete(const TableImpl& table, Slice lower, Slice upper) {
  if (wal_ == nullptr) return Status::OK();
  wal_record_.Clear();
  partitions_.ForEach(table.id(), lower, upper, [this](Slice begin, Slice end) {
    write_mutex_.AssertHeld();
    wal_record_.Add(WalRecord::Kind::kDeleteRange, begin, 0, end);
  });
  return wal_->Append(wal_record_);
}

Status DBImpl::LogDrop(const TableImpl& table) {
  if (wal_ == nullptr) return Status::OK();
  wal_record_.Clear();
  partitions_.ForEach(table.id(), {}, {}, [this](Slice begin, Slice end) {
    write_mutex_.AssertHeld();
    wal_record_.Add(WalRecord::Kind::kDeleteRange, begin, 0, end);
  });
  wal_record_.Add(WalRecord::Kind::kDropTable, TableStart(0, options_.partition_bytes, table.id()),
                  0, {});
  return wal_->Append(wal_record_);
}

Status DBImpl::LogCreate(const TableRegistration& table) {
  if (wal_ == nullptr) return Status::OK();
  VersionEdit edit;
  edit.registered.push_back(table);
  std::string value;
  EncodeEdit(edit, &value);
  MutexLock write(&write_mutex_);
  wal_record_.Clear();
  wal_record_.Add(WalRecord::Kind::kCreateTable, TableStart(0, options_.partition_bytes, table.id),
                  0, value);
  return wal_->Append(wal_record_);
}

// No other thread has the instance yet. Full memtables are flushed in this thread, so that a replay
// needs no more memory than the writes did, however long the log is and however small the lease has
// become.
Status DBImpl::ReplayWal() {
  if (wal_ == nullptr) return Status::OK();
  MutexLock write(&write_mutex_);
  Replayed replayed;
  LAVA_RETURN_IF_ERROR(wal_->Replay([this, &replayed](Slice record) {
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
  MutexLock install(versions_.install_mutex());
  for (const auto& [id, table] : replayed->created) {
    if (!versions_.state().tables.contains(id)) LAVA_RETURN_IF_ERROR(LogTable(table));
  }
  return Status::OK();
}

// The manifest has the current registration of a table that was dropped and created again; the
// record has the one of its creation.
Status DBImpl::ReplayTable(const WalRecord::Change& change, Replayed* replayed) {
  const uint64_t id = TableIdOf(change.key, options_.partition_bytes);
  if (change.kind == WalRecord::Kind::kDropTable) {
    dropped_in_active_.push_back(id);
    replayed->created.erase(id);
    if (std::optional<TableRegistration> known = tables_.ReplayDrop(id))
      replayed->dropped.try_emplace(id, std::move(*known));
    return Status::OK();
  }
  FileTable no_files;
  VersionEdit edit;
  LAVA_RETURN_IF_ERROR(DecodeEdit(change.value, 0, &no_files, &edit));
  if (edit.registered.size() != 1 || edit.registered.front().id != id)
    return Status::Corruption("a table that was created is not the one of its key");
  const auto before = replayed->dropped.find(id);
  const TableRegistration table =
      before != replayed->dropped.end() ? before->second : edit.registered.front();
  replayed->created[id] = table;
  tables_.ReplayCreate(table);
  return Status::OK();
}

// Applies all changes of a record or, if a logged value is lost, none.
Status DBImpl::ReplayRecord(Slice record, Replayed* replayed) {
  std::vector<WalRecord::Change> changes;
  std::vector<std::string> values;  // of the changes with a logged value, in order
  uint64_t bytes = record.size();
  while (!record.empty()) {
    WalRecord::Change& change = changes.emplace_back();
    LAVA_RETURN_IF_ERROR(WalRecord::Take(&record, &change));
    LAVA_RETURN_IF_ERROR(CheckReplayed(change));
    if (!IsLogged(change)) continue;
    LAVA_RETURN_IF_ERROR(ReadReplayed(change, replayed, &values.emplace_back()));
    if (replayed->lost) return Status::OK();
    bytes += values.back().size();
  }
  const bool fits = active_->arena_bytes() + bytes <= memtable_limit_ &&
                    lease_->write_buffer_used_bytes() + bytes <= lease_->write_buffer_bytes();
  if (!fits && !active_->empty()) LAVA_RETURN_IF_ERROR(FlushHere());
  auto value = values.begin();
  for (const WalRecord::Change& change : changes) {
    if (IsOfTable(change)) {
      LAVA_RETURN_IF_ERROR(ReplayTable(change, replayed));
      continue;
    }
    ReplayChange(change, IsLogged(change) ? Slice(*value++) : change.value);
  }
  active_bytes_.store(active_->arena_bytes(), std::memory_order_relaxed);
  return Status::OK();
}

// Reads the value of a change from its segment. The value is put into the memtable again, because a
// segment of an earlier run cannot become a value file any more.
Status DBImpl::ReadReplayed(const WalRecord::Change& change, Replayed* replayed,
                            std::string* value) const {
  Slice in = change.value;
  std::optional<uint64_t> written_under;  // none: a record of kind kPutReference
  if (change.kind == WalRecord::Kind::kPutLogged && !GetFixed64(&in, &written_under.emplace(0)))
    return Status::Corruption("where a value was logged is malformed");
  ValueReference reference;
  if (!DecodeReference(in, &reference) || !reference.is_logged() ||
      reference.raw_bytes > kValueBytesMax)
    return Status::Corruption("where a value was logged is malformed");
  const std::string path = path_ + "/" + reference.birth.ValueFileName();
  Status status;
  if (replayed->segment == nullptr || replayed->segment->path() != path) {
    Result<std::unique_ptr<fs::RandomFile>> file = fs_->OpenRandom(path);
    status = file.status();
    if (file.ok()) replayed->segment = std::move(file).value();
  }
  if (status.ok() && reference.logged_bytes > replayed->segment->size())
    status = Status::Corruption(path + " ends before the value that was logged at offset " +
                                std::to_string(reference.logged_offset));
  if (status.ok())
    status = ReadLogged(*replayed->segment, change.key,
                        {reference.logged_offset, reference.logged_bytes,
                         static_cast<uint32_t>(reference.raw_bytes)},
                        value);
  // If neither the log nor the segment is synced, a power cut may take more of the one than of the
  // other. The replay then ends before the first lost value, so that the state is one of the past.
  // Without a power cut a missing value is damage.
  replayed->lost = MayBeCut(written_under) && (status.IsCorruption() || status.IsNotFound());
  return replayed->lost ? Status::OK() : status;
}

// Whether a power cut may have taken a logged value although the record survived.
bool DBImpl::MayBeCut(std::optional<uint64_t> written_under) const {
  if (!written_under) return options_.wal == WalMode::kWal;
  if (*written_under == WalRecord::kSynced) return false;
  return *written_under == 0 || *written_under != fs_->boot();
}

Status DBImpl::CheckReplayed(const WalRecord::Change& change) const {
  // No shorter key was ever written, and later code reads this many bytes without looking.
  const size_t bytes_min = options_.partition_bytes + kTableIdBytes;
  if (change.key.size() >= bytes_min &&
      (change.kind != WalRecord::Kind::kDeleteRange || change.value.size() >= bytes_min))
    return Status::OK();
  return Status::Corruption("a key of " + std::to_string(change.key.size()) +
                            " bytes, fewer than the " + std::to_string(bytes_min) +
                            " of partition and table");
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
