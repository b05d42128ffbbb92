// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/list_parts.h"
#include "base/value_reference.h"
#include "job/job_context.h"
#include "read/tables_by_key.h"
#include "value/value_log_writer.h"
#include "value_log/logged_values.h"

namespace lava {

/// The timestamp at which a value expires, if its table has a TTL. For list segments: the timestamp
/// of the one that expires last.
std::optional<uint64_t> TimestampOf(const TableOptions& options, Slice value);

/// Moves a job's large values, which must come in key order, into value files. Values of hot keys
/// go to separate files (Scavenger 3.4.2).
/// Threads:    one.
/// Ownership:  context and tables must outlive this object. The destructor removes files that
///             Finish() has not handed out.
class ValueOutput final : public SegmentOutput {
 public:
  /// level: the level that the job writes to.
  ValueOutput(const JobContext& context, const std::map<uint64_t, TableOptions>& tables,
              uint32_t level);
  ~ValueOutput();
  ValueOutput(const ValueOutput&) = delete;
  ValueOutput& operator=(const ValueOutput&) = delete;

  /// Turns a put into a reference if its table separates values of this size. From a list it moves
  /// out the largest run of adjacent inline segments. Call once per key: at most one value of a key
  /// may be first written in a file. The record's value is valid until the next call.
  Status MoveOut(Record* record);
  /// Whether a value of this size under this key is separated.
  bool Separates(Slice key, uint64_t raw_bytes) const {
    return raw_bytes > context_.inline_bytes_max || OptionsOf(key, raw_bytes) != nullptr;
  }
  /// Copies a value from another file into a new blob file, and turns the record into a reference
  /// to the copy. The record's value is valid until the next call.
  Status MoveStored(Record* record, const StoredValue& stored, std::optional<uint64_t> timestamp);
  /// Copies a value that is stored in another value file, and keeps its blob file.
  /// timestamp: that of the value's reference.
  Status AddStored(Slice key, const FileId& blob_file, bool hot, Compression codec,
                   uint32_t raw_bytes, Slice stored, std::optional<uint64_t> timestamp);
  /// As AddStored(), for an uncompressed value, which is compressed here.
  Status Add(Slice key, const FileId& blob_file, bool hot, Slice value,
             std::optional<uint64_t> timestamp);
  void Keep(std::unique_ptr<ValueLogWriter> writer) override;
  void Keep(const ChangelogSegment& segment) override { ended_.push_back(&segment); }
  Status AddLogged(Slice key, const ValueReference& reference) override;
  /// Ends the last file. After that Finish() cannot fail, so other outputs of the job can be
  /// finished in between. Errors: after an error, destroy the object.
  Status Close();
  /// Calls Close(), and hands the files out. Errors: as Close().
  Status Finish(std::vector<std::shared_ptr<ValueFileMeta>>* files);
  uint64_t bytes_written() const { return bytes_written_; }

 private:
  // The file being written for one temperature.
  struct Stream {
    std::unique_ptr<ValueWriter> writer;
    FileId id;
    uint64_t group = 0;  // the number of the first file
    std::string last_key;
    std::map<uint64_t, TableShare> tables;  // share of each table in the file
  };
  struct Kept {
    std::unique_ptr<ValueLogWriter> writer;
    std::map<uint64_t, TableShare> tables;
  };
  /// The options of the key's table if it separates values of that size; otherwise null.
  const TableOptions* OptionsOf(Slice key, uint64_t raw_bytes) const;
  Stream* StreamOf(Slice key);
  Status MoveOutList(const TableOptions& options, Record* record);
  void Refer(Record* record, const Stream& stream, uint64_t raw_bytes,
             std::optional<uint64_t> timestamp);
  Status EndKept(Kept* kept);
  Status AddFile(const FileId& id, const ValueFileProperties& properties,
                 std::map<uint64_t, TableShare> tables, uint64_t group, bool hot);
  /// Opens a new file if the stream has none or its file is full.
  Status EnsureFile(Stream* stream, Slice key);
  void Count(Stream* stream, Slice key, uint64_t raw_bytes, std::optional<uint64_t> timestamp);
  Status EndFile(Stream* stream);

  const JobContext& context_;
  const TablesByKey tables_;
  const uint32_t level_;
  Stream cold_, hot_;
  std::map<FileId, Kept> kept_;
  std::vector<const ChangelogSegment*> ended_;
  std::string reference_;  // buffer for a reference or a list
  std::vector<ListPart> parts_;
  uint64_t bytes_written_ = 0;
  std::vector<std::shared_ptr<ValueFileMeta>> files_;
  std::vector<std::string> created_;  // paths to remove if the job fails
};

}  // namespace lava
