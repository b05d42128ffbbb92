#pragma once

#include <cstdint>
#include <string>

#include "lava/slice.h"
#include "lava/status.h"

namespace lava {

/// A list's value is a sequence of segments, so that folding operands is concatenation and reads
/// nothing (design: lists). A segment is varint32(length << 2 | kind), then length bytes:
///   kind 0: one element, as its serializer wrote it;
///   kind 1: several elements joined by one byte ',' without known boundaries (restored from a
///           canonical savepoint);
///   kind 2: reserved for a reference to a separated segment.
/// An empty value is an empty list. varint is LEB128, low 7 bits first, of a 64-bit number.
enum class ListSegment : uint8_t { kElement = 0, kJoined = 1, kReference = 2 };

/// Appends one segment to *out.
void AppendListSegment(ListSegment kind, Slice bytes, std::string* out);
/// Takes the first segment off *in. Corruption when the bytes are not segments.
Status NextListSegment(Slice* in, ListSegment* kind, Slice* bytes);
/// Appends to *out the list in Flink's canonical form: all elements joined by ','.
Status JoinList(Slice value, std::string* out);

}  // namespace lava
