// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "base/internal_key.h"
#include "lava/db.h"

namespace lava {

/// The partitions whose keys an instance holds. A user's key begins with its partition, a number of
/// one or two bytes; Flink's key groups are partitions.
/// Threads:    any; immutable.
class PartitionRange {
 public:
  explicit PartitionRange(const DBOptions& options)
      : bytes_(options.partition_bytes),
        first_(options.partition_first),
        last_(options.partition_last) {}

  /// How many bytes of a key are its partition.
  uint32_t bytes() const { return bytes_; }
  uint32_t first() const { return first_; }
  uint32_t last() const { return last_; }

  /// Whether the table may have the key.
  /// Errors: InvalidArgument for a key that is too long or too short, of a partition that the
  /// instance does not hold, or with a prefix that is no part of the key.
  Status CheckKey(const Table& table, KeyRef key) const;
  /// Whether the bound of a range of the table is sound. It may be of any partition.
  /// name: of the bound, for the message.
  /// Errors: InvalidArgument.
  Status CheckBound(const Table& table, Slice bound, std::string_view name) const;

  /// The bytes that a prefix of a user's key has in the internal key; 0: there is no prefix.
  static uint32_t InternalPrefix(uint32_t user_prefix_bytes) {
    return user_prefix_bytes == 0 ? 0 : user_prefix_bytes + kTableIdBytes;
  }
  /// Calls range(begin, end) with internal keys, ascending, for each partition's part of the range
  /// [lower, upper) of user's keys. An empty bound: the range is open there.
  void ForEach(uint64_t table_id, Slice lower, Slice upper,
               const std::function<void(Slice, Slice)>& range) const;

 private:
  const uint32_t bytes_, first_, last_;
};

/// The refusal of something of a table that has more bytes than bytes_max.
Status AboveLimit(std::string_view what, const std::string& table, uint64_t bytes,
                  uint64_t bytes_max);

}  // namespace lava
