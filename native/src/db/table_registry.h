// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/mutex.h"
#include "db/table_impl.h"
#include "lava/db.h"
#include "manifest/version.h"
#include "memory/memory_counter.h"

namespace lava {

/// The tables of an instance. A table is known while it has a registration from this opening or an
/// earlier one. A known table has a handle once this opening has registered it.
///
/// The registry writes neither the manifest nor the write-ahead log: the instance writes them
/// before it changes the registry. Three rules keep tables, log and data consistent:
/// 1. Known tables change only under the mutex of installs (VersionStore), or in the thread that
///    replays the log before other threads use the instance. A thread that holds this mutex may
///    therefore make a decision by the known tables and log the decision. Example: a flush removes
///    a dropped table from the manifest unless the table is known again.
/// 2. Drop() is also called under the mutex of Writer, in one critical section with the writing of
///    the table's range tombstones. A snapshot is taken under the same mutex. It therefore has
///    either the registration and the data of a table, or the tombstones and no registration.
/// 3. A handle is returned only for a known table, and a write checks under the mutex of Writer
///    that its table is not dropped. A snapshot with a record of a table therefore also has the
///    table's registration.
/// Jobs need no rule for their order. Flushes and collections read the options at their start,
/// compactions when they are planned. A job without the options of a table keeps all of the table's
/// records.
///
/// Threads:    any. Check() takes no lock.
/// Ownership:  owns all handles until its destruction, including the handles of dropped tables.
///             Borrows the memory counter.
/// Errors:     functions that allocate throw std::bad_alloc. They may then be called again: the
///             repetition has the same result.
class TableRegistry {
 public:
  /// dead_ranges: charged with the dead ranges of all tables. first_large_bytes: first bound of a
  /// new table for kLargeAutomatic.
  TableRegistry(MemoryCounter* dead_ranges, uint64_t first_large_bytes)
      : dead_ranges_(dead_ranges), first_large_bytes_(first_large_bytes) {}

  /// Whether a table may have this name and these options.
  /// Errors: InvalidArgument.
  static Status Validate(std::string_view name, const TableOptions& options);

  /// Checks that the table is a usable handle of this registry. *handle: the table.
  /// Errors: InvalidArgument for null and for a table of another instance; Closed for a dropped
  /// table.
  Status Check(Table* table, TableImpl** handle) const {
    *handle = static_cast<TableImpl*>(table);
    if (table != nullptr && (*handle)->registry() == this && !(*handle)->dropped()) [[likely]]
      return Status::OK();
    return Refuse(table);
  }

  /// Sets the known tables from the manifest, when the instance is opened.
  void Recover(std::map<uint64_t, TableRegistration> known);
  /// The replay has reached the drop of a table. Returns the registration if the table was known.
  std::optional<TableRegistration> ReplayDrop(uint64_t id);
  /// The replay has reached the creation of a table that had been dropped.
  void ReplayCreate(const TableRegistration& table);

  enum class Difference : uint8_t {
    kNew,      // no table of this id is known
    kOptions,  // the options differ from those in the manifest
    kNone,     // the manifest has the registration
  };
  /// Compares the registration with the known registration of its id.
  /// Errors: InvalidArgument if the known registration has another name or another kind.
  Result<Difference> Compare(const TableRegistration& table) const;
  /// Makes the table known with these options. Returns its handle. lease_bytes: capacity of the
  /// lease; it bounds the memory of the table's dead ranges.
  TableImpl* Register(const TableRegistration& table, uint64_t lease_bytes);
  /// Makes the table unknown and its handle unusable. Does not fail.
  void Drop(TableImpl* table) noexcept;

  bool IsKnown(uint64_t id) const;
  /// All known tables, by id.
  std::map<uint64_t, TableRegistration> Registrations() const;
  /// All known tables for the public interface, ascending by id.
  std::vector<TableInfo> List() const;
  /// The names of the known tables among these ids.
  std::vector<std::string> NamesOf(const std::vector<uint64_t>& ids) const;
  /// The options that jobs need, for each table with a handle, by id. separation_bytes is the
  /// current bound.
  std::map<uint64_t, TableOptions> Options() const;
  /// The handles of all tables that are not dropped, ascending by id.
  std::vector<TableImpl*> Handles() const;

  /// Frees the dead ranges of all tables, when the instance is closed.
  void ForgetDeadRanges();

 private:
  // The dead ranges of one table may take 1/kDeadRangeLeaseShare of the lease, and at least
  // kDeadRangeBytesMin.
  static constexpr uint64_t kDeadRangeLeaseShare = 64;
  static constexpr uint64_t kDeadRangeBytesMin = 64 << 10;

  Status Refuse(const Table* table) const;

  MemoryCounter* const dead_ranges_;
  const uint64_t first_large_bytes_;
  mutable Mutex mutex_;
  std::map<uint64_t, TableRegistration> known_ LAVA_GUARDED_BY(mutex_);
  std::map<uint64_t, std::unique_ptr<TableImpl>> handles_ LAVA_GUARDED_BY(mutex_);
  // A multimap, because tables of one name may be dropped several times.
  std::multimap<uint64_t, std::unique_ptr<TableImpl>> dropped_ LAVA_GUARDED_BY(mutex_);
};

}  // namespace lava
