// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <vector>

#include "db/read_context.h"

namespace lava {

class DeadSteps;
class RecordIterator;
class ScanPageWriter;

/// Scans ranges of keys.
/// Threads:    any.
/// Ownership:  borrows the context.
/// Errors:     see the functions of the same names in lava/db.h.
class Scanner {
 public:
  explicit Scanner(const ReadContext* context) : context_(*context) {}

  Status Scan(Table* table, const ScanRequest& request, ScanPage* page, Snapshot* snapshot) const;
  Status ScanTables(const TablesScanRequest& request, TablesScanPage* page,
                    Snapshot* snapshot) const;
  /// Whether any key begins with the prefix; contains_prefix.cc.
  Status ContainsPrefix(Table* table, Slice prefix, Snapshot* snapshot) const;

 private:
  struct Range;
  struct ActivePage;

  Status MakeRange(const TableImpl& table, const ScanRequest& request, Range* range) const;
  Status ScanView(TableImpl* impl, const ScanRequest& request, Range* range, ScanPage* page,
                  Snapshot* snapshot, DeadSteps* steps) const;
  static Status CountShown(TableImpl* table, const ScanRequest& request, const ScanPage& page,
                           Status status);
  static bool CopyActive(const MemTable& active, const Range& range, bool keys_only,
                         ActivePage* page);
  static Status ScanActive(const ReadView& view, const Range& range, bool keys_only,
                           ActivePage* page, DeadSteps* steps);
  Status ScanOnly(const TableImpl& table, const ReadView& view, RecordIterator* records,
                  const Range& range, bool keys_only, ScanPageWriter* writer,
                  DeadSteps* steps) const;
  Status ScanMerged(const TableImpl& table, const ReadView& view, const Range& range,
                    RecordIterator* records, bool keys_only, ScanPageWriter* writer) const;
  Status CheckTables(const TablesScanRequest& request, std::vector<TableImpl*>* tables) const;
  Status ShowTables(const std::vector<TableImpl*>& tables, const ReadView& view,
                    RecordIterator* records, ScanPageWriter* writer, TablesScanPage* page) const;

  const ReadContext& context_;
};

}  // namespace lava
