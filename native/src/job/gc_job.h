#pragma once

#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "job/job_context.h"

namespace lava {

struct GcInput {
  /// The installed version. Its files alone decide liveness, never the memtables. A value that is
  /// dead there stays dead; a value that dies later is at worst copied in vain.
  std::shared_ptr<const Version> version;
  std::vector<std::shared_ptr<ValueFileMeta>> files;  // to collect, of that version
  /// To be dropped as they are: all in them has expired.
  std::vector<std::shared_ptr<ValueFileMeta>> expired;
  std::map<uint64_t, TableOptions> tables;  // registered ones only: others never expire
  /// By which values expire: the proven time alone (DropTime::older_ms), since the marks of what
  /// expired (births_expired) go up to a timestamp.
  int64_t now_ms = 0;
};
struct GcOutput {
  std::vector<std::shared_ptr<ValueFileMeta>> files;  // with their readers
  uint64_t values_live = 0, values_dead = 0, values_expired = 0;
  /// By birth and table, of values that had expired and are left behind: the newest timestamp.
  std::map<std::pair<FileId, uint64_t>, int64_t> births_expired;
  /// Of values: dead ones of a block and more are never read (Scavenger 3.2, lazy read).
  uint64_t bytes_read = 0;
  uint64_t bytes_written = 0;
};

/// Copies what lives in value files to new ones, in key order, each value with its birth name and
/// as it is stored; what was compressed with its file's dictionary is compressed anew. What has
/// expired does not live: its reference says so, until a compaction drops that too. Installs
/// nothing. Memory does not grow with the files' sizes.
/// Threads:    any one.
/// Durability: files are synced if context.value_writer.sync; directory entries are the caller's.
/// Errors:     Corruption (names the file), IOError, NoSpace, Aborted; what was written is removed
///             again.
Status RunGc(const JobContext& context, const GcInput& input, GcOutput* output);

}  // namespace lava
