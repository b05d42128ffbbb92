// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/coding.h"

namespace lava {

/// A value of a table with TTL: the time of writing in big-endian, then the user's value.
inline std::string Stamped(int64_t written_ms, std::string_view rest = "user") {
  std::string value;
  PutBigEndian(&value, static_cast<uint64_t>(written_ms), 8);
  return value.append(rest);
}

}  // namespace lava
