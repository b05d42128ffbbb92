// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "db/job_plans.h"
#include "db/missing_files.h"
#include "db/running_jobs.h"
#include "policy/collection_picker.h"

namespace lava {

/// Whether all values in the file have expired. The file is then dropped without being read.
bool HasAllExpired(const ValueFileMeta& file, const std::map<uint64_t, TableOptions>& tables,
                   int64_t now_ms);

/// Findings of the last plan that found nothing to collect. The figures may be pessimistic: the
/// next plan then looks at all files without finding anything.
///
/// Threads:    a value.
/// Ownership:  keeps the value files of its version.
struct CollectionFindings {
  SharedMap<FileId, Version::ValueFileEntry> value_files;  // the files that were looked at
  ValuePolicy policy = ValuePolicy::kAutomatic;
  std::map<uint64_t, int64_t> ttls;  // of the tables with expiry
  /// The highest share of garbage of a file in no checkpoint, and of a file in a checkpoint. A
  /// checkpoint may have included a file since; the threshold for files in checkpoints is not
  /// lower.
  double garbage_percent = 0, checkpoint_percent = 0;
  int64_t first_expiry_ms = INT64_MAX;  // when the first file will have expired as a whole
  std::set<FileId> unjudged;            // files that were busy, missing or damaged

  /// Whether the files that were looked at still have nothing to collect.
  bool StillHold(const CollectionEffort& effort, int64_t now_ms) const;
};

/// Chooses the collections of an instance: the value files that a job collects or drops. The
/// planner starts nothing: JobScheduler starts the chosen collections, and CollectionRunner runs
/// them.
///
/// The end of each job requests a plan, and most plans find nothing. A plan that finds nothing
/// keeps its findings. The next plan then only looks at value files that have changed since, or
/// that were busy, missing or damaged. It looks at all files in these cases: a file has expired or
/// has gained enough garbage, the threshold of garbage has fallen to the share of some file, the
/// expiry of tables has changed, or the policy has changed.
///
/// Threads:    guarded by the owner's mutex. The owner starts a planned collection under the same
///             mutex; otherwise two plans could take one file.
/// Ownership:  borrows the arguments of the constructor.
/// Units:      milliseconds since the epoch, as ExpiryTime.
class CollectionPlanner {
 public:
  CollectionPlanner(const DBOptions* options, const MissingFiles* missing_files)
      : options_(*options), missing_files_(*missing_files) {}

  /// Takes the findings of the last plan. Null if that plan found something to collect. The caller
  /// keeps the findings only while it plans, because they prevent the removal of files that have
  /// left the version.
  std::unique_ptr<CollectionFindings> TakeFindings() { return std::move(findings_); }
  /// Returns the collection that should start now, or null. findings: those of the last plan, or
  /// null.
  std::shared_ptr<CollectionTask> Plan(const PlanInputs& inputs, const RunningJobs& jobs,
                                       int64_t now_ms,
                                       std::unique_ptr<CollectionFindings> findings);

  /// A collection wrote the file. referenced_bytes: the referenced bytes of the blob files in it.
  /// The file counts as free of garbage until that number falls, because garbage that is estimated
  /// from the blob files may lie in other files of these blob files.
  void NoteOutput(const FileId& file, uint64_t referenced_bytes);

  /// For tests: the number of value files that all plans have looked at.
  uint64_t files_looked_at() const { return files_looked_at_; }

 private:
  struct Look;
  struct Baseline {
    uint64_t referenced_bytes = 0;
    bool seen = false;  // by a plan
  };
  bool FindsNothing(const Look& look, CollectionFindings* findings);
  bool Judge(const Look& look, const Version::ValueFileEntry& entry, CollectableFile* file,
             CollectionFindings* findings);
  std::shared_ptr<CollectionTask> LookAtAll(const Look& look);

  const DBOptions& options_;
  const MissingFiles& missing_files_;
  std::map<FileId, Baseline> baselines_;          // from NoteOutput(), of remaining files
  std::unique_ptr<CollectionFindings> findings_;  // null: the last plan found a collection
  uint64_t files_looked_at_ = 0;
};

}  // namespace lava
