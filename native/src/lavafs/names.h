// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "lava/slice.h"

namespace lava::lavafs {

/// The names of all files of a volume: found by directory and name, listed by directory. An entry
/// takes about 30 bytes plus the name. 32 hex digits at the beginning of a name, an instance's id
/// in the engine's names, take 17 bytes.
/// Threads:    one at a time.
class Names {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  /// kNone when there is no such name.
  uint32_t Find(uint32_t directory, Slice name) const;
  /// Adds a name that does not exist yet; *first is the first entry of its directory.
  void Add(uint32_t directory, Slice name, uint32_t inode, uint32_t* first);
  void Remove(uint32_t entry, uint32_t* first);

  std::string name(uint32_t entry) const;
  uint32_t inode(uint32_t entry) const { return entries_[entry].inode; }
  uint32_t directory(uint32_t entry) const { return entries_[entry].directory; }
  uint32_t next(uint32_t entry) const { return entries_[entry].next; }
  uint64_t bytes() const;

 private:
  struct Entry {
    std::unique_ptr<char[]> name;  // packed, after its length; null: a free entry
    uint32_t directory = 0;
    uint32_t inode = 0;
    uint32_t next = kNone, previous = kNone;  // in the directory; next: also of free entries
  };
  static uint64_t HashOf(uint32_t directory, Slice packed);
  static std::string Pack(Slice name);
  Slice packed(uint32_t entry) const;
  size_t HomeOf(uint32_t entry) const;
  void Grow();

  std::deque<Entry> entries_;
  uint32_t first_free_ = kNone;
  // Open addressing with linear probing: numbers of entries, a power of two, at most 3/4 full.
  std::vector<uint32_t> slots_;
  uint32_t used_ = 0;
  uint64_t name_bytes_ = 0;
};

}  // namespace lava::lavafs
