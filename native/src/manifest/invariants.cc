// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "manifest/invariants.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "base/check.h"
#include "base/file_id.h"
#include "base/value_reference.h"
#include "manifest/blob_locations.h"
#include "manifest/garbage.h"
#include "manifest/sums.h"
#include "manifest/version.h"

namespace lava {
namespace {

// An empty upper bound means that the range has no end.
bool IsRange(const std::string& lower, const std::string& upper) {
  return upper.empty() || lower < upper;
}

// Whether a range with this upper bound has ended where another one begins.
bool EndsBefore(const std::string& upper, const std::string& next_lower) {
  return !upper.empty() && upper <= next_lower;
}

// Whether [lower, upper) is within the file's own bounds.
template <typename Meta>
bool IsWithin(const Meta& file, const std::string& lower, const std::string& upper) {
  return file.lower <= lower && (file.upper.empty() || (!upper.empty() && upper <= file.upper));
}

void CheckLevel(const FileList& level, bool is_sorted) {
  const KeyFileEntry* before = nullptr;
  for (const KeyFileEntry& entry : level) {
    LAVA_DCHECK(entry.file != nullptr);
    LAVA_DCHECK(IsRange(entry.lower, entry.upper));
    LAVA_DCHECK(IsWithin(*entry.file, entry.lower, entry.upper));
    LAVA_DCHECK(!is_sorted || before == nullptr || EndsBefore(before->upper, entry.lower));
    before = &entry;
  }
}

// What the key files say of each blob file.
std::map<FileId, BlobFile> CountReferences(const Version& version) {
  std::map<FileId, BlobFile> counted;
  std::map<FileId, const FileMeta*> files;
  for (const FileList& level : version.levels) {
    for (const KeyFileEntry& entry : level) {
      // All entries of a file share one object.
      const FileMeta* const known = files.emplace(entry.file->id, entry.file.get()).first->second;
      LAVA_DCHECK(known == entry.file.get());
      for (const BlobReference& reference : entry.file->blob_references) {
        BlobFile& blob_file = counted[reference.blob_file];
        ++blob_file.named_by;
        (entry.clipped() ? blob_file.clipped_records : blob_file.records) += reference.records;
        (entry.clipped() ? blob_file.clipped_raw_bytes : blob_file.raw_bytes) +=
            reference.raw_bytes;
      }
    }
  }
  return counted;
}

bool Holds(const ValueFileMeta& file, const FileId& blob_file) {
  return std::any_of(
      file.blob_files.begin(), file.blob_files.end(),
      [&](const BlobReference& reference) { return reference.blob_file == blob_file; });
}

void CheckLocations(const Version& version, const FileId& id, const BlobFile& blob_file,
                    std::map<FileId, uint32_t>* locations) {
  for (const BlobLocation& location : blob_file.locations) {
    LAVA_DCHECK(location.file != nullptr);
    LAVA_DCHECK(IsRange(location.lower, location.upper));
    LAVA_DCHECK(IsWithin(*location.file, location.lower, location.upper));
    LAVA_DCHECK(version.value_files.contains(location.file->id));
    LAVA_DCHECK(version.value_files.at(location.file->id).file == location.file);
    LAVA_DCHECK(Holds(*location.file, id));
    ++(*locations)[location.file->id];
  }
}

// A replay applies thousands of edits, and a check of each visits all files.
constexpr size_t kFilesMax = 200;

size_t FilesIn(const Version& version) {
  size_t files = version.value_files.size();
  for (const FileList& level : version.levels) files += level.size();
  return files;
}

}  // namespace

bool CheckInvariants(const Version& version) {
  LAVA_DCHECK(version.sums == CountSums(version));
  if (FilesIn(version) > kFilesMax) return true;
  for (uint32_t n = 0; n < kLevelCountMax; ++n) CheckLevel(version.levels[n], n > 0);
  const std::map<FileId, BlobFile> counted = CountReferences(version);
  LAVA_DCHECK(counted.size() == version.blob_files.size());
  std::map<FileId, uint32_t> locations;  // by value file
  for (const auto& [id, blob_file] : version.blob_files) {
    const auto found = counted.find(id);
    LAVA_DCHECK(found != counted.end());
    LAVA_DCHECK(blob_file->named_by == found->second.named_by);
    LAVA_DCHECK(blob_file->records == found->second.records);
    LAVA_DCHECK(blob_file->raw_bytes == found->second.raw_bytes);
    LAVA_DCHECK(blob_file->clipped_records == found->second.clipped_records);
    LAVA_DCHECK(blob_file->clipped_raw_bytes == found->second.clipped_raw_bytes);
    CheckLocations(version, id, *blob_file, &locations);
  }
  LAVA_DCHECK(locations.size() == version.value_files.size());
  for (const auto& [id, entry] : version.value_files) {
    LAVA_DCHECK(entry.file != nullptr && entry.file->id == id);
    LAVA_DCHECK(entry.locations > 0 && entry.locations == locations[id]);
    LAVA_DCHECK(entry.garbage == GarbageOf(version, *entry.file));
  }
  return true;
}

}  // namespace lava
