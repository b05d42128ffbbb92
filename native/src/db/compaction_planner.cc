// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "db/compaction_planner.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/check.h"
#include "compaction/compaction_job.h"
#include "compaction/compaction_scope.h"
#include "db/job_plans.h"
#include "db/running_jobs.h"
#include "db/value_merge_plan.h"
#include "lava/event_listener.h"
#include "lava/options.h"
#include "manifest/space.h"
#include "manifest/version.h"
#include "os/executor.h"
#include "policy/collection_effort.h"
#include "policy/compaction_picker.h"
#include "policy/space_limits.h"
#include "policy/value_rules.h"

namespace lava {
namespace {

// An output file overlaps at most this many target files of the level below it.
constexpr uint64_t kOverlapFilesMax = 10;
// The most values that one compaction rewrites, in value files of the target size.
constexpr uint64_t kMergedFilesMax = 4;
// With a space limit as a ratio, also at most 1/kMergedShare of the garbage that the ratio allows.
constexpr uint64_t kMergedShare = 4;

// Rewrites the last level that holds data, if its records may have expired since they were written
// there.
std::optional<CompactionPlan> PickRewrite(const PlanInputs& inputs) {
  const bool expires = std::any_of(inputs.tables.begin(), inputs.tables.end(),
                                   [](const auto& table) { return table.second.ttl_ms > 0; });
  if (!expires) return std::nullopt;
  for (uint32_t n = kLevelCountMax; n-- > 1;) {
    if (inputs.version->levels[n].empty()) continue;
    CompactionPlan plan;
    plan.level = plan.output_level = n;
    CompactionPlan::Input& input = plan.inputs.emplace_back();
    input.level = n;
    for (uint32_t i = 0; i < inputs.version->levels[n].size(); ++i) input.files.push_back(i);
    return plan;
  }
  return std::nullopt;
}

bool AreAscending(const std::vector<uint32_t>& numbers) {
  return std::adjacent_find(numbers.begin(), numbers.end(), std::greater_equal<>()) ==
         numbers.end();
}

bool AreIdle(const CompactionInput& input, const RunningJobs& jobs) {
  return std::all_of(input.inputs.begin(), input.inputs.end(), [&](const auto& level) {
    return std::none_of(level.entries.begin(), level.entries.end(),
                        [&](const KeyFileEntry& entry) { return jobs.IsBusy(entry); });
  });
}

}  // namespace

PickerView CompactionPlanner::ViewOf(const PlanInputs& inputs, const RunningJobs& jobs) const {
  LAVA_DCHECK(inputs.version != nullptr);
  const Version& version = *inputs.version;
  uint32_t levels = options_.level_count;
  for (uint32_t n = levels; n < kLevelCountMax; ++n)
    if (!version.levels[n].empty()) levels = n + 1;
  PickerView view;
  view.levels.resize(levels);
  view.cursors.assign(cursors_.begin(), cursors_.begin() + levels);
  for (uint32_t n = 0; n < levels; ++n) {
    view.levels[n].reserve(version.levels[n].size());
    for (const KeyFileEntry& entry : version.levels[n]) {
      PickerFile file{.bytes = entry.file->bytes,
                      .referenced_bytes = n == 0 || inputs.pressure.slow > 0 || inputs.disk_full
                                              ? ReferencedBytes(*entry.file)
                                              : 0,
                      .lower = entry.lower,
                      .upper = entry.upper,
                      .busy = jobs.IsBusy(entry) || missing_files_.Contains(entry.file->id) ||
                              inputs.Avoids(entry.file->id),
                      .clipped = entry.clipped()};
      view.l0_busy = view.l0_busy || (n == 0 && file.busy);
      view.levels[n].push_back(file);
    }
  }
  return view;
}

PickerOptions CompactionPlanner::PickerOptionsOf(const PlanInputs& inputs) const {
  return {.l0_trigger = options_.l0_compaction_trigger,
          .l0_trigger_max = options_.l0_stall_trigger * 2 / 3,
          .combines_l0 = inputs.pressure.slow <= 0 && !inputs.disk_full,
          .level1_bytes = options_.level1_bytes,
          .level_multiplier = options_.level_multiplier,
          .target_file_bytes = options_.target_file_bytes,
          .upload_cost_percent = UploadCostPercent(inputs)};
}

uint64_t CompactionPlanner::PendingBytes(const PlanInputs& inputs, const RunningJobs& jobs) const {
  return PendingCompactionBytes(ViewOf(inputs, jobs), PickerOptionsOf(inputs));
}

std::optional<CompactionTask> CompactionPlanner::PlanNext(const PlanInputs& inputs,
                                                          const RunningJobs& jobs) {
  const PickerView view = ViewOf(inputs, jobs);
  const PickerOptions options = PickerOptionsOf(inputs);
  std::optional<CompactionPlan> plan = PickCompaction(view, options);
  CompactionCause cause =
      plan && plan->level == 0 ? CompactionCause::kLevel0 : CompactionCause::kLevelSize;
  // Garbage that upper levels hide cannot be collected before a compaction exposes it.
  const bool collecting = jobs.collections() > 0;
  if (!plan &&
      ((inputs.disk_full && !collecting) ||
       ShouldExpose(inputs.pressure, inputs.hidden_bytes, inputs.live_bytes, collecting))) {
    plan = PickExposing(view, options);
    cause = CompactionCause::kExposure;
  }
  if (!plan) return PlanOrder(inputs, jobs);
  LAVA_DCHECK(plan->level < kLevelCountMax);
  if (!plan->cursor.empty()) cursors_[plan->level] = plan->cursor;
  CompactionTask task = TaskWithValues(inputs, jobs, *plan);
  task.cause = cause;
  return task;
}

std::optional<CompactionTask> CompactionPlanner::PlanAll(const PlanInputs& inputs,
                                                         const RunningJobs& jobs, bool* wait) {
  *wait = false;
  std::optional<CompactionPlan> plan = PickCompactAll(ViewOf(inputs, jobs), wait);
  if (*wait) return std::nullopt;
  if (!plan) plan = PickRewrite(inputs);
  if (!plan) return std::nullopt;
  CompactionTask task = TaskWithValues(inputs, jobs, *plan);
  task.manual = true;
  task.cause = CompactionCause::kManual;
  return task;
}

CompactionTask CompactionPlanner::TaskOf(const PlanInputs& inputs,
                                         const CompactionPlan& plan) const {
  LAVA_DCHECK(!plan.inputs.empty() && plan.output_level < kLevelCountMax);
  CompactionTask task;
  task.trivial_move = plan.trivial_move;
  task.priority = plan.level == 0 ? os::Priority::kL0Compaction : os::Priority::kCompaction;
  task.input.output_level = plan.output_level;
  task.input.version = inputs.version;
  task.input.target_file_bytes = options_.target_file_bytes;
  task.input.overlap_bytes_max = kOverlapFilesMax * options_.target_file_bytes;
  for (const CompactionPlan::Input& input : plan.inputs) {
    LAVA_DCHECK(input.level < kLevelCountMax && input.level <= plan.output_level);
    LAVA_DCHECK(task.input.inputs.empty() || task.input.inputs.back().level < input.level);
    LAVA_DCHECK(!input.files.empty() && AreAscending(input.files));
    LAVA_DCHECK(input.files.back() < inputs.version->levels[input.level].size());
    // Records of one key in level 0 must keep their order.
    LAVA_DCHECK(input.level > 0 ||
                input.files.back() - input.files.front() + 1 == input.files.size());
    LAVA_DCHECK(input.level > 0 || plan.output_level == 0 ||
                input.files.back() + 1 == inputs.version->levels[0].size());
    CompactionInput::Level level;
    level.level = input.level;
    for (uint32_t i : input.files) level.entries.push_back(inputs.version->levels[input.level][i]);
    task.input.inputs.push_back(std::move(level));
  }
  task.input.tables = inputs.tables;
  return task;
}

// The task keeps only the parts of the version that the job needs, so that other files that leave
// the version while the job is queued are freed at once.
CompactionTask CompactionPlanner::TaskWithValues(const PlanInputs& inputs, const RunningJobs& jobs,
                                                 const CompactionPlan& plan) {
  CompactionTask task = TaskOf(inputs, plan);
  LAVA_DCHECK(AreIdle(task.input, jobs));
  if (!task.trivial_move) TakeValues(inputs, PlanValues(inputs, jobs, task.input), &task);
  task.input.version = ScopeOf(task.input);
  return task;
}

// The old and the new values both take space until the compaction ends.
uint64_t CompactionPlanner::MergedBytesMax(const PlanInputs& inputs) const {
  const uint64_t most = kMergedFilesMax * options_.value_file_bytes;
  const uint64_t garbage = inputs.own_pressure.garbage_bytes;
  if (garbage > 0) return std::min(most, garbage / kMergedShare);
  return inputs.value_policy == ValuePolicy::kMerge ? UINT64_MAX : most;
}

ValueMergePlan CompactionPlanner::PlanValues(const PlanInputs& inputs, const RunningJobs& jobs,
                                             const CompactionInput& input) const {
  ValueMergePlan plan = FindMergeable(input);
  if (plan.files.empty()) return plan;
  const std::set<const ValueFileMeta*> busy = jobs.BusyValueFiles();
  for (size_t i = 0; i < plan.files.size(); ++i) {
    const ValueFileMeta* const file = plan.candidates[i];
    plan.files[i].busy =
        busy.contains(file) || missing_files_.Contains(file->id) || inputs.Avoids(file->id);
    plan.files[i].in_checkpoint = inputs.IsInCheckpoint(file->id);
  }
  const CollectionEffort effort = EffortOf(options_, inputs, jobs.compactions() > 0);
  plan.reasons =
      RulesOf(inputs.value_policy)
          .JudgeMerge(plan.files, {.output_level = input.output_level,
                                   .low_enough = IsLowEnough(*input.version, input.output_level),
                                   .garbage_percent = effort.garbage_percent,
                                   .checkpoint_percent = effort.checkpoint_percent,
                                   .sorted_runs_max = options_.value_sorted_runs_max,
                                   .order_bytes_max = order_budget_.Credit(),
                                   .upload_cost_percent = UploadCostPercent(inputs),
                                   .bytes_max = MergedBytesMax(inputs)});
  return plan;
}

void CompactionPlanner::TakeValues(const PlanInputs& inputs, const ValueMergePlan& values,
                                   CompactionTask* task) {
  LAVA_DCHECK(values.candidates.size() == values.files.size());
  LAVA_DCHECK(values.reasons.size() == values.files.size());
  for (size_t i = 0; i < values.files.size(); ++i) {
    const MergeableFile& file = values.files[i];
    decisions_.Note(task->input, *values.candidates[i], file, values.reasons[i]);
    if (!IsMerged(values.reasons[i])) continue;
    LAVA_DCHECK(!file.busy);
    task->input.merged_values.insert(values.candidates[i]);
    if (values.reasons[i] == ValueMergeReason::kOverlapping &&
        inputs.value_policy == ValuePolicy::kAutomatic)
      task->order_bytes += OrderCost(file, UploadCostPercent(inputs));
    const auto raw = static_cast<double>(std::max<uint64_t>(1, file.raw_bytes));
    task->copied_bytes += static_cast<uint64_t>(static_cast<double>(values.candidates[i]->bytes) *
                                                static_cast<double>(file.reached) / raw);
  }
}

// Rewrites a key file of the last level to put its values in order, if no other compaction is due
// and scans have earned enough credit. Without this, values that are scanned but no longer written
// would never be put in order, because no compaction would include them.
std::optional<CompactionTask> CompactionPlanner::PlanOrder(const PlanInputs& inputs,
                                                           const RunningJobs& jobs) {
  const Version& version = *inputs.version;
  if (inputs.value_policy != ValuePolicy::kAutomatic || options_.value_sorted_runs_max == 0 ||
      jobs.compactions() > 0 || jobs.collections() > 0 || inputs.disk_full ||
      inputs.pressure.slow > 0 || !order_budget_.IsPlanDue())
    return std::nullopt;
  uint32_t last = kLevelCountMax - 1;
  while (last > 0 && version.levels[last].empty()) --last;
  if (last == 0) return std::nullopt;
  const FileList& level = version.levels[last];
  LAVA_DCHECK(!level.empty());
  size_t most = 0;
  uint32_t overlap = 0;
  for (size_t i = 0; i < level.size(); ++i) {
    const uint32_t of = ValueOverlapOf(version, level[i]);
    if (of > overlap) most = i;
    overlap = std::max(overlap, of);
  }
  const KeyFileEntry& entry = level[most];
  if (overlap < options_.value_sorted_runs_max || missing_files_.Contains(entry.file->id) ||
      inputs.Avoids(entry.file->id)) {
    order_budget_.PlanAgainAt(0);
    return std::nullopt;
  }
  CompactionPlan plan;
  plan.level = plan.output_level = last;
  plan.inputs.push_back({last, {static_cast<uint32_t>(most)}});
  CompactionTask task = TaskOf(inputs, plan);
  LAVA_DCHECK(AreIdle(task.input, jobs));
  const ValueMergePlan values = PlanValues(inputs, jobs, task.input);
  uint64_t bytes = 0, cost = 0;
  uint32_t merged = 0, unpaid = 0;
  for (size_t i = 0; i < values.files.size(); ++i) {
    const bool is_merged = values.reasons[i] == ValueMergeReason::kOverlapping;
    if (!is_merged && values.reasons[i] != ValueMergeReason::kUnpaid) continue;
    cost += OrderCost(values.files[i], UploadCostPercent(inputs));
    unpaid += is_merged ? 0 : 1;
    merged += is_merged ? 1 : 0;
    bytes += is_merged ? values.files[i].reached : 0;
  }
  // All files are merged at once, or as many as one job can merge: values that are put in order in
  // small steps would be rewritten repeatedly. The values must also be larger than the keys that
  // are rewritten with them.
  if (unpaid > 0 || merged < 2 || bytes < entry.file->bytes) {
    order_budget_.PlanAgainAt(cost);
    return std::nullopt;
  }
  if (!order_budget_.MayOrder(entry.lower, overlap)) return std::nullopt;
  TakeValues(inputs, values, &task);
  order_budget_.NoteOrder(entry.lower, overlap, task.order_bytes);
  task.cause = CompactionCause::kOrder;
  task.input.version = ScopeOf(task.input);
  return task;
}

}  // namespace lava
