#pragma once

#include <array>
#include <cstdint>

#include "manifest/version.h"

namespace lava {

/// What the files of a version take, and how much of it an upper record hides of what lies deeper:
/// hidden garbage (Scavenger 2.4), which only compactions turn into garbage that can be collected.
/// Units: bytes on storage unless raw.
///
/// Each record above the last level that holds anything hides at most one record below it. How many
/// of them do cannot be read off the files. Of a level whose records went down before, it is taken
/// from what part of those met an older one there; records of L0 never did, and count as if all of
/// them hide one. So live_bytes is an estimate in that part only: all else follows from the
/// version. Before anything is known it is at most what truly lives, and what deletes hide.
struct VersionSpace {
  uint64_t key_file_bytes = 0, value_file_bytes = 0;
  uint64_t hidden_key_bytes = 0;
  uint64_t hidden_raw_value_bytes = 0, hidden_value_bytes = 0;
  uint64_t live_bytes = 0;
};

/// For each level, what part of its records meet an older one in the next level when they come
/// there, 0 to 1.
struct MetBelow {
  std::array<double, kLevelCountMax> part;
  MetBelow() { part.fill(1); }
  /// What part of the records of a level hide one in any deeper level, down to the last one.
  double Hiding(uint32_t level, uint32_t last) const;
};

/// By the sums that the version keeps.
VersionSpace SpaceOf(const Version& version, const MetBelow& met);

/// Raw bytes of all values that the file's references name.
uint64_t ReferencedBytes(const FileMeta& file);

}  // namespace lava
