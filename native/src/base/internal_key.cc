// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "base/internal_key.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/coding.h"
#include "base/hash.h"
#include "lava/options.h"
#include "lava/slice.h"

namespace lava {

uint32_t PartitionOf(Slice key, uint32_t partition_bytes) {
  LAVA_DCHECK(key.size() >= partition_bytes);
  return static_cast<uint32_t>(DecodeBigEndian(key.data(), partition_bytes));
}

uint64_t TableIdOf(Slice internal_key, uint32_t partition_bytes) {
  LAVA_DCHECK(internal_key.size() >= partition_bytes + kTableIdBytes);
  return DecodeBigEndian(internal_key.data() + partition_bytes, kTableIdBytes);
}

std::string TableStart(uint32_t partition, uint32_t partition_bytes, uint64_t table_id) {
  std::string key;
  PutBigEndian(&key, partition, partition_bytes);
  PutBigEndian(&key, table_id, kTableIdBytes);
  return key;
}

void AppendUserKey(Slice internal_key, uint32_t partition_bytes, size_t skip, std::string* out) {
  const size_t user_bytes = internal_key.size() - kTableIdBytes;
  if (skip >= user_bytes) return;
  if (skip < partition_bytes) {
    out->append(internal_key.substr(skip, partition_bytes - skip));
    skip = partition_bytes;
  }
  out->append(internal_key.substr(skip + kTableIdBytes));
}

uint64_t TableIdOfName(std::string_view name) {
  const uint64_t id = Hash64(name) & (kTableIdLimit - 1);
  return id == kTableIdLimit - 1 ? 0 : id;
}

}  // namespace lava
