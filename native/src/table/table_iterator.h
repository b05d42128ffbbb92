// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>

#include "table/block_access.h"
#include "table/index_partition_slots.h"
#include "table/table_reader.h"

namespace lava::ksst {

/// Walks the records of a file. head, slots and everything that blocks refers to must outlive it.
std::unique_ptr<RecordIterator> NewTableIterator(const TableHead& head, const BlockAccess& blocks,
                                                 const IndexPartitionSlots& slots,
                                                 const TableReader::IterateOptions& options);

}  // namespace lava::ksst
