// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "manifest/version.h"

namespace lava {

/// Raw bytes of the blob file's values in this value file. 0 if it has none of them.
/// Threads: any; pure, like all functions of this file.
uint64_t HeldBy(const ValueFileMeta& file, const FileId& blob_file);

/// The garbage of a value file: raw bytes of values that no reference in the version reaches.
/// A reference hidden by a newer record still counts as reaching its value until a compaction drops
/// the reference (hidden garbage, as Scavenger calls it).
/// The cost is one lookup for each blob file that the file holds.
ValueGarbage GarbageOf(const Version& version, const ValueFileMeta& file);

/// The garbage of one value file of a version. Units: raw bytes of values.
struct ValueFileGarbage {
  std::shared_ptr<ValueFileMeta> file;
  uint64_t raw_bytes = 0;
  /// Bounds. Equal if all values were first written in the file and no key file that names it is
  /// clipped.
  uint64_t garbage_min = 0, garbage_max = 0;
  /// Between the bounds: the garbage of a blob file in several files is divided in proportion to
  /// the blob file's bytes in each file.
  uint64_t garbage_estimate = 0;
  /// Raw bytes referenced of the blob files that the file holds. Falls as values die.
  uint64_t referenced = 0;
};

/// The garbage of each value file of the version, ascending by id.
std::vector<ValueFileGarbage> GarbageOf(const Version& version);

}  // namespace lava
