// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "base/list_parts.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/coding.h"
#include "base/value_reference.h"
#include "lava/list_format.h"
#include "lava/slice.h"
#include "lava/status.h"

namespace lava {
namespace {

// Takes one segment off *in, whatever its kind.
bool NextSegment(Slice* in, ListSegment* kind, Slice* bytes) {
  uint64_t head = 0;
  if (!GetVarint64(in, &head) || !GetBytes(in, head >> 2, bytes)) return false;
  *kind = static_cast<ListSegment>(head & 3);
  return true;
}

}  // namespace

Status SplitList(Slice list, std::vector<ListPart>* parts) {
  parts->clear();
  const char* begin = list.data();  // of the current run of adjacent segments
  for (Slice rest = list; !rest.empty();) {
    const char* const at = rest.data();
    ListSegment kind;
    Slice bytes;
    if (!NextSegment(&rest, &kind, &bytes))
      return Status::Corruption("a list with parts in value files is malformed");
    if (kind != ListSegment::kReference) continue;
    if (at > begin) parts->push_back({false, Slice(begin, static_cast<size_t>(at - begin))});
    parts->push_back({true, bytes});
    begin = rest.data();
  }
  const char* const end = list.data() + list.size();
  if (end > begin) parts->push_back({false, Slice(begin, static_cast<size_t>(end - begin))});
  return Status::OK();
}

void AppendListReference(const ValueReference& reference, std::string* list) {
  std::string encoded;
  EncodeReference(reference, &encoded);
  AppendListSegment(ListSegment::kReference, encoded, list);
}

void AppendListPart(const ListPart& part, std::string* list) {
  if (part.is_reference)
    AppendListSegment(ListSegment::kReference, part.bytes, list);
  else
    list->append(part.bytes);
}

Status ReferenceOf(const ListPart& part, ValueReference* reference) {
  if (part.is_reference && DecodeReference(part.bytes, reference)) return Status::OK();
  return Status::Corruption("a list's reference to a value file is malformed");
}

Status WholeListBytes(Slice list, uint64_t* bytes) {
  std::vector<ListPart> parts;
  LAVA_RETURN_IF_ERROR(SplitList(list, &parts));
  *bytes = 0;
  for (const ListPart& part : parts) {
    ValueReference reference;
    if (part.is_reference) LAVA_RETURN_IF_ERROR(ReferenceOf(part, &reference));
    const uint64_t more = part.is_reference ? reference.raw_bytes : part.bytes.size();
    if (__builtin_add_overflow(*bytes, more, bytes))
      return Status::Corruption("a list's references speak of more bytes than there can be");
  }
  return Status::OK();
}

bool IsWritableList(Slice list) {
  while (!list.empty()) {
    ListSegment kind;
    Slice bytes;
    if (!NextSegment(&list, &kind, &bytes)) return false;
    if (kind != ListSegment::kElement && kind != ListSegment::kJoined) return false;
  }
  return true;
}

// False if the head continues in the next piece.
bool ListScan::AddHead(Slice* piece) {
  while (!piece->empty()) {
    const char next = piece->front();
    piece->remove_prefix(1);
    head_[head_bytes_++] = next;
    if ((next & 0x80) != 0 && head_bytes_ < kHeadBytesMax) continue;
    uint64_t head = 0;
    Slice bytes(head_, head_bytes_);
    const bool read = GetVarint64(&bytes, &head);
    const auto kind = static_cast<ListSegment>(head & 3);
    malformed_ = !read || (kind != ListSegment::kElement && kind != ListSegment::kJoined);
    head_bytes_ = stamp_bytes_ = 0;
    left_ = head >> 2;
    joined_ = kind == ListSegment::kJoined;
    return true;
  }
  return false;
}

void ListScan::EndSegment() {
  if (joined_ || stamp_bytes_ < kStampBytes) {
    all_stamped_ = false;
    return;
  }
  const uint64_t written = DecodeBigEndian(stamp_, kStampBytes);
  if (!newest_ || static_cast<int64_t>(written) > static_cast<int64_t>(*newest_)) newest_ = written;
}

void ListScan::Add(Slice piece) {
  while (!piece.empty() && !malformed_) {
    if (left_ == 0 && !AddHead(&piece)) return;
    const auto taken = static_cast<size_t>(std::min<uint64_t>(left_, piece.size()));
    const size_t stamped = std::min(taken, kStampBytes - stamp_bytes_);
    std::copy_n(piece.data(), stamped, stamp_ + stamp_bytes_);
    stamp_bytes_ += stamped;
    piece.remove_prefix(taken);
    left_ -= taken;
    if (left_ == 0 && !malformed_) EndSegment();
  }
}

}  // namespace lava
