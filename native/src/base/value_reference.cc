// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "base/value_reference.h"

#include <cstdint>
#include <string>

#include "base/coding.h"
#include "lava/slice.h"

namespace lava {
namespace {

constexpr uint8_t kHasTimestamp = 1, kIsLogged = 2;

}  // namespace

void EncodeReference(const ValueReference& reference, std::string* out) {
  PutFixed64(out, reference.blob_file.origin.high);
  PutFixed64(out, reference.blob_file.origin.low);
  PutVarint64(out, reference.blob_file.number);
  PutVarint64(out, reference.raw_bytes);
  out->push_back(static_cast<char>((reference.timestamp ? kHasTimestamp : 0) |
                                   (reference.is_logged() ? kIsLogged : 0)));
  if (reference.timestamp) PutFixed64(out, *reference.timestamp);
  if (!reference.is_logged()) return;
  PutVarint64(out, reference.logged_offset);
  PutVarint64(out, reference.logged_bytes);
}

bool DecodeReference(Slice bytes, ValueReference* reference) {
  *reference = {};
  Slice flags;
  if (!GetFixed64(&bytes, &reference->blob_file.origin.high) ||
      !GetFixed64(&bytes, &reference->blob_file.origin.low) ||
      !GetVarint64(&bytes, &reference->blob_file.number) ||
      !GetVarint64(&bytes, &reference->raw_bytes) || !GetBytes(&bytes, 1, &flags))
    return false;
  const auto said = static_cast<uint8_t>(flags[0]);
  if (said > (kHasTimestamp | kIsLogged)) return false;
  if ((said & kHasTimestamp) != 0) {
    uint64_t timestamp = 0;
    if (!GetFixed64(&bytes, &timestamp)) return false;
    reference->timestamp = timestamp;
  }
  if ((said & kIsLogged) != 0 &&
      (!GetVarint64(&bytes, &reference->logged_offset) ||
       !GetVarint64(&bytes, &reference->logged_bytes) || reference->logged_bytes == 0))
    return false;
  return bytes.empty();
}

}  // namespace lava
