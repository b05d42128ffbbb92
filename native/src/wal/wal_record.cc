// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "wal/wal_record.h"

#include <cstdint>
#include <string>

#include "base/check.h"
#include "base/coding.h"
#include "lava/slice.h"
#include "lava/status.h"

namespace lava {

void WalRecord::Add(Kind kind, Slice internal_key, uint32_t prefix_bytes, Slice value) {
  LAVA_DCHECK(prefix_bytes <= internal_key.size());
  bytes_.push_back(static_cast<char>(kind));
  PutVarint32(&bytes_, prefix_bytes);
  PutLengthPrefixed(&bytes_, internal_key);
  PutLengthPrefixed(&bytes_, value);
}

void WalRecord::AddLogged(Slice internal_key, uint32_t prefix_bytes, uint64_t boot,
                          Slice reference) {
  std::string value;
  PutFixed64(&value, boot);
  value.append(reference);
  Add(Kind::kPutLogged, internal_key, prefix_bytes, value);
}

Status WalRecord::Take(Slice* in, Change* change) {
  Slice kind;
  if (!GetBytes(in, 1, &kind) || !GetVarint32(in, &change->prefix_bytes) ||
      !GetLengthPrefixed(in, &change->key) || !GetLengthPrefixed(in, &change->value)) {
    return Status::Corruption("a change is not whole");
  }
  const auto number = static_cast<unsigned char>(kind[0]);
  if (number < static_cast<uint8_t>(Kind::kPut) ||
      number > static_cast<uint8_t>(Kind::kCreateTable)) {
    return Status::Corruption("a change of an unknown kind, " + std::to_string(number));
  }
  change->kind = static_cast<Kind>(number);
  if (change->prefix_bytes > change->key.size()) {
    return Status::Corruption("a prefix of " + std::to_string(change->prefix_bytes) +
                              " bytes of a key of " + std::to_string(change->key.size()));
  }
  return Status::OK();
}

}  // namespace lava
