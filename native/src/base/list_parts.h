// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/record.h"
#include "base/value_reference.h"
#include "lava/slice.h"
#include "lava/status.h"

namespace lava {

/// Lists with some parts in value files (docs/decisions/21-lists.md). A flush or compaction that
/// moves list segments out writes them as one value under the list's key and puts a kReference
/// segment in their place. The moved value has the usual identity (key, blob file), so lists fold
/// without reading their parts, and the collector moves parts like any other value.

/// A part of such a list: adjacent inline list segments, or one reference.
struct ListPart {
  bool is_reference = false;
  Slice bytes;  // list segments with their heads, or the encoded reference
};

/// Splits a list into runs of inline segments and references, in order; parts borrow from list.
/// Errors: Corruption if list is malformed.
Status SplitList(Slice list, std::vector<ListPart>* parts);
/// Appends a segment of kind kReference.
void AppendListReference(const ValueReference& reference, std::string* list);
/// Appends a part unchanged.
void AppendListPart(const ListPart& part, std::string* list);
/// Decodes the reference of a part.
/// Errors: Corruption if the part is not a reference or is malformed.
Status ReferenceOf(const ListPart& part, ValueReference* reference);
/// Size of the list including its parts in value files. Errors: Corruption.
Status WholeListBytes(Slice list, uint64_t* bytes);
/// Whether list has only segments that a caller may write: elements, joined or not.
bool IsWritableList(Slice list);

/// Examines a list that arrives in pieces, cut at any byte.
/// Threads:    one.
class ListScan {
 public:
  void Add(Slice piece);
  /// IsWritableList() of all bytes added so far.
  bool is_writable() const { return !malformed_ && head_bytes_ == 0 && left_ == 0; }
  /// The newest (signed, big-endian) timestamp at the start of the elements. None if an element is
  /// too short for a timestamp or elements are joined.
  std::optional<uint64_t> newest() const { return all_stamped_ ? newest_ : std::nullopt; }

 private:
  bool AddHead(Slice* piece);
  void EndSegment();

  static constexpr size_t kHeadBytesMax = 10, kStampBytes = 8;
  char head_[kHeadBytesMax], stamp_[kStampBytes];
  size_t head_bytes_ = 0, stamp_bytes_ = 0;
  uint64_t left_ = 0;  // bytes of the current segment still to come
  bool joined_ = false, malformed_ = false, all_stamped_ = true;
  std::optional<uint64_t> newest_;
};

}  // namespace lava
