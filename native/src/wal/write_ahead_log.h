// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "base/partition_range.h"
#include "fs/file_system.h"
#include "host/process_parts.h"
#include "lava/db.h"
#include "manifest/version_edit.h"
#include "wal/wal_record.h"

namespace lava {

/// The write-ahead log's part of a write and of a replay. Without a log, which is the usual case
/// under Flink, every function that appends does nothing.
///
/// A call of the instance appends one record before it changes the memtable, under the mutex of
/// Writer. The order of the records is therefore the order of the changes, and a record is
/// applied as a whole or not at all.
///
/// Threads:    any; Open(), Replay() and Decode() only while nobody else has the instance.
/// Ownership:  borrows the partitions and the file system.
/// Durability: an appended record survives the end of the process, and with WalMode::kWalSync also
///             a power cut.
/// Errors:     as Wal; a record that could not be appended is not acknowledged, and the call may be
///             repeated.
class WriteAheadLog {
 public:
  WriteAheadLog(const PartitionRange* partitions, WalMode mode, fs::FileSystem* files,
                std::string path)
      : partitions_(*partitions), mode_(mode), files_(*files), path_(std::move(path)) {}

  /// flushed: the last record whose changes are in files; none: the instance had no log so far.
  void Open(std::unique_ptr<Wal> wal, std::optional<uint64_t> flushed) LAVA_EXCLUDES(mutex_);
  bool enabled() const { return wal_ != nullptr; }
  bool synced() const { return mode_ == WalMode::kWalSync; }

  Status Write(WalRecord::Kind kind, Slice internal_key, uint32_t prefix_bytes, Slice value) {
    return enabled() ? WriteOne(kind, internal_key, prefix_bytes, value) : Status::OK();
  }
  /// A put whose value is in a segment of the value log.
  Status WriteReference(Slice internal_key, uint32_t prefix_bytes, Slice reference);
  /// references: for each operation the reference that stands for its value, or an empty string;
  /// may be empty itself.
  Status WriteBatchOf(const WriteBatch& batch, const std::vector<std::string>& references);
  Status WriteRangeDelete(uint64_t table_id, Slice lower, Slice upper);
  /// The record also deletes all keys of the table.
  Status WriteDrop(uint64_t table_id);
  /// For a table whose drop is in the log.
  Status WriteCreate(const TableRegistration& table);

  /// Whether records came after the last Seal().
  bool HasUnsealed() const;
  /// The memtable is sealed: it has the changes of all records so far. Returns the number of the
  /// last one.
  uint64_t Seal();
  /// The changes of all records up to this one are in files that the manifest durably names.
  Status Flushed(uint64_t last) { return wal_->Flushed(last); }

  // Replay.
  struct Decoded {
    struct Change {
      WalRecord::Change change;
      std::optional<std::string> logged;  // the value, if it was in a log segment
      Slice value() const { return logged ? Slice(*logged) : change.value; }
      bool is_of_table() const {
        return change.kind == WalRecord::Kind::kDropTable ||
               change.kind == WalRecord::Kind::kCreateTable;
      }
    };
    std::vector<Change> changes;  // borrow from the record
    uint64_t bytes = 0;           // of the record and the values
    bool lost = false;  // a power cut took a value: neither this record nor later ones count
  };
  /// Calls apply() with each record after the flushed ones, oldest first.
  Status Replay(const std::function<Status(Slice)>& apply) { return wal_->Replay(apply); }
  /// Decodes a record and reads the values that are in log segments.
  /// Errors: Corruption for a record that is malformed, or whose value is damaged.
  Status Decode(Slice record, Decoded* decoded);
  /// The registration in a change of kind kCreateTable.
  /// Errors: Corruption.
  Result<TableRegistration> CreatedIn(const WalRecord::Change& change) const;
  uint64_t TableOf(const WalRecord::Change& change) const {
    return TableIdOf(change.key, partitions_.bytes());
  }
  /// The number of the last record.
  uint64_t last() const { return wal_->last(); }

  /// Lets go of the log. The caller ends it without a mutex, because it may be the last user of the
  /// shared log.
  std::unique_ptr<Wal> Close() { return std::move(wal_); }

 private:
  Status WriteOne(WalRecord::Kind kind, Slice internal_key, uint32_t prefix_bytes, Slice value)
      LAVA_EXCLUDES(mutex_);
  uint64_t LoggedUnder() const;
  Status Check(const WalRecord::Change& change) const;
  Status ReadValue(const WalRecord::Change& change, std::string* value, bool* lost);
  bool MayBeCut(std::optional<uint64_t> logged_under) const;

  const PartitionRange& partitions_;
  const WalMode mode_;
  fs::FileSystem& files_;
  const std::string path_;                   // of the instance
  std::unique_ptr<Wal> wal_;                 // null: none
  std::unique_ptr<fs::RandomFile> segment_;  // the last one that a replay read
  mutable Mutex mutex_;
  WalRecord record_ LAVA_GUARDED_BY(mutex_);
  uint64_t sealed_through_ LAVA_GUARDED_BY(mutex_) = 0;  // the last record in a sealed memtable
};

/// Log segments of earlier openings that records of the write-ahead log may refer to.
/// Threads:    none of its own: its owner's mutex guards it.
class ReplayedLogSegments {
 public:
  /// last: the last record that an earlier opening wrote.
  void SetLast(uint64_t last) { last_ = last; }
  void Add(std::string name) { names_.push_back(std::move(name)); }
  /// The names of these segments, once, when all records of earlier openings are flushed.
  std::vector<std::string> TakeUnused(uint64_t flushed) {
    return flushed < last_ ? std::vector<std::string>() : std::exchange(names_, {});
  }

 private:
  std::vector<std::string> names_;
  uint64_t last_ = 0;
};

}  // namespace lava
