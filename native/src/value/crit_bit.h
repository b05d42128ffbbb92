#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lava/slice.h"

namespace lava::vsst {

/// A partition of the index of readers: a crit-bit tree (PATRICIA) over distinct ascending keys,
/// kept as the array of the first bit in which each key differs from the one before. Keys are
/// read as 9 bits a byte, the first of which says that there is a byte: so a key that others begin
/// with differs from them. The tree knows no key whole: it names one candidate for each key that
/// is asked for, and a fingerprint byte tells most strangers.

inline constexpr uint32_t kPartitionKeysMax = 4096;

/// Of two different keys, low < high.
uint32_t FirstDifferingBit(Slice low, Slice high);

/// Threads:    one thread.
class PartitionBuilder {
 public:
  /// key: above the one before. offset: of its first record, above the one before.
  void Add(Slice key, uint64_t offset);
  uint32_t count() const { return static_cast<uint32_t>(positions_.size()); }
  /// Bytes that Finish will append, about.
  size_t estimated_bytes() const { return count() * size_t{6}; }
  /// Appends the payload and forgets the keys; end: of the last key's records. Returns the bytes
  /// of the tree: all but the positions.
  uint64_t Finish(uint64_t end, std::string* out);

 private:
  std::vector<uint32_t> bits_;
  std::string fingerprints_;
  std::vector<uint64_t> positions_;
  std::string last_key_;
};

/// Threads:    any; const.
/// Ownership:  borrows the payload.
class PartitionView {
 public:
  /// The records of one key, relative to the partition's first record.
  struct Group {
    uint64_t begin = 0, end = 0;
  };

  /// Null, or what is wrong. extent_bytes: of the partition's records.
  const char* Load(Slice payload, uint64_t extent_bytes);

  uint32_t count() const { return count_; }
  /// The only key that key may be.
  uint32_t Candidate(Slice key) const;
  uint8_t fingerprint(uint32_t i) const { return static_cast<uint8_t>(fingerprints_[i]); }
  Group group(uint32_t i) const { return {i == 0 ? 0 : Position(i - 1), Position(i)}; }
  /// In which key i and the next one differ first.
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
