// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <vector>

#include "fuzz/fuzz_input.h"
#include "lava/list_format.h"

namespace lava::fuzzing {

/// List segments: the input is a list's value. The decoded segments must encode to a value with the
/// same segments, and joining must work as documented.
inline int RunListInput(const uint8_t* data, size_t size) {
  const ExactCopy copy(InputSlice(data, size));
  std::string again, joined;
  Status status;
  bool reference = false;
  uint64_t segments = 0;
  for (Slice rest = copy.get(); !rest.empty(); ++segments) {
    const Slice before = rest;
    ListSegment kind;
    Slice bytes;
    status = NextListSegment(&rest, &kind, &bytes);
    if (!status.ok()) {
      if (rest.data() != before.data() || rest.size() != before.size())
        FuzzFailed("list", "an error changed the position in the value");
      break;
    }
    if (rest.size() >= before.size() || bytes.data() + bytes.size() != rest.data())
      FuzzFailed("list", "a segment is not part of the value's bytes");
    AppendListSegment(kind, bytes, &again);
    reference |= kind == ListSegment::kReference;
    if (segments > 0) joined += ',';
    joined += bytes;
  }
  if (!status.ok() && !status.IsCorruption() && !status.IsInvalidArgument())
    FuzzFailed("list", "an unexpected error: " + status.ToString());
  std::string out = "x";
  const Status all = JoinList(copy.get(), &out);
  if (reference ? all.code() != Status::Code::kNotSupported : all.code() != status.code())
    FuzzFailed("list", "joining gave another result: " + all.ToString());
  if (all.ok() && out != "x" + joined) FuzzFailed("list", "joined elements differ");
  // The input's lengths may be longer than necessary; a second round must change nothing.
  std::string twice;
  for (Slice rest = again; !rest.empty();) {
    ListSegment kind;
    Slice bytes;
    if (!NextListSegment(&rest, &kind, &bytes).ok())
      FuzzFailed("list", "the encoded segments cannot be decoded");
    AppendListSegment(kind, bytes, &twice);
  }
  if (twice != again) FuzzFailed("list", "the segments change by being encoded");
  return 0;
}

inline std::vector<std::string> ListSeeds() {
  std::string elements, joined, reference, too_long;
  for (const char* element : {"a", "", "a longer element, with a comma"})
    AppendListSegment(ListSegment::kElement, element, &elements);
  AppendListSegment(ListSegment::kJoined, "a,b,c", &joined);
  AppendListSegment(ListSegment::kElement, std::string(200, 'e'), &joined);
  AppendListSegment(ListSegment::kReference, "somewhere", &reference);
  AppendTooLongSegment(5, 4, &too_long);
  return {elements,
          joined,
          joined + reference + elements,
          elements + too_long,
          std::string("\x81\x80\x00", 3),
          std::string("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01")};
}

}  // namespace lava::fuzzing
