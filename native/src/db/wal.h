#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "lava/slice.h"
#include "lava/status.h"
#include "log/lava_log.h"

namespace lava {

/// What a write-ahead record holds: the changes of one call, by internal keys, in their order.
/// Threads: none shared.
class WalRecord {
 public:
  enum class Kind : uint8_t {
    kPut = 1,
    kDelete = 2,
    kAppend = 3,
    kDeletePrefix = 4,
    kDeleteRange = 5,   // key: the range's beginning, value: its end
    kPutReference = 6,  // value: where in a segment of the value log the value is
    kPutLogged = 7,     // value: boot() of the file system, or kSynced, and as kPutReference
    kDropTable = 8,     // key: as the table's first in partition 0
    kCreateTable = 9,   // key: the same; value: an edit of the manifest that registers the table
  };
  struct Change {
    Kind kind = Kind::kPut;
    uint32_t prefix_bytes = 0;
    Slice key, value;  // borrow
  };

  /// Instead of a boot: the value is on the device before the record is written.
  static constexpr uint64_t kSynced = UINT64_MAX;

  void Clear() { bytes_.clear(); }
  void Add(Kind kind, Slice internal_key, uint32_t prefix_bytes, Slice value);
  /// kPutLogged.
  void AddLogged(Slice internal_key, uint32_t prefix_bytes, uint64_t boot, Slice reference);
  Slice bytes() const { return bytes_; }

  /// Takes one change off the front. Errors: Corruption.
  static Status Take(Slice* in, Change* change);

 private:
  std::string bytes_;
};

/// One instance's write-ahead log: a logical log of what all instances of a process share. Records
/// have ascending numbers without gaps, its LSNs.
/// Threads:    one writes at a time; Flushed() beside it.
/// Ownership:  a part of the shared log.
class Wal {
 public:
  /// name: of the logical log, and directory: where log is, for messages. synced: whether an
  /// append is on the device when it returns. flushed: the last record that the manifest says to be
  /// in files; none: the instance had no log so far, and one of that name is of an earlier life of
  /// its directory, and is deleted.
  /// Errors: Corruption when the instance had one and it is not there.
  static Result<std::unique_ptr<Wal>> Open(std::shared_ptr<log::LavaLog> log,
                                           const std::string& name, const std::string& directory,
                                           bool synced, std::optional<uint64_t> flushed);

  /// Calls apply with each record behind the flushed ones, oldest first.
  /// Errors: Corruption when one is missing between two; what apply answers.
  Status Replay(const std::function<Status(Slice)>& apply);
  /// Errors: as LavaLog::Append; nothing is acknowledged, and the call may be repeated.
  Status Append(const WalRecord& record);
  /// The number of the last record, within apply of the last one applied; 0: none yet.
  uint64_t last() const { return last_; }
  /// Records up to lsn are in files that the manifest names durably.
  Status Flushed(uint64_t lsn);

 private:
  Wal(std::shared_ptr<log::LavaLog> log, log::LogId id, std::string name, bool synced)
      : log_(std::move(log)), id_(id), name_(std::move(name)), synced_(synced) {}

  const std::shared_ptr<log::LavaLog> log_;
  const log::LogId id_;
  const std::string name_;
  const bool synced_;
  uint64_t flushed_ = 0;
  uint64_t last_ = 0;
};

}  // namespace lava
