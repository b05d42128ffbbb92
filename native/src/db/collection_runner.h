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
  /// Is told of each value file that a collection wrote, before readers and plans see the file.
  /// referenced: how much of the file keys refer to. Called under the mutex of installs; must not
  /// throw.
  using NoteOutput = std::function<void(const FileId& file, uint64_t referenced)>;

  CollectionRunner(InstanceContext* instance, TreeState* tree) : instance_(instance), tree_(tree) {}

  /// Adds what is known of the collection before it runs to the event.
  static void Describe(const CollectionTask& task, CollectionInfo* told);
  /// As CompactionRunner::Run().
  Status Run(const CollectionTask& task, const NoteOutput& note, CollectionInfo* told)
      LAVA_EXCLUDES(tree_->mutex());

 private:
  /// Logs the edit that replaces the inputs by the outputs. Readers see the outputs once
  /// TreeState::Adopt() has published a view, which is the last step.
  Status Install(const CollectionTask& task, const CollectionOutput& output, const NoteOutput& note,
                 bool* installed);

  InstanceContext* const instance_;
  TreeState* const tree_;
};

}  // namespace lava
