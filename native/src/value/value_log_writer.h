#pragma once

#include <memory>
#include <string>

#include "base/file_id.h"
#include "fs/file_system.h"
#include "lava/options.h"
#include "lava/slice.h"
#include "lava/status.h"
#include "lava/value_pieces.h"
#include "memory/memory_counter.h"
#include "value/log_index.h"
#include "value/record_pieces.h"
#include "value/value_file.h"

namespace lava {

using vsst::kLogBirthsMax;
using vsst::LoggedRecord;

struct ValueLogOptions {
  Compression compression = Compression::kLz4;  // of each value on its own
  bool sync = false;                            // when it ends
  /// Charged with what a large value is compressed to; where it refuses, the value is stored as it
  /// is. Null: not charged.
  MemoryCounter* memory = nullptr;
  /// Larger values are stored as they are, so that they can be read in pieces. Units: bytes.
  uint64_t compressed_bytes_max = UINT64_MAX;
};

/// Writes one segment of an instance's value log (docs/vsst-format.md, version 3; DiffKV 4): large
/// values as they are put. What lives at its end gets an index, and the file is a value file like
/// others, in which all was born.
/// Threads:    one at a time.
/// Durability: of a record: after Flush() all readers of the file see it, after Sync() it is on the
///             device. Of the file: after Finish() is OK, as ValueWriter.
/// Errors:     IOError, NoSpace: the first one is repeated by every later call; records that were
///             flushed before can still be read, and the file cannot be finished.
///             InvalidArgument: beyond the limits of options.h, or not ascending; not added.
class ValueLogWriter {
 public:
  virtual ~ValueLogWriter() = default;
  static std::unique_ptr<ValueLogWriter> Create(const ValueLogOptions& options,
                                                std::unique_ptr<fs::AppendFile> file,
                                                std::string path, const FileId& id);
  /// key: internal key. birth: 0 is the file's own; for those above, below kLogBirthsMax, which
  /// stand for as many numbers behind the file's, and are its own, too, something must live of each
  /// up to the highest.
  virtual Status Append(Slice key, Slice value, uint32_t birth, LoggedRecord* record) = 0;
  /// The same of a value that need not be in memory as a whole: without an error, each byte of the
  /// source was asked for once, in order. Errors: also the source's.
  virtual Status AppendFrom(Slice key, ValueSource* value, uint32_t birth,
                            LoggedRecord* record) = 0;
  virtual Status Flush() = 0;
  virtual Status Sync() = 0;
  /// Bytes of all records.
  virtual uint64_t bytes() const = 0;
  virtual const FileId& id() const = 0;

  /// One that lives, of those that were appended with this key; (key, birth) ascends.
  virtual Status AddLive(Slice key, const LoggedRecord& record) = 0;
  virtual Status Finish(ValueFileProperties* properties) = 0;
};

/// Reads a record of a segment that may not be finished; *value is decompressed.
/// Errors: Corruption: there is no sound record of this key, with path and offset; IOError.
Status ReadLogged(const fs::RandomFile& file, Slice key, const LoggedRecord& record,
                  std::string* value);
/// The same piece by piece; false as of ReadInPieces(), and then ReadLogged() tells more.
Result<bool> ReadLoggedInPieces(const fs::RandomFile& file, Slice key, const LoggedRecord& record,
                                const PiecewiseRead& read);

}  // namespace lava
