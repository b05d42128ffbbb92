// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/file_id.h"
#include "lava/slice.h"

namespace lava {

/// Replaces a value that was moved to a value file. A reference names the value's blob file, the
/// logical file in which the value was first written. A version maps blob files to the value files
/// that hold their values now, so the collector moves values without touching the tree
/// (LavaStore 3.3.2).
struct ValueReference {
  FileId blob_file;
  uint64_t raw_bytes = 0;             // of the value
  std::optional<uint64_t> timestamp;  // in a TTL table: the 8 bytes of the value's write time
  /// In a memtable: location of the value's record in the value-log segment that is its blob file,
  /// while that segment is being written. Such a reference is never written to a file.
  uint64_t logged_offset = 0, logged_bytes = 0;  // no bytes: the blob file is a value file

  bool is_logged() const { return logged_bytes != 0; }
  auto operator<=>(const ValueReference&) const = default;
};

/// The records and raw bytes of one blob file that a key SST references, or that a value file
/// holds.
struct BlobReference {
  FileId blob_file;
  uint64_t records = 0;
  uint64_t raw_bytes = 0;  // of values, before compression
  auto operator<=>(const BlobReference&) const = default;
};

/// Encodes the value of a kPutReference record as merges and iterators see it:
/// 16 bytes origin, varint number, varint raw bytes, a byte of flags, then, if their flags are set,
/// 8 bytes timestamp, and varint offset and varint bytes of the logged record.
void EncodeReference(const ValueReference& reference, std::string* out);
/// False if the bytes are not a reference.
bool DecodeReference(Slice bytes, ValueReference* reference);

}  // namespace lava
