// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "value/key_block.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/coding.h"
#include "lava/slice.h"
#include "value/format.h"

namespace lava::vsst {

void PutShared(Slice key, std::string* last_key, std::string* out) {
  const auto shared = static_cast<size_t>(
      std::mismatch(key.begin(), key.end(), last_key->begin(), last_key->end()).first -
      key.begin());
  PutVarint32(out, static_cast<uint32_t>(shared));
  PutLengthPrefixed(out, key.substr(shared));
  last_key->resize(shared);
  last_key->append(key.substr(shared));
}

void KeyBlockBuilder::Add(Slice key, const KeyBlockEntry& entry, uint64_t offset) {
  if (payload_.empty()) PutVarint64(&payload_, offset);
  PutShared(key, &last_key_, &payload_);
  PutVarint32(&payload_, entry.blob_file_index);
  PutVarint64(&payload_, entry.record_bytes);
  PutVarint32(&payload_, entry.raw_bytes);
}

const char* KeyBlockCursor::Load(Slice payload, uint64_t* first_offset) {
  rest_ = payload;
  at_block_start_ = true;
  if (!GetVarint64(&rest_, first_offset)) return "a key block's head is cut short";
  return rest_.empty() ? "a key block has no entries" : nullptr;
}

const char* KeyBlockCursor::Next(int* key_order) {
  uint32_t shared = 0;
  Slice key_rest;
  if (!GetVarint32(&rest_, &shared) || !GetLengthPrefixed(&rest_, &key_rest) ||
      !GetVarint32(&rest_, &entry_.blob_file_index) || !GetVarint64(&rest_, &entry_.record_bytes) ||
      !GetVarint32(&rest_, &entry_.raw_bytes))
    return "an entry of a key block is cut short";
  if (shared > key_.size() || (at_block_start_ && shared != 0))
    return "an entry of a key block shares more than there is";
  if (shared + uint64_t{key_rest.size()} > kRecordKeyBytesMax)
    return "a key of a key block is too long";
  *key_order = Slice(key_).substr(shared).compare(key_rest);
  at_block_start_ = false;
  key_.resize(shared);
  key_.append(key_rest);
  return nullptr;
}

}  // namespace lava::vsst
