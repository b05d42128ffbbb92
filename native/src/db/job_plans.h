// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "collection/collection_job.h"
#include "compaction/compaction_job.h"
#include "compaction/flush_job.h"
#include "lava/event_listener.h"
#include "manifest/version_edit.h"
#include "os/executor.h"
#include "policy/collection_effort.h"
#include "policy/space_limits.h"

namespace lava {

/// The output of a flush, from which SeparationTuner derives bounds.
/// Threads: a value.
struct Flushed {
  std::shared_ptr<FileMeta> file;  // null: no key was written
  uint64_t key_bytes = 0;          // average size of a key in the file
  std::vector<std::shared_ptr<ValueFileMeta>> value_files;
  std::map<uint64_t, uint64_t> separated_puts;  // by table
};

/// A compaction that is queued or running. Its inputs are busy.
/// Threads: the input files are constant once RunningJobs has the task. Only the job changes the
/// rest.
/// Ownership: keeps its input files.
struct CompactionTask {
  CompactionInput input;
  bool trivial_move = false;
  bool manual = false;
  CompactionCause cause = CompactionCause::kLevel0;
  uint64_t copied_bytes = 0;  // estimate of the value file bytes that the job writes
  uint64_t order_bytes = 0;   // cost of the raw bytes that are rewritten for order; see OrderBudget
  os::Priority priority = os::Priority::kCompaction;
};

/// A collection of value files that is queued or running. Its inputs are busy.
/// Ownership: keeps its input files.
struct CollectionTask {
  CollectionInput input;
  CollectionCause cause = CollectionCause::kGarbage;
  uint64_t garbage_bytes = 0;  // estimate of the raw bytes that the collection frees
  uint64_t copied_bytes = 0;   // estimate of the value file bytes that the job writes
  uint64_t began_us = 0;
};

/// The state from which compactions and collections are planned. It is copied under
/// TreeState::mutex() and read without that mutex, because a plan looks at all files.
/// Threads: a value.
/// Ownership: keeps the files of the version.
struct PlanInputs {
  std::shared_ptr<const Version> version;
  std::map<uint64_t, TableOptions> tables;  // tables with a handle
  std::set<FileId> avoided;    // damaged files, and files that cannot be compacted without one
  SpacePressure pressure;      // SpaceState::jobs()
  SpacePressure own_pressure;  // of the instance's own limits
  uint64_t live_bytes = 0, hidden_bytes = 0;
  bool disk_full = false;
  bool takes_checkpoints = false;
  Origin origin;                     // the origin of the files that this instance writes
  uint64_t in_checkpoint_below = 0;  // see IsInCheckpoint()
  ValuePolicy value_policy = ValuePolicy::kAutomatic;
  uint32_t collection_jobs_max = 1;

  bool Avoids(const FileId& file) const { return !avoided.empty() && avoided.contains(file); }
  /// Files of other origins came with a checkpoint.
  bool IsInCheckpoint(const FileId& value_file) const {
    return value_file.origin != origin || value_file.number < in_checkpoint_below;
  }
};

/// The effort of collections. compacting: a compaction is queued or running, and may expose
/// garbage. Pure.
CollectionEffort EffortOf(const DBOptions& options, const PlanInputs& inputs, bool compacting);

}  // namespace lava
