#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/value_reference.h"
#include "lava/options.h"
#include "lava/slice.h"

namespace lava {

/// What a finished value SST holds; stored in its properties block and repeated in the manifest.
struct ValueFileProperties {
  uint64_t file_bytes = 0;
  uint32_t file_crc32c = 0;  // of all bytes of the file; known to the writer only, else 0
  uint64_t records = 0;
  uint64_t raw_bytes = 0;     // of values, before compression
  uint64_t stored_bytes = 0;  // of values, as they stand in the file
  uint64_t tree_bytes = 0;    // of the crit-bit trees with their fingerprints, without positions
  uint64_t partitions = 0;    // of the index
  std::string lower, upper;   // [lower, upper) over the keys; both empty in an empty file
  std::vector<BirthShare> births;  // ascending by birth, each with at least one record
};

/// A value as a file stores it. Of codec kZstdDictionary it means something in its file alone.
struct StoredValue {
  Compression codec = Compression::kNone;
  uint32_t raw_bytes = 0;
  Slice bytes;
};

}  // namespace lava
