// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "lava/list_format.h"

#include <cstdint>
#include <string>

#include "base/coding.h"
#include "lava/slice.h"
#include "lava/status.h"

namespace lava {

void AppendListSegment(ListSegment kind, Slice bytes, std::string* out) {
  PutVarint64(out, static_cast<uint64_t>(bytes.size()) << 2 | static_cast<uint64_t>(kind));
  out->append(bytes);
}

void AppendTooLongSegment(uint64_t list_bytes, uint64_t bytes_max, std::string* out) {
  std::string sizes;
  PutBigEndian(&sizes, list_bytes, 8);
  PutBigEndian(&sizes, bytes_max, 8);
  AppendListSegment(ListSegment::kTooLong, sizes, out);
}

Status NextListSegment(Slice* in, ListSegment* kind, Slice* bytes) {
  Slice rest = *in;
  uint64_t head = 0;
  if (!GetVarint64(&rest, &head)) return Status::Corruption("list segment: its head is cut off");
  if (!GetBytes(&rest, head >> 2, bytes)) {
    return Status::Corruption("list segment: " + std::to_string(head >> 2) + " bytes announced, " +
                              std::to_string(rest.size()) + " there");
  }
  *kind = static_cast<ListSegment>(head & 3);
  if (*kind == ListSegment::kTooLong) {
    if (bytes->size() != 16) return Status::Corruption("list segment: malformed mark of its size");
    return Status::InvalidArgument(
        "the list has grown to " + std::to_string(DecodeBigEndian(bytes->data(), 8)) +
        " bytes, the limit is " + std::to_string(DecodeBigEndian(bytes->data() + 8, 8)) +
        ": its elements are gone, clear it or set it anew");
  }
  *in = rest;
  return Status::OK();
}

Status JoinList(Slice value, std::string* out) {
  bool first = true;
  while (!value.empty()) {
    ListSegment kind;
    Slice bytes;
    LAVA_RETURN_IF_ERROR(NextListSegment(&value, &kind, &bytes));
    if (kind == ListSegment::kReference) {
      return Status::NotSupported("list segment: a reference that was not resolved");
    }
    if (!first) out->push_back(',');
    first = false;
    out->append(bytes);
  }
  return Status::OK();
}

}  // namespace lava
