#include <map>
#include <utility>

#include "manifest/version_edit.h"

namespace lava {

bool HasExpired(const Version& version, uint64_t table, const ValueReference& reference) {
  if (!reference.timestamp) return false;
  const auto birth = version.births.find(reference.birth);
  if (birth == version.births.end()) return false;
  const auto mark = birth->second->expired_to_ms.find(table);
  return mark != birth->second->expired_to_ms.end() &&
         static_cast<int64_t>(*reference.timestamp) <= mark->second;
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
  out.reserve(files.size());
  for (auto& [id, file] : files) out.push_back(std::move(file));
  return out;
}

}  // namespace lava
