#pragma once

#include <cstdint>
#include <map>

#include "db/table_registry.h"
#include "db/tree_state.h"
#include "db/writer.h"
#include "wal/write_ahead_log.h"

namespace lava {

/// Replays the write-ahead log of an instance that is being opened: applies the records to
/// memtables, and drops and creates tables as the instance did when it wrote the records.
///
/// If a power cut took a value from a log that is not synced, the replay ends before the record of
/// that value. The instance then has a state of the past.
///
/// Threads:    one, while nobody else has the instance.
/// Ownership:  borrows what the constructor takes.
/// Errors:     as WriteAheadLog; errors of flushes and of the manifest. The opening then fails, and
///             a later replay begins from the files that the manifest names by then.
class Replay {
 public:
  Replay(TreeState* tree, TableRegistry* tables, WriteAheadLog* wal, Writer* writer)
      : tree_(tree), tables_(tables), wal_(wal), writer_(writer) {}

  /// Does nothing without a log. Flushes full memtables in this thread, so that a replay needs no
  /// more memory than the writes did, however long the log is and however small the lease has
  /// become.
  Status Run() LAVA_EXCLUDES(tree_->versions.install_mutex(), tree_->mutex());

 private:
  Status Apply(Slice record);
  void DropTable(uint64_t id);
  Status CreateTable(const WalRecord::Change& change);
  Status LogCreated();

  TreeState* const tree_;
  TableRegistry* const tables_;
  WriteAheadLog* const wal_;
  Writer* const writer_;
  bool ended_ = false;  // a power cut took a value: later records are skipped
  std::map<uint64_t, TableRegistration> dropped_;  // tables that the manifest still has
  std::map<uint64_t, TableRegistration> created_;  // tables that the manifest may not have yet
};

}  // namespace lava
