// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

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

/// Chooses the compactions of an instance: the files, the values that are rewritten with them, and
/// the cause. A plan only depends on its arguments, the cursors of earlier plans, and the budget
/// for order. The planner starts nothing.
///
/// Threads:    guarded by the owner's mutex. The owner starts a planned compaction under the same
///             mutex; otherwise two plans could take one file.
/// Ownership:  borrows all arguments of the constructor.
/// Errors:     std::bad_alloc. A plan that throws only loses its cursor.
class CompactionPlanner {
 public:
  CompactionPlanner(const DBOptions* options, const MissingFiles* missing_files,
                    OrderBudget* order_budget, ValueDecisions* decisions)
      : options_(*options),
        missing_files_(*missing_files),
        order_budget_(*order_budget),
        decisions_(*decisions) {}

  /// Returns the most urgent compaction that can start now. No value if there is none. Causes by
  /// urgency: a level exceeds its target; garbage must be exposed, because space is short; values
  /// should be put in order.
  std::optional<CompactionTask> PlanNext(const PlanInputs& inputs, const RunningJobs& jobs);
  /// Returns one compaction that moves all data to the last level, for CompactAll(). No value if
  /// the data is there already, or if a file is busy; *wait is true in the second case.
  std::optional<CompactionTask> PlanAll(const PlanInputs& inputs, const RunningJobs& jobs,
                                        bool* wait);
  /// Bytes that compactions must move until no level exceeds its target.
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
  // For each level: the key at which the last chosen compaction ended.
  std::array<std::string, kLevelCountMax> cursors_;
};

}  // namespace lava
