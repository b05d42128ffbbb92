// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "compaction/compaction_scope.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>

#include "base/check.h"
#include "base/value_reference.h"
#include "compaction/compaction_job.h"
#include "lava/options.h"
#include "lava/slice.h"
#include "manifest/blob_locations.h"
#include "manifest/version.h"

namespace lava {
namespace {

// [lower, upper) of all inputs; an empty upper bound means no end.
struct Range {
  Slice lower, upper;
};

Range RangeOf(const CompactionInput& input) {
  Range range;
  bool first = true;
  for (const CompactionInput::Level& level : input.inputs) {
    for (const KeyFileEntry& entry : level.entries) {
      const bool ends = first || !range.upper.empty();
      range.lower = first ? Slice(entry.lower) : std::min<Slice>(range.lower, entry.lower);
      if (ends)
        range.upper = entry.upper.empty() ? Slice() : std::max<Slice>(range.upper, entry.upper);
      first = false;
    }
  }
  return range;
}

bool Overlaps(const KeyFileEntry& entry, const Range& range) {
  return (entry.upper.empty() || range.lower < entry.upper) &&
         (range.upper.empty() || entry.lower < range.upper);
}

// Lists: their parts may have to be joined.
bool HoldsLists(const ValueFileMeta& file, const std::map<uint64_t, TableOptions>& tables) {
  return std::any_of(file.tables.begin(), file.tables.end(), [&](const auto& share) {
    const auto table = tables.find(share.first);
    return table != tables.end() && table->second.kind == TableKind::kList;
  });
}

// The part of the blob file that the compaction needs; null if there is none.
std::shared_ptr<const BlobFile> InScope(const BlobFile& blob_file, const CompactionInput& input) {
  auto part = std::make_shared<BlobFile>();
  part->expired_to_ms = blob_file.expired_to_ms;
  for (const BlobLocation& location : blob_file.locations)
    if (input.merged_values.contains(location.file.get()) ||
        HoldsLists(*location.file, input.tables))
      part->locations.push_back(location);
  return part->expired_to_ms.empty() && part->locations.empty() ? nullptr : part;
}

}  // namespace

std::shared_ptr<const Version> ScopeOf(const CompactionInput& input) {
  auto scope = std::make_shared<Version>();
  const Range range = RangeOf(input);
  for (uint32_t n = 0; n < kLevelCountMax; ++n) {
    const FileList& level = input.version->levels[n];
    auto begin = level.begin(), end = level.end();
    if (n > 0) {
      begin = level.PartitionPoint([&](const KeyFileEntry& entry) {
        return !entry.upper.empty() && Slice(entry.upper) <= range.lower;
      });
      end = begin;
      while (end != level.end() && Overlaps(*end, range)) ++end;
    }
    for (; begin != end; ++begin)
      if (Overlaps(*begin, range)) scope->levels[n].push_back(*begin);
  }
  for (const CompactionInput::Level& level : input.inputs) {
    LAVA_DCHECK(scope->levels[level.level].size() >= level.entries.size());
    for (const KeyFileEntry& entry : level.entries) {
      for (const BlobReference& reference : entry.file->blob_references) {
        const auto known = input.version->blob_files.find(reference.blob_file);
        if (known == input.version->blob_files.end() ||
            scope->blob_files.contains(reference.blob_file))
          continue;
        if (std::shared_ptr<const BlobFile> blob_file = InScope(*known->second, input))
          scope->blob_files.emplace(reference.blob_file, std::move(blob_file));
      }
    }
  }
  return scope;
}

}  // namespace lava
