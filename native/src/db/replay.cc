// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "db/replay.h"

#include <cstdint>
#include <optional>
#include <utility>

#include "base/mutex.h"
#include "lava/slice.h"
#include "lava/status.h"
#include "manifest/version.h"
#include "manifest/version_edit.h"
#include "wal/wal_record.h"

namespace lava {

Status Replay::Run() {
  if (!wal_->enabled()) return Status::OK();
  LAVA_RETURN_IF_ERROR(
      wal_->Replay([this](Slice record) { return ended_ ? Status::OK() : Apply(record); }));
  LAVA_RETURN_IF_ERROR(LogCreated());
  // Flushes everything, so that the next opening does not replay the skipped records before new
  // ones.
  return ended_ ? writer_->FlushHere() : Status::OK();
}

// Applies all changes of a record, or none if a logged value is lost.
Status Replay::Apply(Slice record) {
  WriteAheadLog::Decoded decoded;
  LAVA_RETURN_IF_ERROR(wal_->Decode(record, &decoded));
  ended_ = decoded.lost;
  if (ended_) return Status::OK();
  LAVA_RETURN_IF_ERROR(writer_->Apply(decoded));
  for (const WriteAheadLog::Decoded::Change& change : decoded.changes) {
    if (change.change.kind == WalRecord::Kind::kDropTable)
      DropTable(wal_->TableOf(change.change));
    else if (change.change.kind == WalRecord::Kind::kCreateTable)
      LAVA_RETURN_IF_ERROR(CreateTable(change.change));
  }
  return Status::OK();
}

void Replay::DropTable(uint64_t id) {
  created_.erase(id);
  if (std::optional<TableRegistration> known = tables_->ReplayDrop(id))
    dropped_.try_emplace(id, std::move(*known));
}

// If the table was dropped and created again, the manifest has its current registration, while the
// record has the registration of its creation.
Status Replay::CreateTable(const WalRecord::Change& change) {
  LAVA_ASSIGN_OR_RETURN(TableRegistration table, wal_->CreatedIn(change));
  const auto before = dropped_.find(table.id);
  if (before != dropped_.end()) table = before->second;
  created_[table.id] = table;
  tables_->ReplayCreate(table);
  return Status::OK();
}

// A flush during the replay may have removed tables from the manifest that later records create
// again.
Status Replay::LogCreated() {
  MutexLock install(tree_->versions.install_mutex());
  for (const auto& [id, table] : created_) {
    if (tree_->versions.state().tables.contains(id)) continue;
    VersionEdit edit;
    edit.registered.push_back(table);
    LAVA_RETURN_IF_ERROR(tree_->Log(edit));
  }
  return Status::OK();
}

}  // namespace lava
