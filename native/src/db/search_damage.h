#pragma once

#include "db/background_faults.h"
#include "db/table_registry.h"
#include "db/tree_state.h"

namespace lava {

/// Looks for the file that the error of a failed job names. Walks all files of the version, so no
/// mutex may be held. Does not throw; without memory the search is not finished.
DamageSearch SearchDamage(const TreeState* tree, const TableRegistry& tables,
                          const Status& status) noexcept LAVA_EXCLUDES(tree->mutex());

}  // namespace lava
