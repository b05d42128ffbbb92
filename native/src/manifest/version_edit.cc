#include "manifest/version_edit.h"

#include <algorithm>
#include <set>

#include "manifest/births.h"

namespace lava {
namespace {

Status TooOld(const VersionEdit::RemovedFile& removed) {
  return Status::InvalidArgument("version edit: input " + removed.id.FileName() +
                                 " is no longer in level " + std::to_string(removed.level));
}

Status RemoveEntries(const VersionEdit& edit, Version* version, size_t* l0_position) {
  bool any_l0 = false;
  for (const VersionEdit::RemovedFile& removed : edit.removed) {
    auto& level = version->levels[removed.level];
    auto it = std::find_if(level.begin(), level.end(), [&](const FileEntry& entry) {
      return entry.file->id == removed.id && entry.lower == removed.lower;
    });
    if (it == level.end()) return TooOld(removed);
    if (removed.level == 0) {
      const auto position = static_cast<size_t>(it - level.begin());
      *l0_position = any_l0 ? std::min(*l0_position, position) : position;
      any_l0 = true;
    }
    NameBirths(*it, -1, version);
    level.erase(it);
  }
  return Status::OK();
}

// One file may stand several times, but shows every key at most once.
Status CheckSeveralStands(const VersionEdit& edit, const Version& version) {
  std::map<FileId, std::vector<const FileEntry*>> stands;
  for (const auto& added : edit.added) stands[added.entry.file->id];
  if (stands.empty()) return Status::OK();
  for (const auto& level : version.levels) {
    for (const FileEntry& entry : level) {
      auto it = stands.find(entry.file->id);
      if (it != stands.end()) it->second.push_back(&entry);
    }
  }
  for (auto& [id, entries] : stands) {
    std::sort(entries.begin(), entries.end(),
              [](const FileEntry* a, const FileEntry* b) { return a->lower < b->lower; });
    for (size_t i = 1; i < entries.size(); ++i) {
      if (entries[i - 1]->upper > entries[i]->lower)
        return Status::InvalidArgument("version edit: file " + id.FileName() +
                                       " would stand twice with overlapping bounds");
    }
  }
  return Status::OK();
}

Status AddEntries(const VersionEdit& edit, size_t l0_position, Version* version) {
  std::set<uint32_t> touched;
  for (const VersionEdit::AddedFile& added : edit.added) {
    auto& level = version->levels[added.level];
    NameBirths(added.entry, 1, version);
    if (added.level == 0) {
      level.insert(level.begin() + static_cast<ptrdiff_t>(l0_position++), added.entry);
    } else {
      level.push_back(added.entry);
      touched.insert(added.level);
    }
  }
  for (uint32_t n : touched) {
    auto& level = version->levels[n];
    std::sort(level.begin(), level.end(),
              [](const FileEntry& a, const FileEntry& b) { return a.lower < b.lower; });
    for (size_t i = 1; i < level.size(); ++i) {
      if (level[i - 1].upper > level[i].lower)
        return Status::InvalidArgument("version edit: files " + level[i - 1].file->id.FileName() +
                                       " and " + level[i].file->id.FileName() +
                                       " overlap in level " + std::to_string(n));
    }
  }
  return CheckSeveralStands(edit, *version);
}

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
  VersionEdit edit;
  if (state.partition_bytes != 0) edit.partition_bytes = state.partition_bytes;
  edit.next_file_number = state.next_file_number;
  edit.wal_flushed = state.wal_flushed;
  edit.entries_released = state.entries_released;
  edit.origins = state.origins;
  for (const auto& [id, table] : state.tables) edit.registered.push_back(table);
  for (uint32_t n = 0; n < kLevelCountMax; ++n)
    for (const FileEntry& entry : state.version->levels[n]) edit.Add(n, entry);
  edit.values_added = PlacedValueFiles(*state.version);
  for (const auto& [id, birth] : state.version->births)
    for (const auto& [table, timestamp_ms] : birth->expired_to_ms)
      edit.births_expired.push_back({id, table, timestamp_ms});
  return edit;
}

Status ApplyToVersion(const VersionEdit& edit, Version* version) {
  size_t l0_position = 0;
  LAVA_RETURN_IF_ERROR(RemoveValueFiles(edit, version));
  LAVA_RETURN_IF_ERROR(RemoveEntries(edit, version, &l0_position));
  LAVA_RETURN_IF_ERROR(AddEntries(edit, l0_position, version));
  LAVA_RETURN_IF_ERROR(AddValueFiles(edit, version));
  ExpireBirths(edit, version);
  PruneBirths(edit, version);
  return Status::OK();
}

Status ApplyEdit(const VersionEdit& edit, ManifestState* state) {
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
      !edit.values_removed.empty() || !edit.births_expired.empty()) {
    auto version = std::make_shared<Version>(*next.version);
    LAVA_RETURN_IF_ERROR(ApplyToVersion(edit, version.get()));
    next.version = std::move(version);
  }
  *state = std::move(next);
  return Status::OK();
}

}  // namespace lava
