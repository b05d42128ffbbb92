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

/// What a plan saw that found nothing to collect. Each figure may be pessimistic: the next plan
/// then looks at all files in vain.
///
/// Threads:    a value.
/// Ownership:  keeps the value files of its version.
struct CollectionFindings {
  SharedMap<FileId, Version::ValueFileEntry> value_files;  // that were looked at
  ValuePolicy policy = ValuePolicy::kAutomatic;
  std::map<uint64_t, int64_t> ttls;  // of the tables that expire
  /// The highest share of garbage of a file that no checkpoint has, and of one that a checkpoint
  /// has. A file may have got into a checkpoint since; the threshold for such files is not lower.
  double garbage_percent = 0, checkpoint_percent = 0;
  int64_t first_expiry_ms = INT64_MAX;  // when the first file will have expired as a whole
  std::set<FileId> unjudged;            // files that were busy, missing or damaged

  /// Whether there is still nothing to collect among the files that were looked at.
  bool StillHold(const CollectionEffort& effort, int64_t now_ms) const;
};

/// Chooses the collections of an instance: which value files a job collects or drops. The planner
/// starts nothing: JobScheduler starts what it chose, and CollectionRunner runs that.
///
/// A plan is asked for at the end of each job, and most plans find nothing. Such a plan therefore
/// leaves its findings, and the next plan only looks at value files that changed since, or that
/// were busy, missing or damaged. It looks at all files once something may be found: a file has
/// expired or has gained enough garbage, the threshold of garbage has fallen to the share of some
/// file, tables expire differently, or the policy is another.
///
/// Threads:    none of its own: its owner's mutex guards it. The owner starts a planned collection
///             under the same mutex; otherwise two plans could take one file.
/// Ownership:  borrows the arguments of the constructor.
/// Units:      milliseconds since the epoch, as ExpiryTime.
class CollectionPlanner {
 public:
  CollectionPlanner(const DBOptions* options, const MissingFiles* missing_files)
      : options_(*options), missing_files_(*missing_files) {}

  /// Takes the findings of the last plan, if it found nothing to collect. They must not be kept for
  /// longer than it takes to plan: files that have left the version would not be removed.
  std::unique_ptr<CollectionFindings> TakeFindings() { return std::move(findings_); }
  /// The collection that should start now, or null. findings: of the last plan, or null.
  std::shared_ptr<CollectionTask> Plan(const PlanInputs& inputs, const RunningJobs& jobs,
                                       int64_t now_ms,
                                       std::unique_ptr<CollectionFindings> findings);

  /// A collection wrote the file, and references name so many bytes of the blob files in it. The
  /// file has no garbage before that number falls: a share of garbage that is estimated from the
  /// blob files may belong to their other files.
  void NoteOutput(const FileId& file, uint64_t referenced_bytes);

  /// The number of value files that all plans have looked at, for tests.
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
  std::map<FileId, Baseline> baselines_;          // of NoteOutput(), of files that have not left
  std::unique_ptr<CollectionFindings> findings_;  // null: the last plan found something
  uint64_t files_looked_at_ = 0;
};

}  // namespace lava
