// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "db/value_merge_plan.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "base/file_id.h"
#include "base/value_reference.h"
#include "compaction/compaction_job.h"
#include "lava/slice.h"
#include "manifest/blob_locations.h"
#include "manifest/garbage.h"
#include "manifest/version.h"
#include "policy/overlap_depth.h"
#include "policy/value_rules.h"

namespace lava {
namespace {

// The range of all inputs, and the raw bytes of each blob file that they reference.
struct Reach {
  Slice lower, upper;
  std::map<FileId, uint64_t> by_blob_file;
};

Reach ReachOf(const CompactionInput& input) {
  Reach reach;
  bool first = true;
  std::set<const FileMeta*> seen;  // a version may have several entries of a file
  for (const CompactionInput::Level& level : input.inputs) {
    for (const KeyFileEntry& entry : level.entries) {
      reach.lower = first ? Slice(entry.lower) : std::min<Slice>(reach.lower, entry.lower);
      reach.upper = first ? Slice(entry.upper) : std::max<Slice>(reach.upper, entry.upper);
      first = false;
      if (!seen.insert(entry.file.get()).second) continue;
      for (const BlobReference& reference : entry.file->blob_references)
        reach.by_blob_file[reference.blob_file] += reference.raw_bytes;
    }
  }
  return reach;
}

// Raw bytes of values that the inputs reference, by value file. The bytes of a blob file in several
// value files are divided evenly between these files.
std::map<FileId, uint64_t> ReachedBytes(const Version& version, const Reach& reach) {
  std::map<FileId, uint64_t> reached;
  for (const auto& [id, named_bytes] : reach.by_blob_file) {
    const auto blob_file = version.blob_files.find(id);
    if (blob_file == version.blob_files.end()) continue;
    std::set<const ValueFileMeta*> holders;
    for (const BlobLocation& location : blob_file->second->locations)
      holders.insert(location.file.get());
    for (const ValueFileMeta* const holder : holders)
      reached[holder->id] += std::min(named_bytes / holders.size(), HeldBy(*holder, id));
  }
  return reached;
}

}  // namespace

ValueMergePlan FindMergeable(const CompactionInput& input) {
  ValueMergePlan plan;
  const Version& version = *input.version;
  if (version.value_files.empty() || input.output_level == 0) return plan;
  const Reach reach = ReachOf(input);
  if (reach.by_blob_file.empty()) return plan;
  for (const auto& [id, reached] : ReachedBytes(version, reach)) {
    const Version::ValueFileEntry& entry = version.value_files.at(id);
    const ValueFileMeta& file = *entry.file;
    const Slice lower = std::max<Slice>(file.lower, reach.lower);
    const Slice upper = std::min<Slice>(file.upper, reach.upper);
    if (reached == 0 || lower >= upper) continue;
    plan.candidates.push_back(&file);
    MergeableFile& judged = plan.files.emplace_back();
    judged.range = {lower, upper};
    judged.level = file.level;
    judged.raw_bytes = file.raw_bytes;
    judged.records = file.records;
    judged.garbage = entry.garbage.estimate;
    judged.referenced = entry.garbage.referenced;
    judged.reached = reached;
  }
  return plan;
}

uint32_t ValueOverlapOf(const Version& version, const KeyFileEntry& entry) {
  std::map<const ValueFileMeta*, KeyRange> ranges;
  for (const BlobReference& reference : entry.file->blob_references) {
    const auto blob_file = version.blob_files.find(reference.blob_file);
    if (blob_file == version.blob_files.end()) continue;
    for (const BlobLocation& location : blob_file->second->locations) {
      const KeyRange range{std::max<Slice>(location.file->lower, entry.lower),
                           std::min<Slice>(location.file->upper, entry.upper)};
      if (range.lower < range.upper) ranges[location.file.get()] = range;
    }
  }
  std::vector<KeyRange> all;
  all.reserve(ranges.size());
  for (const auto& [file, range] : ranges) all.push_back(range);
  return OverlapDepth(all);
}

bool IsLowEnough(const Version& version, uint32_t output_level) {
  uint32_t last = 0;
  for (uint32_t n = 0; n < kLevelCountMax; ++n)
    if (!version.levels[n].empty()) last = n;
  return output_level > 0 && output_level + 1 >= last;
}

}  // namespace lava
