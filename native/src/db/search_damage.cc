// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "db/search_damage.h"

#include <memory>

#include "base/guarded.h"
#include "base/mutex.h"
#include "db/background_faults.h"
#include "db/table_registry.h"
#include "db/tree_state.h"
#include "lava/status.h"
#include "manifest/version.h"

namespace lava {

DamageSearch SearchDamage(const TreeState* tree, const TableRegistry& tables,
                          const Status& status) noexcept {
  DamageSearch search;
  if (!status.IsCorruption()) return search;
  search.finished = Tried([&] {
    std::shared_ptr<const Version> version;
    {
      MutexLock state(tree->mutex());
      version = tree->version();
    }
    search.found = FindDamaged(*version, tables, status.message());
  });
  return search;
}

}  // namespace lava
