// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "db/background_faults.h"
#include "db/table_registry.h"
#include "db/tree_state.h"

namespace lava {

/// Searches for the file that the error of a failed job names. Visits all files of the version, so
/// the caller holds no mutex. Does not throw. If memory is refused, the search is not finished.
/// Threads: any.
DamageSearch SearchDamage(const TreeState* tree, const TableRegistry& tables,
                          const Status& status) noexcept LAVA_EXCLUDES(tree->mutex());

}  // namespace lava
