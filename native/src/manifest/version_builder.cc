// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "manifest/version_builder.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/value_reference.h"
#include "lava/status.h"
#include "manifest/blob_locations.h"
#include "manifest/garbage.h"
#include "manifest/invariants.h"
#include "manifest/space.h"
#include "manifest/sums.h"
#include "manifest/version.h"
#include "manifest/version_edit.h"

namespace lava {
namespace {

Status TooOld(const VersionEdit::RemovedFile& removed) {
  return Status::InvalidArgument("version edit: input " + removed.id.FileName() +
                                 " is no longer in level " + std::to_string(removed.level));
}

Status Overlap(const KeyFileEntry& a, const KeyFileEntry& b, uint32_t level) {
  return Status::InvalidArgument("version edit: files " + a.file->id.FileName() + " and " +
                                 b.file->id.FileName() + " overlap in level " +
                                 std::to_string(level));
}

Status Refused(const FileId& id, const std::string& why) {
  return Status::InvalidArgument("version edit: value file " + id.ValueFileName() + " " + why);
}

FileList::const_iterator Find(const FileList& level, const VersionEdit::RemovedFile& removed) {
  const auto is_it = [&](const KeyFileEntry& entry) {
    return entry.file->id == removed.id && entry.lower == removed.lower;
  };
  if (removed.level == 0) return std::find_if(level.begin(), level.end(), is_it);
  const auto at =
      level.PartitionPoint([&](const KeyFileEntry& entry) { return entry.lower < removed.lower; });
  return at != level.end() && is_it(*at) ? at : level.end();
}

// A version may have several entries of one file, but each key must be visible at most once.
Status CheckStands(const Version& version, const FileMeta& file) {
  std::vector<const KeyFileEntry*> stands;
  ForEachStand(version, file,
               [&](uint32_t, const KeyFileEntry& entry) { stands.push_back(&entry); });
  std::sort(stands.begin(), stands.end(),
            [](const KeyFileEntry* a, const KeyFileEntry* b) { return a->lower < b->lower; });
  for (size_t i = 1; i < stands.size(); ++i) {
    if (stands[i - 1]->upper > stands[i]->lower)
      return Status::InvalidArgument("version edit: file " + file.id.FileName() +
                                     " would stand twice with overlapping bounds");
  }
  return Status::OK();
}

void AddTo(uint64_t* sum, uint64_t by, bool added) { *sum += added ? by : 0 - by; }

}  // namespace

bool VersionBuilder::BlobFileChange::any() const {
  return (named_by | records | raw_bytes | clipped_records | clipped_raw_bytes) != 0;
}

Status VersionBuilder::Apply(const VersionEdit& edit) {
  LAVA_DCHECK(version_ != nullptr);
  LAVA_DCHECK(blob_files_.empty() && value_files_.empty());  // called once
  LAVA_DCHECK(removed_files_.empty() && removed_value_files_.empty());
  LAVA_RETURN_IF_ERROR(RemoveValueFiles(edit));
  LAVA_RETURN_IF_ERROR(RemoveEntries(edit));
  LAVA_RETURN_IF_ERROR(AddEntries(edit));
  AddReferences();
  LAVA_RETURN_IF_ERROR(AddValueFiles(edit));
  ExpireBlobFiles(edit);
  PruneBlobFiles();
  CountBlobFiles();
  JudgeGarbage();
  NoteLeft();
  LAVA_DCHECK(CheckInvariants(*version_));
  return Status::OK();
}

Status VersionBuilder::RemoveValueFiles(const VersionEdit& edit) {
  for (const FileId& id : edit.values_removed) {
    const auto entry = version_->value_files.find(id);
    if (entry == version_->value_files.end()) return Refused(id, "is no longer in the version");
    const std::shared_ptr<ValueFileMeta> file = entry->second.file;
    for (const BlobReference& reference : file->blob_files) {
      if (!version_->blob_files.contains(reference.blob_file)) continue;
      BlobFile* const blob_file = Change(reference.blob_file);
      Touch(*blob_file);
      const auto is_it = [&id](const BlobLocation& location) { return location.file->id == id; };
      for (size_t n = blob_file->locations.EraseIf(is_it); n > 0; --n) DropLocation(id);
    }
    LAVA_DCHECK(!version_->value_files.contains(id));
  }
  return Status::OK();
}

Status VersionBuilder::RemoveEntries(const VersionEdit& edit) {
  bool any_l0 = false;
  for (const VersionEdit::RemovedFile& removed : edit.removed) {
    LAVA_DCHECK(removed.level < kLevelCountMax);
    FileList& level = version_->levels[removed.level];
    const auto at = Find(level, removed);
    if (at == level.end()) return TooOld(removed);
    if (removed.level == 0) {
      l0_position_ = any_l0 ? std::min(l0_position_, at.index()) : at.index();
      any_l0 = true;
    }
    // Copied, because the entry is erased.
    // NOLINTNEXTLINE(performance-unnecessary-copy-initialization)
    const KeyFileEntry entry = *at;
    removed_files_[removed.id] = entry.file;
    CountReferences(entry, false);
    CountEntry(removed.level, entry, false, [&] { level.erase(at); });
  }
  return Status::OK();
}

Status VersionBuilder::AddEntries(const VersionEdit& edit) {
  for (const VersionEdit::AddedFile& added : edit.added) LAVA_RETURN_IF_ERROR(AddEntry(added));
  for (const VersionEdit::AddedFile& added : edit.added)
    LAVA_RETURN_IF_ERROR(CheckStands(*version_, *added.entry.file));
  return Status::OK();
}

Status VersionBuilder::AddEntry(const VersionEdit::AddedFile& added) {
  const KeyFileEntry& entry = added.entry;
  LAVA_DCHECK(added.level < kLevelCountMax);
  LAVA_DCHECK(entry.file != nullptr);
  FileList& level = version_->levels[added.level];
  LAVA_DCHECK(added.level > 0 || l0_position_ <= level.size());
  auto at = level.begin() + static_cast<ptrdiff_t>(added.level == 0 ? l0_position_++ : 0);
  if (added.level > 0) {
    at = level.PartitionPoint([&](const KeyFileEntry& other) { return other.lower < entry.lower; });
    if (at != level.begin() && std::prev(at)->upper > entry.lower)
      return Overlap(*std::prev(at), entry, added.level);
    if (at != level.end() && entry.upper > at->lower) return Overlap(entry, *at, added.level);
  }
  CountReferences(entry, true);
  CountEntry(added.level, entry, true, [&] { level.insert(at, entry); });
  return Status::OK();
}

Status VersionBuilder::AddValueFiles(const VersionEdit& edit) {
  for (const VersionEdit::AddedValueFile& added : edit.values_added) {
    LAVA_DCHECK(added.file != nullptr);
    const FileId& id = added.file->id;
    if (version_->value_files.contains(id)) return Refused(id, "is in the version already");
    for (const VersionEdit::AddedValueFile::Location& location : added.locations) {
      BlobLocations& locations = Change(location.blob_file)->locations;
      const bool twice =
          std::any_of(locations.begin(), locations.end(), [&](const BlobLocation& there) {
            return there.file->id == id && there.lower == location.lower;
          });
      if (twice) return Refused(id, "would hold one blob file twice from the same bound on");
      locations.push_back({added.file, location.lower, location.upper});
    }
    if (added.locations.empty()) continue;
    Version::ValueFileEntry& entry = version_->value_files[id];
    entry.file = added.file;
    entry.locations = static_cast<uint32_t>(added.locations.size());
    CountValueFile(*added.file, true, &version_->sums);
    value_files_.push_back(id);
  }
  return Status::OK();
}

void VersionBuilder::AddReferences() {
  for (const auto& [id, change] : blob_files_) {
    if (!change.any()) continue;
    BlobFile* const blob_file = Change(id);
    blob_file->named_by += change.named_by;
    blob_file->records += change.records;
    blob_file->raw_bytes += change.raw_bytes;
    blob_file->clipped_records += change.clipped_records;
    blob_file->clipped_raw_bytes += change.clipped_raw_bytes;
    LAVA_DCHECK(static_cast<int64_t>(blob_file->named_by) >= 0);
  }
}

void VersionBuilder::ExpireBlobFiles(const VersionEdit& edit) {
  for (const VersionEdit::ExpiredBlobFile& expired : edit.blob_files_expired) {
    if (!version_->blob_files.contains(expired.blob_file)) continue;
    std::map<uint64_t, int64_t>& marks = Change(expired.blob_file)->expired_to_ms;
    const auto [mark, is_new] = marks.try_emplace(expired.table, expired.timestamp_ms);
    if (!is_new) mark->second = std::max(mark->second, expired.timestamp_ms);
  }
}

void VersionBuilder::PruneBlobFiles() {
  for (auto& [id, change] : blob_files_) {
    if (change.changed == nullptr || change.changed->named_by > 0) continue;
    LAVA_DCHECK(version_->blob_files.contains(id));
    Touch(*change.changed);
    for (const BlobLocation& location : change.changed->locations) DropLocation(location.file->id);
    version_->blob_files.erase(id);
    change.changed.reset();
  }
}

// The memory of the previous objects was subtracted when Change() copied them.
void VersionBuilder::CountBlobFiles() {
  for (const auto& [id, change] : blob_files_) {
    if (change.changed == nullptr) continue;
    version_->sums.memory_bytes += MemoryOf(*change.changed);
    Touch(*change.changed);
  }
}

void VersionBuilder::JudgeGarbage() {
  std::sort(value_files_.begin(), value_files_.end());
  value_files_.erase(std::unique(value_files_.begin(), value_files_.end()), value_files_.end());
  for (const FileId& id : value_files_) {
    const auto entry = version_->value_files.find(id);
    if (entry == version_->value_files.end()) continue;
    const ValueGarbage garbage = GarbageOf(*version_, *entry->second.file);
    if (garbage != entry->second.garbage) version_->value_files.Mutable(entry).garbage = garbage;
  }
}

void VersionBuilder::NoteLeft() {
  version_->left.clear();
  for (const auto& [id, file] : removed_files_)
    if (!HighestStand(*version_, *file)) version_->left.push_back({id, false, file});
  for (const auto& [id, file] : removed_value_files_)
    if (!version_->value_files.contains(id)) version_->left.push_back({id, true, file});
}

template <typename ChangeLevel>
void VersionBuilder::CountEntry(uint32_t level, const KeyFileEntry& entry, bool added,
                                const ChangeLevel& change) {
  const FileMeta& file = *entry.file;
  const auto count_highest = [&](std::optional<uint32_t> stand, bool is_there) {
    if (!stand) return;
    VersionSums::Level& sums = version_->sums.levels[*stand];
    AddTo(&sums.file_bytes, file.bytes, is_there);
    AddTo(&sums.referenced_bytes, ReferencedBytes(file), is_there);
  };
  std::optional<uint32_t> before, after;
  if (entry.clipped()) {
    before = HighestStand(*version_, file);
    change();
    after = HighestStand(*version_, file);
  } else {  // the file's only entry, because each key is visible at most once
    (added ? after : before) = level;
    change();
  }
  LAVA_DCHECK(!added || (after && *after <= level));
  LAVA_DCHECK(added || (before && *before <= level));
  if (before != after) {
    count_highest(before, false);
    count_highest(after, true);
  }
  AddTo(&version_->sums.levels[level].entry_bytes, file.bytes, added);
  AddTo(&version_->sums.levels[level].entry_records, file.records, added);
  AddTo(&version_->sums.memory_bytes, MemoryOf(entry), added);
}

void VersionBuilder::CountReferences(const KeyFileEntry& entry, bool added) {
  const bool clipped = entry.clipped();
  for (const BlobReference& reference : entry.file->blob_references) {
    BlobFileChange& change = blob_files_[reference.blob_file];
    AddTo(&change.named_by, 1, added);
    AddTo(clipped ? &change.clipped_records : &change.records, reference.records, added);
    AddTo(clipped ? &change.clipped_raw_bytes : &change.raw_bytes, reference.raw_bytes, added);
  }
}

BlobFile* VersionBuilder::Change(const FileId& id) {
  std::shared_ptr<BlobFile>& changed = blob_files_[id].changed;
  if (changed != nullptr) return changed.get();
  std::shared_ptr<const BlobFile>& slot = version_->blob_files[id];
  if (slot == nullptr) {
    changed = std::make_shared<BlobFile>();
  } else {
    changed = std::make_shared<BlobFile>(*slot);
    LAVA_DCHECK(version_->sums.memory_bytes >= MemoryOf(*slot));
    version_->sums.memory_bytes -= MemoryOf(*slot);
  }
  slot = changed;
  return changed.get();
}

void VersionBuilder::Touch(const BlobFile& blob_file) {
  for (const BlobLocation& location : blob_file.locations)
    value_files_.push_back(location.file->id);
}

void VersionBuilder::DropLocation(const FileId& file) {
  const auto entry = version_->value_files.find(file);
  LAVA_CHECK(entry != version_->value_files.end() && entry->second.locations > 0);
  if (entry->second.locations > 1) {
    --version_->value_files.Mutable(entry).locations;
    return;
  }
  const std::shared_ptr<ValueFileMeta> meta = entry->second.file;
  removed_value_files_[file] = meta;
  LAVA_DCHECK(meta != nullptr && meta->id == file);
  CountValueFile(*meta, false, &version_->sums);
  version_->value_files.erase(entry);
}

}  // namespace lava
