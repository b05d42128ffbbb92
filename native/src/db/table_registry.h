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

/// The tables of an instance. A table is known while it has a registration, of this opening or of
/// an earlier one. A known table has a handle once this opening has registered it.
///
/// The registry does not write the manifest or the write-ahead log: the instance does that before
/// it changes the registry. Three rules keep tables, log and data together:
/// 1. Known tables change only under the mutex of installs (VersionStore), or in the thread that
///    replays the log, when nobody else has the instance. A thread that holds this mutex may
///    therefore decide by the known tables and log the decision. Example: a flush removes a dropped
///    table from the manifest unless the table is known again.
/// 2. Drop() is also called under the mutex of Writer, before that mutex is given back with the
///    range tombstones of the table in the active memtable. A snapshot, which is taken under the
///    same mutex, therefore has the registration and the data of a table, or the tombstones and no
///    registration.
/// 3. A handle is returned only for a known table, and a write needs a handle of a table that, as
///    the write sees under the mutex of Writer, is not dropped. A snapshot that has a record of a
///    table therefore has the table's registration, too.
/// The order of jobs needs no rule: flushes and collections read the options at
/// their start, compactions when they are planned, and a job that does not
/// know the options of a table keeps all of its records.
///
/// Threads:    any. Check() takes no lock.
/// Ownership:  the registry owns the handles, those of dropped tables too, until the registry's
///             end. It borrows the memory counter.
/// Errors:     functions that allocate throw std::bad_alloc, and have changed nothing then that a
///             repetition would not change in the same way.
class TableRegistry {
 public:
  /// dead_ranges: is charged with the dead ranges of all tables. first_large_bytes: the bound of
  /// kLargeAutomatic with which a table begins.
  TableRegistry(MemoryCounter* dead_ranges, uint64_t first_large_bytes)
      : dead_ranges_(dead_ranges), first_large_bytes_(first_large_bytes) {}

  /// Whether a table may have this name and these options.
  /// Errors: InvalidArgument.
  static Status Validate(std::string_view name, const TableOptions& options);

  /// *handle is the table, if it is a handle of this registry that may be used.
  /// Errors: InvalidArgument for null and for a table of another instance; Closed for a dropped
  /// one.
  Status Check(Table* table, TableImpl** handle) const {
    *handle = static_cast<TableImpl*>(table);
    if (table != nullptr && (*handle)->registry() == this && !(*handle)->dropped()) [[likely]]
      return Status::OK();
    return Refuse(table);
  }

  /// The known tables of the manifest, when the instance is opened.
  void Recover(std::map<uint64_t, TableRegistration> known);
  /// The replay met a drop. Returns the registration, if the table was known.
  std::optional<TableRegistration> ReplayDrop(uint64_t id);
  /// The replay met the creation of a table that had been dropped.
  void ReplayCreate(const TableRegistration& table);

  enum class Difference : uint8_t {
    kNew,      // no table of this id is known
    kOptions,  // the manifest needs the registration, because it has other options
    kNone,     // the manifest has the registration
  };
  /// How the registration differs from the known one of its id.
  /// Errors: InvalidArgument if the known one has another name or another kind.
  Result<Difference> Compare(const TableRegistration& table) const;
  /// The table is known with these options from now on. Returns its handle.
  /// lease_bytes: capacity of the lease; it bounds the memory of the table's dead ranges.
  TableImpl* Register(const TableRegistration& table, uint64_t lease_bytes);
  /// The table is no longer known, and its handle can no longer be used. Does not fail.
  void Drop(TableImpl* table) noexcept;

  bool IsKnown(uint64_t id) const;
  /// All known tables, by id.
  std::map<uint64_t, TableRegistration> Registrations() const;
  /// The same for the public interface, ascending by id.
  std::vector<TableInfo> List() const;
  /// The names of those of the tables that are known.
  std::vector<std::string> NamesOf(const std::vector<uint64_t>& ids) const;
  /// What a job needs to know of the tables that have a handle, by id. separation_bytes is the
  /// bound that holds now.
  std::map<uint64_t, TableOptions> Options() const;
  /// The handles of all tables that are not dropped, ascending by id.
  std::vector<TableImpl*> Handles() const;

  /// Frees the dead ranges of all tables, when the instance is closed.
  void ForgetDeadRanges();

 private:
  // The dead ranges of one table may take this share of the lease, and at least this many bytes.
  static constexpr uint64_t kDeadRangeLeaseShare = 64;
  static constexpr uint64_t kDeadRangeBytesMin = 64 << 10;

  Status Refuse(const Table* table) const;

  MemoryCounter* const dead_ranges_;
  const uint64_t first_large_bytes_;
  mutable Mutex mutex_;
  std::map<uint64_t, TableRegistration> known_ LAVA_GUARDED_BY(mutex_);
  std::map<uint64_t, std::unique_ptr<TableImpl>> handles_ LAVA_GUARDED_BY(mutex_);
  // A name may be dropped several times.
  std::multimap<uint64_t, std::unique_ptr<TableImpl>> dropped_ LAVA_GUARDED_BY(mutex_);
};

}  // namespace lava
