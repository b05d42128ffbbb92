// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

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

using vsst::kLogBlobFilesMax;
using vsst::LoggedRecord;

struct ValueLogOptions {
  Compression compression = Compression::kLz4;  // of each value on its own
  bool sync = false;                            // in Finish()
  /// Charged for buffers of large values. If it refuses the memory for compressing one, the value
  /// is stored uncompressed. Null: not charged.
  MemoryCounter* memory = nullptr;
  /// Larger values are stored uncompressed, so that they can be read in pieces. Units: bytes.
  uint64_t compressed_bytes_max = UINT64_MAX;
};

/// Writes one segment of an instance's value log (docs/vsst-format.md, versions 3 and 4; DiffKV 4):
/// large values in the order in which they are put. Finish() adds an index of the live records. The
/// segment then is a value file like any other; all of its values were first written there.
/// Threads:    one at a time.
/// Durability: a record is visible to all readers of the file after Flush(), and on the device
///             after Sync(). The file: after Finish() is OK, as ValueWriter.
/// Errors:     IOError, NoSpace: the first one is repeated by every later call. Records flushed
///             before can still be read, but the file cannot be finished. InvalidArgument: beyond
///             the limits of options.h, or out of order; nothing was added.
class ValueLogWriter {
 public:
  virtual ~ValueLogWriter() = default;
  static std::unique_ptr<ValueLogWriter> Create(const ValueLogOptions& options,
                                                std::unique_ptr<fs::AppendFile> file,
                                                std::string path, const FileId& id);
  /// key: internal key. blob_file_index: index below kLogBlobFilesMax; it stands for the file id
  /// with the file's number + blob_file_index. If anything lives in Finish(), a record of each
  /// index up to the highest one used must live. *record: where the record stands.
  virtual Status Append(Slice key, Slice value, uint32_t blob_file_index, LoggedRecord* record) = 0;
  /// Like Append(), for a value that need not be in memory as a whole. On success, each byte of the
  /// source was read once, in order. Errors: also those of the source.
  virtual Status AppendFrom(Slice key, ValueSource* value, uint32_t blob_file_index,
                            LoggedRecord* record) = 0;
  virtual Status Flush() = 0;
  virtual Status Sync() = 0;
  /// Bytes of all records.
  virtual uint64_t bytes() const = 0;
  virtual const FileId& id() const = 0;

  /// Adds a live record, which was appended with this key, to the index; (key, blob file) must
  /// ascend. Append() is refused from then on.
  virtual Status AddLive(Slice key, const LoggedRecord& record) = 0;
  virtual Status Finish(ValueFileProperties* properties) = 0;
};

/// Reads a record of a segment, which may be unfinished; *value is decompressed.
/// Errors: Corruption, with path and offset: there is no sound record of this key; IOError.
Status ReadLogged(const fs::RandomFile& file, Slice key, const LoggedRecord& record,
                  std::string* value);
/// Like ReadLogged(), but in pieces. Returns false like ReadInPieces(); ReadLogged() then gives the
/// value or the error.
Result<bool> ReadLoggedInPieces(const fs::RandomFile& file, Slice key, const LoggedRecord& record,
                                const PiecewiseRead& read);

}  // namespace lava
