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

/// Lists of which some parts are in value files (docs/decisions/21-lists.md). A flush or compaction
/// that moves segments out writes them as one value under the list's key, and a segment of kind
/// kReference takes their place: a value's identity stays (key, birth), so lists are folded without
/// being read, and the collector moves the parts as it does any value.

/// A part of such a list: segments that stand in it, or one reference.
struct ListPart {
  bool is_reference = false;
  Slice bytes;  // segments with their heads; or what stands for the reference
};

/// Splits a list into segments that stand together and references, in order; parts borrow from it.
/// Errors: Corruption when it is no list.
Status SplitList(Slice list, std::vector<ListPart>* parts);
/// Appends a segment that stands for what the reference refers to.
void AppendListReference(const ValueReference& reference, std::string* list);
/// Appends a part as it is.
void AppendListPart(const ListPart& part, std::string* list);
/// The reference of a part, as iterators show it.
/// Errors: Corruption when the part is none.
Status ReferenceOf(const ListPart& part, ValueReference* reference);
/// Bytes of the list with all that is elsewhere. Errors: Corruption.
Status WholeListBytes(Slice list, uint64_t* bytes);
/// Whether the bytes are segments that a caller may write: elements, joined or not.
bool IsWritableList(Slice list);

/// What can be told of a list that comes in pieces, which may be cut anywhere.
/// Threads:    one.
class ListScan {
 public:
  void Add(Slice piece);
  /// As IsWritableList(), of all that was added.
  bool is_writable() const { return !malformed_ && head_bytes_ == 0 && left_ == 0; }
  /// The newest of the big-endian timestamps that the elements begin with; none when one of them
  /// has none.
  std::optional<uint64_t> newest() const { return all_stamped_ ? newest_ : std::nullopt; }

 private:
  bool AddHead(Slice* piece);
  void EndSegment();

  static constexpr size_t kHeadBytesMax = 10, kStampBytes = 8;
  char head_[kHeadBytesMax], stamp_[kStampBytes];
  size_t head_bytes_ = 0, stamp_bytes_ = 0;
  uint64_t left_ = 0;  // of the segment
  bool joined_ = false, malformed_ = false, all_stamped_ = true;
  std::optional<uint64_t> newest_;
};

}  // namespace lava
