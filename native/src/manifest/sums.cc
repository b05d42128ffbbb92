// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "manifest/sums.h"

#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "base/check.h"
#include "base/file_id.h"
#include "base/value_reference.h"
#include "manifest/blob_locations.h"
#include "manifest/space.h"
#include "manifest/version.h"

namespace lava {
namespace {

// Bytes that the allocator adds to an allocation, and that a tree node adds to its entry.
constexpr uint64_t kAllocationBytes = 16, kNodeBytes = 48;

// By size, not capacity: copies of one string may have different capacities.
uint64_t MemoryOf(const std::string& s) {
  return s.size() < sizeof(std::string) / 2 ? 0 : s.size() + 1;
}

uint64_t MemoryOf(const ValueFileMeta& file) {
  return sizeof(file) + 2 * kAllocationBytes + MemoryOf(file.lower) + MemoryOf(file.upper) +
         file.tables.size() * (kNodeBytes + 32) +
         file.blob_files.capacity() * sizeof(BlobReference) + sizeof(FileId) +
         sizeof(Version::ValueFileEntry);
}

}  // namespace

uint64_t MemoryOf(const KeyFileEntry& entry) {
  LAVA_DCHECK(entry.file != nullptr);
  const FileMeta& file = *entry.file;
  return sizeof(entry) + MemoryOf(entry.lower) + MemoryOf(entry.upper) + sizeof(file) +
         2 * kAllocationBytes + MemoryOf(file.lower) + MemoryOf(file.upper) +
         file.tables.size() * (kNodeBytes + 24) +
         file.blob_references.capacity() * sizeof(BlobReference);
}

uint64_t MemoryOf(const BlobFile& blob_file) {
  uint64_t bytes = sizeof(blob_file) + 2 * kAllocationBytes + sizeof(FileId) + sizeof(void*) * 2 +
                   blob_file.locations.size() * sizeof(BlobLocation) +
                   blob_file.expired_to_ms.size() * (kNodeBytes + 16);
  for (const BlobLocation& location : blob_file.locations)
    bytes += MemoryOf(location.lower) + MemoryOf(location.upper);
  return bytes;
}

void CountValueFile(const ValueFileMeta& file, bool added, VersionSums* sums) {
  LAVA_DCHECK(added || sums->memory_bytes >= MemoryOf(file));
  const auto count = [added](uint64_t* sum, uint64_t by) { *sum += added ? by : 0 - by; };
  count(&sums->value_file_bytes, file.bytes);
  count(&sums->value_raw_bytes, file.raw_bytes);
  count(&sums->memory_bytes, MemoryOf(file));
}

std::optional<uint32_t> HighestStand(const Version& version, const FileMeta& file) {
  std::optional<uint32_t> highest;
  ForEachStand(version, file, [&highest](uint32_t level, const KeyFileEntry&) {
    if (!highest) highest = level;
  });
  return highest;
}

VersionSums CountSums(const Version& version) {
  VersionSums sums;
  std::set<const FileMeta*> seen;  // a file may have several entries in a version
  for (uint32_t n = 0; n < kLevelCountMax; ++n) {
    VersionSums::Level& level = sums.levels[n];
    for (const KeyFileEntry& entry : version.levels[n]) {
      level.entry_bytes += entry.file->bytes;
      level.entry_records += entry.file->records;
      sums.memory_bytes += MemoryOf(entry);
      if (!seen.insert(entry.file.get()).second) continue;
      level.file_bytes += entry.file->bytes;
      level.referenced_bytes += ReferencedBytes(*entry.file);
    }
  }
  for (const auto& [id, blob_file] : version.blob_files) sums.memory_bytes += MemoryOf(*blob_file);
  for (const auto& [id, entry] : version.value_files) CountValueFile(*entry.file, true, &sums);
  return sums;
}

}  // namespace lava
