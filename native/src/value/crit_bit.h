// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lava/slice.h"

namespace lava::vsst {

/// An index partition for readers: a crit-bit tree (PATRICIA) over distinct ascending keys, stored
/// as an array with the first bit in which each key differs from the one before. A byte of a key
/// counts as 9 bits, the first of which says that the byte exists; so a key also differs from the
/// keys that begin with it. The tree does not store the keys: a lookup gives one candidate, whose
/// fingerprint byte rules out most keys that are absent.

inline constexpr uint32_t kIndexPartitionKeysMax = 4096;

/// The first bit in which two keys differ; low < high.
uint32_t FirstDifferingBit(Slice low, Slice high);

/// Builds one index partition.
/// Threads:    one thread.
class IndexPartitionBuilder {
 public:
  /// key: above the key before. offset: of the key's first record, above the offset before.
  void Add(Slice key, uint64_t offset);
  uint32_t count() const { return static_cast<uint32_t>(positions_.size()); }
  /// Approximate bytes that Finish() will append.
  size_t estimated_bytes() const { return count() * size_t{6}; }
  /// Appends the payload of at least one key, and clears the builder. end: where the last key's
  /// records end. Returns the payload's bytes without the positions.
  uint64_t Finish(uint64_t end, std::string* out);

 private:
  std::vector<uint32_t> bits_;
  std::string fingerprints_;
  std::vector<uint64_t> positions_;
  std::string last_key_;
};

/// Reads one index partition.
/// Threads:    any thread; const.
/// Ownership:  borrows the payload.
class IndexPartitionView {
 public:
  /// The records of one key, relative to the index partition's first record.
  struct Group {
    uint64_t begin = 0, end = 0;
  };

  /// Returns null, or an error message. extent_bytes: of the index partition's records.
  const char* Load(Slice payload, uint64_t extent_bytes);

  uint32_t count() const { return count_; }
  /// Index of the only key that may be equal to key.
  uint32_t Candidate(Slice key) const;
  uint8_t fingerprint(uint32_t i) const { return static_cast<uint8_t>(fingerprints_[i]); }
  Group group(uint32_t i) const { return {i == 0 ? 0 : Position(i - 1), Position(i)}; }
  /// The first bit in which key i and key i + 1 differ.
  uint64_t bit(uint32_t i) const;
  uint64_t tree_bytes() const;

 private:
  template <typename Number>
  uint32_t Search(Slice key) const;
  /// Where the records of key i end.
  uint64_t Position(uint32_t i) const;

  const char* bits_ = nullptr;
  const char* fingerprints_ = nullptr;
  const char* positions_ = nullptr;
  uint32_t count_ = 0;
  uint32_t bit_base_ = 0;
  uint8_t bit_width_ = 1;
  uint8_t position_width_ = 1;
};

}  // namespace lava::vsst
