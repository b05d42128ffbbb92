// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <functional>

#include "collection/collection_job.h"
#include "db/instance_context.h"
#include "db/job_plans.h"
#include "db/tree_state.h"
#include "lava/event_listener.h"

namespace lava {

/// Runs planned collections of value files, and installs their files.
/// Threads:    any; several collections run side by side. Takes the mutexes of installs and of the
///             tree.
/// Ownership:  borrows the instance and the tree.
class CollectionRunner {
 public:
  /// Called for each value file that a collection wrote, before readers and plans see the file.
  /// referenced: the bytes of the file that keys refer to. The caller holds the mutex of installs.
  /// Must not throw.
  using NoteOutput = std::function<void(const FileId& file, uint64_t referenced)>;

  CollectionRunner(InstanceContext* instance, TreeState* tree) : instance_(instance), tree_(tree) {}

  /// Fills in the figures of the event that are known before the collection runs.
  static void Describe(const CollectionTask& task, CollectionInfo* told);
  /// As CompactionRunner::Run(). note: called for each output.
  Status Run(const CollectionTask& task, const NoteOutput& note, CollectionInfo* told)
      LAVA_EXCLUDES(tree_->mutex());

 private:
  /// Logs the edit that replaces the inputs by the outputs. The last step is TreeState::Adopt(),
  /// which publishes a view so that readers see the outputs.
  Status Install(const CollectionTask& task, const CollectionOutput& output, const NoteOutput& note,
                 bool* installed);

  InstanceContext* const instance_;
  TreeState* const tree_;
};

}  // namespace lava
