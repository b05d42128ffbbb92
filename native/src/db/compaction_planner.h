#pragma once

#include <array>
#include <optional>
#include <string>

#include "db/job_plans.h"
#include "db/missing_files.h"
#include "db/order_budget.h"
#include "db/running_jobs.h"
#include "db/value_decisions.h"
#include "db/value_merge_plan.h"
#include "policy/compaction_picker.h"

namespace lava {

/// Chooses the compactions of an instance: which files, which values with them, and why. A plan
/// only depends on its arguments, the cursors of earlier plans, and the budget for order; the
/// planner starts nothing.
///
/// Threads:    none of its own: its owner's mutex guards it. The owner starts a planned compaction
///             under the same mutex; otherwise two plans could take one file.
/// Ownership:  borrows all arguments of the constructor.
/// Errors:     std::bad_alloc; nothing is lost but the cursor of one plan.
class CompactionPlanner {
 public:
  CompactionPlanner(const DBOptions* options, const MissingFiles* missing_files,
                    OrderBudget* order_budget, ValueDecisions* decisions)
      : options_(*options),
        missing_files_(*missing_files),
        order_budget_(*order_budget),
        decisions_(*decisions) {}

  /// The most urgent compaction that can start now, or nothing. In this order: a level is over its
  /// target; garbage must be exposed, because space is short; values should be put in order.
  std::optional<CompactionTask> PlanNext(const PlanInputs& inputs, const RunningJobs& jobs);
  /// One compaction that moves everything to the last level, for CompactAll(). Nothing if this is
  /// done already, or if a file is busy (*wait).
  std::optional<CompactionTask> PlanAll(const PlanInputs& inputs, const RunningJobs& jobs,
                                        bool* wait);
  /// Bytes that compactions must still move until every level is within its target.
  uint64_t PendingBytes(const PlanInputs& inputs, const RunningJobs& jobs) const;

 private:
  PickerView ViewOf(const PlanInputs& inputs, const RunningJobs& jobs) const;
  PickerOptions PickerOptionsOf(const PlanInputs& inputs) const;
  CompactionTask TaskOf(const PlanInputs& inputs, const CompactionPlan& plan) const;
  CompactionTask TaskWithValues(const PlanInputs& inputs, const RunningJobs& jobs,
                                const CompactionPlan& plan);
  std::optional<CompactionTask> PlanOrder(const PlanInputs& inputs, const RunningJobs& jobs);
  ValueMergePlan PlanValues(const PlanInputs& inputs, const RunningJobs& jobs,
                            const CompactionInput& input) const;
  void TakeValues(const PlanInputs& inputs, const ValueMergePlan& values, CompactionTask* task);
  uint64_t MergedBytesMax(const PlanInputs& inputs) const;
  uint32_t UploadCostPercent(const PlanInputs& inputs) const {
    return inputs.takes_checkpoints ? options_.collection_upload_cost_percent : 0;
  }

  const DBOptions& options_;
  const MissingFiles& missing_files_;
  OrderBudget& order_budget_;
  ValueDecisions& decisions_;
  // For each level the key at which the last pick ended.
  std::array<std::string, kLevelCountMax> cursors_;
};

}  // namespace lava
