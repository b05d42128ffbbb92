// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <map>
#include <optional>

#include "base/coding.h"
#include "lava/options.h"
#include "lava/slice.h"

namespace lava {

/// Finds a table's options by the id in an internal key.
/// Threads:    any.
/// Ownership:  tables must outlive this object.
class TablesByKey {
 public:
  TablesByKey(const std::map<uint64_t, TableOptions>& tables, uint32_t partition_bytes)
      : tables_(tables), partition_bytes_(partition_bytes) {}

  /// The id of the key's table; none if the key is too short to contain one.
  std::optional<uint64_t> IdOf(Slice key) const {
    if (key.size() < partition_bytes_ + kTableIdBytes) return std::nullopt;
    return DecodeBigEndian(key.data() + partition_bytes_, kTableIdBytes);
  }
  /// Null if the key's table is unknown.
  const TableOptions* OptionsOf(Slice key) const {
    const std::optional<uint64_t> id = IdOf(key);
    if (!id) return nullptr;
    const auto it = tables_.find(*id);
    return it == tables_.end() ? nullptr : &it->second;
  }

 private:
  const std::map<uint64_t, TableOptions>& tables_;
  const uint32_t partition_bytes_;
};

}  // namespace lava
