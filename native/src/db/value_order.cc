// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "db/value_order.h"

#include <array>
#include <cstdint>
#include <set>
#include <vector>

#include "base/file_id.h"
#include "manifest/version.h"
#include "policy/overlap_depth.h"

namespace lava {

ValueOrder OrderOf(const Version& version) {
  std::array<std::vector<KeyRange>, kLevelCountMax> ranges;
  std::array<std::set<FileId>, kLevelCountMax> groups;  // each by origin and number
  for (const auto& [id, entry] : version.value_files) {
    const ValueFileMeta& file = *entry.file;
    ranges[file.level].push_back({file.lower, file.upper});
    FileId group = file.id;
    if (file.group != 0) group.number = file.group;
    groups[file.level].insert(group);
  }
  ValueOrder order;
  for (uint32_t n = 0; n < kLevelCountMax; ++n) {
    order.levels[n].groups = static_cast<uint32_t>(groups[n].size());
    order.levels[n].overlap = OverlapDepth(ranges[n]);
  }
  return order;
}

}  // namespace lava
