// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>

#include "lava/slice.h"

namespace lava::vsst {

/// Blocks of the dense key index: one entry for each record, in order. Only the collector and
/// verification read them.

/// Appends the number of leading bytes that key shares with *last_key, and the rest of key. Sets
/// *last_key to key.
void PutShared(Slice key, std::string* last_key, std::string* out);

struct KeyBlockEntry {
  uint32_t blob_file_index = 0;  // index into the file's blob files
  uint64_t record_bytes = 0;
  uint32_t raw_bytes = 0;  // of the value
};

/// Builds one key block.
/// Threads:    one thread.
class KeyBlockBuilder {
 public:
  /// offset: of the record, which follows the one before.
  void Add(Slice key, const KeyBlockEntry& entry, uint64_t offset);
  const std::string& payload() const { return payload_; }
  void Reset() {
    payload_.clear();
    last_key_.clear();
  }

 private:
  std::string payload_;
  std::string last_key_;
};

/// Reads the entries of a file's key blocks.
/// Threads:    one thread.
/// Ownership:  owns the key; borrows the payload.
class KeyBlockCursor {
 public:
  /// Returns null, or an error message. Keeps the last key of the block before, so Next() can check
  /// that keys ascend across blocks.
  const char* Load(Slice payload, uint64_t* first_offset);
  bool done() const { return rest_.empty(); }
  /// Moves to the next entry. Returns null, or an error message. *key_order: < 0 if its key is
  /// above the one before, 0 if it is the same, > 0 if it is below.
  const char* Next(int* key_order);
  Slice key() const { return key_; }
  const KeyBlockEntry& entry() const { return entry_; }

 private:
  Slice rest_;
  bool at_block_start_ = false;
  std::string key_;
  KeyBlockEntry entry_;
};

}  // namespace lava::vsst
