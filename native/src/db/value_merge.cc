#include <algorithm>

#include "db/db_impl.h"
#include "manifest/garbage.h"
#include "policy/value_rules.h"

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

// How many value files a scan of the key file's range reads beside each other, where they are most.
uint32_t TangleOf(const Version& version, const FileEntry& entry) {
  std::map<const ValueFileMeta*, KeyRange> ranges;
  for (const BirthShare& share : entry.file->births) {
    const auto birth = version.births.find(share.birth);
    if (birth == version.births.end()) continue;
    for (const Placement& place : birth->second->places) {
      const KeyRange range{std::max<Slice>(place.file->lower, entry.lower),
                           std::min<Slice>(place.file->upper, entry.upper)};
      if (range.lower < range.upper) ranges[place.file.get()] = range;
    }
  }
  std::vector<KeyRange> all;
  for (const auto& [file, range] : ranges) all.push_back(range);
  return OverlapDepth(all);
}

// Deep enough that what is merged stays for a while (DiffKV 3.4, lazy merge).
bool IsLowEnough(const Version& version, uint32_t output_level) {
  uint32_t last = 0;
  for (uint32_t n = 0; n < kLevelCountMax; ++n)
    if (!version.levels[n].empty()) last = n;
  return output_level > 0 && output_level + 1 >= last;
}

}  // namespace

// In percent, beside writing a byte of a file that a checkpoint has.
uint32_t DBImpl::OrderUploadCost(const PlanInputs& inputs) const {
  return inputs.takes_checkpoints ? options_.gc_upload_cost_percent : 0;
}

// Both the old and the new values are there until the compaction ends.
uint64_t DBImpl::MergedBytesMax(const PlanInputs& inputs) const {
  const uint64_t most = kMergedFilesMax * options_.value_file_bytes;
  const uint64_t garbage = inputs.own_pressure.garbage_bytes;
  if (garbage > 0) return std::min(most, garbage / kMergedShare);
  return value_policy_ == ValuePolicy::kMerge ? UINT64_MAX : most;
}

// What becomes of the values of each file that the compaction reaches.
DBImpl::ValueMergePlan DBImpl::PlanValueMerge(const PlanInputs& inputs,
                                              const CompactionInput& input) const {
  ValueMergePlan plan;
  const Version& version = *input.version;
  if (version.value_files.empty() || input.output_level == 0) return plan;
  const Reach reach = ReachOf(input);
  if (reach.by_birth.empty()) return plan;
  const std::set<const ValueFileMeta*> busy = running_jobs_.BusyValueFiles();
  for (const ValueFileGarbage& garbage : GarbageOf(version)) {
    const ValueFileMeta& file = *garbage.file;
    const uint64_t reached = ReachedOf(file, version, reach);
    const Slice lower = std::max<Slice>(file.lower, reach.lower);
    const Slice upper = std::min<Slice>(file.upper, reach.upper);
    if (reached == 0 || lower >= upper) continue;
    plan.candidates.push_back(&file);
    plan.files.push_back(
        {.range = {lower, upper},
         .level = file.level,
         .raw_bytes = garbage.raw_bytes,
         .records = file.records,
         .garbage = garbage.garbage_estimate,
         .referenced = garbage.referenced,
         .reached = reached,
         .busy = busy.contains(&file) || late_files_.Contains(file.id) || inputs.Avoids(file.id),
         .in_checkpoint = IsInCheckpoint(inputs, file.id)});
  }
  const GcEffort effort = GcEffortNow(inputs);
  const ValueMergeOptions options{.output_level = input.output_level,
                                  .low_enough = IsLowEnough(version, input.output_level),
                                  .garbage_percent = effort.garbage_percent,
                                  .checkpoint_percent = effort.checkpoint_percent,
                                  .sorted_runs_max = options_.value_sorted_runs_max,
                                  .order_bytes_max = order_budget_.Credit(),
                                  .upload_cost_percent = OrderUploadCost(inputs),
                                  .bytes_max = MergedBytesMax(inputs)};
  plan.reasons = RulesOf(value_policy_).JudgeMerge(plan.files, options);
  return plan;
}

// Which value files the compaction takes along.
void DBImpl::TakeAlong(const PlanInputs& inputs, const ValueMergePlan& plan, CompactionTask* task) {
  task->values_chosen = true;
  for (size_t i = 0; i < plan.files.size(); ++i) {
    const MergeableFile& file = plan.files[i];
    value_decisions_.Note(task->input, *plan.candidates[i], file, plan.reasons[i]);
    if (!IsMerged(plan.reasons[i])) continue;
    task->input.merged_values.insert(plan.candidates[i]);
    if (plan.reasons[i] == ValueMergeReason::kTangled && value_policy_ == ValuePolicy::kAutomatic)
      task->order_bytes += OrderCost(file, OrderUploadCost(inputs));
    const auto raw = static_cast<double>(std::max<uint64_t>(1, file.raw_bytes));
    task->copied_bytes += static_cast<uint64_t>(static_cast<double>(plan.candidates[i]->bytes) *
                                                static_cast<double>(file.reached) / raw);
  }
}

// Rewrites a key file of the last level to put its values in order, when nothing else is to be done
// and scans have paid for enough of them. Without this, values that are scanned but no longer
// written would never be put in order, because no compaction would include them.
std::optional<CompactionTask> DBImpl::PlanOrdering(const PlanInputs& inputs) {
  const Version& version = *inputs.version;
  if (value_policy_ != ValuePolicy::kAutomatic || options_.value_sorted_runs_max == 0 ||
      running_jobs_.compactions() > 0 || running_jobs_.collections() > 0 || inputs.disk_full ||
      inputs.pressure.slow > 0 || !order_budget_.IsPlanDue())
    return std::nullopt;
  uint32_t last = kLevelCountMax - 1;
  while (last > 0 && version.levels[last].empty()) --last;
  if (last == 0) return std::nullopt;
  const FileList& level = version.levels[last];
  size_t most = 0;
  uint32_t tangle = 0;
  for (size_t i = 0; i < level.size(); ++i) {
    const uint32_t of = TangleOf(version, level[i]);
    if (of > tangle) most = i;
    tangle = std::max(tangle, of);
  }
  if (tangle < options_.value_sorted_runs_max || late_files_.Contains(level[most].file->id) ||
      inputs.Avoids(level[most].file->id)) {
    order_budget_.PlanAgainAt(0);
    return std::nullopt;
  }
  CompactionPlan plan;
  plan.level = plan.output_level = last;
  plan.inputs.push_back({last, {static_cast<uint32_t>(most)}});
  CompactionTask task = MakeTask(inputs, plan);
  const ValueMergePlan values = PlanValueMerge(inputs, task.input);
  uint64_t bytes = 0, cost = 0;
  uint32_t merged = 0, unpaid = 0;
  for (size_t i = 0; i < values.files.size(); ++i) {
    const bool is_merged = values.reasons[i] == ValueMergeReason::kTangled;
    if (!is_merged && values.reasons[i] != ValueMergeReason::kUnpaid) continue;
    cost += OrderCost(values.files[i], OrderUploadCost(inputs));
    unpaid += is_merged ? 0 : 1;
    merged += is_merged ? 1 : 0;
    bytes += is_merged ? values.files[i].reached : 0;
  }
  // All files are merged at once, or as many as a job takes, because values that are put in order
  // bit by bit are rewritten again and again. They must also outweigh the keys that are rewritten.
  if (unpaid > 0 || merged < 2 || bytes < level[most].file->bytes) {
    order_budget_.PlanAgainAt(cost);
    return std::nullopt;
  }
  if (!order_budget_.MayOrder(level[most].lower, tangle)) return std::nullopt;
  TakeAlong(inputs, values, &task);
  order_budget_.NoteOrder(level[most].lower, tangle, task.order_bytes);
  return task;
}

// After a scan.
void DBImpl::LookForOrdering() {
  if (!order_budget_.IsLookDue()) return;
  Submit(os::Priority::kCompaction, [this] {
    MutexLock jobs(&jobs_mutex_);
    ScheduleCompactions();
  });
}

void DBImpl::SetValuePolicy(ValuePolicy policy) {
  MutexLock jobs(&jobs_mutex_);
  value_policy_ = policy;
  ScheduleCompactions();
  ScheduleGc();
}

}  // namespace lava
