// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "base/record.h"
#include "base/value_reference.h"
#include "fs/file_system.h"
#include "lava/status.h"
#include "value/value_log_writer.h"

namespace lava {

/// A segment of an instance's value log: the large values of one memtable in the order of their
/// puts. The flush of the memtable turns it into the value file of these blob files (DiffKV 4).
/// Threads:    Append(), AppendFrom(), Sync() and the writer from one thread at a time; Read() from
///             any thread, also concurrently with appends.
/// Ownership:  the file system must outlive the segment. The destructor does not remove the file.
class ValueLogSegment {
 public:
  virtual ~ValueLogSegment() = default;
  ValueLogSegment(const ValueLogSegment&) = delete;
  ValueLogSegment& operator=(const ValueLogSegment&) = delete;
  static Result<std::shared_ptr<ValueLogSegment>> Create(fs::FileSystem* file_system,
                                                         std::string path, const FileId& id,
                                                         const ValueLogOptions& options);

  /// Sets *reference to the value's location, but not its timestamp. synced: the value is on the
  /// device; otherwise it survives only the end of the process.
  /// Errors: those of ValueLogWriter; later appends then fail, too.
  Status Append(Slice key, Slice value, bool synced, ValueReference* reference);
  /// As Append(), for a value that need not be in memory as a whole. Errors: also the source's,
  /// which make later appends fail, too.
  Status AppendFrom(Slice key, ValueSource* value, bool synced, ValueReference* reference);
  /// Writes all appended records to the device. Does nothing for a segment that was ended.
  Status Sync();
  /// False after a failed write: the segment cannot get an index any more.
  bool sound() const { return sound_; }
  /// Bytes of all records, live and dead.
  uint64_t bytes() const { return bytes_; }
  uint64_t records() const { return records_; }
  /// Bytes of the largest record.
  uint64_t largest_bytes() const { return largest_bytes_; }
  const FileId& id() const { return id_; }
  /// Whether values of this blob file are logged in this segment.
  bool Holds(const FileId& blob_file) const {
    return blob_file.origin == id_.origin && blob_file.number >= id_.number &&
           blob_file.number - id_.number < blob_files_max_;
  }
  const std::string& path() const { return path_; }

  /// The value of a reference into this segment; the segment may have become a value file
  /// meanwhile. Errors: Corruption, IOError, naming the path.
  Status Read(Slice key, const ValueReference& reference, std::string* value) const;
  /// As Read(), piece by piece. False: the sink got nothing, and Read() reports the reason. Errors:
  /// also the sink's; an error may occur after the sink has received all pieces.
  Result<bool> ReadInPieces(Slice key, const ValueReference& reference,
                            const PiecewiseRead& read) const;

  /// The writer, which ends the segment; null when it was taken before or the segment is unsound.
  std::unique_ptr<ValueLogWriter> TakeWriter();

 protected:
  ValueLogSegment(fs::FileSystem* file_system, std::string path, const FileId& id,
                  uint32_t blob_files_max = 1)
      : path_(std::move(path)),
        id_(id),
        blob_files_max_(blob_files_max),
        file_system_(file_system) {}
  Status Begin(const ValueLogOptions& options);
  /// Makes appended records as durable as requested; on failure marks the segment unsound.
  Status Settle(Status appended, bool synced);

  const std::string path_;
  const FileId id_;
  const uint32_t
      blob_files_max_;  // file numbers from id_ on that stand for blob files in this segment
  std::unique_ptr<ValueLogWriter> writer_;
  std::atomic<bool> sound_{true};
  uint64_t bytes_ = 0, records_ = 0, largest_bytes_ = 0;

 private:
  void Refer(const LoggedRecord& record, ValueReference* reference);
  Result<std::shared_ptr<fs::RandomFile>> FileWith(uint64_t end) const LAVA_EXCLUDES(mutex_);

  fs::FileSystem* const file_system_;
  mutable Mutex mutex_;
  // Opened when the file was as long as size() says; it may have grown since.
  mutable std::shared_ptr<fs::RandomFile> file_ LAVA_GUARDED_BY(mutex_);
};

/// The segments that references in one memtable may name. Threads: immutable.
struct ValueLogSegments : Attachment {
  std::vector<std::shared_ptr<ValueLogSegment>> all;

  /// The segment that holds values of this blob file; null: none of these.
  std::shared_ptr<const ValueLogSegment> Of(const FileId& blob_file) const {
    for (const std::shared_ptr<ValueLogSegment>& segment : all)
      if (segment->Holds(blob_file)) return segment;
    return nullptr;
  }
};

}  // namespace lava
