// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "lava/slice.h"

namespace lava {

class TableImpl;

/// The last write of an instance, if the next changelog entry may end with its value (see
/// DB::BindExternal). Writes are noted only from the first such entry on, so that the notes cost
/// nothing in an instance without a changelog.
/// Threads:    guarded by the mutex of Writer.
class LastWrite {
 public:
  /// Drops the noted write, because another write begins.
  void Forget() { table_ = nullptr; }
  /// Whether writes are noted.
  bool is_noted() const { return is_noted_; }
  void NoteFromNowOn() { is_noted_ = true; }
  /// appended_bytes: bytes that were appended to a list; 0: the write was a put.
  void Note(const TableImpl* table, Slice internal_key, uint32_t prefix_bytes,
            size_t appended_bytes) {
    table_ = table;
    key_.assign(internal_key);
    prefix_bytes_ = prefix_bytes;
    appended_bytes_ = appended_bytes;
  }

  /// Returns the table of the last write, or null if none was noted. A write can be taken only
  /// once.
  const TableImpl* Take() { return std::exchange(table_, nullptr); }
  /// Key and bytes of the write that was taken.
  Slice internal_key() const { return key_; }
  uint32_t prefix_bytes() const { return prefix_bytes_; }  // length of the internal key's prefix
  size_t appended_bytes() const { return appended_bytes_; }

 private:
  bool is_noted_ = false;
  const TableImpl* table_ = nullptr;
  std::string key_;
  uint32_t prefix_bytes_ = 0;
  size_t appended_bytes_ = 0;
};

}  // namespace lava
