// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "job/job_context.h"

namespace lava {

struct CollectionInput {
  /// The installed version. Its files alone decide liveness; memtables are not asked. A value that
  /// is dead in the files stays dead. A value that dies later is at worst copied in vain.
  std::shared_ptr<const Version> version;
  std::vector<std::shared_ptr<ValueFileMeta>> files;  // to collect, of that version
  /// To be dropped without being read: all of their values have expired.
  std::vector<std::shared_ptr<ValueFileMeta>> expired;
  std::map<uint64_t, TableOptions> tables;  // registered ones; values of others never expire
  /// The time that decides expiry. Only the proven time (DropTime::older_ms) may be used, because
  /// the marks in blob_files_expired cover all values up to a timestamp.
  int64_t now_ms = 0;
};
struct CollectionOutput {
  std::vector<std::shared_ptr<ValueFileMeta>> files;  // with their readers
  uint64_t values_live = 0, values_dead = 0, values_expired = 0;
  /// By blob file and table: the newest timestamp of expired values that were not copied.
  std::map<std::pair<FileId, uint64_t>, int64_t> blob_files_expired;
  /// Bytes of values. Dead ranges of a block or more are never read (Scavenger 3.2, lazy read).
  uint64_t bytes_read = 0;
  uint64_t bytes_written = 0;
};

/// Copies live values from value files to new ones in key order. Each value stays in its blob file
/// and keeps its stored form; only a value compressed with its file's dictionary is compressed
/// again. Expired values count as dead: readers see the expiry in the reference, which a later
/// compaction drops. Does not change the version. Memory does not grow with the files' sizes.
/// Threads:    any one.
/// Durability: files are synced if context.value_writer.sync; the caller syncs the directory.
/// Errors:     Corruption (names the file), IOError, NoSpace, Aborted. After an error the job has
///             removed its files.
Status RunCollection(const JobContext& context, const CollectionInput& input,
                     CollectionOutput* output);

}  // namespace lava
