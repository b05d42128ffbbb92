// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstdint>

#include "manifest/version.h"

namespace lava {

/// Space that the files of a version take, and the hidden garbage in it (Scavenger 2.4): entries
/// hidden by a newer record in a higher level. Only compactions turn hidden garbage into garbage
/// that can be collected.
/// Units: bytes on storage unless raw.
///
/// Each record above the last non-empty level hides at most one record below it. The files do not
/// tell how many records hide one. The share is therefore estimated from earlier compactions of the
/// level: the share of their records that met an older record in the next level. L0 has no such
/// history, and all of its records count as hiding one. Only this part of live_bytes is an
/// estimate; the rest follows from the version. Before the first compaction, live_bytes is at most
/// the bytes that really live plus the bytes that deletes hide.
struct VersionSpace {
  uint64_t key_file_bytes = 0, value_file_bytes = 0;
  uint64_t hidden_key_bytes = 0;
  uint64_t hidden_raw_value_bytes = 0, hidden_value_bytes = 0;
  uint64_t live_bytes = 0;
};

/// For each level, the share of its records that meet an older record in the next level when they
/// are compacted into it, 0 to 1.
struct MetBelow {
  std::array<double, kLevelCountMax> part;
  MetBelow() { part.fill(1); }
  /// The share of a level's records that hide a record in any deeper level, down to the last one.
  double Hiding(uint32_t level, uint32_t last) const;
};

/// Computed from version.sums, without visiting the files.
/// Threads: any; pure, like all functions of this file.
VersionSpace SpaceOf(const Version& version, const MetBelow& met);

/// Raw bytes of all values that the file's references name.
uint64_t ReferencedBytes(const FileMeta& file);

}  // namespace lava
