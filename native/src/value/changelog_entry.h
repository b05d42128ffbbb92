// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>

#include "fs/file_system.h"
#include "lava/slice.h"
#include "lava/status.h"
#include "value/format.h"

namespace lava::vsst {

/// Head of an entry of Flink's changelog in a segment of a value log (docs/vsst-format.md,
/// "Entries"). An entry is a head record, which has no key. If the entry ends with a value of this
/// engine, the record of that value follows. This record is like any other of the segment: it is
/// found, checked, moved and collected in the same way, and a read of the value does not read the
/// rest of the entry (XLL 3.4: targeted reads).
struct ChangelogEntryHead {
  uint64_t sequence = 0;  // ascends from entry to entry, over all segments of an instance
  uint64_t skipped = 0;   // number of entries right before it that failed
  bool has_value = false;
  uint32_t inline_bytes = 0;  // of the value's front, which is not part of the entry
  Slice bytes;                // the entry, or the part of it before the value
};

/// Replaces *out by the head record's value.
void EncodeChangelogEntryHead(const ChangelogEntryHead& head, std::string* out);
/// Returns false if the bytes are not an entry head. head->bytes borrows from bytes.
bool DecodeChangelogEntryHead(Slice bytes, ChangelogEntryHead* head);

/// Reads entries, one after the other, from the bytes of a segment.
/// Threads:    one thread.
/// Ownership:  bytes must outlive it.
/// Errors:     Corruption with name and offset if no sound entry begins there; Next() must not be
///             called again.
class ChangelogEntryReader {
 public:
  /// name: of the segment, with or without directories; part of each checksum. offset: where bytes
  /// begin in the segment.
  ChangelogEntryReader(std::string name, uint64_t offset, Slice bytes)
      : name_(std::move(name)), offset_(offset), left_(bytes) {}

  bool done() const { return left_.empty(); }
  /// Where the next entry begins.
  uint64_t offset() const { return offset_; }
  Status Next(std::string* entry);
  /// Of the entry that Next() returned last: see ChangelogEntryHead.
  uint64_t sequence() const { return sequence_; }
  uint64_t skipped() const { return skipped_; }
  /// Reads the value whose record is bytes, which begin at offset in the segment `name`.
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
/// Errors:     as ChangelogEntryReader, at the first entry that is not whole. In a segment that was
///             never finished, this is how far its writer came.
class ChangelogEntryFileReader {
 public:
  /// records_end: where the records end, if the file was finished; otherwise the file's size.
  ChangelogEntryFileReader(const fs::RandomFile* file, uint64_t records_end)
      : file_(*file), end_(records_end) {}
  /// Whether the file holds entries, even if the first is damaged; otherwise it holds values only.
  /// Call this before the first Next().
  Result<bool> HoldsEntries() const;

  bool done() const { return offset_ >= end_; }
  Status Next(std::string* entry);
  uint64_t sequence() const { return sequence_; }
  uint64_t skipped() const { return skipped_; }
  uint64_t offset() const { return offset_; }
  /// Whether a sound entry follows the one that Next() could not read. A writer that syncs each
  /// entry before the next never leaves such a file: the file was damaged.
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
