#include "manifest/births.h"

#include <algorithm>
#include <set>

#include "base/check.h"

namespace lava {
namespace {

// Versions share births: one that changes is copied first.
Birth* Change(const FileId& id, Version* version) {
  std::shared_ptr<const Birth>& slot = version->births[id];
  auto birth = slot == nullptr ? std::make_shared<Birth>() : std::make_shared<Birth>(*slot);
  slot = birth;
  return birth.get();
}

void DropPlacement(const FileId& file, Version* version) {
  const auto entry = version->value_files.find(file);
  LAVA_CHECK(entry != version->value_files.end() && entry->second.placements > 0);
  if (--entry->second.placements == 0) version->value_files.erase(entry);
}

Status Refused(const FileId& id, const std::string& why) {
  return Status::InvalidArgument("version edit: value file " + id.ValueFileName() + " " + why);
}

bool SamePlace(const Placement& placement, const FileId& file, const std::string& lower) {
  return placement.file->id == file && placement.lower == lower;
}

}  // namespace

void NameBirths(const FileEntry& entry, int sign, Version* version) {
  const auto change = [sign](uint64_t* sum, uint64_t by) { *sum += sign > 0 ? by : 0 - by; };
  for (const BirthShare& share : entry.file->births) {
    Birth* birth = Change(share.birth, version);
    change(&birth->named_by, 1);
    change(entry.clipped() ? &birth->clipped_records : &birth->records, share.records);
    change(entry.clipped() ? &birth->clipped_raw_bytes : &birth->raw_bytes, share.raw_bytes);
  }
}

Status RemoveValueFiles(const VersionEdit& edit, Version* version) {
  for (const FileId& id : edit.values_removed) {
    const auto entry = version->value_files.find(id);
    if (entry == version->value_files.end()) return Refused(id, "is no longer in the version");
    const std::shared_ptr<ValueFileMeta> file = entry->second.file;
    for (const BirthShare& share : file->births) {
      if (!version->births.contains(share.birth)) continue;
      Birth* birth = Change(share.birth, version);
      for (uint64_t n =
               std::erase_if(birth->places, [&](const Placement& p) { return p.file->id == id; });
           n > 0; --n)
        DropPlacement(id, version);
    }
  }
  return Status::OK();
}

Status AddValueFiles(const VersionEdit& edit, Version* version) {
  for (const VersionEdit::AddedValueFile& added : edit.values_added) {
    const FileId& id = added.file->id;
    const auto [entry, is_new] =
        version->value_files.try_emplace(id, Version::ValueEntry{added.file});
    if (!is_new) return Refused(id, "is in the version already");
    for (const VersionEdit::AddedValueFile::Place& place : added.places) {
      Birth* birth = Change(place.birth, version);
      for (const Placement& there : birth->places) {
        if (SamePlace(there, id, place.lower))
          return Refused(id, "would hold one birth twice from the same bound on");
      }
      birth->places.push_back({added.file, place.lower, place.upper});
      ++entry->second.placements;
    }
    if (entry->second.placements == 0) version->value_files.erase(entry);
  }
  return Status::OK();
}

void ExpireBirths(const VersionEdit& edit, Version* version) {
  for (const VersionEdit::ExpiredBirth& expired : edit.births_expired) {
    if (!version->births.contains(expired.birth)) continue;
    std::map<uint64_t, int64_t>& marks = Change(expired.birth, version)->expired_to_ms;
    const auto [mark, is_new] = marks.try_emplace(expired.table, expired.timestamp_ms);
    if (!is_new) mark->second = std::max(mark->second, expired.timestamp_ms);
  }
}

bool HasExpired(const Version& version, uint64_t table, const ValueReference& reference) {
  if (!reference.timestamp) return false;
  const auto birth = version.births.find(reference.birth);
  if (birth == version.births.end()) return false;
  const auto mark = birth->second->expired_to_ms.find(table);
  return mark != birth->second->expired_to_ms.end() &&
         static_cast<int64_t>(*reference.timestamp) <= mark->second;
}

void PruneBirths(const VersionEdit& edit, Version* version) {
  std::set<FileId> touched;
  for (const VersionEdit::AddedValueFile& added : edit.values_added)
    for (const auto& place : added.places) touched.insert(place.birth);
  // Entries that left tell only their file's id; a pass over the births finds the rest.
  const bool all = !edit.removed.empty();
  for (auto it = version->births.begin(); it != version->births.end();) {
    if (it->second->named_by > 0 || (!all && !touched.contains(it->first))) {
      ++it;
      continue;
    }
    for (const Placement& placement : it->second->places)
      DropPlacement(placement.file->id, version);
    it = version->births.erase(it);
  }
}

std::vector<VersionEdit::AddedValueFile> PlacedValueFiles(const Version& version) {
  std::map<FileId, VersionEdit::AddedValueFile> files;
  for (const auto& [id, birth] : version.births) {
    for (const Placement& placement : birth->places) {
      VersionEdit::AddedValueFile& file = files[placement.file->id];
      file.file = placement.file;
      file.places.push_back({id, placement.lower, placement.upper});
    }
  }
  std::vector<VersionEdit::AddedValueFile> out;
  for (auto& [id, file] : files) out.push_back(std::move(file));
  return out;
}

}  // namespace lava
