#pragma once

#include <cstdint>
#include <string>

#include "fs/file_system.h"
#include "lava/slice.h"
#include "lava/status.h"
#include "value/format.h"

namespace lava::vsst {

/// Entries of another layer's log in a segment of a value log (docs/vsst-format.md, "Entries"). An
/// entry is a head record, which has no key, and, when a value of this engine ends it, the record
/// of that value behind, as any other of the segment: so it is found, checked, moved and collected
/// like one, and a read of the value looks at nothing else of its entry (XLL 3.4: targeted reads).
struct EntryHead {
  uint64_t sequence = 0;  // ascends from entry to entry, over all segments of an instance
  uint64_t skipped = 0;   // sequences right before it of entries that failed
  bool has_value = false;
  uint32_t inline_bytes = 0;  // of the value's front, which the entry has not
  Slice bytes;                // the entry, or what of it is before the value
};

/// Replaces *out by the head record's value.
void EncodeEntryHead(const EntryHead& head, std::string* out);
/// False when the bytes are none.
bool DecodeEntryHead(Slice bytes, EntryHead* head);

/// Takes entries off the front of what a segment holds from an offset on.
/// Threads:    one thread.
/// Ownership:  bytes must outlive it.
/// Errors:     Corruption with name and offset: no sound entry begins there; it ends there.
class EntryReader {
 public:
  /// name: the segment's, with or without directories: it is part of each checksum.
  EntryReader(std::string name, uint64_t offset, Slice bytes)
      : name_(std::move(name)), offset_(offset), left_(bytes) {}

  bool done() const { return left_.empty(); }
  /// Where the next entry begins.
  uint64_t offset() const { return offset_; }
  Status Next(std::string* entry);
  /// Of the entry that Next() gave, as its EntryHead.
  uint64_t sequence() const { return sequence_; }
  uint64_t skipped() const { return skipped_; }
  /// The value whose record is at this offset.
  static Status ReadValue(const std::string& name, uint64_t offset, Slice bytes,
                          std::string* value);

 private:
  Status TakeRecord(RecordView* record, std::string* value);

  const std::string name_;
  uint64_t offset_;
  Slice left_;
  uint64_t sequence_ = 0, skipped_ = 0;
  std::string head_, value_;
};

/// Reads the entries of a segment's file from its beginning, one record at a time.
/// Threads:    one thread.
/// Ownership:  file must outlive it.
/// Errors:     as EntryReader, from the first entry on that is not whole: where a segment has not
///             been ended, that is where its writer came to.
class EntryFileReader {
 public:
  /// records_end: of a file that was ended, where its records do; else its size.
  EntryFileReader(const fs::RandomFile* file, uint64_t records_end)
      : file_(*file), end_(records_end) {}
  /// Before the first Next(): whether the file holds entries, though the first may be damaged; else
  /// it holds values alone.
  Result<bool> HoldsEntries() const;

  bool done() const { return offset_ >= end_; }
  Status Next(std::string* entry);
  uint64_t sequence() const { return sequence_; }
  uint64_t skipped() const { return skipped_; }
  uint64_t offset() const { return offset_; }
  /// Whether an entry behind what Next() could not read is whole: a writer that syncs each entry
  /// before the next never leaves that, so the file was damaged.
  Result<bool> AnySoundBehind() const;

 private:
  /// Appends the record at this offset to *bytes.
  Status Take(uint64_t offset, std::string* bytes) const;

  const fs::RandomFile& file_;
  const uint64_t end_;
  uint64_t offset_ = 0, sequence_ = 0, skipped_ = 0;
  std::string bytes_;
};

}  // namespace lava::vsst
