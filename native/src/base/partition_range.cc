// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "base/partition_range.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/internal_key.h"
#include "lava/db.h"
#include "lava/options.h"
#include "lava/status.h"

namespace lava {

Status AboveLimit(std::string_view what, const std::string& table, uint64_t bytes,
                  uint64_t bytes_max) {
  return Status::InvalidArgument(std::string(what) + " of table '" + table + "' has " +
                                 std::to_string(bytes) + " bytes, the limit is " +
                                 std::to_string(bytes_max));
}

Status PartitionRange::CheckKey(const Table& table, KeyRef key) const {
  if (key.key.size() > kKeyBytesMax)
    return AboveLimit("key", table.name(), key.key.size(), kKeyBytesMax);
  if (key.key.size() < bytes_)
    return Status::InvalidArgument("key of table '" + table.name() + "' has " +
                                   std::to_string(key.key.size()) +
                                   " bytes, fewer than its partition's " + std::to_string(bytes_));
  const uint32_t partition = PartitionOf(key.key, bytes_);
  if (partition < first_ || partition > last_)
    return Status::InvalidArgument("key of table '" + table.name() + "' is of partition " +
                                   std::to_string(partition) + ", the instance holds " +
                                   std::to_string(first_) + " to " + std::to_string(last_));
  if (key.prefix_bytes != 0 && (key.prefix_bytes > key.key.size() || key.prefix_bytes < bytes_))
    return Status::InvalidArgument("prefix of " + std::to_string(key.prefix_bytes) +
                                   " bytes of a key of table '" + table.name() + "' with " +
                                   std::to_string(key.key.size()) + " bytes");
  return Status::OK();
}

Status PartitionRange::CheckBound(const Table& table, Slice bound, std::string_view name) const {
  if (bound.size() > kKeyBytesMax)
    return AboveLimit(std::string(name) + " bound", table.name(), bound.size(), kKeyBytesMax);
  if (bound.size() < bytes_)
    return Status::InvalidArgument(std::string(name) + " bound in table '" + table.name() +
                                   "' has " + std::to_string(bound.size()) +
                                   " bytes, fewer than its partition's " + std::to_string(bytes_));
  return Status::OK();
}

void PartitionRange::ForEach(uint64_t table_id, Slice lower, Slice upper,
                             const std::function<void(Slice, Slice)>& range) const {
  LAVA_DCHECK(lower.empty() || lower.size() >= bytes_);
  LAVA_DCHECK(upper.empty() || upper.size() >= bytes_);
  uint32_t first = first_, last = last_;
  if (!lower.empty()) first = std::max(first, PartitionOf(lower, bytes_));
  if (!upper.empty()) last = std::min(last, PartitionOf(upper, bytes_));
  for (uint32_t partition = first; partition <= last; ++partition) {
    std::string begin = TableStart(partition, bytes_, table_id);
    std::string end = TableStart(partition, bytes_, table_id + 1);
    if (!lower.empty() && partition == PartitionOf(lower, bytes_))
      begin.append(lower.substr(bytes_));
    if (!upper.empty() && partition == PartitionOf(upper, bytes_))
      end = TableStart(partition, bytes_, table_id).append(upper.substr(bytes_));
    if (begin < end) range(begin, end);
  }
}

}  // namespace lava
