// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "manifest/version_edit.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "base/check.h"
#include "base/file_id.h"
#include "lava/status.h"
#include "manifest/version.h"
#include "manifest/version_builder.h"

namespace lava {
namespace {

Status ApplyTables(const VersionEdit& edit, std::map<uint64_t, TableRegistration>* tables) {
  for (uint64_t id : edit.dropped) {
    if (tables->erase(id) == 0)
      return Status::InvalidArgument("version edit: dropped table " + std::to_string(id) +
                                     " is not known");
  }
  for (const TableRegistration& table : edit.registered) {
    auto [it, is_new] = tables->try_emplace(table.id, table);
    if (is_new) continue;
    if (it->second.name != table.name)
      return Status::InvalidArgument("tables '" + it->second.name + "' and '" + table.name +
                                     "' have the same id " + std::to_string(table.id) +
                                     "; rename one of them");
    it->second.options = table.options;
  }
  return Status::OK();
}

}  // namespace

VersionEdit SnapshotOf(const ManifestState& state) {
  LAVA_DCHECK(state.version != nullptr);
  VersionEdit edit;
  if (state.partition_bytes != 0) edit.partition_bytes = state.partition_bytes;
  edit.next_file_number = state.next_file_number;
  edit.wal_flushed = state.wal_flushed;
  edit.entries_released = state.entries_released;
  edit.origins = state.origins;
  for (const auto& [id, table] : state.tables) edit.registered.push_back(table);
  for (uint32_t n = 0; n < kLevelCountMax; ++n)
    for (const KeyFileEntry& entry : state.version->levels[n]) edit.Add(n, entry);
  edit.values_added = LocationsByValueFile(*state.version);
  for (const auto& [id, blob_file] : state.version->blob_files)
    for (const auto& [table, timestamp_ms] : blob_file->expired_to_ms)
      edit.blob_files_expired.push_back({id, table, timestamp_ms});
  return edit;
}

Status ApplyToVersion(const VersionEdit& edit, Version* version) {
  return VersionBuilder(version).Apply(edit);
}

Status ApplyEdit(const VersionEdit& edit, ManifestState* state) {
  LAVA_DCHECK(state->version != nullptr);
  LAVA_DCHECK(state->origins.size() <= ManifestState::kOriginsMax);
  ManifestState next = *state;
  LAVA_RETURN_IF_ERROR(ApplyTables(edit, &next.tables));
  if (edit.partition_bytes) {
    if (next.partition_bytes != 0 && next.partition_bytes != *edit.partition_bytes)
      return Status::InvalidArgument("version edit: partition bytes cannot change");
    next.partition_bytes = *edit.partition_bytes;
  }
  if (edit.next_file_number) next.next_file_number = *edit.next_file_number;
  if (edit.wal_flushed) {
    if (next.wal_flushed && *edit.wal_flushed < *next.wal_flushed)
      return Status::InvalidArgument("version edit: the write-ahead log's position goes back");
    next.wal_flushed = edit.wal_flushed;
  }
  if (edit.entries_released) {
    if (*edit.entries_released < next.entries_released.value_or(0))
      return Status::InvalidArgument("version edit: the position of the layer above goes back");
    next.entries_released = edit.entries_released;
  }
  for (const Origin& origin : edit.origins) {
    next.origins.push_back(origin);
    if (next.origins.size() > ManifestState::kOriginsMax) next.origins.erase(next.origins.begin());
  }
  if (!edit.added.empty() || !edit.removed.empty() || !edit.values_added.empty() ||
      !edit.values_removed.empty() || !edit.blob_files_expired.empty()) {
    auto version = std::make_shared<Version>(*next.version);
    LAVA_RETURN_IF_ERROR(ApplyToVersion(edit, version.get()));
    next.version = std::move(version);
  }
  LAVA_DCHECK(next.origins.size() <= ManifestState::kOriginsMax);
  *state = std::move(next);
  return Status::OK();
}

}  // namespace lava
