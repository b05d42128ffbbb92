#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "lava/slice.h"
#include "lava/status.h"

namespace lava {

/// A record of the write-ahead log: the changes of one call, by internal keys, in the order of the
/// call.
/// Threads:    one at a time.
class WalRecord {
 public:
  enum class Kind : uint8_t {
    kPut = 1,
    kDelete = 2,
    kAppend = 3,
    kDeletePrefix = 4,
    kDeleteRange = 5,  // key: the beginning of the range; value: the end
    kPutReference =
        6,           // value: a reference to a value log segment; only older logs have such changes
    kPutLogged = 7,  // value: the file system's boot() at the write, or kSynced; a reference
    kDropTable = 8,  // key: the first key that the table could have in partition 0
    kCreateTable = 9,  // key: as kDropTable; value: an edit of the manifest with the registration
  };
  struct Change {
    Kind kind = Kind::kPut;
    uint32_t prefix_bytes = 0;
    Slice key, value;  // borrow from the record
  };

  /// Instead of a boot(): the value was on the device before the record was written.
  static constexpr uint64_t kSynced = UINT64_MAX;

  void Clear() { bytes_.clear(); }
  void Add(Kind kind, Slice internal_key, uint32_t prefix_bytes, Slice value);
  /// Adds a kPutLogged change. boot: of the file system, or kSynced.
  void AddLogged(Slice internal_key, uint32_t prefix_bytes, uint64_t boot, Slice reference);
  Slice bytes() const { return bytes_; }

  /// Takes one change off the front of *in. Errors: Corruption.
  static Status Take(Slice* in, Change* change);

 private:
  std::string bytes_;
};

/// One instance's write-ahead log. Records have ascending numbers without gaps, their LSNs.
/// WalOpener (host/process_parts.h) opens it.
/// Threads:    Replay() and Append() from one thread at a time; Flushed() from one thread at a
///             time, also concurrently with these.
/// Durability: an appended record survives the end of the process; if the log is synced, it is on
///             the device.
class Wal {
 public:
  virtual ~Wal() = default;
  /// Calls apply() with each record after the flushed ones, oldest first.
  /// Errors: Corruption if a record is missing between two others; errors of apply().
  virtual Status Replay(const std::function<Status(Slice)>& apply) = 0;
  /// Errors: as LavaLog::Append(). The record is not acknowledged, and the call may be repeated.
  virtual Status Append(const WalRecord& record) = 0;
  /// The number of the last record; during Replay(), of the last one that was applied. 0: none yet.
  virtual uint64_t last() const = 0;
  /// The changes of all records up to lsn are in files, and the manifest durably names these files.
  /// Errors: as LavaLog::Trim(); a later call makes up for a failed one.
  virtual Status Flushed(uint64_t lsn) = 0;
};

}  // namespace lava
