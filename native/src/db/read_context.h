// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>

#include "base/partition_range.h"
#include "db/counters.h"
#include "db/read_view.h"
#include "db/snapshot_impl.h"
#include "db/table_registry.h"
#include "host/host_impl.h"
#include "lava/db.h"

namespace lava {

/// The objects that every read of an instance uses. The readers of an instance share one context.
/// Threads:    any.
/// Ownership:  borrows everything but the lease. The instance outlives its readers.
struct ReadContext {
  const PartitionRange* partitions;
  const TableRegistry* tables;
  const ViewCell* newest_view;
  const SnapshotRegistry* snapshots;
  Counters* counters;
  MemoryCounter* memory;         // charged with the memory of a read while it runs
  std::shared_ptr<Lease> lease;  // charged with values that callers may keep
  uint64_t whole_bytes_max;      // larger values go to a sink in pieces, if there is a sink

  /// The view of the snapshot; for null the newest view.
  /// Errors: InvalidArgument for a snapshot of another instance; Closed; NoSpace for a snapshot
  /// that was given up.
  Result<ViewRef> ViewOf(Snapshot* snapshot) const {
    if (snapshot != nullptr) {
      auto* impl = static_cast<SnapshotImpl*>(snapshot);
      if (impl->registry() != snapshots)
        return Status::InvalidArgument("the snapshot is of another instance");
      return impl->View();
    }
    ViewRef view = newest_view->Get();
    if (!view) return Status::Closed("the instance was closed");
    return view;
  }
};

}  // namespace lava
