// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <map>

#include "db/table_registry.h"
#include "db/tree_state.h"
#include "db/writer.h"
#include "wal/write_ahead_log.h"

namespace lava {

/// Replays the write-ahead log while an instance is opened: applies the records to memtables, and
/// drops and creates tables as the records say.
///
/// If a power cut has destroyed a value of a log that is not synced, the replay ends before the
/// record of that value. The instance then has an earlier state.
///
/// Threads:    one, before other threads use the instance.
/// Ownership:  borrows the constructor's arguments.
/// Errors:     those of WriteAheadLog, of flushes and of the manifest. After an error the opening
///             fails. The next replay starts from the files that the manifest names by then.
class Replay {
 public:
  Replay(TreeState* tree, TableRegistry* tables, WriteAheadLog* wal, Writer* writer)
      : tree_(tree), tables_(tables), wal_(wal), writer_(writer) {}

  /// Does nothing without a log. Flushes full memtables in this thread. A replay therefore needs no
  /// more memory than the writes did, even if the log is long or the lease has become smaller.
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
  bool ended_ = false;                             // a value is lost: later records are skipped
  std::map<uint64_t, TableRegistration> dropped_;  // tables that the manifest still has
  std::map<uint64_t, TableRegistration> created_;  // tables that the manifest may not have yet
};

}  // namespace lava
