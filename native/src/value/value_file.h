// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/value_reference.h"
#include "lava/options.h"
#include "lava/slice.h"

namespace lava {

/// Properties of a finished value SST. Its properties block stores all but the file's size and
/// checksum; the manifest stores these two and most of the others. A blob file is the logical file
/// in which a value was first written.
struct ValueFileProperties {
  uint64_t file_bytes = 0;
  uint32_t file_crc32c = 0;  // of all bytes of the file; only its writer sets it, otherwise 0
  uint64_t records = 0;
  uint64_t raw_bytes = 0;     // of values, before compression
  uint64_t stored_bytes = 0;  // of values, as stored in the file
  uint64_t tree_bytes = 0;    // of the crit-bit trees with their fingerprints, without positions
  uint64_t index_partitions = 0;
  std::string lower, upper;  // [lower, upper) over the keys; both empty in an empty file
  std::vector<BlobReference> blob_files;  // ascending by blob file, each with at least one record
};

/// A value as a file stores it. With codec kZstdDictionary it can only be decoded with the
/// dictionary of its own file.
/// Ownership:  borrows the bytes.
struct StoredValue {
  Compression codec = Compression::kNone;
  uint32_t raw_bytes = 0;
  Slice bytes;
};

}  // namespace lava
