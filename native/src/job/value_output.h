#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/list_parts.h"
#include "base/value_reference.h"
#include "job/entry_segment.h"
#include "job/job_context.h"
#include "job/tables_by_key.h"
#include "value/value_log_writer.h"

namespace lava {

/// The timestamp that tells when a value expires, as far as its table has one; of list segments,
/// when the last of them does.
std::optional<uint64_t> TimestampOf(const TableOptions& options, Slice value);

/// Moves a job's large values, which come in key order, into value files of their own, those of hot
/// keys apart from the others (Scavenger 3.4.2).
/// Threads:    one.
/// Ownership:  context and tables must outlive it; files that were not handed out by Finish() are
///             removed on destruction.
class ValueOutput {
 public:
  /// level: of what is written.
  ValueOutput(const JobContext& context, const std::map<uint64_t, TableOptions>& tables,
              uint32_t level);
  ~ValueOutput();
  ValueOutput(const ValueOutput&) = delete;
  ValueOutput& operator=(const ValueOutput&) = delete;

  /// Turns a put whose table wants that into a reference. Of a list it moves out the segments that
  /// stand together and have most bytes: one value of a key at most may be born in a file, so to be
  /// called once a key. The record's value is valid until the next call.
  Status MoveOut(Record* record);
  /// Whether values of so many bytes under this key go to files of their own.
  bool Separates(Slice key, uint64_t raw_bytes) const {
    return raw_bytes > context_.inline_bytes_max || OptionsOf(key, raw_bytes) != nullptr;
  }
  /// Makes of a reference one to a copy of its value, which another file stores, under a birth of
  /// its own; the record's value is valid until the next call.
  Status MoveStored(Record* record, const StoredValue& stored, std::optional<uint64_t> timestamp);
  /// Puts a value that another value file stores into this job's, under the birth it had.
  /// timestamp: beside its reference.
  Status AddStored(Slice key, const FileId& birth, bool hot, Compression codec, uint32_t raw_bytes,
                   Slice stored, std::optional<uint64_t> timestamp);
  /// The same for a value itself, which is compressed here.
  Status Add(Slice key, const FileId& birth, bool hot, Slice value,
             std::optional<uint64_t> timestamp);
  /// A segment of the value log becomes one of this job's files.
  void Keep(std::unique_ptr<ValueLogWriter> writer);
  /// The same of one that has ended. It must outlive this.
  void Keep(const EntrySegment& segment) { ended_.push_back(&segment); }
  /// A value that lives in a segment that was kept; keys ascend.
  Status AddLogged(Slice key, const ValueReference& reference);
  /// Ends the last file; Finish() cannot fail then, so that a job's other outputs can come between.
  /// Errors: after one, destroy it.
  Status Close();
  /// Close(), and hands the files out. Errors: as Close().
  Status Finish(std::vector<std::shared_ptr<ValueFileMeta>>* files);
  uint64_t bytes_written() const { return bytes_written_; }

 private:
  // The file that is written of one temperature.
  struct Stream {
    std::unique_ptr<ValueWriter> writer;
    FileId id;
    uint64_t group = 0;  // the number of the first file
    std::string last_key;
    std::map<uint64_t, TableShare> tables;  // what each has of it
  };
  struct Kept {
    std::unique_ptr<ValueLogWriter> writer;
    std::map<uint64_t, TableShare> tables;
  };
  /// The table's, if values of that size are to stand apart; else null.
  const TableOptions* OptionsOf(Slice key, uint64_t raw_bytes) const;
  Stream* StreamOf(Slice key);
  Status MoveOutList(const TableOptions& options, Record* record);
  void Refer(Record* record, const Stream& stream, uint64_t raw_bytes,
             std::optional<uint64_t> timestamp);
  Status EndKept(Kept* kept);
  Status AddFile(const FileId& id, const ValueFileProperties& properties,
                 std::map<uint64_t, TableShare> tables, uint64_t group, bool hot);
  /// Lets the stream have a file that has room for a record of this key.
  Status MakeRoom(Stream* stream, Slice key);
  void Count(Stream* stream, Slice key, uint64_t raw_bytes, std::optional<uint64_t> timestamp);
  Status EndFile(Stream* stream);

  const JobContext& context_;
  const TablesByKey tables_;
  const uint32_t level_;
  Stream cold_, hot_;
  std::map<FileId, Kept> kept_;
  std::vector<const EntrySegment*> ended_;
  std::string reference_;  // or list
  std::vector<ListPart> parts_;
  uint64_t bytes_written_ = 0;
  std::vector<std::shared_ptr<ValueFileMeta>> files_;
  std::vector<std::string> created_;  // paths to remove if the job fails
};

}  // namespace lava
