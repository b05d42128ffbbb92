#include "db/value_merge_plan.h"

#include <algorithm>
#include <map>
#include <set>

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
  std::set<const FileMeta*> seen;  // a file may stand several times in a version
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

// Raw bytes of the file's values that the inputs reference. A blob file that several files hold is
// divided evenly between them.
uint64_t ReachedOf(const ValueFileMeta& file, const Version& version, const Reach& reach) {
  uint64_t bytes = 0;
  for (const BlobReference& reference : file.blob_files) {
    const auto named = reach.by_blob_file.find(reference.blob_file);
    const auto blob_file = version.blob_files.find(reference.blob_file);
    if (named == reach.by_blob_file.end() || blob_file == version.blob_files.end()) continue;
    std::set<const ValueFileMeta*> holders;
    for (const BlobLocation& location : blob_file->second->locations)
      holders.insert(location.file.get());
    bytes += holders.size() > 1 ? std::min(named->second / holders.size(), reference.raw_bytes)
                                : std::min(named->second, reference.raw_bytes);
  }
  return bytes;
}

}  // namespace

ValueMergePlan FindMergeable(const CompactionInput& input) {
  ValueMergePlan plan;
  const Version& version = *input.version;
  if (version.value_files.empty() || input.output_level == 0) return plan;
  const Reach reach = ReachOf(input);
  if (reach.by_blob_file.empty()) return plan;
  for (const auto& [id, entry] : version.value_files) {
    const ValueFileMeta& file = *entry.file;
    const uint64_t reached = ReachedOf(file, version, reach);
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
