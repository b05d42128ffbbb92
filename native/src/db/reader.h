// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "db/instance_context.h"
#include "db/point_reader.h"
#include "db/read_context.h"
#include "db/scanner.h"
#include "db/snapshot_impl.h"
#include "db/table_registry.h"
#include "db/tree_state.h"

namespace lava {

/// The read path of an instance: lookups of single keys, and scans. A read visits the active
/// memtable, then the sealed memtables from the newest on, then the files of the version.
/// Threads:    any; immutable.
/// Ownership:  borrows the constructor's arguments.
class Reader {
 public:
  Reader(InstanceContext* instance, const TreeState* tree, const TableRegistry* tables,
         const SnapshotRegistry* snapshots)
      : context_{.partitions = &instance->partitions,
                 .tables = tables,
                 .newest_view = tree->newest_view(),
                 .snapshots = snapshots,
                 .counters = &instance->counters,
                 .memory = instance->budget.counter(MemoryPurpose::kScans),
                 .lease = instance->options.lease,
                 .whole_bytes_max = std::min(kWholeBytesMax, instance->value_in_memory_bytes_max)} {
  }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  const ReadContext& context() const { return context_; }
  const PointReader& points() const { return points_; }
  const Scanner& scans() const { return scans_; }

 private:
  const ReadContext context_;
  const PointReader points_{&context_};
  const Scanner scans_{&context_};
};

}  // namespace lava
