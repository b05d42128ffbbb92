// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstring>
#include <string>

#include "lava/options.h"
#include "lava/slice.h"

namespace lava {

inline constexpr uint64_t kTableIdLimit = uint64_t{1} << (8 * kTableIdBytes);

/// [partition][table id, big endian][rest] of a user key [partition][rest].
/// Threads:    one.
/// Ownership:  the bytes stand in the object; no allocation up to kInlineBytes.
class InternalKey {
 public:
  InternalKey(uint32_t partition_bytes, const char* id_bytes, Slice user_key) {
    size_ = user_key.size() + kTableIdBytes;
    char* to = inline_;
    if (size_ > kInlineBytes) {
      heap_.resize(size_);
      to = heap_.data();
    }
    data_ = to;
    std::memcpy(to, user_key.data(), partition_bytes);
    std::memcpy(to + partition_bytes, id_bytes, kTableIdBytes);
    std::memcpy(to + partition_bytes + kTableIdBytes, user_key.data() + partition_bytes,
                user_key.size() - partition_bytes);
  }
  InternalKey(const InternalKey&) = delete;
  InternalKey& operator=(const InternalKey&) = delete;

  Slice slice() const { return Slice(data_, size_); }

 private:
  static constexpr size_t kInlineBytes = 192;
  const char* data_;
  size_t size_;
  char inline_[kInlineBytes];
  std::string heap_;
};

/// The partition that a key starts with, as a number.
uint32_t PartitionOf(Slice key, uint32_t partition_bytes);
/// The table id of an internal key; the key must hold one.
uint64_t TableIdOf(Slice internal_key, uint32_t partition_bytes);
/// [partition][id]: the least internal key of a table in a partition.
std::string TableStart(uint32_t partition, uint32_t partition_bytes, uint64_t table_id);
/// The user key of an internal key, appended to *out from its skip'th byte on.
void AppendUserKey(Slice internal_key, uint32_t partition_bytes, size_t skip, std::string* out);
/// 40 bits of the name's hash; below the greatest 40-bit number, so that every table has an end.
uint64_t TableIdOfName(std::string_view name);

}  // namespace lava
