// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "compaction/older_files.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "compaction/compaction_job.h"
#include "lava/slice.h"
#include "manifest/version.h"
#include "read/merge_run.h"

namespace lava {

namespace {

// A version may have several entries of one file, so the lower bound is part of the key.
using EntryKey = std::pair<const FileMeta*, Slice>;

EntryKey KeyOf(const KeyFileEntry& entry) { return {entry.file.get(), entry.lower}; }

}  // namespace

OlderFiles::OlderFiles(const CompactionInput& input) {
  std::set<EntryKey> inputs;
  uint32_t first_level = kLevelCountMax;
  for (const CompactionInput::Level& level : input.inputs) {
    if (level.entries.empty()) continue;
    first_level = std::min(first_level, level.level);
    for (const KeyFileEntry& entry : level.entries) inputs.insert(KeyOf(entry));
  }
  const auto& levels = input.version->levels;
  if (first_level == 0) {
    // L0 is ordered newest first: entries after the newest input are older than it.
    bool behind = false;
    for (const KeyFileEntry& entry : levels[0]) {
      const bool is_input = inputs.contains(KeyOf(entry));
      behind |= is_input;
      if (behind && !is_input) overlapping_.push_back(&entry);
    }
  }
  for (uint32_t level = std::max(first_level, 1u); level < kLevelCountMax; ++level) {
    std::vector<const KeyFileEntry*> left;
    for (const KeyFileEntry& entry : levels[level])
      if (!inputs.contains(KeyOf(entry))) left.push_back(&entry);
    if (!left.empty()) levels_.push_back(std::move(left));
  }
}

bool OlderFiles::MayHoldKey(Slice key) const {
  for (const KeyFileEntry* e : overlapping_)
    if (key >= e->lower && (e->upper.empty() || key < e->upper)) return true;
  for (const auto& level : levels_) {
    const auto it = std::partition_point(level.begin(), level.end(), [&](const KeyFileEntry* e) {
      return !e->upper.empty() && Slice(e->upper) <= key;
    });
    if (it != level.end() && key >= (*it)->lower) return true;
  }
  return false;
}

bool OlderFiles::MayHoldRange(Slice lower, Slice upper) const {
  for (const KeyFileEntry* e : overlapping_)
    if (RangesOverlap(lower, upper, e->lower, e->upper)) return true;
  for (const auto& level : levels_) {
    const auto it = std::partition_point(level.begin(), level.end(), [&](const KeyFileEntry* e) {
      return !e->upper.empty() && Slice(e->upper) <= lower;
    });
    if (it != level.end() && (upper.empty() || Slice((*it)->lower) < upper)) return true;
  }
  return false;
}

}  // namespace lava
