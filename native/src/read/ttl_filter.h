// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/list_parts.h"
#include "base/record.h"
#include "lava/options.h"
#include "policy/ttl_clock.h"
#include "read/tables_by_key.h"

namespace lava {

/// Whether values of the table expire.
inline bool Expires(const TableOptions& table) {
  return table.ttl_layout != TtlLayout::kNone && table.ttl_ms > 0;
}
/// Whether data written at written_ms has expired. As in Flink, it never expires if the sum exceeds
/// the clock's range.
bool HasExpired(int64_t written_ms, int64_t ttl_ms, int64_t now_ms);
/// As above, for a value of the table with this timestamp, if it has one.
bool HasExpired(const TableOptions* table, std::optional<uint64_t> written_ms, int64_t now_ms);

/// Judges records by the expiry timestamps in their values. The current time is an argument.
/// Threads:    one thread.
/// Ownership:  tables must outlive this object.
/// Units:      milliseconds since the epoch.
class TtlFilter {
 public:
  /// tables: registered ones, by id. partition_bytes: offset of the table id in a key.
  TtlFilter(const std::map<uint64_t, TableOptions>& tables, uint32_t partition_bytes,
            const DropTime& time);

  enum class Verdict : uint8_t {
    kKeep = 0,     // unchanged
    kChanged = 1,  // record->value is the rest of a list, in the filter's memory
    kExpired = 2,  // nothing is left
  };
  /// Judges puts, appends, and references, which carry a timestamp; keeps all other records.
  /// record->value stays valid until the next call. A value that is too short for a timestamp or
  /// has no list segments is kept: it may have an older layout and be shadowed by a newer record.
  Verdict Apply(Record* record);
  /// Values and list elements found expired.
  uint64_t expired_count() const { return expired_count_; }
  /// The latest expiries of these.
  const DroppedExpiries& dropped() const { return dropped_; }
  /// Whether any table has a TTL.
  bool active() const { return active_; }

 private:
  bool Drops(Slice value, size_t offset, int64_t ttl_ms);
  bool Drops(int64_t written_ms, int64_t ttl_ms);
  bool KeepLiving(Slice segments, int64_t ttl_ms);
  Verdict ApplyList(Record* record, int64_t ttl_ms);
  Verdict ApplyParts(const TableOptions& options, Record* record);
  Verdict LeaveLiving(Record* record, uint64_t expired_before);

  const TablesByKey tables_;
  const DropTime time_;
  bool active_ = false;
  uint64_t expired_count_ = 0;
  DroppedExpiries dropped_;
  std::string left_;
  std::vector<ListPart> parts_;
};

}  // namespace lava
