// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "compaction/compaction_job.h"
#include "db/instance_context.h"
#include "db/job_plans.h"
#include "db/tree_state.h"
#include "lava/event_listener.h"

namespace lava {

/// Runs planned compactions, and installs their files.
/// Threads:    any; several compactions run side by side. Takes the mutexes of installs and of the
///             tree.
/// Ownership:  borrows the instance and the tree.
class CompactionRunner {
 public:
  CompactionRunner(InstanceContext* instance, TreeState* tree) : instance_(instance), tree_(tree) {}

  /// Fills in the figures of the event that are known before the compaction runs.
  static void Describe(const CompactionTask& task, CompactionInfo* told);
  /// Runs the compaction and installs its files. told->installed: whether the files are installed.
  /// They are not if the clock was set back, so that dropped records have not expired. The files
  /// are then obsolete, and the status is OK.
  /// Errors:     those of reading the inputs, writing the files and logging the edit. After an
  ///             error nothing is installed.
  Status Run(const CompactionTask& task, CompactionInfo* told) LAVA_EXCLUDES(tree_->mutex());

 private:
  Status Install(const CompactionTask& task, const CompactionOutput& output, bool* installed);

  InstanceContext* const instance_;
  TreeState* const tree_;
};

}  // namespace lava
