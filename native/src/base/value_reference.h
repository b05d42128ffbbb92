#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/file_id.h"
#include "lava/slice.h"

namespace lava {

/// What stands for a value that was moved to a value file. It says where the value was born, not
/// where it is now: a version's inheritance maps births to files, so the collector moves values
/// without touching the tree (LavaStore 3.3.2).
struct ValueReference {
  FileId birth;
  uint64_t raw_bytes = 0;             // of the value
  std::optional<uint64_t> timestamp;  // the 8 bytes of a TTL table's value that say when it was
  /// In a memtable: where the value's record stands in the segment of a value log that is its
  /// birth, as long as that is written. Such a reference does not go to a file.
  uint64_t logged_offset = 0, logged_bytes = 0;  // no bytes: the birth is a value file

  bool is_logged() const { return logged_bytes != 0; }
  auto operator<=>(const ValueReference&) const = default;
};

/// What one birth name has of records and raw bytes: in a value file, or referenced by a key SST.
struct BirthShare {
  FileId birth;
  uint64_t records = 0;
  uint64_t raw_bytes = 0;  // of values, before compression
  auto operator<=>(const BirthShare&) const = default;
};

/// The value of a kPutReference record outside of its file: in merges, and what iterators show.
/// 16 bytes origin, varint number, varint raw bytes, a byte of flags, then as these say 8 bytes
/// timestamp, varint offset and varint bytes of where it was logged.
void EncodeReference(const ValueReference& reference, std::string* out);
/// False when the bytes are no reference.
bool DecodeReference(Slice bytes, ValueReference* reference);

}  // namespace lava
