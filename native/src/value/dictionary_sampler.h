// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/file_id.h"
#include "lava/slice.h"
#include "value/format.h"
#include "value/value_writer.h"

namespace lava::vsst {

/// The first values of a file, held back until they show whether a dictionary pays: at most 1,024
/// values, 1 MiB of samples before compression, and 3 MiB of keys and values in memory.
/// Threads:    one thread.
class DictionarySampler {
 public:
  struct Value {
    Slice key;
    FileId blob_file;
    StoredValue stored;  // without a dictionary
    Slice raw;           // only of a sample
    bool is_sample = false;
  };

  /// Whether one more value of this size stays within the limits.
  bool Fits(size_t key_bytes, size_t value_bytes) const;
  /// Whether the samples are too large for a dictionary to be worth a try.
  bool TooLarge() const;
  /// raw: the value before compression if it is a sample, which may be compressed again; null: it
  /// stays as it is stored.
  void Add(Slice key, const FileId& blob_file, const StoredValue& stored, const Slice* raw);

  size_t size() const { return locations_.size(); }
  /// Valid until the next Add().
  Value at(size_t i) const;
  Slice last_key() const { return at(size() - 1).key; }
  const FileId& last_blob_file() const { return locations_.back().blob_file; }
  /// Approximate bytes of the sampled values in the file.
  uint64_t estimated_bytes() const { return estimated_bytes_; }

  /// Returns a dictionary if one pays for a file of values like these, otherwise an empty string.
  /// About half of the samples train it; up to 128 KiB of the others measure its saving.
  std::string ChooseDictionary(const DictionaryOptions& options) const;

 private:
  /// Where a value is in memory_.
  struct Location {
    size_t begin = 0;  // of the key; then come the stored value and, if different, the raw one
    uint32_t key_bytes = 0, stored_bytes = 0, raw_bytes = 0;
    Compression codec = Compression::kNone;
    bool is_sample = false;
    FileId blob_file;
  };
  std::string Train() const;
  bool Pays(Slice dictionary, uint32_t saving_percent_min) const;

  std::string memory_;
  std::vector<Location> locations_;
  uint32_t samples_ = 0;
  uint64_t sample_raw_bytes_ = 0, sample_stored_bytes_ = 0;
  uint64_t estimated_bytes_ = 0;
};

}  // namespace lava::vsst
