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

/// A segment of an instance's value log: large values of one memtable, as they were put, and by its
/// flush the value file in which they were born (DiffKV 4).
/// Threads:    Append() and what ends it from one at a time; Read() from any, beside it.
/// Ownership:  the file system must outlive it. The file stays when it goes.
class LogSegment {
 public:
  virtual ~LogSegment() = default;
  LogSegment(const LogSegment&) = delete;
  LogSegment& operator=(const LogSegment&) = delete;
  static Result<std::shared_ptr<LogSegment>> Create(fs::FileSystem* file_system, std::string path,
                                                    const FileId& id,
                                                    const ValueLogOptions& options);

  /// *reference says afterwards where the value is; its timestamp is the caller's. synced: on the
  /// device; else what outlives the process.
  /// Errors: those of ValueLogWriter; the segment takes no more then.
  Status Append(Slice key, Slice value, bool synced, ValueReference* reference);
  /// The same of a value that need not be in memory as a whole. Errors: also the source's, which
  /// end the segment, too.
  Status AppendFrom(Slice key, ValueSource* value, bool synced, ValueReference* reference);
  /// What was appended is on the device. Nothing to do for one that was ended.
  Status Sync();
  /// False once a write failed: no index can be written behind that.
  bool sound() const { return sound_; }
  /// Bytes of records, those that died among them.
  uint64_t bytes() const { return bytes_; }
  uint64_t records() const { return records_; }
  /// Of its largest record.
  uint64_t largest_bytes() const { return largest_bytes_; }
  const FileId& id() const { return id_; }
  /// Whether it is where values of this birth are logged.
  bool Holds(const FileId& birth) const {
    return birth.origin == id_.origin && birth.number >= id_.number &&
           birth.number - id_.number < births_max_;
  }
  const std::string& path() const { return path_; }

  /// The value that a reference with a place in this segment stands for, whether it has become a
  /// value file meanwhile or not. Errors: Corruption, IOError, naming the path.
  Status Read(Slice key, const ValueReference& reference, std::string* value) const;
  /// The same piece by piece. False, and the sink got nothing: Read() tells more. Errors: also the
  /// sink's; one may come when the sink has all pieces.
  Result<bool> ReadInPieces(Slice key, const ValueReference& reference,
                            const PiecewiseRead& read) const;

  /// What ends it; null when that was tried before, or it is not sound.
  std::unique_ptr<ValueLogWriter> TakeWriter();

 protected:
  LogSegment(fs::FileSystem* file_system, std::string path, const FileId& id,
             uint32_t births_max = 1)
      : path_(std::move(path)), id_(id), births_max_(births_max), file_system_(file_system) {}
  Status Begin(const ValueLogOptions& options);
  /// What was appended is as durable as asked for, or it takes no more.
  Status Settle(Status appended, bool synced);

  const std::string path_;
  const FileId id_;
  const uint32_t births_max_;  // numbers from id_ on
  std::unique_ptr<ValueLogWriter> writer_;
  std::atomic<bool> sound_{true};
  uint64_t bytes_ = 0, records_ = 0, largest_bytes_ = 0;

 private:
  void Refer(const LoggedRecord& record, ValueReference* reference);
  Result<std::shared_ptr<fs::RandomFile>> FileWith(uint64_t end) const LAVA_EXCLUDES(mutex_);

  fs::FileSystem* const file_system_;
  mutable Mutex mutex_;
  // As long as it was when it was opened.
  mutable std::shared_ptr<fs::RandomFile> file_ LAVA_GUARDED_BY(mutex_);
};

/// The segments that references of one memtable may name. Threads: immutable.
struct LogSegments : Attachment {
  std::vector<std::shared_ptr<LogSegment>> all;
};

}  // namespace lava
