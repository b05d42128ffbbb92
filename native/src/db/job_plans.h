#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "db/read_view.h"
#include "job/compaction_job.h"
#include "job/flush_job.h"
#include "job/gc_job.h"
#include "lava/event_listener.h"
#include "manifest/version_edit.h"
#include "os/executor.h"
#include "policy/space_limits.h"

namespace lava {

/// What a flush brought, for the bounds that follow from it.
struct Flushed {
  std::shared_ptr<FileMeta> file;  // null: no key is left
  std::vector<std::shared_ptr<ValueFileMeta>> value_files;
  std::map<uint64_t, uint64_t> separated_puts;  // by table
};

/// A compaction in flight. Its inputs are busy.
struct CompactionTask {
  CompactionInput input;
  bool trivial_move = false;
  bool manual = false;
  CompactionCause cause = CompactionCause::kLevel0;
  bool values_chosen = false;  // input.merged_values is final
  uint64_t copied_bytes = 0;   // of value files, thought to be written
  uint64_t order_bytes = 0;    // that scans have paid for, raw
  os::Priority priority = os::Priority::kCompaction;
};

/// A collection of value files in flight.
struct GcTask {
  GcInput input;
  CollectionCause cause = CollectionCause::kGarbage;
  uint64_t garbage_bytes = 0;  // thought to be freed
  uint64_t copied_bytes = 0;   // thought to be written
  uint64_t began_us = 0;
};

/// What jobs are planned by: taken at once under the DB's state mutex, and looked at without that
/// mutex, because planning looks at every file.
struct PlanInputs {
  std::shared_ptr<const Version> version;
  std::map<uint64_t, TableOptions> tables;
  std::set<FileId> avoided;    // damaged ones, and those that cannot be compacted without them
  SpacePressure pressure;      // what jobs work against
  SpacePressure own_pressure;  // by the instance's own limits
  uint64_t live_bytes = 0, hidden_bytes = 0;
  bool disk_full = false;
  bool takes_checkpoints = false;
  uint64_t in_checkpoint_below = 0;  // value files of this origin by number; others all are

  bool Avoids(const FileId& file) const { return !avoided.empty() && avoided.contains(file); }
};

}  // namespace lava
