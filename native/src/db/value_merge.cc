#include <algorithm>

#include "db/db_impl.h"
#include "manifest/garbage.h"
#include "policy/value_merge_picker.h"

namespace lava {
namespace {

// One compaction writes so many value files anew at most.
constexpr uint64_t kMergedFilesMax = 4;
// And such a part of the garbage that a ratio of space allows.
constexpr uint64_t kMergedShare = 4;

struct Reach {
  Slice lower, upper;                   // of all inputs
  std::map<FileId, uint64_t> by_birth;  // raw bytes that their references name
};

Reach ReachOf(const CompactionInput& input) {
  Reach reach;
  bool first = true;
  std::set<const FileMeta*> seen;  // a file may stand several times in a version
  for (const CompactionInput::Level& level : input.inputs) {
    for (const FileEntry& entry : level.entries) {
      reach.lower = first ? Slice(entry.lower) : std::min<Slice>(reach.lower, entry.lower);
      reach.upper = first ? Slice(entry.upper) : std::max<Slice>(reach.upper, entry.upper);
      first = false;
      if (!seen.insert(entry.file.get()).second) continue;
      for (const BirthShare& share : entry.file->births)
        reach.by_birth[share.birth] += share.raw_bytes;
    }
  }
  return reach;
}

// What of a file the inputs reach: the part of each birth that it holds, where others hold more.
uint64_t ReachedOf(const ValueFileMeta& file, const Version& version, const Reach& reach) {
  uint64_t bytes = 0;
  for (const BirthShare& share : file.births) {
    const auto named = reach.by_birth.find(share.birth);
    const auto birth = version.births.find(share.birth);
    if (named == reach.by_birth.end() || birth == version.births.end()) continue;
    std::set<const ValueFileMeta*> holders;
    for (const Placement& place : birth->second->places) holders.insert(place.file.get());
    bytes += holders.size() > 1 ? std::min(named->second / holders.size(), share.raw_bytes)
                                : std::min(named->second, share.raw_bytes);
  }
  return bytes;
}

// Deep enough that what is merged stays for a while (DiffKV 3.4, lazy merge).
bool IsLowEnough(const Version& version, uint32_t output_level) {
  uint32_t last = 0;
  for (uint32_t n = 0; n < kLevelCountMax; ++n)
    if (!version.levels[n].empty()) last = n;
  return output_level > 0 && output_level + 1 >= last;
}

}  // namespace

// Holds state. What scans fetched pays for what is written anew so that they fetch it in order.
uint64_t DBImpl::OrderCredit() const {
  const uint64_t scanned = counters_.scan_value_bytes.load(std::memory_order_relaxed);
  const uint64_t earned = scanned / 100 * options_.value_merge_scan_percent;
  return earned - std::min(earned, order_spent_);
}

// Holds state.
std::set<const ValueFileMeta*> DBImpl::BusyValueFiles() const {
  std::set<const ValueFileMeta*> busy;
  for (const std::shared_ptr<GcTask>& task : collections_)
    for (const auto* files : {&task->input.files, &task->input.expired})
      for (const std::shared_ptr<ValueFileMeta>& file : *files) busy.insert(file.get());
  for (const std::shared_ptr<CompactionTask>& task : compactions_)
    busy.insert(task->input.merged_values.begin(), task->input.merged_values.end());
  return busy;
}

// Holds state. Both the old and the new values are there until the compaction ends.
uint64_t DBImpl::MergedBytesMax() const {
  const uint64_t most = kMergedFilesMax * options_.value_file_bytes;
  return space_.garbage_bytes > 0 ? std::min(most, space_.garbage_bytes / kMergedShare) : most;
}

// Holds state. Which value files the compaction takes along.
void DBImpl::ChooseValueMerge(CompactionTask* task) {
  CompactionInput* input = &task->input;
  const Version& version = *input->version;
  if (version.value_files.empty()) return;
  const Reach reach = ReachOf(*input);
  if (reach.by_birth.empty()) return;
  const std::set<const ValueFileMeta*> busy = BusyValueFiles();
  std::vector<const ValueFileMeta*> candidates;
  std::vector<MergeableFile> files;
  for (const ValueFileGarbage& garbage : GarbageOf(version)) {
    const ValueFileMeta& file = *garbage.file;
    const uint64_t reached = ReachedOf(file, version, reach);
    const Slice lower = std::max<Slice>(file.lower, reach.lower);
    const Slice upper = std::min<Slice>(file.upper, reach.upper);
    if (reached == 0 || lower >= upper) continue;
    candidates.push_back(&file);
    files.push_back({.range = {lower, upper},
                     .raw_bytes = garbage.raw_bytes,
                     .records = file.records,
                     .garbage = garbage.garbage_estimate,
                     .referenced = garbage.referenced,
                     .reached = reached,
                     .busy = busy.contains(&file) || late_files_.Contains(file.id),
                     .in_checkpoint = IsInCheckpoint(file.id)});
  }
  const uint64_t credit = IsLowEnough(version, input->output_level) ? OrderCredit() : 0;
  const GcEffort effort = GcEffortNow();
  const std::vector<size_t> picked =
      PickValueMerge(files, {.garbage_percent = effort.garbage_percent,
                             .checkpoint_percent = effort.checkpoint_percent,
                             .sorted_runs_max = options_.value_sorted_runs_max,
                             .order_bytes_max = credit,
                             .bytes_max = MergedBytesMax()});
  uint64_t bytes = 0;
  for (const size_t i : picked) {
    input->merged_values.insert(candidates[i]);
    bytes += files[i].reached;
    const auto raw = static_cast<double>(std::max<uint64_t>(1, files[i].raw_bytes));
    task->copied_bytes += static_cast<uint64_t>(static_cast<double>(candidates[i]->bytes) *
                                                static_cast<double>(files[i].reached) / raw);
  }
  order_spent_ += std::min(bytes, credit);
}

}  // namespace lava
