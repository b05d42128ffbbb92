// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "db/db_impl.h"
#include "lava/db.h"
#include "lava/slice.h"
#include "lava/status.h"
#include "lava/value_pieces.h"

namespace lava {

Status DBImpl::GetTo(Table* table, KeyRef key, PinnedValue* value, ValueSink* sink,
                     Snapshot* snapshot) {
  return components_.reader.points().Get(table, key, value, sink, snapshot);
}

Status DBImpl::Contains(Table* table, KeyRef key, Snapshot* snapshot) {
  return components_.reader.points().Contains(table, key, snapshot);
}

Status DBImpl::ContainsPrefix(Table* table, Slice prefix, Snapshot* snapshot) {
  return components_.reader.scans().ContainsPrefix(table, prefix, snapshot);
}

Status DBImpl::Scan(Table* table, const ScanRequest& request, ScanPage* page, Snapshot* snapshot) {
  const Status status = components_.reader.scans().Scan(table, request, page, snapshot);
  if (status.ok() && !request.keys_only) components_.jobs.LookForOrdering();
  return status;
}

Status DBImpl::ScanTables(const TablesScanRequest& request, TablesScanPage* page,
                          Snapshot* snapshot) {
  const Status status = components_.reader.scans().ScanTables(request, page, snapshot);
  if (status.ok()) components_.jobs.LookForOrdering();
  return status;
}

}  // namespace lava
