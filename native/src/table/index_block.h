// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lava/slice.h"
#include "table/key_heads.h"

namespace lava::ksst {

/// Index blocks (the top index, and the index part of an index partition): for adjacent extents of
/// the file, the greatest key that each may hold, and its length. An extent begins where the one
/// before ends, so a checked index cannot have gaps or overlaps.

/// Threads:    one thread.
class IndexBlockBuilder {
 public:
  /// Keys must ascend strictly. extent_bytes: of the whole extent, block trailers included.
  /// block_bytes: stored bytes of the block at the extent's end (without its trailer).
  void Add(std::string key, uint64_t extent_bytes, uint32_t block_bytes);
  bool empty() const { return entries_.empty(); }
  size_t count() const { return entries_.size(); }
  size_t estimated_bytes() const { return estimated_bytes_; }
  /// Appends the block, and clears the builder.
  void Finish(std::string* out);

 private:
  struct Entry {
    std::string key;
    uint64_t extent_bytes;
    uint32_t block_bytes;
  };
  std::vector<Entry> entries_;
  size_t estimated_bytes_ = 0;
};

/// A decoded index, laid out for search: heads, rests of keys, extents, all in one piece of memory
/// that the caller provides. Has no entries until it is loaded.
/// Threads:    any thread; const.
/// Ownership:  borrows the memory.
class IndexBlock {
 public:
  /// Bytes of memory (aligned to 8) that Load() needs for the encoded index; 0 if it is malformed.
  /// At most encoded.size() times a small constant.
  static size_t MemoryBytes(Slice encoded);
  /// Returns null, or an error message. base: where the first extent begins. end: where the last
  /// must end.
  const char* Load(Slice encoded, uint64_t base, uint64_t end, char* memory);

  uint32_t count() const { return heads_.count(); }
  /// The first entry with key >= target; count() if there is none.
  uint32_t Find(Slice target) const;

  /// Where entry i's extent begins and ends, and the block at its end.
  uint64_t extent_begin(uint32_t i) const { return ends_[i]; }
  uint64_t extent_end(uint32_t i) const { return ends_[i + 1]; }
  uint32_t block_bytes(uint32_t i) const { return block_bytes_[i]; }

  std::string key(uint32_t i) const;
  bool KeyStartsWith(uint32_t i, Slice prefix) const;
  /// Whether key <= entry i's key.
  bool Reaches(uint32_t i, Slice key) const;

 private:
  Slice suffix(uint32_t i) const {
    return {suffixes_ + offsets_[i], offsets_[i + 1] - offsets_[i]};
  }

  KeyHeads heads_;
  const uint64_t* ends_ = nullptr;  // count + 1
  const uint32_t* block_bytes_ = nullptr;
  const uint32_t* offsets_ = nullptr;  // count + 1
  const char* suffixes_ = nullptr;
};

}  // namespace lava::ksst
