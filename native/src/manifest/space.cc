// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "manifest/space.h"

#include <algorithm>
#include <cstdint>

#include "base/check.h"
#include "base/value_reference.h"
#include "manifest/version.h"

namespace lava {
namespace {

uint64_t Part(uint64_t bytes, double part) {
  return static_cast<uint64_t>(static_cast<double>(bytes) * std::clamp(part, 0.0, 1.0));
}

}  // namespace

double MetBelow::Hiding(uint32_t level, uint32_t last) const {
  LAVA_DCHECK(level <= last && last < kLevelCountMax);
  double passed = 1;  // share of records that meet no older record on the way down
  for (uint32_t n = level; n < last; ++n) {
    LAVA_DCHECK(part[n] >= 0 && part[n] <= 1);
    passed *= 1 - part[n];
  }
  return 1 - passed;
}

uint64_t ReferencedBytes(const FileMeta& file) {
  uint64_t bytes = 0;
  for (const BlobReference& reference : file.blob_references) bytes += reference.raw_bytes;
  return bytes;
}

VersionSpace SpaceOf(const Version& version, const MetBelow& met) {
  VersionSpace space;
  uint32_t last = kLevelCountMax - 1;
  while (last > 0 && version.levels[last].empty()) --last;
  uint64_t named = 0;
  for (uint32_t level = 0; level <= last; ++level) {
    const VersionSums::Level& sums = version.sums.levels[level];
    space.key_file_bytes += sums.file_bytes;
    named += sums.referenced_bytes;
    if (level == last && last > 0) continue;
    uint64_t bytes = sums.file_bytes, referenced = sums.referenced_bytes;
    if (level == last && !version.levels[0].empty()) {
      // L0 is the only level: the oldest file of L0 hides nothing.
      const FileMeta& oldest = *version.levels[0].back().file;
      bytes -= std::min(bytes, oldest.bytes);
      referenced -= std::min(referenced, ReferencedBytes(oldest));
    }
    const double hiding = met.Hiding(level, std::max(last, 1u));
    space.hidden_key_bytes += Part(bytes, hiding);
    space.hidden_raw_value_bytes += Part(referenced, hiding);
  }
  const uint64_t raw = version.sums.value_raw_bytes;
  space.value_file_bytes = version.sums.value_file_bytes;
  named = std::min(named, raw);  // clipped entries may name more than exists
  space.hidden_raw_value_bytes = std::min(named, space.hidden_raw_value_bytes);
  const double stored =
      raw == 0 ? 0 : static_cast<double>(space.value_file_bytes) / static_cast<double>(raw);
  space.hidden_value_bytes =
      static_cast<uint64_t>(static_cast<double>(space.hidden_raw_value_bytes) * stored);
  const auto named_stored = static_cast<uint64_t>(static_cast<double>(named) * stored);
  space.live_bytes = space.key_file_bytes - space.hidden_key_bytes + named_stored -
                     std::min(named_stored, space.hidden_value_bytes);
  return space;
}

}  // namespace lava
