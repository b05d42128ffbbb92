// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>

#include "lava/slice.h"
#include "lava/status.h"

namespace lava {

/// A list's value is a sequence of list segments, so operands are folded by concatenation, without
/// reading (docs/decisions/21-lists.md). A list segment is varint32(length << 2 | kind), then
/// length bytes:
///   kind 0: one element, as its serializer wrote it;
///   kind 1: several elements joined by one byte ',' without known boundaries (restored from a
///           canonical savepoint);
///   kind 2: a reference to list segments in a value file; written only by the engine; reads never
///           show it;
///   kind 3: a list that exceeded the size limit; its elements are lost. The bytes are the list's
///           size and the limit, 8 bytes each, big endian. Appends do not read the list, so they
///           cannot be refused in time. A list that no call can return must not block flushes and
///           compactions.
/// An empty value is an empty list. varint is LEB128, low 7 bits first, of a 64-bit number.
///
/// Threads:    any. The functions below are pure: they only use their arguments.
/// Ownership:  slices from NextListSegment() point into its input. Strings belong to the caller.
enum class ListSegment : uint8_t { kElement = 0, kJoined = 1, kReference = 2, kTooLong = 3 };

/// Appends one list segment to *out.
void AppendListSegment(ListSegment kind, Slice bytes, std::string* out);
/// Appends a kTooLong list segment for a list of list_bytes bytes where bytes_max are allowed.
void AppendTooLongSegment(uint64_t list_bytes, uint64_t bytes_max, std::string* out);
/// Removes the first list segment from *in. *bytes: its bytes. After an error *in is unchanged.
/// Errors: Corruption if the bytes are not list segments; InvalidArgument, naming size and limit,
/// for kTooLong.
Status NextListSegment(Slice* in, ListSegment* kind, Slice* bytes);
/// Appends to *out the list in Flink's canonical form: all elements joined by ','.
/// Errors: those of NextListSegment(); NotSupported for kReference. *out may have a part of the
/// list then.
Status JoinList(Slice value, std::string* out);

}  // namespace lava
