#pragma once

#include <cstdint>
#include <string>

#include "lava/slice.h"
#include "lava/status.h"
#include "value/format.h"

namespace lava::vsst {

/// Entries of another layer's log in a segment of a value log (docs/vsst-format.md, "Entries"). An
/// entry is a head record, which has no key, and, when a value of this engine ends it, the record
/// of that value behind, as any other of the segment: so it is found, checked, moved and collected
/// like one, and a read of the value looks at nothing else of its entry (XLL 3.4: targeted reads).
struct EntryHead {
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
  /// The value whose record is at this offset.
  static Status ReadValue(const std::string& name, uint64_t offset, Slice bytes,
                          std::string* value);

 private:
  Status TakeRecord(RecordView* record, std::string* value);

  const std::string name_;
  uint64_t offset_;
  Slice left_;
  std::string head_, value_;
};

}  // namespace lava::vsst
