// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/file_id.h"
#include "base/value_reference.h"
#include "manifest/blob_locations.h"
#include "manifest/version.h"
#include "manifest/version_edit.h"

namespace lava {

bool HasExpired(const Version& version, uint64_t table, const ValueReference& reference) {
  if (!reference.timestamp) return false;
  const auto blob_file = version.blob_files.find(reference.blob_file);
  if (blob_file == version.blob_files.end()) return false;
  const auto mark = blob_file->second->expired_to_ms.find(table);
  return mark != blob_file->second->expired_to_ms.end() &&
         static_cast<int64_t>(*reference.timestamp) <= mark->second;
}

std::vector<VersionEdit::AddedValueFile> LocationsByValueFile(const Version& version) {
  std::map<FileId, VersionEdit::AddedValueFile> files;
  for (const auto& [id, blob_file] : version.blob_files) {
    for (const BlobLocation& location : blob_file->locations) {
      LAVA_DCHECK(location.file != nullptr);
      VersionEdit::AddedValueFile& file = files[location.file->id];
      file.file = location.file;
      file.locations.push_back({id, location.lower, location.upper});
    }
  }
  std::vector<VersionEdit::AddedValueFile> out;
  out.reserve(files.size());
  for (auto& [id, file] : files) out.push_back(std::move(file));
  return out;
}

}  // namespace lava
