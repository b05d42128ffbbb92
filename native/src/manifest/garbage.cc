// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "manifest/garbage.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <vector>

#include "base/check.h"
#include "base/file_id.h"
#include "base/value_reference.h"
#include "manifest/blob_files.h"
#include "manifest/version.h"

namespace lava {
namespace {

// One blob file, summed over the files that hold its values. Raw bytes.
struct BlobFileSums {
  uint64_t held = 0;            // in all value files that hold values of it
  uint64_t referenced = 0;      // upper bound
  uint64_t referenced_min = 0;  // lower bound: without clipped entries
  bool inherited = false;       // not all values are in the file in which they were first written
};

BlobFileSums SumsOf(const FileId& id, const BlobFile& blob_file) {
  BlobFileSums sums;
  if (blob_file.locations.size() == 1) {  // as a rule: without the set
    const ValueFileMeta& file = *blob_file.locations[0].file;
    sums.held = HeldBy(file, id);
    sums.inherited = !IsFirstWrittenIn(id, file.id);
  } else {
    std::set<const ValueFileMeta*> files;
    for (const BlobLocation& location : blob_file.locations)
      if (files.insert(location.file.get()).second) sums.held += HeldBy(*location.file, id);
    sums.inherited = files.size() != 1 || !IsFirstWrittenIn(id, (*files.begin())->id);
  }
  sums.referenced = std::min(sums.held, blob_file.raw_bytes + blob_file.clipped_raw_bytes);
  sums.referenced_min = std::min(sums.held, blob_file.raw_bytes);
  return sums;
}

bool LeadsTo(const BlobFile& blob_file, const ValueFileMeta& file) {
  return std::any_of(
      blob_file.locations.begin(), blob_file.locations.end(),
      [&file](const BlobLocation& location) { return location.file->id == file.id; });
}

uint64_t Share(uint64_t part, uint64_t of, uint64_t whole) {
  if (whole == 0) return 0;
  LAVA_DCHECK(of <= whole);
  return static_cast<uint64_t>(static_cast<double>(part) / static_cast<double>(whole) *
                               static_cast<double>(of));
}

}  // namespace

uint64_t HeldBy(const ValueFileMeta& file, const FileId& blob_file) {
  const auto it = std::lower_bound(
      file.blob_files.begin(), file.blob_files.end(), blob_file,
      [](const BlobReference& reference, const FileId& id) { return reference.blob_file < id; });
  return it != file.blob_files.end() && it->blob_file == blob_file ? it->raw_bytes : 0;
}

ValueGarbage GarbageOf(const Version& version, const ValueFileMeta& file) {
  ValueGarbage garbage;
  for (const BlobReference& reference : file.blob_files) {
    const auto blob_file = version.blob_files.find(reference.blob_file);
    // Either no key file names the blob file any more, or an import or a collection took the file
    // without the keys of these values.
    if (blob_file == version.blob_files.end() || !LeadsTo(*blob_file->second, file)) {
      garbage.min += reference.raw_bytes;
      garbage.max += reference.raw_bytes;
      garbage.estimate += reference.raw_bytes;
      continue;
    }
    const BlobFileSums sums = SumsOf(reference.blob_file, *blob_file->second);
    const uint64_t dead = sums.held - sums.referenced;
    garbage.referenced += sums.referenced;
    garbage.min += reference.raw_bytes - std::min(reference.raw_bytes, sums.referenced);
    // References to inherited values may be stale and reach nothing.
    garbage.max += sums.inherited
                       ? reference.raw_bytes
                       : reference.raw_bytes - std::min(reference.raw_bytes, sums.referenced_min);
    garbage.estimate += std::min(reference.raw_bytes, Share(reference.raw_bytes, dead, sums.held));
  }
  return garbage;
}

std::vector<ValueFileGarbage> GarbageOf(const Version& version) {
  std::vector<ValueFileGarbage> out;
  out.reserve(version.value_files.size());
  for (const auto& [id, entry] : version.value_files)
    out.push_back({entry.file, entry.file->raw_bytes, entry.garbage.min, entry.garbage.max,
                   entry.garbage.estimate, entry.garbage.referenced});
  return out;
}

}  // namespace lava
