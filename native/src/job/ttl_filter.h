#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/list_parts.h"
#include "base/record.h"
#include "job/tables_by_key.h"
#include "lava/options.h"
#include "policy/ttl_clock.h"

namespace lava {

/// Whether what was written then has expired. As Flink: a sum beyond the clock's range never does.
bool HasExpired(int64_t written_ms, int64_t ttl_ms, int64_t now_ms);
/// The same of a table's value with this timestamp, if it has one.
bool HasExpired(const TableOptions* table, std::optional<uint64_t> written_ms, int64_t now_ms);

/// Judges records by the expiry timestamps in their values. Pure; the time is an argument.
/// Threads:    one thread.
/// Ownership:  tables must outlive it.
/// Units:      milliseconds since the epoch.
class TtlFilter {
 public:
  /// tables: by id, registered ones only. partition_bytes: where the id stands in a key.
  TtlFilter(const std::map<uint64_t, TableOptions>& tables, uint32_t partition_bytes,
            const DropTime& time);

  enum class Verdict : uint8_t {
    kKeep = 0,     // as it is
    kChanged = 1,  // record->value is what is left of a list, in the filter's own memory
    kExpired = 2,  // nothing is left
  };
  /// Looks at puts, references (whose timestamp is beside them) and appends; the rest is kept.
  /// record->value stays valid until the next call. What is too short for a timestamp, or no list
  /// segments, is kept: it may be a record of an older layout that a newer one shadows.
  Verdict Apply(Record* record);
  /// Values and list elements found expired.
  uint64_t expired_count() const { return expired_count_; }
  /// Their latest expiries.
  const DroppedExpiries& dropped() const { return dropped_; }
  /// Whether any table can expire at all.
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
