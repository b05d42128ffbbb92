// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>

#include "manifest/version.h"

namespace lava {

///
/// Counts the sums of a version from its files and blob files alone. For tests, assertions, and
/// versions that were not made by an edit. All other versions get their sums updated by edits.
/// Threads: any. The functions of this file only use their arguments.
VersionSums CountSums(const Version& version);

/// Approximate memory that a part of a version takes. Units: bytes.
uint64_t MemoryOf(const KeyFileEntry& entry);
uint64_t MemoryOf(const BlobFile& blob_file);
/// Adds a value file to the sums, or subtracts it.
void CountValueFile(const ValueFileMeta& file, bool added, VersionSums* sums);

/// Calls visit(level, entry) for each entry of the file in the version, highest level first.
template <typename Visit>
void ForEachStand(const Version& version, const FileMeta& file, const Visit& visit) {
  const auto ends_before = [&file](const KeyFileEntry& entry) {
    return !entry.upper.empty() && entry.upper <= file.lower;
  };
  for (uint32_t level = 0; level < kLevelCountMax; ++level) {
    const FileList& entries = version.levels[level];
    auto at = level == 0 ? entries.begin() : entries.PartitionPoint(ends_before);
    for (; at != entries.end(); ++at) {
      if (level > 0 && !file.upper.empty() && at->lower >= file.upper) break;
      if (at->file->id == file.id) visit(level, *at);
    }
  }
}

/// The highest level (the lowest number) with an entry of the file; empty without an entry.
std::optional<uint32_t> HighestStand(const Version& version, const FileMeta& file);

}  // namespace lava
